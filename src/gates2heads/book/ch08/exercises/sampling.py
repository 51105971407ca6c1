"""Chapter 8, Decoding: check of the exercise on top-p sampling."""

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


def nucleus(probs: Tensor, p: float) -> Tensor:
    """The solution of exercise 8.5: probs (V,), threshold p -> the nucleus (V,), normalised."""
    ranked, order = probs.sort(descending=True)
    kept = order[ranked.cumsum(0) - ranked < p]
    narrow = torch.zeros_like(probs)
    narrow[kept] = probs[kept]
    return narrow / narrow.sum()


def _nucleus_with(*, reached="at least", normalise=True, order="descending", by="mass"):
    def wrong(probs, p):
        ranked, places = probs.sort(descending=order == "descending")
        before = ranked.cumsum(0) - ranked
        if by == "threshold":
            kept = places[ranked >= 1 - p]
        elif reached == "below":
            kept = places[ranked.cumsum(0) <= p]
        elif reached == "strictly below":
            kept = places[ranked.cumsum(0) < p]
        elif reached == "beyond":
            kept = places[before <= p]
        else:
            kept = places[before < p]
        narrow = torch.zeros_like(probs)
        narrow[kept] = probs[kept]
        return narrow / narrow.sum() if normalise else narrow

    return wrong


def _ranked(probs, p):
    """A nucleus that stays sorted."""
    ranked = probs.sort(descending=True).values
    narrow = ranked * (ranked.cumsum(0) - ranked < p)
    return narrow / narrow.sum()


def _nucleus_cases() -> list[Case]:
    (scores,) = random_tensors((11,))
    return [
        Case(
            "0.1, 0.5, 0.3 and 0.1, and p = 0.7",
            (torch.tensor([0.1, 0.5, 0.3, 0.1]), 0.7),
            torch.tensor([0.0, 0.625, 0.375, 0.0]),
        ),
        Case(
            "0.5, 0.25 and 0.25, and p = 0.5, which one token reaches",
            (torch.tensor([0.5, 0.25, 0.25]), 0.5),
            torch.tensor([1.0, 0.0, 0.0]),
        ),
        Case("eleven tokens and p = 0.6", (scores.softmax(0), 0.6)),
        Case("eleven tokens and p = 0.9", ((2 * scores).softmax(0), 0.9)),
    ]


check_nucleus = FunctionCheck(
    title="Exercise 8.5",
    solution=nucleus,
    cases=_nucleus_cases,
    mistakes={
        "the token with which the sum reaches p is left out: keep tokens until their sum is at "
        "least p": _nucleus_with(reached="below"),
        "`cumsum < p` drops the token with which the sum reaches p; where the first token reaches "
        "it alone, nothing is left": _nucleus_with(reached="strictly below"),
        "a token is kept although the tokens before it already reach p": (
            _nucleus_with(reached="beyond")
        ),
        "the kept probabilities are not divided by their sum": _nucleus_with(normalise=False),
        "the least probable tokens come first": _nucleus_with(order="ascending"),
        "the probabilities are returned sorted, not in the order of the tokens": _ranked,
        "single probabilities are compared with a threshold: p is the total of the kept tokens": (
            _nucleus_with(by="threshold")
        ),
    },
    remark="`decoding.sampling.keep_top_p` does the same for rows of log-probabilities.",
)
