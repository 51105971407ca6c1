"""Chapter 3, Sequence probability: checks of the exercises on counts and smoothing."""

import math

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 3.1: "a cat runs" with one added to every count of six tokens
PROBABILITY = 4 / 9 * 2 / 9 * 1 / 7 * 2 / 7
PERPLEXITY = PROBABILITY ** (-1 / 4)


check_by_hand = NumbersCheck(
    title="Exercise 3.1",
    questions=(
        Numbers(
            name="probability",
            right=(near(PROBABILITY, within=0.01, share=True),),
            slips=slips(
                {
                    0: "That is the probability without smoothing.",
                    4 / 9 * 2 / 9 * 1 / 7: "The last factor is missing: `<eos>` after “runs”.",
                    4 / 9 * 2 / 9 * 1 / 7 * 1 / 7: "One factor is half as large as it should be: "
                    "“a cat” and “runs <eos>” were each seen once, and 1 + 1 = 2.",
                    4 / 8 * 2 / 8 * 1 / 6 * 2 / 6: "You added 1 for five tokens; `<eos>` is the "
                    "sixth.",
                    4 / 10 * 2 / 10 * 1 / 8 * 2 / 8: "You added 1 for seven tokens; `<bos>` is "
                    "never generated and does not count.",
                    4 / 3 * 2 / 3 * 1 / 1 * 2 / 1: "You added 1 to each count but not to the sum: "
                    "each denominator grows by 6.",
                },
                within=0.01,
                share=True,
            ),
            otherwise="The first answer is not right: write down each factor first.",
            ask="The first answer should be a number",
        ),
        Numbers(
            name="perplexity_",
            right=(near(PERPLEXITY, within=0.01, share=True),),
            slips=slips(
                {
                    PROBABILITY ** (-1 / 3): "There are four factors, `<eos>` included: take the "
                    "fourth root.",
                    1 / PROBABILITY: "That is the inverse of the product; perplexity uses the mean "
                    "per token.",
                    -math.log2(PROBABILITY) / 4: "That is the number of bits per token: raise 2 to "
                    "this power.",
                    -math.log(PROBABILITY) / 4: "That is the number of nats per token: raise e to "
                    "this power.",
                    PROBABILITY ** (1 / 4): "That is the geometric mean of the factors: take its "
                    "inverse.",
                },
                within=0.01,
                share=True,
            ),
            otherwise="The second answer is not right: write down each factor first.",
            ask="The second answer should be a number",
        ),
    ),
    remark="The model is as uncertain as if it chose at each step among about four equally "
    "probable tokens, out of six.",
)


def add_k(counts: Tensor, k: float) -> Tensor:
    """The solution of exercise 3.2: counts (C, V) after C contexts -> probabilities (C, V)."""
    return (counts + k) / (counts + k).sum(dim=1, keepdim=True)


def _add_with(*, axis=1, below="kV", divide=True):
    def wrong(counts, k):
        added = counts + k
        if not divide:
            return added
        if below == "rows":
            return added / (counts.sum(dim=1, keepdim=True) + k * counts.shape[0])
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
        "you added k to the counts but not to the denominator": _add_with(below="0"),
        "you added k only once to the denominator: it was added to V counts": _add_with(below="k"),
        "you took the number of contexts, `counts.shape[0]`, for V: V is `counts.shape[1]`": (
            _add_with(below="rows")
        ),
        "you normalised the columns: each row is a distribution, and sums to 1": _add_with(axis=0),
        "you divided by the sum of the whole table: each row has its own sum": _add_with(axis=None),
        "you did not divide the counts by their sum": _add_with(divide=False),
    },
    remark="A context that never occurred gets the uniform distribution.",
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
            "no sum": discount * (counts > 0) / total,
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
        "you discounted the counts of 0 as well, which makes probabilities negative": (
            _discount_with(clamp=False)
        ),
        "you took D itself as the weight of the shorter context: it is the sum of all discounts, "
        "divided by the sum of the counts": _discount_with(left="discount"),
        "you redistributed a single discount: one was taken from every count above 0": (
            _discount_with(left="one")
        ),
        "you redistributed V discounts: none was taken from a count of 0": (
            _discount_with(left="all")
        ),
        "you forgot `.sum()` after `(counts > 0)`: the weight is one number, not one per token": (
            _discount_with(left="no sum")
        ),
        "you did not redistribute the discounts to the shorter context": (
            _discount_with(left="none")
        ),
        "you used the shorter context for unseen tokens only, so that the sum is below 1": (
            _discount_with(only_unseen=True)
        ),
    },
    remark="`models.language.ngram.KneserNey` applies this from the shortest context upwards.",
)
