"""Chapter 8, Decoding: checks of the exercises on beam search."""

import math

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 8.1: 5 tokens, 4 of them a sequence, a beam of 3
SEQUENCES, CANDIDATES = 5**4, 5 + 3 * (3 * 5)


check_counts = NumbersCheck(
    title="Exercise 8.1",
    questions=(
        Numbers(
            name="sequences",
            right=(near(SEQUENCES),),
            slips=slips(
                {
                    4**5: "You computed 4 to the power 5: each of the 4 positions has 5 choices.",
                    5 * 4: "The choices multiply: after each first token there are 5 second ones.",
                }
            ),
            otherwise="The number of sequences is not right: there are 5 choices for the first "
            "token, and 5 for the second after each of them, …",
            ask="The first answer should be a number",
        ),
        Numbers(
            name="candidates",
            right=(near(CANDIDATES),),
            slips=slips(
                {
                    3 * 5 * 4: "k·V·T assumes three prefixes at every step. How many are there at "
                    "the first step?",
                    5**4: "Beam search does not score every sequence: count the prefixes at each "
                    "step.",
                    3 * 4: "That is the number of hypotheses that are kept. Count the candidates: "
                    "the prefixes that enter each step, one at the first step, times 5 tokens.",
                    5 + 3 * 5: "That is the count for the first two steps; there are four.",
                    1 + 3 * (3 * 5): "At the first step the empty prefix has 5 continuations, not "
                    "1.",
                }
            ),
            otherwise="The number of candidates is not right: for each step, multiply the number "
            "of prefixes by 5 tokens, and add the four results.",
            ask="The second answer should be a number",
        ),
    ),
    remark="The bound k·V·T gives 60, because it assumes three prefixes at the first step as well.",
)


def beam_step(sums: Tensor, log_probs: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """The solution of exercise 8.2.

    Args:
        sums: (M,), the log-probability of each prefix.
        log_probs: (M, V), of each token after it.
        width: k.

    Returns:
        sums of the k most probable candidates (k,), the index of the prefix of each (k,), and its
        new token (k,).
    """
    best = (sums[:, None] + log_probs).flatten().topk(width)
    return best.values, best.indices // log_probs.shape[1], best.indices % log_probs.shape[1]


def _step_cases() -> list[Case]:
    by_hand = torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.06, 0.04]]).log()
    two = torch.tensor([0.4, 0.3]).log()
    sums, scores = random_tensors((5,), (5, 7))
    return [
        Case(
            "two prefixes with probabilities 0.4 and 0.3, three tokens and k = 3",
            (two, by_hand, 3),
        ),
        Case("five prefixes, seven tokens and k = 4", (sums, scores.log_softmax(-1), 4)),
    ]


def _step_with(*, join="add", of="all", turned=False, divide="V", least=False):
    """One step of beam search with one mistake."""

    def step(sums, log_probs, width):
        totals = {
            "add": sums[:, None] + log_probs,
            "multiply": sums[:, None] * log_probs,
            "none": log_probs,
        }[join]
        if of == "the best prefix":
            totals = totals.masked_fill(
                (torch.arange(len(sums)) != sums.argmax())[:, None], -torch.inf
            )
        if of == "one each":
            totals = totals.masked_fill(totals < totals.amax(1, keepdim=True), -torch.inf)
        best = totals.flatten().topk(width, largest=not least)
        size = log_probs.shape[1] if divide == "V" else len(sums)
        found = best.indices // size, best.indices % size
        return (best.values, *(found[::-1] if turned else found))

    return step


check_beam_step = FunctionCheck(
    title="Exercise 8.2",
    solution=beam_step,
    cases=_step_cases,
    parts=("the sums", "the prefixes", "the tokens"),
    mistakes={
        "the log-probability of the prefix is not added": _step_with(join="none"),
        "log-probabilities are multiplied: add them, since the probabilities multiply": (
            _step_with(join="multiply")
        ),
        "only the most probable prefix is extended: all M·V candidates compete": (
            _step_with(of="the best prefix")
        ),
        "every prefix is extended with its best token only: all M·V candidates compete": (
            _step_with(of="one each")
        ),
        "prefixes and tokens are returned in the wrong order": _step_with(turned=True),
        "the index into the flattened scores is divided by M: a row has V tokens": (
            _step_with(divide="M")
        ),
        "the k least probable candidates are kept": _step_with(least=True),
    },
    remark="With k = 1 this is a step of greedy search.",
)


def tie(first: tuple[float, int], second: tuple[float, int]) -> float:
    """The solution of exercise 8.3: each is a log-probability and a length; the α of a tie."""
    (log_prob, length), (other, longer) = first, second
    return math.log(other / log_prob) / math.log(longer / length)


def _tie_with(*, turned=False, plain=0, means=False, ratio=False, over="logs"):
    def wrong(first, second):
        (log_prob, length), (other, longer) = first, second
        if plain:
            return plain * (log_prob - other) / (longer - length)
        if means:
            return log_prob / length - other / longer
        if ratio:
            return (other / log_prob) / (longer / length)
        if over == "no logarithm of the lengths":
            return math.log(other / log_prob) / (longer / length)
        answer = math.log(other / log_prob) / math.log(longer / length)
        return 1 / answer if turned else -answer

    return wrong


check_tie = FunctionCheck(
    title="Exercise 8.3",
    solution=tie,
    cases=lambda: [
        Case("log-probabilities −4 and −8 of 5 and 10 tokens", ((-4.0, 5), (-8.0, 10)), 1.0),
        Case("−4 and −6 of 8 and 12 tokens", ((-4.0, 8), (-6.0, 12)), 1.0),
        Case("−3 and −4 of 4 and 9 tokens", ((-3.0, 4), (-4.0, 9))),
    ],
    mistakes={
        "you returned 1/α: the exponent belongs to the lengths": _tie_with(turned=True),
        "the sign is wrong: invert one of the two fractions": _tie_with(),
        "you took differences, not quotients: length normalisation divides": _tie_with(plain=1),
        "you solved log P + α L, a linear reward for length: (8.4) divides by a power of L": (
            _tie_with(plain=-1)
        ),
        "you compared the scores at α = 1: the α at which they are equal is asked for": (
            _tie_with(means=True)
        ),
        "the logarithms are missing: taking logarithms isolates an exponent": _tie_with(ratio=True),
        "the logarithm of the lengths is missing": (_tie_with(over="no logarithm of the lengths")),
    },
    remark="Below this α the shorter hypothesis wins, above it the longer one.",
)


def search_errors(log_probs: Tensor) -> Tensor:
    """The solution of exercise 8.4: log_probs (N, widths) -> shares (widths,)."""
    best = log_probs.amax(1, keepdim=True)
    return (log_probs < best - 1e-3).double().mean(0)


def _errors_with(*, axis=1, to="best", mean=0, exact=False):
    def wrong(log_probs):
        best = log_probs[:, -1:] if to == "widest" else log_probs.amax(axis, keepdim=True)
        best = log_probs.max() if to == "all" else best
        missed = (log_probs < best) if exact else (log_probs < best - 1e-3)
        return missed.double().sum(0) if mean is None else missed.double().mean(mean)

    return wrong


def _error_cases() -> list[Case]:
    by_hand = torch.tensor([[-7.0, -5.0, -5.0], [-3.0, -3.0001, -3.0], [-6.0, -5.5, -5.6]])
    (scores,) = random_tensors((11, 4))
    return [
        Case(
            "three captions and three widths",
            (by_hand,),
            torch.tensor([2 / 3, 0.0, 1 / 3], dtype=torch.double),
        ),
        Case("eleven captions and four widths", (-scores.abs(),)),
    ]


check_errors = FunctionCheck(
    title="Exercise 8.4",
    solution=search_errors,
    cases=_error_cases,
    mistakes={
        "differences due to rounding count as errors: allow for 0.001": _errors_with(exact=True),
        "the maximum is taken over the captions: each caption has its own": _errors_with(axis=0),
        "the widest beam is assumed to be best: a narrower one may find a better sentence": (
            _errors_with(to="widest")
        ),
        "you returned the number of captions and not their share": _errors_with(mean=None),
        "the mean is taken over the widths and not over the captions": _errors_with(mean=1),
        "both the maximum and the mean are taken over the wrong axis": (
            _errors_with(axis=0, mean=1)
        ),
        "one maximum is taken over all captions: each caption has its own best sentence": (
            _errors_with(to="all")
        ),
    },
    remark="This counts only the errors that another width reveals; the true share may be larger.",
)
