"""Chapter 13, Scaling and in-context learning: the check of the exercise on a conflict."""

from gates2heads.book.ch13.conflict_measures import context_is_true
from gates2heads.grading.diagnosis import Case, FunctionCheck


def _prior_ignored(wrong, known, n):
    return 1 - wrong


def _memory_is_no_evidence(wrong, known, n):
    return (1 - wrong) / (1 - wrong + wrong / (n - 1))


def _not_normalised(wrong, known, n):
    return (1 - known) / (n - 1) * (1 - wrong)


def _exchanged(wrong, known, n):
    return 1 - context_is_true(wrong, known, n)


def _any_wrong_value(wrong, known, n):
    other = (1 - known) / (n - 1)
    return other * (1 - wrong) / (other * (1 - wrong) + (1 - other) * wrong)


def _all_others(wrong, known, n):
    right = (1 - known) * (1 - wrong)
    return right / (right + known * wrong / (n - 1))


def _two_values(wrong, known, n):
    right = (1 - known) * (1 - wrong)
    return right / (right + known * wrong)


check_context_is_true = FunctionCheck(
    title="Exercise 13.5",
    solution=context_is_true,
    cases=lambda: [
        Case("wrong = 0.2, known = 0.5 and 3 values", (0.2, 0.5, 3), 8 / 11),
        Case("wrong = 0.2, known = 0.9 and 32 values", (0.2, 0.9, 32)),
        Case(
            "a memory without knowledge: wrong = 0.2, known = 0.25, 4 values", (0.2, 0.25, 4), 0.8
        ),
        Case("statements that are always right: wrong = 0, known = 0.9, 32 values", (0.0, 0.9, 32)),
        Case("wrong = 0.5, known = 0.3 and 5 values", (0.5, 0.3, 5)),
    ],
    mistakes={
        "what the memory says is left out: that is the answer only if it knows nothing": (
            _prior_ignored
        ),
        "the memory's probabilities are left out: multiply by them, as Bayes' rule does": (
            _memory_is_no_evidence
        ),
        "the product of prior and likelihood is not divided by its sum over all values": (
            _not_normalised
        ),
        "this is the probability that the context is wrong": _exchanged,
        "a wrong statement has n − 1 values to choose from: its probability for each is wrong / "
        "(n − 1)": _any_wrong_value,
        "the context's value has all of 1 − known: it shares that with n − 2 other values": (
            _all_others
        ),
        "the values that neither memory nor context names are left out: they can be true too": (
            _two_values
        ),
    },
    remark="Context and memory are equally probable where known = 1 − wrong, for any n.",
)
