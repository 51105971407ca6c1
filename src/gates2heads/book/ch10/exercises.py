"""Chapter 10, Leaderboard: the checks of its exercises."""

import math
from collections.abc import Callable, Sequence

from gates2heads.grading.diagnosis import Case, FunctionCheck
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips
from gates2heads.metrics.seeds import pareto_front, permutation_test

# Exercise 10.1: two models with three runs each
FIRST, SECOND = (35, 34, 37), (33, 36, 31)
FOUND = permutation_test(FIRST, SECOND)
check_by_hand = NumbersCheck(
    title="Exercise 10.1",
    questions=(
        Numbers(
            name="difference",
            right=(near(FOUND.difference),),
            slips=slips(
                {
                    6: "These are the sums. For the means, divide by three.",
                    -2: "Subtract the second mean from the first, not the first from the second.",
                }
            ),
            otherwise="The answer for the difference is not right: compute both means, then "
            "subtract the second from the first.",
            ask="The answer for the difference should be a number",
        ),
        Numbers(
            name="splits",
            right=(near(FOUND.splits),),
            slips=slips(
                {
                    720: "The order within a group does not matter: 720 orders count each split 36 "
                    "times.",
                    10: "It matters which three scores belong to the first model: count both "
                    "assignments.",
                    64: "Exactly three of the six scores are assigned to the first model.",
                }
            ),
            otherwise="The answer for the splits is not right: choose three of the six scores for "
            "the first model.",
            ask="The answer for the splits should be a number",
        ),
        Numbers(
            name="as_large",
            right=(near(FOUND.as_large),),
            slips=slips(
                {
                    4: "Count the differences of +2 and more and those of −2 and less: both "
                    "directions.",
                    0.4: "This is the share of the splits. The question asks for their number.",
                }
            ),
            otherwise="The number of splits with means at least this far apart is not right: list "
            "the sums that three of the six scores can have.",
            ask="The number of splits at least this far apart should be a number",
        ),
    ),
    remark="So random variation alone produces a difference at least this large in 8 of 20 cases.",
)


def interval(scores: Sequence[float], t: float) -> tuple[float, float]:
    """The solution of exercise 10.2.

    Args:
        scores: one number per run.
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
        "you divide the sum of squares by R: the scores are closer to their own mean than to the "
        "true mean, so divide by R − 1": _interval_with("n"),
        "you use the standard deviation of one run: for the mean of R runs, divide by the square "
        "root of R": (_interval_with("one")),
        "you divide by R instead of its square root": _interval_with("count"),
        "you use 1.96, the value for many runs: use the argument t": _interval_with("normal"),
        "you left out a square root: s is the square root of the variance": _interval_with(
            "variance"
        ),
        "you return the smallest and the largest score: a range does not show how precisely the "
        "mean is known": lambda scores, t: (min(scores), max(scores)),
    },
    remark="`metrics.seeds.seed_interval` computes the quantile t for you.",
)


def _front_with(way: str) -> Callable:
    def wrong(costs, qualities):
        rungs = list(zip(costs, qualities, strict=True))

        def beaten(cost, quality):
            return {
                "strict": lambda c, q: c < cost and q > quality,
                "equal": lambda c, q: c <= cost and q >= quality,
                "twins": lambda c, q: c <= cost and q >= quality,
                "dear": lambda c, q: c >= cost and q >= quality and (c, q) != (cost, quality),
                "low": lambda c, q: c <= cost and q <= quality and (c, q) != (cost, quality),
                "either": lambda c, q: c < cost or q > quality,
            }[way]

        if way == "twins":  # as "equal", but no model beats itself
            return [
                not any(beaten(*rung)(*other) for other in rungs[:at] + rungs[at + 1 :])
                for at, rung in enumerate(rungs)
            ]
        if way == "ratio":
            best = max(quality / cost for cost, quality in rungs)
            return [quality / cost == best for cost, quality in rungs]
        return [not any(beaten(*rung)(*other) for other in rungs) for rung in rungs]

    return wrong


def _front_cases() -> list[Case]:
    return [
        Case("three models", ([1.0, 2.0, 3.0], [5.0, 9.0, 7.0]), [True, True, False]),
        Case(
            "five models, two of equal cost and two of equal quality",
            ([1.0, 2.0, 3.0, 3.0, 1.0], [5.0, 5.0, 9.0, 8.0, 4.0]),
            [True, False, True, False, False],
        ),
        Case("two equal models", ([2.0, 2.0], [7.0, 7.0]), [True, True]),
    ]


check_front = FunctionCheck(
    title="Exercise 10.3",
    solution=pareto_front,
    cases=_front_cases,
    mistakes={
        "you require a model to be better in both: it is enough to be better in one and no worse "
        "in the other": _front_with("strict"),
        "you let a model beat itself: exclude models that are equal in both": _front_with("equal"),
        "you let two equal models dominate each other: one of the two inequalities must be "
        "strict": _front_with("twins"),
        "you let the more expensive model win: a low cost is better": _front_with("dear"),
        "you let the worse model win: a high quality is better": _front_with("low"),
        "you let one advantage suffice to beat a model: the other value must not be worse": (
            _front_with("either")
        ),
        "you rank by quality per cost: that is a single number with a single winner": (
            _front_with("ratio")
        ),
    },
    remark="Choose among the models on the front; any other model is beaten by one of them.",
)
