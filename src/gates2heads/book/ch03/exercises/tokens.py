"""Chapter 3, Sequence probability: checks of the exercises on perplexity and tokens."""

import math

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


def perplexity(log_probs: Tensor, mask: Tensor) -> Tensor:
    """The solution of exercise 3.4: log_probs (N, T) in nats, mask (N, T) -> a number."""
    return (-log_probs[mask].mean()).exp()


def _perplexity_with(*, base=math.e, padding=False, over="tokens", power=True, sign=-1):
    def wrong(log_probs, mask):
        real = log_probs * mask
        if over == "texts":
            means = -real.sum(1) / mask.sum(1)
            return means.exp().mean()
        mean = sign * (real.mean() if padding else real.sum() / mask.sum())
        if over == "sum":
            mean = real.sum() / -len(mask)
        return torch.tensor(base, dtype=mean.dtype) ** mean if power else mean

    return wrong


def _perplexity_cases() -> list[Case]:
    probs = torch.tensor([[0.5, 0.25, 1.0, 0.5], [0.25, 0.5, 0.1, 0.1]])
    mask = torch.tensor([[True, True, True, True], [True, True, False, False]])
    (scores,) = random_tensors((5, 7))
    lengths = torch.tensor([7, 3, 5, 1, 2])
    return [
        Case(
            "a sequence with probabilities 1/2, 1/4, 1, 1/2 and one with 1/4, 1/2",
            (probs.log(), mask),
            2 ** (7 / 6),
        ),
        Case("five sequences", (-scores.abs(), torch.arange(7) < lengths[:, None])),
    ]


check_perplexity = FunctionCheck(
    title="Exercise 3.4",
    solution=perplexity,
    cases=_perplexity_cases,
    mistakes={
        "you raised 2 to a number of nats: the logarithms are natural, so the base is e": (
            _perplexity_with(base=2.0)
        ),
        "you divided the sum by the number of all positions, padding included": _perplexity_with(
            padding=True
        ),
        "you counted padding as if it were tokens": lambda log_probs, mask: (
            -log_probs.mean()
        ).exp(),
        "you averaged the perplexities of the sequences: average over all tokens instead": (
            _perplexity_with(over="texts")
        ),
        "you averaged over sequences and not over tokens": _perplexity_with(over="sum"),
        "you returned the mean surprisal: raise e to this power": _perplexity_with(power=False),
        "the sign is missing: perplexity is 1 or more": _perplexity_with(sign=1),
    },
    remark="`metrics.perplexity` has a function for each form of Eqs. (3.9) and (3.10).",
)


def merge(tokens: list[str], pair: tuple[str, str]) -> list[str]:
    """The solution of exercise 3.5: tokens of a word and a pair -> the tokens after the merge."""
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) == tuple(pair):
            merged[-1] += token
        else:
            merged.append(token)
    return merged


def _merge_with(*, first_only=False, twice=False, either_order=False):
    def wrong(tokens, pair):
        merged, at, done = [], 0, False
        while at < len(tokens):
            here = (tokens[at], tokens[at + 1]) if at + 1 < len(tokens) else None
            found = here == pair or (either_order and here is not None and here[::-1] == pair)
            if found and not (first_only and done):
                merged.append(here[0] + here[1])
                done = True
                at += 1 if twice else 2
                continue
            merged.append(tokens[at])
            at += 1
        return merged

    return wrong


def _merge_as_text(tokens, pair):
    return " ".join(tokens).replace(" ".join(pair), "".join(pair)).split(" ")


def _merge_without_end(tokens, pair):
    merged, at = [], 0
    while at + 1 < len(tokens):
        found = (tokens[at], tokens[at + 1]) == pair
        merged.append(tokens[at] + tokens[at + 1] if found else tokens[at])
        at += 2 if found else 1
    return merged


check_merge = FunctionCheck(
    title="Exercise 3.5",
    solution=merge,
    cases=lambda: [
        Case(
            "the tokens of “singing” and the pair (i, n)",
            (["_", "s", "i", "n", "g", "i", "n", "g"], ("i", "n")),
            ["_", "s", "in", "g", "in", "g"],
        ),
        Case("a, a, a, b and the pair (a, a)", (["a", "a", "a", "b"], ("a", "a"))),
        Case("the pair (i, n) in hi, n, s, i, n", (["hi", "n", "s", "i", "n"], ("i", "n"))),
        Case("the pair (i, n) in n, i, s", (["n", "i", "s"], ("i", "n"))),
    ],
    mistakes={
        "you merged only the first occurrence of the pair": _merge_with(first_only=True),
        "you used a token twice: after a merge, continue behind both tokens": (
            _merge_with(twice=True)
        ),
        "you merged the pair in either order: (n, i) is another pair than (i, n)": (
            _merge_with(either_order=True)
        ),
        "you joined the tokens to one string and replaced there: then the end of a longer token "
        "matches too, as the i of “hi”": _merge_as_text,
        "the last token is lost when it is not part of a pair": _merge_without_end,
    },
    remark="In the library 🤗 tokenizers does this; the view does it with a priority queue.",
)


def at_once(names: int) -> tuple[float, float]:
    """The solution of exercise 3.7: P(a list is complete), expected number of missing names."""
    return math.factorial(names) / names**names, names * (1 - 1 / names) ** names


def _at_once_with(*, whole="m!/m^m", missing="m(1-1/m)^m"):
    def wrong(names):
        probabilities = {
            "m!/m^m": math.factorial(names) / names**names,
            "1/m!": 1 / math.factorial(names),
            "1/m^m": 1 / names**names,
        }
        absent = {
            "m(1-1/m)^m": names * (1 - 1 / names) ** names,
            "(1-1/m)^m": (1 - 1 / names) ** names,
            "m(1-1/m)": names * (1 - 1 / names),
        }
        return probabilities[whole], absent[missing]

    return wrong


check_at_once = FunctionCheck(
    title="Exercise 3.7",
    solution=at_once,
    cases=lambda: [
        Case("two names", (2,), (0.5, 0.5)),
        Case("three names", (3,)),
        Case("seven names", (7,)),
    ],
    parts=("the probability", "the expected number"),
    mistakes={
        "you counted one list out of m! as complete: all m! orders are, out of m^m lists": (
            _at_once_with(whole="1/m!")
        ),
        "you counted a single list as complete: every order of the names is": (
            _at_once_with(whole="1/m^m")
        ),
        "you gave the probability that one particular name is missing: there are m names": (
            _at_once_with(missing="(1-1/m)^m")
        ),
        "the exponent is missing: a name is missing if none of the m positions contains it": (
            _at_once_with(missing="m(1-1/m)")
        ),
    },
    remark="For large m, about 37 % of the names are missing, since (1 − 1/m)^m tends to 1/e.",
)
