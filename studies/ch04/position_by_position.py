"""Can a network output one character for each input character? Section 4.1 shows it.

    python -m studies.ch04.position_by_position --seeds 0 1 2
    python -m studies.ch04.position_by_position --table

A setting is a network of `gates2heads.book.ch04.position_by_position`. It is trained on dates in
eight languages, on 1,000 batches (`STEPS`) of 64; one setting has four times the training, and one
a second layer. In two settings, the single layer is followed by two linear layers with 256 units
(`HIDDEN`) between them, with or without a tanh.

`right` is the share of 1,000 test dates that are completely correct; the language codes have the
same for each language. `short` is the share of dates with at most nine characters, which have too
few positions for the ten characters of the output.
"""

import torch
from torch import nn

from gates2heads.book.ch04.position_by_position import READS, Tagger, tagged, tagging_loss
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate, endless_batches
from gates2heads.data.corpora.dates import LOCALES, dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.training.loop import fit
from gates2heads.training.schedules import warmup_linear

STEPS, BATCH_SIZE, TESTED, ISO = 1000, 64, 1000, 10
HIDDEN = 256
LONGER = ", four times the training"
DEEP = "both ways, two layers"
READOUTS = {  # what is between the two linear layers of the output
    "both ways, tanh layer before the output": [nn.Tanh()],
    "both ways, second linear layer before the output": [],
}


def run(setting: str, seed: int) -> dict:
    """Train one network; return the share of dates that it gets right."""
    reads = setting.removesuffix(LONGER)
    if setting == DEEP or setting in READOUTS:
        reads = "both ways"
    steps = 4 * STEPS if setting.endswith(LONGER) else STEPS
    layers = 2 if setting == DEEP else 1
    pairs = [(pair.text, pair.iso) for pair in dates("train", 30_000)]
    source, target = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    torch.manual_seed(seed)
    model = Tagger(len(source.vocabulary), len(target.vocabulary), reads=reads, num_layers=layers)
    if setting in READOUTS:
        width, size = model.readout.in_features, model.readout.out_features
        first, last = nn.Linear(width, HIDDEN), nn.Linear(HIDDEN, size)
        model.readout = nn.Sequential(first, *READOUTS[setting], last)
    fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=steps,
        loss=tagging_loss,
        learning_rate=5e-3,
        schedule=warmup_linear(steps, warmup=50, decay=0.3),
        description=f"{setting}, seed {seed}",
    )
    model.eval()
    test = dates("test", TESTED)
    written = tagged(
        model, collate(encode_pairs([(p.text, p.iso) for p in test], source, target)), target
    )
    right = [a == pair.iso for a, pair in zip(written, test, strict=True)]

    def share(chosen) -> float:
        some = [one for one, pair in zip(right, test, strict=True) if chosen(pair)]
        return sum(some) / len(some)

    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "right": share(lambda pair: True),
        "short": share(lambda pair: len(pair.text) < ISO),
        **{name: share(lambda pair, name=name: pair.locale == name) for name in LOCALES},
    }


if __name__ == "__main__":
    settings = *READS, DEEP, *READOUTS, "both ways" + LONGER
    Study("ch04/position_by_position", run, settings).main()
