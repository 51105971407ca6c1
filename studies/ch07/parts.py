"""Where in the model is a component needed, and is its function or its size decisive? Section 7.4.

    python -m studies.ch07.parts --seeds 0 1 2
    python -m studies.ch07.parts --table

A setting is a run of `ablation.py` with a component removed in one part of the model only: the
positional encodings of the encoder or of the decoder, or the residual connections of the encoder,
of the decoder or around cross-attention. As a control for size, "attention alone, five blocks" has
no feed-forward networks but five blocks on each side, and thus about the same number of parameters
as the complete model with three. The stored values are described in `ablation.py`.
"""

import torch

from gates2heads.book.ch07.ablation import NoResidual, Unplaced, changed_transformer
from gates2heads.book.studies import Study
from gates2heads.layers.blocks import Residual
from gates2heads.models.transformer.transformer import Transformer
from studies.ch07 import ablation

BLOCKS = 5
WHERE = {
    "no residuals in the encoder": "encoder",
    "no residuals in the decoder": "decoder",
    "no residuals around cross-attention": "cross_residual",
}
SETTINGS = (
    "attention alone, five blocks",
    "no positions in the encoder",
    "no positions in the decoder",
    *WHERE,
)


def changed(setting: str) -> Transformer:
    """A randomly initialised model of one setting."""
    if setting == "attention alone, five blocks":
        return changed_transformer("no feed-forward", blocks=BLOCKS)
    model = changed_transformer("whole")
    if setting == "no positions in the encoder":
        model.source_positions = Unplaced()
    elif setting == "no positions in the decoder":
        model.target_positions = Unplaced()
    for name, module in model.named_modules():
        if setting in WHERE and isinstance(module, Residual) and WHERE[setting] in name:
            module.__class__ = NoResidual
    return model


def run(setting: str, seed: int) -> dict:
    """Train one model."""
    torch.set_num_threads(1)
    return ablation.run("whole", seed, build=lambda _: changed(setting))


if __name__ == "__main__":
    Study("ch07/parts", run, SETTINGS).main()
