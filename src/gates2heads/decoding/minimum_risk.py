"""Minimum Bayes risk: of several hypotheses, choose the one that is most like the others.

A search looks for the most probable hypothesis. Minimum Bayes risk asks another question: if the
reference were a random draw from the model, which hypothesis would score best on average?
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, function, listed

Hypothesis = TypeVar("Hypothesis")


@accepts(hypotheses=listed("hypotheses", least=1), utility=function("hypothesis", "reference"))
def pairwise_utility(
    hypotheses: Sequence[Hypothesis], utility: Callable[[Hypothesis, Hypothesis], float]
) -> Tensor:
    """Score every hypothesis against every other one, as if that were the reference.

    Args:
        hypotheses: N of them, such as strings.
        utility: (hypothesis, reference) -> a number, higher for a better hypothesis.

    Returns:
        (N, N) float64: a row for each hypothesis, a column for each reference.
    """
    hypotheses = list(hypotheses)
    table = [[float(utility(one, other)) for other in hypotheses] for one in hypotheses]
    return torch.tensor(table, dtype=torch.double)


@accepts(utilities=floats("N N"), log_probs=floats("N", empty=False))
def expected_utility(utilities: Tensor, log_probs: Tensor | None = None) -> Tensor:
    """Average the utility of each hypothesis over the list, by the probability of each reference.

    The hypothesis with the highest expected utility has the minimum Bayes risk.

    Source: Kumar and Byrne 2004, eq. 3, with a utility instead of a loss.

    Args:
        utilities: (N, N), from `pairwise_utility`.
        log_probs: (N,) float64, of the hypotheses under the model; normalised over the list. If
            not given, all hypotheses count equally, as random samples should.

    Returns:
        (N,) float64.
    """
    size = len(utilities)
    weights = torch.full((size,), 1 / size) if log_probs is None else log_probs.softmax(dim=0)
    return utilities.double() @ weights.double()
