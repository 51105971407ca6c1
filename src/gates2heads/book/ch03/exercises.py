"""Chapter 3, Sequence probability: the checks of its exercises."""

import math

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.verdict import NotYetError, check

# Exercise 3.1: "a cat runs" with one added to every count of six tokens
CHANCE = 4 / 9 * 2 / 9 * 1 / 7 * 2 / 7
PERPLEXITY = CHANCE ** (-1 / 4)


@check("Exercise 3.1")
def check_by_hand(probability, perplexity) -> str:
    """Check the two numbers that the reader found with a pencil."""
    for name, number in (("first", probability), ("second", perplexity)):
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise NotYetError(f"The {name} answer should be a number, got {shown(number)}.")
    slips = {
        0: "That is the probability without anything added.",
        4 / 9 * 2 / 9 * 1 / 7: "The last factor is missing: after “runs” the text ends.",
        4 / 8 * 2 / 8 * 1 / 6 * 2 / 6: "You added 1 for five tokens; `<eos>` is the sixth.",
        4 / 10 * 2 / 10 * 1 / 8 * 2 / 8: "You added 1 for seven tokens; `<bos>` is never written.",
        4 / 3 * 2 / 3 * 1 / 1 * 2 / 1: "What is added must also be added to what you divide by.",
    }
    _name_slips("first", probability, CHANCE, slips, within=0.01)
    slips = {
        CHANCE ** (-1 / 3): "Four factors were multiplied, `<eos>` among them: the fourth root.",
        1 / CHANCE: "That is the inverse of the product; perplexity is a mean over the tokens.",
        -math.log2(CHANCE) / 4: "Those are the bits a token: raise 2 to their number.",
        -math.log(CHANCE) / 4: "Those are the nats a token: raise e to their number.",
        CHANCE ** (1 / 4): "That is the geometric mean of the probabilities: take its inverse.",
    }
    _name_slips("second", perplexity, PERPLEXITY, slips, within=0.01)
    return "As hesitant as if there were four tokens to choose from at each step, of six."


def _name_slips(name, number, wanted, slips, *, within) -> None:
    """Refuse a number that is not right, with the words for the slip that gives it."""
    if abs(number - wanted) <= within * wanted:
        return
    for slip, words in slips.items():
        if abs(number - slip) <= within * abs(slip):
            raise NotYetError(words)
    raise NotYetError(f"The {name} is not right: write down each factor of the text first.")


def add_k(counts: Tensor, k: float) -> Tensor:
    """The solution of exercise 3.2: counts (C, V) after C contexts -> probabilities (C, V)."""
    return (counts + k) / (counts + k).sum(dim=1, keepdim=True)


def _add_with(*, axis=1, below="kV", divide=True):
    def wrong(counts, k):
        added = counts + k
        if not divide:
            return added
        if below == "kV":
            return added / added.sum(dim=axis, keepdim=axis is not None)
        more = k if below == "k" else 0.0
        return added / (counts.sum(dim=1, keepdim=True) + more)

    return wrong


def _count_cases() -> list[Case]:
    by_hand = torch.tensor([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    (scores,) = random_tensors((5, 7))
    return [
        Case(
            "counts 2, 0, 1 and 0, 1, 0, and k = 1",
            (by_hand, 1.0),
            torch.tensor([[1 / 2, 1 / 6, 1 / 3], [1 / 4, 1 / 2, 1 / 4]]),
        ),
        Case("five contexts, seven tokens and k = 0.1", ((3 * scores.abs()).floor(), 0.1)),
    ]


check_add_k = FunctionCheck(
    title="Exercise 3.2",
    solution=add_k,
    cases=_count_cases,
    mistakes={
        "k is added to the counts and not to what they are divided by": _add_with(below="0"),
        "k is added once to what the counts are divided by: it was added to V of them": (
            _add_with(below="k")
        ),
        "each column sums to 1: the tokens after one context stand in a row": _add_with(axis=0),
        "all contexts share one sum: each row is divided by its own": _add_with(axis=None),
        "the counts are not divided by their sum": _add_with(divide=False),
    },
    remark="A context that was never counted gets the uniform distribution.",
)


def kneser_ney(counts: Tensor, discount: float, shorter: Tensor) -> Tensor:
    """The solution of exercise 3.3: counts (V,), D, p after the shorter context (V,) -> (V,)."""
    left = discount * (counts > 0).sum() / counts.sum()
    return (counts - discount).clamp(min=0) / counts.sum() + left * shorter


def _discount_with(*, clamp=True, left="kinds", only_unseen=False):
    def wrong(counts, discount, shorter):
        total = counts.sum()
        kept = counts - discount
        kept = (kept.clamp(min=0) if clamp else kept) / total
        shares = {
            "kinds": discount * (counts > 0).sum() / total,
            "discount": torch.tensor(discount),
            "one": discount / total,
            "all": discount * len(counts) / total,
            "none": torch.tensor(0.0),
        }
        backed = shares[left] * shorter
        return torch.where(counts > 0, kept, backed) if only_unseen else kept + backed

    return wrong


def _discount_cases() -> list[Case]:
    counts = torch.tensor([3.0, 1.0, 0.0, 0.0])
    shorter = torch.tensor([0.4, 0.3, 0.2, 0.1])
    # left: 0.5 · 2 / 4 = 1/4
    wanted = torch.tensor([0.625 + 0.1, 0.125 + 0.075, 0.05, 0.025])
    many, scores = random_tensors((7,), (7,))
    return [
        Case("counts 3, 1, 0, 0 and D = 0.5", (counts, 0.5, shorter), wanted),
        Case("seven tokens and D = 0.75", ((3 * many.abs()).floor(), 0.75, scores.softmax(0))),
    ]


check_kneser_ney = FunctionCheck(
    title="Exercise 3.3",
    solution=kneser_ney,
    cases=_discount_cases,
    mistakes={
        "a count of 0 is discounted too, and its share falls below 0": _discount_with(clamp=False),
        "the share that is left is D itself: add up what was taken, over the sum of the counts": (
            _discount_with(left="discount")
        ),
        "only one discount is given away: it was taken from every count above 0": (
            _discount_with(left="one")
        ),
        "V discounts are given away: none was taken from a count of 0": _discount_with(left="all"),
        "what was taken is not given to the shorter context": _discount_with(left="none"),
        "the shorter context is asked for unseen tokens only: then the sum is below 1": (
            _discount_with(only_unseen=True)
        ),
    },
    remark="`models.language.ngram.KneserNey` does it from the shortest context upwards.",
)


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
            "a text of probabilities 1/2, 1/4, 1, 1/2 and one of 1/4, 1/2",
            (probs.log(), mask),
            2 ** (7 / 6),
        ),
        Case("five texts", (-scores.abs(), torch.arange(7) < lengths[:, None])),
    ]


check_perplexity = FunctionCheck(
    title="Exercise 3.4",
    solution=perplexity,
    cases=_perplexity_cases,
    mistakes={
        "2 is raised to nats: the logarithms are natural, so the base is e": (
            _perplexity_with(base=2.0)
        ),
        "the sum is divided by all places, those of padding too": _perplexity_with(padding=True),
        "padding is counted as if it were tokens": lambda log_probs, mask: (
            -log_probs.mean()
        ).exp(),
        "each text has a perplexity of its own and you took their mean: all tokens count alike": (
            _perplexity_with(over="texts")
        ),
        "the mean runs over the texts and not over the tokens": _perplexity_with(over="sum"),
        "you gave the mean surprise: e is not yet raised to it": _perplexity_with(power=False),
        "the sign is missing: perplexity is 1 or more": _perplexity_with(sign=1),
    },
    remark="`metrics.perplexity` has (3.7), and (3.8) in base 2 and in base e, each as a function.",
)


def at_once(names: int) -> tuple[float, float]:
    """The solution of exercise 3.5: chance that a list is whole, expected number of missing."""
    return math.factorial(names) / names**names, names * (1 - 1 / names) ** names


def _at_once_with(*, whole="m!/m^m", missing="m(1-1/m)^m"):
    def wrong(names):
        chances = {
            "m!/m^m": math.factorial(names) / names**names,
            "1/m!": 1 / math.factorial(names),
            "1/m^m": 1 / names**names,
        }
        absent = {
            "m(1-1/m)^m": names * (1 - 1 / names) ** names,
            "(1-1/m)^m": (1 - 1 / names) ** names,
            "m(1-1/m)": names * (1 - 1 / names),
        }
        return chances[whole], absent[missing]

    return wrong


check_at_once = FunctionCheck(
    title="Exercise 3.5",
    solution=at_once,
    cases=lambda: [
        Case("two names", (2,), (0.5, 0.5)),
        Case("three names", (3,)),
        Case("seven names", (7,)),
    ],
    parts=("the chance", "the missing"),
    mistakes={
        "you took one list of m! as right: all m! orders are, out of m^m lists": _at_once_with(
            whole="1/m!"
        ),
        "you took one list as right: every order of the names is": _at_once_with(whole="1/m^m"),
        "you gave the chance that one name is missing: there are m": (
            _at_once_with(missing="(1-1/m)^m")
        ),
        "a name is missing when none of the m places holds it: the power is missing": (
            _at_once_with(missing="m(1-1/m)")
        ),
    },
    remark="For large m some 37 % of the names are missing: (1 − 1/m)^m goes to 1/e.",
)
