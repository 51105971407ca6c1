"""Detection: how well a score separates positions where a label is true from the others."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, bools, floats
from gates2heads.metrics.words.vectors import ranks


@accepts(scores=floats(), labels=bools("N"))
def area_under_curve(scores: Tensor, labels: Tensor) -> Tensor:
    """The probability that a score is larger where the label is True than where it is False.

    It is the area under the receiver operating characteristic: 1 if one threshold separates the
    two, 0.5 if the score is uninformative, 0 if it is perfect with the opposite sign. Ties count as
    half.

    Source: Hanley & McNeil 1982, by the rank sum of Mann & Whitney 1947.

    Args:
        scores: (N, U) float, U scores of N positions; or (N,), a single one.
        labels: (N,) bool.

    Returns:
        (U,) in double precision; a scalar for scores (N,).

    Raises:
        ValueError: the shapes do not fit, a score is NaN, or all labels are equal.
    """
    if scores.dim() not in (1, 2) or labels.shape != scores.shape[:1]:
        raise ValueError(
            "scores and labels must have shapes (N, U) and (N,), got "
            f"{tuple(scores.shape)} and {tuple(labels.shape)}"
        )
    if scores.isnan().any():
        raise ValueError("scores must be numbers, got NaN")
    positive = int(labels.sum())
    negative = len(labels) - positive
    if not positive or not negative:
        raise ValueError("labels must hold True and False, got one of them alone")
    columns = scores.reshape(len(scores), -1).t()  # (U, N)
    if not len(columns):
        return scores.new_zeros(0, dtype=torch.double)
    sums = torch.stack([ranks(column)[labels].sum() for column in columns])  # (U,)
    # The least sum that so many ranks can have is 1 + 2 + … + positive.
    areas = (sums - positive * (positive + 1) / 2) / (positive * negative)
    return areas if scores.dim() == 2 else areas[0]
