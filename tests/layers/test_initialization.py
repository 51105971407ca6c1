"""First weights: what varies how much before and after a layer."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gates2heads.layers.blocks import convolution_blocks
from gates2heads.layers.initialization import keep_variance

LAYERS = {
    "linear": lambda: nn.Linear(113, 226),
    "convolution": lambda: nn.Conv1d(113, 226, 3),
}


def small(*shape, std=0.1):
    return torch.randn(*shape) * std


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("gated", [False, True])
def test_what_comes_out_varies_as_what_goes_in(kind, dropout, gated):
    layer = LAYERS[kind]()
    keep_variance(layer, gated=gated, dropout=dropout)
    inputs = small(199, 113) if kind == "linear" else small(97, 113, 5)
    outputs = layer(F.dropout(inputs, dropout))
    if gated:
        outputs = F.glu(outputs, dim=1)
    assert outputs.std().item() == pytest.approx(0.1, rel=0.1)
    assert (layer.bias == 0).all()


def test_by_hand():
    # 113 · 3 inputs to each output, 0.7 of them kept, a gate: variance 4 · 0.7 / 339.
    layer = nn.Conv1d(113, 226, 3, bias=False)
    keep_variance(layer, gated=True, dropout=0.3)
    assert layer.weight.std().item() == pytest.approx(math.sqrt(4 * 0.7 / 339), rel=0.02)
    keep_variance(layer, dropout=1.0)
    assert (layer.weight == 0).all()


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_thirty_blocks_neither_fade_nor_blow_up(dropout):
    vectors = small(7, 31, 101)
    for block in convolution_blocks(101, 3, [1] * 30, dropout=dropout):
        vectors = block(vectors)
    assert 0.05 < vectors.std().item() < 0.2
