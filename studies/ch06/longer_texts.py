"""Language models beyond their training length. Section 6.6 shows the results.

    GATES2HEADS_DATA=… python -m studies.ch06.longer_texts --seeds 0 1 2 3 4
    python -m studies.ch06.longer_texts --table

A small causal language model over the characters of Tiny Shakespeare is trained on passages of 64
characters, and then reads passages of up to 1,024 characters of the validation plays. `losses` is
the mean cross-entropy in nats of the characters at positions 0 to 31, 32 to 63, 64 to 127, …, 512
to 1,023 (`edges`). The setting `rotary` is then fine-tuned on passages of 256 characters with
position interpolation (`interpolated`), and without it (`tuned`), for a tenth of the training
steps; `untuned` are the losses with interpolation before the fine-tuning. The settings that end in
4000 are trained for 4,000 steps instead of 1,000.
"""

from copy import deepcopy
from itertools import pairwise

import torch

from gates2heads.book.ch06.copy_task import Interpolated
from gates2heads.book.ch06.longer_texts import ENCODINGS, CharacterModel
from gates2heads.book.studies import Study
from gates2heads.data.batches.passages import passage_loss, passages
from gates2heads.data.corpora.shakespeare import tiny_shakespeare
from gates2heads.training.loop import fit
from gates2heads.training.schedules import warmup_linear

LENGTH, LONGER = 64, 256
STEPS, LONG, RATE = 1000, 4000, 3e-3
CHARACTERS = 32 * LENGTH  # of a batch, of whatever length its passages are
SETTINGS = {
    **{encoding: (encoding, STEPS) for encoding in ENCODINGS},
    **{f"{encoding} {LONG}": (encoding, LONG) for encoding in ENCODINGS},
}
EDGES = (0, 32, 64, 128, 256, 512, 1024)
TESTED = 48


def read(split: str, known: str) -> torch.Tensor:
    """The characters of a split as numbers."""
    numbers = {character: number for number, character in enumerate(known)}
    return torch.tensor([numbers[one] for one in tiny_shakespeare(split) if one in numbers])


@torch.no_grad()
def losses_of(model, text, seed: int) -> list[float]:
    """Cross-entropy in nats of each range of positions."""
    tested = next(passages(text, TESTED, length=EDGES[-1], seed=10**6 + seed))
    surprisals = []
    for part in tested.split(8):
        scores = model(part[:, :-1]).log_softmax(-1)
        surprisals.append(-scores.gather(-1, part[:, 1:, None])[..., 0])
    losses = torch.cat(surprisals).double().mean(0)
    return [losses[start:end].mean().item() for start, end in pairwise(EDGES)]


def train(
    model, text, *, steps: int, length: int, rate: float, seed: int, description: str
) -> None:
    """Train a model on passages of one length."""
    fit(
        model.train(),
        passages(text, CHARACTERS // length, length=length, seed=seed),
        steps=steps,
        loss=passage_loss,
        learning_rate=rate,
        schedule=warmup_linear(steps, warmup=steps // 10, decay=0.5),
        description=description,
    )
    model.eval()


def run(setting: str, seed: int) -> dict:
    """Train a model with one encoding."""
    encoding, steps = SETTINGS[setting]
    known = "".join(sorted(set(tiny_shakespeare("train"))))
    text, held_out = read("train", known), read("validation", known)
    torch.manual_seed(seed)
    model = CharacterModel(encoding, len(known))
    description = f"{setting}, seed {seed}"
    train(model, text, steps=steps, length=LENGTH, rate=RATE, seed=seed, description=description)
    result = {"edges": list(EDGES), "losses": losses_of(model, held_out, seed)}
    if encoding == "rotary":
        stretched = deepcopy(model)
        for layer in stretched.layers:
            layer.attention = Interpolated(layer.attention, LENGTH / LONGER)
        result["untuned"] = losses_of(stretched, held_out, seed)
        for name, one in (("tuned", model), ("interpolated", stretched)):
            how = {"steps": steps // 10, "length": LONGER, "rate": RATE / 3, "seed": 1000 + seed}
            train(one, text, **how, description=name)
            result[name] = losses_of(one, held_out, seed)
    return result


if __name__ == "__main__":
    Study("ch06/longer_texts", run, SETTINGS).main()
