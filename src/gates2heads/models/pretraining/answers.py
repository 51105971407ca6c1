"""Extractive question answering: one vector scores the first token, another the last one."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import Call, accepts, boolean_mask, floats, instance, natural, number


class AnswerLogits(NamedTuple):
    """The scores of each token as the beginning and the end of the answer."""

    first: Tensor  # (B, L) float
    last: Tensor  # (B, L) float


class Answers(NamedTuple):
    """One answer for each of B questions: tokens[first : last + 1]."""

    first: Tensor  # (B,) long; −1 where there is none
    last: Tensor  # (B,) long; −1 where there is none
    found: Tensor  # (B,) bool, False = no answer
    score: Tensor  # (B,) float, of the best span, whether it is taken or not


@accepts(width=natural)
class AnswerHead(nn.Module):
    """Select the span of a passage that answers a question.

    Source: Devlin et al. 2019, section 4.2: a start vector S and an end vector E; the score of
    the span from i to j is S·Tᵢ + E·Tⱼ. With the two biases of its code.

    Args:
        width: D.
    """

    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.readout = nn.Linear(width, 2)  # its rows are S and E

    @accepts(vectors=floats("B L width"))
    def forward(self, vectors: Tensor) -> AnswerLogits:
        """From vectors (B, L, D) to logits (B, L) for the first token and for the last one."""
        return AnswerLogits(*self.readout(vectors).unbind(-1))


@accepts(
    logits=instance(tuple, "as `AnswerHead` gives"),
    max_length=natural,
    null=natural(least=0),
    threshold=number,
)
def best_answers(
    logits: AnswerLogits,
    *,
    allowed: Tensor | None = None,
    max_length: int | None = None,
    null: int | None = None,
    threshold: float = 0.0,
) -> Answers:
    """The best span of all that begin before they end, unless "no answer" is better.

    Source: Devlin et al. 2019, sections 4.2 and 4.3: the answer is taken if its score exceeds by a
    threshold τ that of the span that begins and ends at [CLS]. The earlier of two equal spans wins.

    Args:
        logits: from `AnswerHead`, L tokens each.
        allowed: (B, L) bool, True = this position may be in an answer, such as the passage's
            tokens.
        max_length: the longest answer, in tokens.
        null: the position whose score means "no answer", 0 for [CLS]; None always answers. It
            cannot be part of an answer.
        threshold: τ, in the units of the logits.

    Raises:
        TypeError, ValueError: the logits and the mask do not match, `null` is not a position, or
            `threshold` is not a number.
    """
    _check_logits(logits, allowed)
    first, last = logits
    allowed = _everywhere(first) if allowed is None else allowed.expand(first.shape)
    size = first.shape[1]
    if null is not None:
        if null >= size:
            raise ValueError(f"null must be a position, 0 to {size - 1}, got {null}")
        allowed = allowed.clone()
        allowed[:, null] = False
    if not (isinstance(threshold, float) and math.isinf(threshold)):
        number.check("threshold", threshold)
    ordered = torch.ones(size, size, dtype=torch.bool, device=first.device).triu()
    if max_length is not None:
        ordered = ordered.tril(max_length - 1)
    fits = ordered & allowed[:, :, None] & allowed[:, None, :]  # (B, L, L)
    scores = (first[:, :, None] + last[:, None, :]).masked_fill(~fits, -torch.inf)
    best, place = scores.flatten(1).max(dim=1)  # (B,)
    found = fits.flatten(1).any(dim=1)
    if null is not None:
        found = found & (best > first[:, null] + last[:, null] + float(threshold))
    return _answers(place // size, place % size, found, best)


@accepts(logits=instance(tuple, "as `AnswerHead` gives"))
def crossed_answers(logits: AnswerLogits, *, allowed: Tensor | None = None) -> Answers:
    """The best first token and the best last one, chosen independently; no answer if they cross.

    Cheaper than `best_answers`, but less accurate: two good tokens need not form a good span.

    Args:
        logits: from `AnswerHead`, L tokens each.
        allowed: (B, L) bool, True = this position may be in an answer.

    Raises:
        TypeError, ValueError: the logits or the mask are invalid.
    """
    _check_logits(logits, allowed)
    first, last = logits
    allowed = _everywhere(first) if allowed is None else allowed.expand(first.shape)
    begins, begin = first.masked_fill(~allowed, -torch.inf).max(dim=1)
    ends, end = last.masked_fill(~allowed, -torch.inf).max(dim=1)
    return _answers(begin, end, (begin <= end) & allowed.any(dim=1), begins + ends)


def _answers(first: Tensor, last: Tensor, found: Tensor, score: Tensor) -> Answers:
    return Answers(first.masked_fill(~found, -1), last.masked_fill(~found, -1), found, score)


def _everywhere(first: Tensor) -> Tensor:
    """An answer may be anywhere: (B, L) bool."""
    return torch.ones_like(first, dtype=torch.bool)


def _check_logits(logits: AnswerLogits, allowed: Tensor | None) -> None:
    """Reject logits that are not two tensors (B, L), and a mask that does not match them."""
    if len(logits) != 2:
        raise ValueError(
            f"logits must be AnswerLogits, as `AnswerHead` gives, got a tuple of {len(logits)}"
        )
    call = Call({})
    for name, tensor in zip(AnswerLogits._fields, logits, strict=True):
        floats("B L", empty=False).check(f"logits.{name}", tensor, call)
        if tensor.isnan().any():
            raise ValueError(f"logits.{name} must hold numbers, got NaN")
    if allowed is not None:
        boolean_mask("B L").check("allowed", allowed, call)
