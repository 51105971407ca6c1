"""Normalisation layers: they keep the scale of activations in bounds."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, floats, fraction, natural, positive
from gates2heads.layers.record import is_recorded, note


@accepts(size=natural, eps=positive)
class LayerNorm(nn.Module):
    """Subtract each vector's mean and divide by its standard deviation; then scale and shift.

    Source: Ba et al. 2016, eq. 3–4: over the D features of one token, so that neither the other
    tokens nor the other sentences matter. Parameters are named as in `torch.nn.LayerNorm`. Notes
    `mean` and `deviation` (…, 1) inside a `record` block.

    Args:
        size: width D.
        eps: added to the variance, against division by zero.
    """

    def __init__(self, size: int, eps: float = 1e-5):
        super().__init__()
        self.size, self.eps = size, eps
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    @accepts(vectors=floats("… size"))
    def forward(self, vectors: Tensor) -> Tensor:
        """Normalise vectors (…, D) one by one; the shape is unchanged."""
        if not is_recorded(self):
            return F.layer_norm(vectors, (self.size,), self.weight, self.bias, self.eps)
        mean = vectors.mean(dim=-1, keepdim=True)  # (…, 1)
        variance = (vectors - mean).square().mean(dim=-1, keepdim=True)
        deviation = torch.sqrt(variance + self.eps)
        note(self, mean=mean, deviation=deviation)
        return (vectors - mean) / deviation * self.weight + self.bias


@accepts(size=natural, eps=positive)
class RMSNorm(nn.Module):
    """Divide each vector by its root mean square; then scale.

    Source: Zhang & Sennrich 2019, eq. 4: LayerNorm without the mean. Departs from it in `eps`.
    The parameter is named as in `torch.nn.RMSNorm`. Records `deviation` (…, 1), the root mean
    square inside a `record` block.

    Args:
        size: width D.
        eps: added to the mean square, against division by zero.
    """

    def __init__(self, size: int, eps: float = 1e-6):
        super().__init__()
        self.size, self.eps = size, eps
        self.weight = nn.Parameter(torch.ones(size))

    @accepts(vectors=floats("… size"))
    def forward(self, vectors: Tensor) -> Tensor:
        """Normalise vectors (…, D) one by one; the shape is unchanged."""
        if not is_recorded(self):
            return F.rms_norm(vectors, (self.size,), self.weight, self.eps)
        deviation = torch.sqrt(vectors.square().mean(dim=-1, keepdim=True) + self.eps)  # (…, 1)
        note(self, deviation=deviation)
        return vectors / deviation * self.weight


@accepts(size=natural, eps=positive, momentum=fraction)
class BatchNorm(nn.Module):
    """Normalise each feature over all real tokens of the batch; then scale and shift.

    Source: Ioffe & Szegedy 2015, algorithms 1 and 2. Departs from it in excluding padding from the
    statistics. A token's output depends on the rest of the batch while training, and on running
    averages from training at evaluation. Parameters and buffers are named as in
    `torch.nn.BatchNorm1d`, whose input has the features before the time axis.

    Args:
        size: width D.
        eps: added to the variance, against division by zero.
        momentum: the fraction of the newest batch in the running averages.
    """

    def __init__(self, size: int, eps: float = 1e-5, momentum: float = 0.1):
        super().__init__()
        self.size, self.eps, self.momentum = size, eps, momentum
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    @accepts(vectors=floats("B S size"), mask=boolean_mask("B S"))
    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Normalise vectors (B, S, D) feature by feature.

        Args:
            vectors: (B, S, D) float.
            mask: (B, S) bool, True = a real token; the others do not count, but are transformed
                like the rest.

        Returns:
            (B, S, D).

        Raises:
            ValueError: there are fewer than two real tokens, which the variance needs.
        """
        mean, variance = self.running_mean, self.running_var
        if self.training:
            real = (
                vectors.flatten(0, 1) if mask is None else vectors[mask.expand(vectors.shape[:2])]
            )
            if len(real) < 2:
                raise ValueError(
                    f"vectors must hold at least 2 real tokens while training, got {len(real)}"
                )
            mean, variance = real.mean(dim=0), real.var(dim=0, unbiased=False)  # (D,)
            self._keep(mean.detach(), real.detach().var(dim=0))
        scale = self.weight / torch.sqrt(variance + self.eps)
        return (vectors - mean) * scale + self.bias

    def _keep(self, mean: Tensor, variance: Tensor) -> None:
        """Move the averages for evaluation towards this batch; the variance is the unbiased one."""
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance, self.momentum)
        self.num_batches_tracked.add_(1)


NORMS = {"layer": LayerNorm, "rms": RMSNorm}
