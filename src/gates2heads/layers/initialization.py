"""Initialisation: the output of a layer has the same variance as its input."""

import math

from torch import nn

from gates2heads.accepts import accepts, flag, fraction, instance


@accepts(layer=instance((nn.Linear, nn.Conv1d)), gated=flag, dropout=fraction)
def keep_variance(layer: nn.Module, *, gated: bool = False, dropout: float = 0.0) -> None:
    """Initialise the weights of a layer to preserve the variance; biases become zero.

    With n inputs to each output, weights of variance 1/n do that. A gate removes three quarters of
    the variance, since σ is about ½ near zero, so a gated output needs 4/n. Dropout that keeps a
    fraction p multiplies the variance of the input by 1/p, so the variance of the weights is
    multiplied by p.

    Source: Gehring et al. 2017, section 3.5.

    Args:
        layer: a linear layer or a convolution; weight (outputs, inputs, …).
        gated: a gated linear unit comes next.
        dropout: the fraction of the layer's input that is set to zero during training.
    """
    inputs = layer.weight[0].numel()
    nn.init.normal_(layer.weight, std=math.sqrt((4 if gated else 1) * (1 - dropout) / inputs))
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
