"""Hard attention: attend to one sampled position, and learn from the reward."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    Call,
    accepts,
    boolean_mask,
    flag,
    floats,
    fraction,
    instance,
    listed,
    module,
    number,
)
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.record import note

STEPS = boolean_mask("batch steps")


class Choice(NamedTuple):
    """The positions sampled at T steps, with the quantities that REINFORCE needs."""

    picks: Tensor  # (B, T) long: the sampled position; 0 where no position is allowed
    log_prob: Tensor  # (B, T): log p of the sampled position, in nats; has the gradient
    entropy: Tensor  # (B, T): of the distribution from which it was sampled, in nats


@accepts(score=module)
class HardAttention(Attention):
    """Sample one position from the attention weights; the context is its value alone.

    Source: Xu et al. 2015, section 4.1: s ~ Multinoulli(α). While training, the context is the
    value at the sampled position; no gradient flows from it into the scores, see `reinforce_loss`.
    At evaluation it is the expectation Σ α v, as in soft attention. Departs from the paper in
    leaving out its third variance reduction, the expectation for half of the training pictures.
    Records `weights` α (B, T, S), and while training `picked` (B, T, S) inside a `record` block.

    Args:
        score: one of the score modules of `attention`.
    """

    def __init__(self, score: nn.Module):
        super().__init__(score)
        self._choices: list[Choice] | None = None

    @accepts(
        query=floats("B T score.query_size"),
        keys=floats("B S K"),
        values=floats("B S D"),
        mask=boolean_mask("B T S"),
        projected=flag,
    )
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        *,
        mask: Tensor | None = None,
        projected: bool = False,
    ):
        """Attend to one position for each query; the arguments are those of `Attention`.

        Returns:
            context (B, T, D), and weights (B, T, S): while training, rows with a single 1; at
            evaluation the probabilities. A row that may attend to nothing is zero.
        """
        context, weights = super().forward(query, keys, values, mask=mask, projected=projected)
        if not self.training:
            return context, weights
        picked, choice = draw(weights)
        note(self, picked=picked)
        if self._choices is not None:
            self._choices.append(choice)
        return picked @ values, picked

    @contextmanager
    def choices(self) -> Iterator[list[Choice]]:
        """Collect the choices that are sampled while the block runs, with their gradients.

        Example: `with attention.choices() as choices: logits = model(batch)`.

        Raises:
            RuntimeError: choices are being collected already.
        """
        if self._choices is not None:
            raise RuntimeError("choices are being collected already; leave the first block first")
        self._choices = []
        try:
            yield self._choices
        finally:
            self._choices = None


@accepts(weights=floats("B T S", empty=False))
def draw(weights: Tensor):
    """Sample one position per row.

    Args:
        weights: (B, T, S) probabilities; a row sums to 1, or is all zeros.

    Returns:
        picked (B, T, S), one 1 per row (none in a row of zeros), and the `Choice`.

    Raises:
        ValueError: the weights are not probabilities.
    """
    if not ((weights >= 0) & (weights <= 1.001)).all():
        raise ValueError("weights must be probabilities, got numbers outside [0, 1]")
    nothing = weights.sum(dim=-1) == 0  # (B, T)
    possible = weights.detach().masked_fill(nothing[..., None], 1.0)
    picks = torch.multinomial(possible.flatten(0, 1), 1).view(nothing.shape)  # (B, T)
    picks = picks.masked_fill(nothing, 0)
    picked = F.one_hot(picks, weights.shape[-1]).to(weights.dtype)
    picked = picked.masked_fill(nothing[..., None], 0.0)
    # A weight of zero has no logarithm; it is never sampled and adds nothing to the entropy.
    logs = weights.clamp_min(torch.finfo(weights.dtype).tiny).log()
    choice = Choice(picks, (logs * picked).sum(-1), -(logs * weights).sum(-1))
    return picked, choice


@accepts(
    reward=floats("B"),
    choices=listed("choices", kind=instance(Choice, "as `choices()` collects"), least=1),
    entropy_weight=number,
    mask=boolean_mask("B T"),
)
def reinforce_loss(
    reward: Tensor,
    choices: Sequence[Choice],
    *,
    baseline: float | Tensor = 0.0,
    entropy_weight: float = 0.0,
    mask: Tensor | None = None,
) -> Tensor:
    """The term of the loss whose gradient trains the choice of positions (REINFORCE).

    Source: Xu et al. 2015, eq. 12: the gradient of (R − b) log p(s) + λ H(s), negated because
    we minimise. Its expectation is the gradient of the expected reward, whatever b; b ≈ R reduces
    its variance.

    Args:
        reward: (B,) R, the reward of each sequence: log p(y | s), in nats. It is treated as a
            constant.
        choices: from `HardAttention.choices`, one entry for each time that the layer ran.
        baseline: b, one number or (B,); see `MovingBaseline`.
        entropy_weight: λ, the weight of the entropy bonus.
        mask: (B, T) bool, True = a step that counts.

    Returns:
        the loss, a number: the mean over the batch of the sums over the steps.

    Raises:
        TypeError, ValueError: the reward, the baseline or the mask does not match the choices.
    """
    log_prob = torch.cat([choice.log_prob for choice in choices], dim=1)  # (B, T)
    entropy = torch.cat([choice.entropy for choice in choices], dim=1)
    _check_rewards(log_prob, reward=reward, baseline=baseline, mask=mask)
    baseline = baseline if isinstance(baseline, Tensor) else float(baseline)
    advantage = (reward - baseline).detach()[:, None]  # (B, 1)
    gain = advantage * log_prob + float(entropy_weight) * entropy  # (B, T)
    if mask is not None:
        gain = gain.masked_fill(~mask, 0.0)
    return -gain.sum(dim=1).mean()


def _check_rewards(log_prob: Tensor, *, reward: Tensor, baseline: float | Tensor, mask) -> None:
    """Reject arguments that do not match the choices, whose log-probabilities are (B, T)."""
    batch, steps = log_prob.shape
    call = Call({"batch": batch, "steps": steps})
    floats("batch").check("reward", reward, call)
    (floats("batch") if isinstance(baseline, Tensor) else number).check("baseline", baseline, call)
    if mask is not None:
        STEPS.check("mask", mask, call)


@accepts(keep=fraction)
class MovingBaseline:
    """The expected reward: a moving average over the batches seen so far.

    Source: Xu et al. 2015, section 4.1: b ← 0.9 b + 0.1 R, starting from 0.

    Args:
        keep: the fraction of the old value that is kept, 0.9.
    """

    def __init__(self, keep: float = 0.9):
        self.keep, self.value = keep, 0.0

    @accepts(reward=floats("B", empty=False))
    def update(self, reward: Tensor) -> float:
        """Take in the rewards (B,) of a batch; return the value from before it."""
        before = self.value
        self.value = self.keep * before + (1 - self.keep) * reward.detach().mean().item()
        return before
