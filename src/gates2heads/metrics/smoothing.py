"""Smoothing of BLEU for orders in which no n-gram matches.

BLEU multiplies precisions, so one order without a match would make the whole score 0. In a single
sentence that happens all the time.
"""

from gates2heads.accepts import accepts, choice, listed, natural, number
from gates2heads.accepts.shown import shown

__all__ = ["SMOOTHING", "modified_precisions"]

# The methods, and the default value of each.
SMOOTHING = {"none": None, "floor": 0.1, "add-k": 1.0, "exp": None}


@accepts(
    matches=listed("counts", kind=natural(least=0)),
    totals=listed("counts", kind=natural(least=0)),
    smooth_method=choice(SMOOTHING),
    smooth_value=number(least=0),
)
def modified_precisions(matches, totals, smooth_method="none", smooth_value=None) -> list[float]:
    """Divide clipped matches by totals, order by order, and smooth the orders without a match.

    - `none`: such an order has precision 0, and the whole score becomes 0.
    - `floor`: count `smooth_value` matches there (0.1 by default).
    - `add-k`: from bigrams on, add `smooth_value` (1 by default) to matches and totals alike.
    - `exp`: count 1/2 match at the first such order, 1/4 at the second, and so on.

    Source: Papineni et al. 2002, eq. 15.39 of the notes; Chen and Cherry 2014, methods 1, 2 and 3.
    As in sacreBLEU a hypothesis without a single match is not smoothed.

    Args:
        matches: clipped matches of orders 1 … N.
        totals: n-grams of orders 1 … N in the hypothesis.
        smooth_method: one of the four names above.
        smooth_value: for `floor` and `add-k`.
    Returns:
        precisions in percent, one for each order that has any n-gram; none at all without a match.
    Raises:
        ValueError: matches and totals differ in length, or more matches than n-grams.
    """
    _check_matches(matches, totals)
    value = SMOOTHING[smooth_method] if smooth_value is None else smooth_value
    precisions, misses = [], 0
    if not any(matches):
        return precisions
    for order, (match, total) in enumerate(zip(matches, totals, strict=True), start=1):
        extra = value if smooth_method == "add-k" and order > 1 else 0
        if total + extra == 0:
            break
        if match + extra == 0:
            misses += 1
            extra = {"floor": value, "exp": 0.5**misses}.get(smooth_method, 0)
            precisions.append(100 * extra / total)
        else:
            precisions.append(100 * (match + extra) / (total + extra))
    return precisions


def _check_matches(matches, totals) -> None:
    if len(matches) != len(totals):
        raise ValueError(f"totals must have {len(matches)} counts like matches, got {len(totals)}")
    if any(match > total for match, total in zip(matches, totals, strict=True)):
        raise ValueError(f"matches must not exceed totals {shown(totals)}, got {shown(matches)}")
