"""Blocks: what stands between attention layers, and a convolution that looks only back."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import check_dtypes, check_mask, check_width
from gates2heads.checks.values import check_choice, check_count, check_flag, check_share
from gates2heads.layers.initialization import keep_variance
from gates2heads.layers.norms import NORMS
from gates2heads.layers.record import note

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


class FeedForward(nn.Module):
    """Put each position through the same network with one hidden layer: W₂ φ(W₁ x + b₁) + b₂.

    Source: Vaswani et al. 2017, eq. 2, with φ the rectifier. The same as two convolutions with
    kernels of width 1: no position sees another.

    Args:
        d_model: width D of input and output.
        dim_feedforward: width F of the hidden layer.
        activation: φ, one of "relu", "gelu", "silu".
    """

    def __init__(self, d_model: int, dim_feedforward: int, activation: str = "relu"):
        super().__init__()
        check_count("d_model", d_model)
        check_count("dim_feedforward", dim_feedforward)
        check_choice("activation", activation, ACTIVATIONS)
        self.d_model, self.activation = d_model, activation
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)

    def forward(self, vectors: Tensor) -> Tensor:
        """Map vectors (B, S, D) position by position: (B, S, D)."""
        check_width("vectors", vectors, self.d_model, dims=3)
        check_dtypes(self, vectors=vectors)
        hidden = ACTIVATIONS[self.activation](self.linear1(vectors))  # (B, S, F)
        return self.linear2(hidden)


class Residual(nn.Module):
    """Add what a layer computes to what it read, and normalise after the sum or before the layer.

    Source: post-norm, norm(x + f(x)), Vaswani et al. 2017, section 3.1; pre-norm,
    x + f(norm(x)), Xiong et al. 2020, figure 1. Dropout on f(x), Vaswani et al. 2017, section 5.4.

    Used as `residual.after(x, layer(residual.before(x)))`, so that the layer may return more than
    one thing. Notes x as `before`, f(x) as `added` and what comes out as `after`, (B, S, D) each,
    when somebody records.

    Args:
        d_model: width D.
        dropout: how much of f(x) is set to zero while training.
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
        check_count("d_model", d_model)
        check_share("dropout", dropout)
        check_flag("norm_first", norm_first)
        check_choice("norm", norm, NORMS)
        self.dropout, self.norm_first = dropout, norm_first
        self.norm = NORMS[norm](d_model)

    def before(self, vectors: Tensor) -> Tensor:
        """What the layer reads, from vectors (B, S, D)."""
        return self.norm(vectors) if self.norm_first else vectors

    def after(self, vectors: Tensor, computed: Tensor) -> Tensor:
        """Join what was there with what the layer computed, both (B, S, D)."""
        if self.training:
            computed = F.dropout(computed, self.dropout)
        total = vectors + computed
        output = total if self.norm_first else self.norm(total)
        note(self, before=vectors, added=computed, after=output)
        return output


class ConvolutionBlock(nn.Module):
    """Look at a window of the sequence, through a gate, and add what is seen.

    Source: Gehring et al. 2017, sections 3.2 and 3.4: √½ · (x + A ⊙ σ(B)), where A and B are what
    a convolution makes of the window; the first weights keep the variance, section 3.5. Departs
    from it in the dilation, van den Oord et al. 2016, which leaves gaps so that deep stacks see
    far, and in leaving weight normalisation out.

    Args:
        d_model: width D of input and output.
        kernel_size: how many positions the window holds; odd if not causal.
        dilation: distance between neighbours in the window.
        causal: the window ends at the position itself; else the position is in its middle.
        dropout: how much of the input of the convolution is set to zero while training.
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
        check_count("d_model", d_model)
        check_count("kernel_size", kernel_size)
        check_count("dilation", dilation)
        check_share("dropout", dropout)
        check_flag("causal", causal)
        if not causal and kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd if not causal, got {kernel_size}")
        self.d_model, self.causal, self.dropout = d_model, causal, dropout
        self.reach = (kernel_size - 1) * dilation  # from the first to the last of the window
        self.convolution = nn.Conv1d(d_model, 2 * d_model, kernel_size, dilation=dilation)
        keep_variance(self.convolution, gated=True, dropout=dropout)

    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Transform vectors (B, S, D) by what is around them.

        Args:
            vectors: (B, S, D) float.
            mask: (B, S) bool, True = a real token; the others are seen as zeros, like what lies
                beyond the ends.

        Returns:
            (B, S, D).

        Raises:
            TypeError, ValueError: the width, the dtype or the mask does not fit.
        """
        self._check(vectors)
        check_mask(mask, vectors.shape[:2], like=vectors)
        seen = vectors if mask is None else vectors.masked_fill(~mask[..., None], 0.0)
        left = self.reach if self.causal else self.reach // 2
        return self._transform(vectors, F.pad(seen, (0, 0, left, self.reach - left)))

    def step(self, vectors: Tensor, past: Tensor | None = None):
        """Go on by T positions, (B, T, D), after those of the past.

        Returns:
            output (B, T, D), and the last `reach` inputs (B, reach, D), the past of the next step.

        Raises:
            ValueError: the block is not causal.
        """
        if not self.causal:
            raise ValueError("a block must be causal to go step by step, this one looks ahead")
        self._check(vectors)
        shape = (len(vectors), self.reach, self.d_model)
        if past is None:
            past = vectors.new_zeros(shape)
        elif not isinstance(past, Tensor):
            raise TypeError(f"past must be a tensor, got {type(past).__name__}")
        elif past.shape != shape:
            raise ValueError(f"past must have shape {shape}, got {tuple(past.shape)}")
        check_dtypes(self, past=past)
        window = torch.cat([past, vectors], dim=1)  # (B, reach + T, D)
        return self._transform(vectors, window), window[:, vectors.shape[1] :]

    def _check(self, vectors: Tensor) -> None:
        check_width("vectors", vectors, self.d_model, dims=3)
        check_dtypes(self, vectors=vectors)
        if not vectors.shape[1]:
            raise ValueError(f"vectors must have a time step, got shape {tuple(vectors.shape)}")

    def _transform(self, vectors: Tensor, window: Tensor) -> Tensor:
        """From vectors (B, S, D) and what they see (B, S + reach, D)."""
        window = F.dropout(window, self.dropout, self.training)
        convolved = self.convolution(window.transpose(1, 2)).transpose(1, 2)  # (B, S, 2D)
        return (vectors + F.glu(convolved, dim=-1)) * math.sqrt(0.5)


def convolution_blocks(
    d_model: int, kernel_size: int, dilations: Sequence[int], **options
) -> nn.ModuleList:
    """Blocks that each read what the one before wrote, (B, S, D).

    Args:
        d_model, kernel_size: see `ConvolutionBlock`.
        dilations: one number for each block.
        **options: what else `ConvolutionBlock` takes, the same for all.

    Raises:
        TypeError, ValueError: the dilations are no list of counts, or a block refuses the rest.
    """
    if not isinstance(dilations, Sequence) or isinstance(dilations, str) or not dilations:
        raise TypeError(f"dilations must hold one number a layer, got {shown(dilations)}")
    for dilation in dilations:
        check_count("dilations", dilation)
    return nn.ModuleList(
        ConvolutionBlock(d_model, kernel_size, dilation=dilation, **options)
        for dilation in dilations
    )
