"""What should a decoder read while it learns? Sections 4.4 and 4.5 show what comes out.

    python benchmarks/forcing.py --seeds 0 1 2
    python benchmarks/forcing.py --table

The encoder–decoder without attention learns dates in eight languages, STEPS batches of 64, by
`teacher` forcing, by `free` running on its own likeliest token, or `mixed`: the share of true
tokens falls from 1 to 0 in a straight line. In the course of training, of 400 validation dates:

- `right`: the share that it writes right, when it has only its own tokens to read;
- `read_true`, `read_own`: its surprise at the true tokens, in nats a token, where each step has
  read the true token before, and where it has read its own.

After training, at each of the ten places of a date, a wrong token takes the place of the written
one: at a digit another digit, at a hyphen a digit. `drift` are the shares of the dates, of those
that were right, in which something later is wrong then; `later`, the share of later tokens.

`benchmarks/forced.py` writes the three networks of seed 0 for the page.
"""

import torch
from torch import Tensor

from gates2heads.data.batches.pairs import Batch, collate, endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.held import run_held
from gates2heads.exercises.drifting import drift, forcing_loss
from gates2heads.models.translation.forcing import linear_share
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.loop import History, fit
from gates2heads.training.losses import cross_entropy
from gates2heads.training.schedules import warmup_linear
from gates2heads.training.studies import Study

STEPS, EVERY, BATCH_SIZE, TESTED = 400, 50, 64, 400
SETTINGS = {"embedding_size": 32, "hidden_size": 128, "score": None}
SHARES = {
    "teacher": lambda step: 1.0,
    "free": lambda step: 0.0,
    "mixed": lambda step: linear_share(step, slope=1 / STEPS),
}


def tokenizers():
    """The pairs of training, and the tokenizers of their two sides."""
    pairs = [(pair.text, pair.iso) for pair in dates("train", 30_000)]
    sides = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    return pairs, *sides


def batch_of(split: str, size: int, source, target) -> Batch:
    """Dates of a split in one batch."""
    return collate(encode_pairs([(p.text, p.iso) for p in dates(split, size)], source, target))


def judge(model: EncoderDecoder, batch: Batch) -> dict[str, float]:
    """What it writes right alone, and its surprise, reading the truth and reading its own."""
    state = model.start(batch.source, mask=batch.source_mask)
    written = run_held(model.step, state, batch.target_in[:, 0], batch.target_out.shape[1])
    losses = {
        name: cross_entropy(model(batch, forced=share), batch.target_out, mask=batch.target_mask)
        for name, share in (("read_true", 1.0), ("read_own", 0.0))
    }
    right = (written == batch.target_out).all(dim=1).double().mean()
    return {"right": float(right), **{name: float(loss) for name, loss in losses.items()}}


def train(setting: str, seed: int, watched: Batch | None = None) -> tuple:
    """Train one network; give it, its tokenizers and its history."""
    pairs, source, target = tokenizers()
    torch.manual_seed(seed)
    model = EncoderDecoder(len(source.vocabulary), len(target.vocabulary), **SETTINGS)
    watching = {} if watched is None else {"evaluate": lambda trained: judge(trained, watched)}
    history: History = fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=forcing_loss(SHARES[setting], seed=seed),
        learning_rate=5e-3,
        schedule=warmup_linear(STEPS, warmup=50, decay=0.3),
        evaluate_at=range(EVERY, STEPS + 1, EVERY) if watching else (),
        description=f"{setting}, seed {seed}",
        **watching,
    )
    return model.eval(), source, target, history


def digits_of(target) -> Tensor:
    """The numbers of the ten digits, (10,)."""
    return torch.tensor(target.vocabulary.encode("0123456789"))


def run(setting: str, seed: int) -> dict:
    """Train one network; give its way, and how it drifts."""
    _, source, target = tokenizers()
    watched = batch_of("validation", TESTED, source, target)
    model, source, target, history = train(setting, seed, watched)
    found = drift(model, batch_of("test", TESTED, source, target), digits_of(target), seed=seed)
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "evaluated_at": history.evaluated_at,
        **{name: [one[name] for one in history.evaluations] for name in history.evaluations[0]},
        **found,
    }


if __name__ == "__main__":
    Study("forcing", run, tuple(SHARES)).main()
