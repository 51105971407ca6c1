"""What should a decoder read while it learns? Sections 4.4 and 4.5 show the results.

    python -m studies.ch04.teacher_forcing --seeds 0 1 2 3 4
    python -m studies.ch04.teacher_forcing --table

The encoder–decoder without attention learns dates in eight languages, on 400 batches of 64. The
setting is what the decoder reads in training: the true tokens (`teacher` forcing), its own most
probable tokens (`free` running), or a mixture (`mixed`), in which the share of true tokens falls
linearly from 1 to 0. Other settings have four times the training, a third of the learning rate or
three times the learning rate.

At eight evenly spaced points of the training, on 400 validation dates:

- `right`: the share of dates without an error in autoregressive decoding;
- `read_true`, `read_own`: the cross-entropy of the true tokens, in nats per token, when each step
  reads the true previous token, and when it reads the network's own.

`test` holds the same three for 5,000 test dates after training, with `right` as a count.

After training, at each of the ten positions of a date, the token that the network chose is replaced
by a wrong one: another digit for a digit, a digit for a hyphen. Of 400 test dates, those that are
correct without a replacement (`sound`) are counted. `drift` is the share of them in which a later
token is wrong after the replacement, `later` the share of wrong later tokens, and `late` the share
of dates whose later tokens are right, but one position late. The stored settings with three times
the learning rate lack `late`.

`shipping/forced.py` writes the three networks of seed 0 for the page, which tests them too.
"""

import torch
from torch import Tensor

from gates2heads.book.ch04.error_propagation import drift, forcing_loss
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import Batch, collate, endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.models.translation.forcing import linear_share
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.loop import History, fit
from gates2heads.training.losses import cross_entropy
from gates2heads.training.schedules import warmup_linear
from gates2heads.watching.forced_tokens import run_held

STEPS, POINTS, BATCH_SIZE, RATE = 400, 8, 64, 5e-3
WATCHED, TESTED = 400, 5_000
SETTINGS = {"embedding_size": 32, "hidden_size": 128, "score": None}
SHARES = {  # step, all steps -> the share of true tokens
    "teacher": lambda step, steps: 1.0,
    "free": lambda step, steps: 0.0,
    "mixed": lambda step, steps: linear_share(step, slope=1 / steps),
}
ATTACKS = {
    "": {},
    ", four times the training": {"steps": 4 * STEPS},
    ", a third of the learning rate": {"rate": RATE / 3},
    ", three times the learning rate": {"rate": RATE * 3},
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
    """Its accuracy in free-running decoding; its surprisal with true tokens and with its own."""
    state = model.start(batch.source, mask=batch.source_mask)
    written = run_held(model.step, state, batch.target_in[:, 0], batch.target_out.shape[1])
    losses = {
        name: cross_entropy(model(batch, forced=share), batch.target_out, mask=batch.target_mask)
        for name, share in (("read_true", 1.0), ("read_own", 0.0))
    }
    right = (written == batch.target_out).all(dim=1).double().mean()
    return {"right": float(right), **{name: float(loss) for name, loss in losses.items()}}


def train(
    way: str, seed: int, watched: Batch | None = None, *, steps: int = STEPS, rate: float = RATE
) -> tuple:
    """Train one network; return it, its tokenizers and its history."""
    pairs, source, target = tokenizers()
    torch.manual_seed(seed)
    model = EncoderDecoder(len(source.vocabulary), len(target.vocabulary), **SETTINGS)
    watching = {} if watched is None else {"evaluate": lambda trained: judge(trained, watched)}
    history: History = fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=steps,
        loss=forcing_loss(lambda step: SHARES[way](step, steps), seed=seed),
        learning_rate=rate,
        schedule=warmup_linear(steps, warmup=50, decay=0.3),
        evaluate_at=range(steps // POINTS, steps + 1, steps // POINTS) if watching else (),
        description=f"{way}, seed {seed}",
        **watching,
    )
    return model.eval(), source, target, history


def digits_of(target) -> Tensor:
    """The numbers of the ten digits, (10,)."""
    return torch.tensor(target.vocabulary.encode("0123456789"))


def tested(model: EncoderDecoder, batch: Batch) -> dict:
    """What `judge` says, with a count instead of the proportion."""
    with torch.no_grad():
        found = judge(model, batch)
    count = len(batch.source)
    return {"dates": count, **found, "right": round(count * found["right"])}


def run(setting: str, seed: int) -> dict:
    """Train one network; return its learning curve, its test scores, and how far it drifts."""
    way, comma, attack = setting.partition(",")
    _, source, target = tokenizers()
    watched = batch_of("validation", WATCHED, source, target)
    model, source, target, history = train(way, seed, watched, **ATTACKS[comma + attack])
    few, many = (batch_of("test", size, source, target) for size in (WATCHED, TESTED))
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "evaluated_at": history.evaluated_at,
        **{name: [one[name] for one in history.evaluations] for name in history.evaluations[0]},
        "test": tested(model, many),
        **drift(model, few, digits_of(target), seed=seed),
    }


if __name__ == "__main__":
    Study(
        "ch04/teacher_forcing", run, [way + attack for attack in ATTACKS for way in SHARES]
    ).main()
