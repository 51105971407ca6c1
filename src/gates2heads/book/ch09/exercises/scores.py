"""Chapter 9, Evaluation: checks of the exercises on scores of a text."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, Range, near, slips

# Exercise 9.1: x = a dog a dog a ball; s1 = a dog plays with a red ball, s2 = the dog has a ball
WORDS, PAIRS, PENALTY = 4 / 6, 2 / 5, 1.0
SCORE = math.sqrt(WORDS * PAIRS)
LONGER = math.exp(1 - 7 / 6)  # the penalty with the longer reference
_CROSS_OFF = "count each n-gram of x, and clip the count at its maximum in one reference"


def _slips(of: dict[float, str]) -> tuple[Range, ...]:
    """Wrong answers, as a number from 0 to 1 or from 0 to 100."""
    percent = {100 * wrong: hint for wrong, hint in of.items()}
    return (*slips(of, within=5e-3), *slips(percent, within=0.5))


check_by_hand = NumbersCheck(
    title="Exercise 9.1",
    questions=(
        Numbers(
            name="unigram_precision",
            right=(near(WORDS, within=5e-3), near(100 * WORDS, within=0.5)),
            slips=_slips(
                {
                    4.0: "This is the clipped count: divide it by the number of words of x.",
                    1.0: "“a” occurs three times in x and at most twice in one reference: clip its "
                    "count.",
                    5 / 6: "Two counts are clipped: how often do “a” and “dog” occur in x, and how "
                    "often in one reference?",
                    3 / 6: "Clip at the reference in which “a” occurs most often, not at the other "
                    "one.",
                }
            ),
            otherwise=f"The unigram precision is not right: {_CROSS_OFF}.",
            ask="The unigram precision should be a number",
        ),
        Numbers(
            name="bigram_precision",
            right=(near(PAIRS, within=5e-3), near(100 * PAIRS, within=0.5)),
            slips=_slips(
                {
                    2.0: "This is the clipped count: divide it by the number of bigrams of x.",
                    3 / 5: "“a dog” occurs twice in x and once in a reference: clip its count.",
                    2 / 6: "x has six words and therefore five bigrams.",
                    1 / 5: "Each bigram may match in a different reference.",
                }
            ),
            otherwise=f"The bigram precision is not right: {_CROSS_OFF}.",
            ask="The bigram precision should be a number",
        ),
        Numbers(
            name="penalty",
            right=(near(PENALTY, within=5e-3),),
            slips=(
                near(
                    LONGER,
                    "Both references differ from x by one word: then the shorter one counts.",
                    within=5e-3,
                ),
            ),
            otherwise="The answer for penalty is not right: compare the length of x, 6, with those "
            "of the references, 7 and 5.",
            ask="The answer for penalty should be a number",
        ),
        Numbers(
            name="score",
            right=(near(SCORE, within=5e-3), near(100 * SCORE, within=0.5)),
            slips=_slips(
                {
                    WORDS * PAIRS: "A geometric mean of two factors is the square root of their "
                    "product.",
                    (WORDS + PAIRS) / 2: "This is the arithmetic mean; BLEU uses the geometric "
                    "mean.",
                }
            ),
            otherwise="The answer for BLEU is not right: it is the penalty times the square root "
            "of the product of the two precisions.",
            ask="The answer for BLEU should be a number",
        ),
    ),
    remark=f"With the longer reference (7 words), the penalty would be {LONGER:.2f}.",
)


def perplexity(log_probs: Tensor, mask: Tensor) -> float:
    """The solution of exercise 9.5.

    Args:
        log_probs: (N, T), natural log-probability of each token.
        mask: (N, T) bool, True = a real token.
    """
    return math.exp(-log_probs[mask].mean())


def _perplexity_with(way: str) -> Callable:
    def wrong(log_probs, mask):
        real = log_probs.masked_fill(~mask, 0)
        means = -real.sum(1) / mask.sum(1)
        return {
            "padding": lambda: math.exp(-log_probs.mean()),
            "length": lambda: math.exp(-real.sum() / mask.numel()),
            "sentences": lambda: means.exp().mean().item(),
            "of means": lambda: math.exp(means.mean()),
            "base": lambda: 2 ** -log_probs[mask].mean().item(),
            "sign": lambda: math.exp(log_probs[mask].mean()),
            "log": lambda: -log_probs[mask].mean().item(),
        }[way]()

    return wrong


def _perplexity_cases() -> list[Case]:
    by_hand = torch.tensor([[0.5, 0.25], [0.125, 0.9]]).log()
    (scores,) = random_tensors((5, 7))
    lengths = torch.tensor([7, 2, 5, 1, 3])
    real = torch.arange(7) < lengths[:, None]
    return [
        Case(
            "probabilities 0.5 and 0.25 in one sentence, 0.125 in a second one of one token",
            (by_hand, torch.tensor([[True, True], [True, False]])),
            4.0,
        ),
        Case("five sentences of different lengths", (-scores.abs(), real)),
    ]


check_perplexity = FunctionCheck(
    title="Exercise 9.5",
    solution=perplexity,
    cases=_perplexity_cases,
    mistakes={
        "padding positions are counted as tokens": _perplexity_with("padding"),
        "the sum is divided by the number of all positions, padding included": _perplexity_with(
            "length"
        ),
        "this is the mean of the sentences' perplexities: average over all tokens instead": (
            _perplexity_with("sentences")
        ),
        "every sentence has the same weight; every token should": _perplexity_with("of means"),
        "base 2 is used with natural logarithms: use exp": _perplexity_with("base"),
        "the sign is wrong: a perplexity is at least 1": _perplexity_with("sign"),
        "this is the mean in nats: apply exp": _perplexity_with("log"),
    },
    remark="`metrics.perplexity.perplexity` does the same.",
)


def _grams(tokens: Sequence[str], order: int) -> Counter:
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def clipped(hypothesis: Sequence[str], references: Sequence[Sequence[str]], n: int) -> tuple:
    """The solution of exercise 9.2: (matches, n-grams of the hypothesis)."""
    own, most = _grams(hypothesis, n), Counter()
    for reference in references:
        most |= _grams(reference, n)
    return (own & most).total(), own.total()


def _clipped_with(way: str) -> Callable:
    def wrong(hypothesis, references, n):
        own, counts = _grams(hypothesis, n), [_grams(one, n) for one in references]
        most = Counter()
        for one in counts:
            most = most + one if way == "sum" else most | one
        if way == "first":
            most = counts[0]
        if way == "unclipped":
            return sum(count for gram, count in own.items() if gram in most), own.total()
        if way == "kinds":
            return len(set(own) & set(most)), len(own)
        if way == "recall":
            return (own & most).total(), sum(one.total() for one in counts)
        if way == "words":
            return (own & most).total(), len(hypothesis)
        if way == "each":
            return sum((own & one).total() for one in counts), own.total()
        return (own & most).total(), own.total()

    return wrong


def _clipped_cases() -> list[Case]:
    x = ["the", "dog", "the", "dog", "runs"]
    one = ["the", "dog", "runs", "on", "the", "beach"]
    two = ["the", "dog", "and", "the", "other", "dog", "run"]
    three = ["a", "dog", "is", "running"]
    return [
        Case("unigrams, one reference", (x, [one], 1), (4, 5)),
        Case("unigrams, two references", (x, [two, one], 1), (5, 5)),
        Case("bigrams, two references", (x, [three, one], 2), (2, 4)),
        Case("the word “the” four times", (["the"] * 4, [three, one, two], 1), (2, 4)),
    ]


check_clipped = FunctionCheck(
    title="Exercise 9.2",
    solution=clipped,
    cases=_clipped_cases,
    parts=("the matches", "the n-grams"),
    mistakes={
        "the counts are not clipped: clip each one at its count in a reference": (
            _clipped_with("unclipped")
        ),
        "the references' counts are added: clip at the maximum over the references": (
            _clipped_with("sum")
        ),
        "matches are added over the references: one occurrence in x may match only once": (
            _clipped_with("each")
        ),
        "only the first reference is used": _clipped_with("first"),
        "every distinct n-gram is counted once, however often it occurs": _clipped_with("kinds"),
        "the denominator counts the n-grams of the references: that is recall": _clipped_with(
            "recall"
        ),
        "the denominator counts the words of x even for bigrams": _clipped_with("words"),
    },
    remark="`Counter` has both operations: `|` takes the larger count, `&` the smaller.",
)


def common(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    """The solution of exercise 9.3: the length of the longest common subsequence."""
    row = [0] * (len(hypothesis) + 1)
    for token in reference:
        above = row
        row = [0]
        for j, other in enumerate(hypothesis):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
    return row[-1]


def _common_run(reference, hypothesis):
    best = 0
    for i in range(len(reference)):
        for j in range(len(hypothesis)):
            length = 0
            while reference[i + length : i + length + 1] == hypothesis[j + length : j + length + 1]:
                if i + length >= len(reference):
                    break
                length += 1
            best = max(best, length)
    return best


def _common_greedy(reference, hypothesis):
    at = found = 0
    for token in hypothesis:
        if token in reference[at:]:
            at += reference[at:].index(token) + 1
            found += 1
    return found


def _common_words(reference, hypothesis):
    return (Counter(reference) & Counter(hypothesis)).total()


def _common_in_place(reference, hypothesis):
    return sum(a == b for a, b in zip(reference, hypothesis, strict=False))


def _common_cases() -> list[Case]:
    s = ["the", "dog", "runs", "on", "the", "beach"]
    return [
        Case("“the dog the dog runs”", (s, ["the", "dog", "the", "dog", "runs"]), 3),
        Case("“on the beach the dog runs”", (s, ["on", "the", "beach", "the", "dog", "runs"]), 3),
        Case("“beach dog the runs on”", (s, ["beach", "dog", "the", "runs", "on"]), 3),
        Case("an empty hypothesis", (s, []), 0),
    ]


check_common = FunctionCheck(
    title="Exercise 9.3",
    solution=common,
    cases=_common_cases,
    mistakes={
        "this finds a contiguous match: a subsequence may skip words": _common_run,
        "the order is ignored: these are the words that both share": _common_words,
        "each word is matched at the first opportunity: skipping one may allow two later matches": (
            _common_greedy
        ),
        "words are compared position by position: a subsequence may be shifted": _common_in_place,
        "distinct shared words are counted once each": lambda reference, hypothesis: len(
            set(reference) & set(hypothesis)
        ),
    },
    remark="Divided by the length of the reference it is ROUGE-L's recall, by that of the "
    "hypothesis its precision.",
)
