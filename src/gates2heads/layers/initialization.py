"""First weights: drawn so that what comes out of a layer varies as much as what goes in."""

import math

from torch import nn

from gates2heads.accepts import a, accepts, flag, share


@accepts(layer=a((nn.Linear, nn.Conv1d)), gated=flag, dropout=share)
def keep_variance(layer: nn.Module, *, gated: bool = False, dropout: float = 0.0) -> None:
    """Draw the weights of a layer so that the variance stays what it was; biases become zero.

    With n inputs to each output, weights of variance 1/n do that. A gate takes three quarters of
    the variance away, since σ is about ½ near zero, so what is gated later needs 4/n. Dropout
    with share p left makes its input 1/p times as varied, so the weights vary p times as much.

    Source: Gehring et al. 2017, section 3.5.

    Args:
        layer: a linear layer or a convolution; weight (outputs, inputs, …).
        gated: a gated linear unit comes next.
        dropout: how much of the layer's input is set to zero while training.
    """
    inputs = layer.weight[0].numel()
    nn.init.normal_(layer.weight, std=math.sqrt((4 if gated else 1) * (1 - dropout) / inputs))
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
