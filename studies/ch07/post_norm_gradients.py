"""Which sublayers of a post-norm Transformer make the gradient smaller? Section 7F D.

    python -m studies.ch07.post_norm_gradients --seeds 0 1 2 3 4
    python -m studies.ch07.post_norm_gradients --table

The model is the post-norm Transformer of `studies.ch07.depth`, with twelve blocks on each side,
before training; the loss is that of the first batch of dates. The settings are the complete model
and the model without cross-attention, in which no gradient reaches the encoder.

`encoder` and `decoder` are the norms of the gradient of each block's parameters, from the first
block to the last; `last_to_first` is the last of them divided by the first. `passed` is, for each
kind of sublayer, the norm of the gradient at its input divided by that at its output; a ratio below
one means that the sublayer makes the gradient smaller in backpropagation. `least`, `mean` and
`most` summarise this ratio over the blocks, and `smaller` counts the blocks with a ratio below one.
"""

from statistics import mean

import torch
from torch import nn

from gates2heads.book.ch07 import ablation as experiment
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.training.losses import sequence_loss

SETTINGS = ("complete", "no cross-attention")
BLOCKS = {"num_encoder_layers": 12, "num_decoder_layers": 12}
SUBLAYERS = {
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}


def watched(block: nn.Module, name: str, kept: list) -> None:
    """Keep the input and the output of a sublayer, with their gradients."""
    sublayer = getattr(block, f"_{name}_sublayer")

    def forward(vectors, *rest):
        entering = vectors.view_as(vectors)  # its gradient is that of this sublayer alone
        leaving = sublayer(entering, *rest)
        entering.retain_grad()
        leaving.retain_grad()
        kept.append((entering, leaving))
        return leaving

    setattr(block, f"_{name}_sublayer", forward)


def norms(blocks: nn.ModuleList) -> list[float]:
    """Norm of the gradient of each block's parameters."""
    return [
        nn.utils.get_total_norm([p.grad for p in block.parameters() if p.grad is not None]).item()
        for block in blocks
    ]


def summary(ratios: list[float]) -> dict:
    """Summarise the ratios of the blocks."""
    return {
        "least": round(min(ratios), 4),
        "mean": round(mean(ratios), 4),
        "most": round(max(ratios), 4),
        "smaller": sum(ratio < 1 for ratio in ratios),
    }


def run(setting: str, seed: int) -> dict:
    """Differentiate the loss of the first batch before the first step."""
    torch.set_num_threads(1)
    data = experiment.date_data()
    torch.manual_seed(seed)
    sizes = len(data.source.vocabulary), len(data.target.vocabulary)
    model = Transformer(*sizes, norm_first=False, **(experiment.SIZES | BLOCKS))
    stacks = {"encoder": model.encoder_layers, "decoder": model.decoder_layers}
    if setting == "no cross-attention":
        for block in model.decoder_layers:
            block._cross_attention_sublayer = lambda vectors, *_: vectors
    kept = {}
    for side, blocks in stacks.items():
        for name in SUBLAYERS[side]:
            if setting == "complete" or name != "cross_attention":
                kept[f"{side} {name}"] = []
                for block in blocks:
                    watched(block, name, kept[f"{side} {name}"])
    sequence_loss(model, collate(data.train[: experiment.BATCH_SIZE])).backward()
    found = {side: norms(blocks) for side, blocks in stacks.items()}
    if setting != "complete":  # nothing leads from the loss to the encoder
        del found["encoder"]
    return {
        **{side: [round(norm, 6) for norm in some] for side, some in found.items()},
        "last_to_first": {side: round(some[-1] / some[0], 4) for side, some in found.items()},
        "passed": {
            name: summary(
                [(before.grad.norm() / after.grad.norm()).item() for before, after in some]
            )
            for name, some in kept.items()
            if name.partition(" ")[0] in found
        },
    }


if __name__ == "__main__":
    Study("ch07/post_norm_gradients", run, SETTINGS).main()
