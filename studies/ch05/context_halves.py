"""What does each direction of the encoder contribute to a context vector? For section 5.1.

    python -m studies.ch05.context_halves released
    python -m studies.ch05.context_halves retrained --seeds 1 2
    python -m studies.ch05.context_halves --table

A setting is the model “one vector” of chapter 5 as it is `released`, or `retrained` with another
seed for the initialisation and the order of the lists, on 3,000 batches (`STEPS`). Each translates
1,000 test lists (`TESTED`) of five dates three times: from their own context vectors (`unchanged`),
with the `forward` half of another list's vector, and with its `backward` half. The initial decoder
state is computed from the modified vector too. Stored are the proportions of years, months and days
that are equal to those of the list's `own` dates and of the `other` list's, by position.
"""

import torch
from torch import Tensor

from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear
from shipping.bottleneck import LONGEST, SETTINGS, lists, mixed_batches

TESTED, COUNT, STEPS, UNITS = 1000, LONGEST, 3000, SETTINGS["hidden_size"]
PARTS = {"year": slice(0, 4), "month": slice(5, 7), "day": slice(8, 10)}
HALVES = {
    "unchanged": slice(0, 0),
    "forward": slice(0, UNITS // 2),
    "backward": slice(UNITS // 2, UNITS),
}


def train(source, target, seed: int) -> EncoderDecoder:
    """Train a model as `shipping.bottleneck` does, for fewer steps."""
    batches = mixed_batches(source, target, seed)
    torch.manual_seed(seed)
    sizes = len(source.vocabulary), len(target.vocabulary)
    model = EncoderDecoder(*sizes, score=None, **SETTINGS)
    fit(
        model,
        batches,
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=5e-3,
        schedule=warmup_linear(STEPS, warmup=100, decay=0.6),
        description=f"one vector, seed {seed}",
    )
    return model.eval()


def decoded(model: EncoderDecoder, start, vectors: Tensor, begin: Tensor) -> Tensor:
    """Greedy outputs (N, T) from context vectors (N, U) in place of the models' own."""
    memory = start.memory._replace(summary=vectors)
    state = start._replace(hidden=model.decoder.bridge(vectors).tanh(), memory=memory)
    token, output = begin, []
    for _ in range(11 * COUNT - 1):
        log_probs, state = model.step(state, token)
        token = log_probs.argmax(-1)
        output.append(token)
    return torch.stack(output, 1)


def run(setting: str, seed: int) -> dict:
    """The proportions of the parts from the own and the other list, by swapped half."""
    network = shipped("bottleneck_none")
    model, source, target = network.model, network.source, network.target
    if setting == "retrained":
        model = train(source, target, seed)
    pairs = lists("test", TESTED, COUNT)
    batch = collate(encode_pairs(pairs, source, target))
    isos = [iso for _, iso in pairs]
    sides = {"own": isos, "other": isos[-1:] + isos[:-1]}
    shares = {}
    with torch.no_grad():
        start = model.start(batch.source, mask=batch.source_mask)
        own = start.memory.summary
        for name, half in HALVES.items():
            vectors = own.clone()
            vectors[:, half] = own.roll(1, 0)[:, half]
            tokens = decoded(model, start, vectors, batch.target_in[:, 0])
            outputs = [target.decode(row.tolist()).split(" ") for row in tokens]
            shares[name] = {
                side: {
                    part: [
                        sum(
                            len(output) > at and output[at][span] == iso.split(" ")[at][span]
                            for output, iso in zip(outputs, wanted, strict=True)
                        )
                        / TESTED
                        for at in range(COUNT)
                    ]
                    for part, span in PARTS.items()
                }
                for side, wanted in sides.items()
            }
    return shares


if __name__ == "__main__":
    Study("ch05/context_halves", run, ("released", "retrained")).main()
