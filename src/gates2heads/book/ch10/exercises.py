"""Chapter 10, Leaderboard: the checks of its exercises."""

import math
from collections.abc import Callable, Sequence

from gates2heads.accepts.shown import shown
from gates2heads.grading.diagnosis import Case, FunctionCheck
from gates2heads.grading.verdict import NotYetError, check
from gates2heads.metrics.seeds import exchange_runs, pareto_front

# Exercise 10.1: two rungs with three runs each
FIRST, SECOND = (35, 34, 37), (33, 36, 31)
FOUND = exchange_runs(FIRST, SECOND)
SLIPS = {
    ("the difference", 6): "These are the sums: a mean divides by three.",
    ("the difference", -2): "The first minus the second, not the other way round.",
    (
        "the splits",
        720,
    ): "The order within a group does not matter: 720 orders count each split 36 times.",
    ("the splits", 10): "Which three are called the first matters here: count both ways round.",
    ("the splits", 64): "Three runs of the six go to the first, no more and no fewer.",
    ("those as far", 4): "Count differences of +2 and of −2, and those beyond: both sides.",
    ("those as far", 0.4): "This is the share already: first the number of splits.",
}

WAYS_ON = {
    "the difference": "take the mean of each three, then the first minus the second",
    "the splits": "choose three of the six for the first",
    "those as far": "list the sums that three of the six can have",
}


@check("Exercise 10.1")
def check_by_hand(difference, splits, as_far) -> str:
    """Check what the reader found with a pencil for `FIRST` and `SECOND`."""
    given = {"the difference": difference, "the splits": splits, "those as far": as_far}
    for name, number in given.items():
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise NotYetError(f"The answer for {name} should be a number, got {shown(number)}.")
    for (name, number), wanted in zip(
        given.items(), (FOUND.difference, FOUND.splits, FOUND.as_far), strict=True
    ):
        if math.isclose(number, wanted, abs_tol=1e-6):
            continue
        reason = next(
            (
                told
                for (slip, wrong), told in SLIPS.items()
                if slip == name and math.isclose(number, wrong, abs_tol=1e-6)
            ),
            f"The answer for {name} is not right: {WAYS_ON[name]}.",
        )
        raise NotYetError(reason)
    return "So chance alone sets two equal rungs this far apart in two of five trials."


def interval(scores: Sequence[float], t: float) -> tuple[float, float]:
    """The solution of exercise 10.2.

    Args:
        scores: one number a run.
        t: Student's, for their number.

    Returns:
        the lower and the upper end.
    """
    count = len(scores)
    mean = sum(scores) / count
    variance = sum((score - mean) ** 2 for score in scores) / (count - 1)
    half = t * math.sqrt(variance / count)
    return mean - half, mean + half


def _interval_with(way: str) -> Callable:
    def wrong(scores, t):
        count = len(scores)
        mean = sum(scores) / count
        squares = sum((score - mean) ** 2 for score in scores)
        half = {
            "n": lambda: t * math.sqrt(squares / count / count),
            "one": lambda: t * math.sqrt(squares / (count - 1)),
            "count": lambda: t * math.sqrt(squares / (count - 1)) / count,
            "normal": lambda: 1.96 * math.sqrt(squares / (count - 1) / count),
            "variance": lambda: t * squares / (count - 1) / math.sqrt(count),
        }[way]()
        return mean - half, mean + half

    return wrong


def _interval_cases() -> list[Case]:
    t = 4.302652729749458
    third = t / math.sqrt(3)
    return [
        Case("the scores 38, 39 and 40", ([38.0, 39.0, 40.0], t), (39 - third, 39 + third)),
        Case("two scores", ([20.0, 23.0], 12.706)),
        Case("five scores", ([31.0, 33.5, 30.25, 32.0, 35.0], 2.776)),
    ]


check_interval = FunctionCheck(
    title="Exercise 10.2",
    solution=interval,
    cases=_interval_cases,
    parts=("the lower end", "the upper end"),
    mistakes={
        "the squares are divided by R: their own mean lies nearer to the scores than the true one, "
        "so divide by R − 1": _interval_with("n"),
        "this is how far one run strays: for the mean of R runs, divide by the root of R": (
            _interval_with("one")
        ),
        "you divide by R where its root belongs": _interval_with("count"),
        "1.96 is for many runs: take the t that is handed over": _interval_with("normal"),
        "the root is missing: s is the root of the variance": _interval_with("variance"),
        "these are the least and the greatest score: a range does not tell how well the mean is "
        "known": lambda scores, t: (min(scores), max(scores)),
    },
    remark="`metrics.seeds.seed_interval` looks the t up for you.",
)


def _front_with(way: str) -> Callable:
    def wrong(costs, qualities):
        rungs = list(zip(costs, qualities, strict=True))

        def beaten(cost, quality):
            return {
                "strict": lambda c, q: c < cost and q > quality,
                "equal": lambda c, q: c <= cost and q >= quality,
                "dear": lambda c, q: c >= cost and q >= quality and (c, q) != (cost, quality),
                "low": lambda c, q: c <= cost and q <= quality and (c, q) != (cost, quality),
                "either": lambda c, q: c < cost or q > quality,
            }[way]

        if way == "ratio":
            best = max(quality / cost for cost, quality in rungs)
            return [quality / cost == best for cost, quality in rungs]
        return [not any(beaten(*rung)(*other) for other in rungs) for rung in rungs]

    return wrong


def _front_cases() -> list[Case]:
    return [
        Case("three rungs", ([1.0, 2.0, 3.0], [5.0, 9.0, 7.0]), [True, True, False]),
        Case(
            "five rungs, two of one cost and two of one quality",
            ([1.0, 2.0, 3.0, 3.0, 1.0], [5.0, 5.0, 9.0, 8.0, 4.0]),
            [True, False, True, False, False],
        ),
        Case("two rungs that are equal", ([2.0, 2.0], [7.0, 7.0]), [True, True]),
    ]


check_front = FunctionCheck(
    title="Exercise 10.3",
    solution=pareto_front,
    cases=_front_cases,
    mistakes={
        "only what is better in both beats a rung: it is enough to be better in one and no worse "
        "in the other": _front_with("strict"),
        "a rung beats itself: leave out what is equal in both": _front_with("equal"),
        "the dearer wins: a low cost is good": _front_with("dear"),
        "the worse wins: a high quality is good": _front_with("low"),
        "one advantage is enough to beat a rung: the other side must not be worse": (
            _front_with("either")
        ),
        "you rank by quality per cost: that is one number, and has one winner": (
            _front_with("ratio")
        ),
    },
    remark="The front is where a choice begins; what is behind it, nobody need choose.",
)
