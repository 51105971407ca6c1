"""A Transformer whose encoder is told of no position: what the page can leave out."""

import torch

from gates2heads.layers.positions import Positions


class NoPositions(Positions):
    """Nothing is added."""

    def encode(self, positions):
        return torch.zeros(len(positions), self.size)


def without_positions(model):
    """The model, its encoder told of no position; its decoder is as before."""
    model.source_positions = NoPositions(model.d_model)
    for layer in model.encoder_layers:
        layer.self_attn.rotary = False
    return model
