"""Blocks: feed-forward networks, residual connections, and gated (causal) convolutions."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    boolean_mask,
    choice,
    flag,
    floats,
    fraction,
    listed,
    natural,
)
from gates2heads.layers.initialization import keep_variance
from gates2heads.layers.norms import NORMS
from gates2heads.layers.record import note

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


@accepts(d_model=natural, dim_feedforward=natural, activation=choice(ACTIVATIONS), bias=flag)
class FeedForward(nn.Module):
    """Apply the same network with one hidden layer to each position: W₂ φ(W₁ x + b₁) + b₂.

    Source: Vaswani et al. 2017, eq. 2, with φ the rectifier. The same as two convolutions with
    kernels of width 1: no position depends on another.

    Args:
        d_model: width D of input and output.
        dim_feedforward: width F of the hidden layer.
        activation: φ, one of "relu", "gelu", "silu".
        bias: whether the two layers have biases.
    """

    def __init__(
        self, d_model: int, dim_feedforward: int, activation: str = "relu", *, bias: bool = True
    ):
        super().__init__()
        self.d_model, self.activation = d_model, activation
        self.linear1 = nn.Linear(d_model, dim_feedforward, bias=bias)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=bias)

    @accepts(vectors=floats("B S d_model"))
    def forward(self, vectors: Tensor) -> Tensor:
        """Map vectors (B, S, D) position by position: (B, S, D)."""
        hidden = ACTIVATIONS[self.activation](self.linear1(vectors))  # (B, S, F)
        return self.linear2(hidden)


@accepts(d_model=natural, dim_feedforward=natural, bias=flag)
class SwiGLU(nn.Module):
    """A feed-forward network with a gate: W_down (silu(W_gate x) ⊙ W_up x), position by position.

    Source: Shazeer 2020, eq. 6. The parameters are named as in Llama (Touvron et al. 2023). It has
    three matrices where `FeedForward` has two: with F' = 2/3 F, both have equally many parameters.

    Args:
        d_model: width D of input and output.
        dim_feedforward: width F' of the hidden layer.
        bias: whether the three projections have biases.
    """

    def __init__(self, d_model: int, dim_feedforward: int, *, bias: bool = False):
        super().__init__()
        self.d_model = d_model
        self.gate_proj = nn.Linear(d_model, dim_feedforward, bias=bias)
        self.up_proj = nn.Linear(d_model, dim_feedforward, bias=bias)
        self.down_proj = nn.Linear(dim_feedforward, d_model, bias=bias)

    @accepts(vectors=floats("B S d_model"))
    def forward(self, vectors: Tensor) -> Tensor:
        """Map vectors (B, S, D) position by position: (B, S, D)."""
        return self.down_proj(F.silu(self.gate_proj(vectors)) * self.up_proj(vectors))


@accepts(d_model=natural, dropout=fraction, norm_first=flag, norm=choice(NORMS))
class Residual(nn.Module):
    """Add the output of a sublayer to its input; normalise the sum or the input of the sublayer.

    Source: post-norm, norm(x + f(x)), Vaswani et al. 2017, section 3.1; pre-norm,
    x + f(norm(x)), Xiong et al. 2020, figure 1. Dropout on f(x), Vaswani et al. 2017, section 5.4.

    Used as `residual.after(x, layer(residual.before(x)))`, so that the layer may return more than
    one thing. Records x as `before`, f(x) as `added` and the output as `after`, (B, S, D) each,
    inside a `record` block.

    Args:
        d_model: width D.
        dropout: the fraction of f(x) that is set to zero during training.
        norm_first: True is pre-norm.
        norm: "layer" or "rms".
    """

    def __init__(
        self,
        d_model: int,
        dropout: float = 0.0,
        *,
        norm_first: bool = False,
        norm: str = "layer",
    ):
        super().__init__()
        self.dropout, self.norm_first = dropout, norm_first
        self.norm = NORMS[norm](d_model)

    def before(self, vectors: Tensor) -> Tensor:
        """The input of the sublayer, from vectors (B, S, D)."""
        return self.norm(vectors) if self.norm_first else vectors

    def after(self, vectors: Tensor, computed: Tensor) -> Tensor:
        """Add the output of the sublayer to its input, both (B, S, D)."""
        if self.training:
            computed = F.dropout(computed, self.dropout)
        total = vectors + computed
        output = total if self.norm_first else self.norm(total)
        note(self, before=vectors, added=computed, after=output)
        return output


@accepts(d_model=natural, kernel_size=natural, dilation=natural, causal=flag, dropout=fraction)
class ConvolutionBlock(nn.Module):
    """A gated convolution over a window of the sequence, with a residual connection.

    Source: Gehring et al. 2017, sections 3.2 and 3.4: √½ · (x + A ⊙ σ(B)), where A and B are the
    output of a convolution; the initial weights preserve the variance, section 3.5. Departs from it
    in the dilation, van den Oord et al. 2016, which widens the receptive field of deep stacks, and
    in omitting weight normalisation.

    Args:
        d_model: width D of input and output.
        kernel_size: the number of positions in the window; odd if not causal.
        dilation: distance between neighbours in the window.
        causal: the window ends at the position itself; otherwise the position is in its middle.
        dropout: the fraction of the convolution's input that is set to zero during training.
    """

    def __init__(
        self,
        d_model: int,
        kernel_size: int,
        *,
        dilation: int = 1,
        causal: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        if not causal and kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd if not causal, got {kernel_size}")
        self.d_model, self.causal, self.dropout = d_model, causal, dropout
        self.reach = (kernel_size - 1) * dilation  # from the first to the last of the window
        self.convolution = nn.Conv1d(d_model, 2 * d_model, kernel_size, dilation=dilation)
        keep_variance(self.convolution, gated=True, dropout=dropout)

    @accepts(vectors=floats("B S d_model"), mask=boolean_mask("B S"))
    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Transform vectors (B, S, D) by their context.

        Args:
            vectors: (B, S, D) float.
            mask: (B, S) bool, True = a real token; the others are treated as zeros, like positions
                beyond the ends.

        Returns:
            (B, S, D).

        Raises:
            ValueError: there is no time step.
        """
        _check_steps(vectors)
        seen = vectors if mask is None else vectors.masked_fill(~mask[..., None], 0.0)
        left = self.reach if self.causal else self.reach // 2
        return self._transform(vectors, F.pad(seen, (0, 0, left, self.reach - left)))

    @accepts(vectors=floats("B T d_model"), past=floats("B reach d_model"))
    def step(self, vectors: Tensor, past: Tensor | None = None):
        """Process T further positions, (B, T, D), after those of the past.

        Returns:
            output (B, T, D), and the last `reach` inputs (B, reach, D), the past of the next step.

        Raises:
            ValueError: the block is not causal, or there is no time step.
        """
        if not self.causal:
            raise ValueError("a block must be causal to go step by step, this one looks ahead")
        _check_steps(vectors)
        if past is None:
            past = vectors.new_zeros(len(vectors), self.reach, self.d_model)
        window = torch.cat([past, vectors], dim=1)  # (B, reach + T, D)
        return self._transform(vectors, window), window[:, vectors.shape[1] :]

    def _transform(self, vectors: Tensor, window: Tensor) -> Tensor:
        """From vectors (B, S, D) and their windows (B, S + reach, D)."""
        window = F.dropout(window, self.dropout, self.training)
        convolved = self.convolution(window.transpose(1, 2)).transpose(1, 2)  # (B, S, 2D)
        return (vectors + F.glu(convolved, dim=-1)) * math.sqrt(0.5)


@accepts(dilations=listed("counts", kind=natural, least=1))
def convolution_blocks(
    d_model: int, kernel_size: int, dilations: Sequence[int], **options
) -> nn.ModuleList:
    """A stack of blocks, (B, S, D).

    Args:
        d_model, kernel_size: see `ConvolutionBlock`.
        dilations: one number for each block.
        **options: further arguments of `ConvolutionBlock`, the same for all.
    """
    return nn.ModuleList(
        ConvolutionBlock(d_model, kernel_size, dilation=dilation, **options)
        for dilation in dilations
    )


def _check_steps(vectors: Tensor) -> None:
    if not vectors.shape[1]:
        raise ValueError(f"vectors must have a time step, got shape {tuple(vectors.shape)}")
