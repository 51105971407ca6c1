"""Chapter 6, Self-attention: checks of the exercises on weights of self-attention."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips, sums_to

# Exercise 6.1: the weights of the third word, by hand
WEIGHTS_BY_HAND = (4 / 13, 1 / 13, 8 / 13)
ROUNDED = 5e-3  # so far off is a number that was rounded to two decimals
check_by_hand = NumbersCheck(
    title="Exercise 6.1",
    questions=(
        Numbers(
            name="weights_of_the_third",
            right=(near(WEIGHTS_BY_HAND, within=1e-3),),
            slips=(
                near(
                    WEIGHTS_BY_HAND,
                    "These are the right weights, rounded. Give them as fractions, or with three "
                    "decimals.",
                    within=ROUNDED,
                ),
                *slips(
                    {
                        (2 / 6, 0.0, 4 / 6): "A negative score still has a weight: exp(−ln 2) is "
                        "½, not 0.",
                        (1 / 2, -1 / 2, 1.0): "You divided the scores by their sum. Take exp of "
                        "each score first.",
                        (1.0, -1.0, 2.0): "These are the scores, in units of ln 2. Apply the "
                        "softmax to them.",
                        (2 / 7, 1 / 7, 4 / 7): "The second score is −ln 2, not 0, and exp(−ln 2) "
                        "is ½.",
                        (8 / 13, 1 / 13, 4 / 13): "These are the right numbers in the wrong order: "
                        "the inner product of the third vector with itself, 2 ln 2, is the largest "
                        "of the three.",
                        (2.0, 0.5, 4.0): "These are the exponentials. Divide each by their sum.",
                        (2 / 5, 1 / 5, 2 / 5): "This is the first row of the example in the text. "
                        "The question is about the third word.",
                        (1 / 4, 1 / 4, 1 / 2): "This is the third row of the example in the text, "
                        "where the vector was (a, a). Here its second number is −a.",
                    },
                    within=ROUNDED,
                ),
                sums_to(
                    1 - 1e-3,
                    1 + 1e-3,
                    "Your weights sum to 1, but they are not correct. Write down the inner "
                    "products of the third vector with all three vectors, itself included, and "
                    "then exp of each.",
                ),
            ),
            otherwise="Weights sum to 1, and yours do not: divide each exponential by their sum.",
            ask="Give the three weights in brackets, such as (1/2, 1/4, 1/4)",
        ),
    ),
    remark="The second score is negative, and its weight is still positive.",
)


def attend_to_itself(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, causal: bool = False
) -> Tensor:
    """The solution of exercise 6.2: x (S, D), w_q and w_k (K, D), w_v (V, D) -> (S, V)."""
    queries, keys, values = x @ w_q.T, x @ w_k.T, x @ w_v.T
    scores = queries @ keys.T / w_q.shape[0] ** 0.5
    if causal:
        scores = scores.masked_fill(_later(scores), -torch.inf)
    return scores.softmax(-1) @ values


def _later(scores: Tensor, diagonal: int = 1) -> Tensor:
    """True at the keys (S, S) that come after the query."""
    return torch.ones_like(scores).triu(diagonal).bool()


def _attend_cases() -> list[Case]:
    a = math.log(2) ** 0.5
    two = torch.eye(2)
    x, w_q, w_k, w_v = random_tensors((7, 5), (3, 5), (3, 5), (2, 5))
    wanted = F.scaled_dot_product_attention(x @ w_q.T, x @ w_k.T, x @ w_v.T)
    scale = 2**0.25  # on both sides, so that the division by √2 takes it off again
    by_hand = torch.tensor([[a, 0.0], [0.0, a], [a, a]])
    answer = torch.tensor([[0.8, 0.6], [0.6, 0.8], [0.75, 0.75]]) * a
    causal = torch.tensor([[1, 0], [1 / 3, 2 / 3], [0.75, 0.75]]) * a
    example = by_hand, scale * two, scale * two, two
    name = "the example done by hand (with W_q = W_k = 2^¼ I, which cancels the √K, and W_v = I)"
    return [
        Case(name, (*example, False), answer),
        Case("seven vectors of width 5, K = 3 and V = 2", (x, w_q, w_k, w_v, False), wanted),
        Case("the example done by hand, with causal = True", (*example, True), causal),
        Case("seven vectors of width 5, with causal = True", (x, w_q, w_k, w_v, True)),
    ]


def _attend_with(*, dim=-1, power=0.5, width="K", turned=False, values="w_v", masks=True):
    """Self-attention with one mistake."""

    def attend(x, w_q, w_k, w_v, causal):
        queries, keys = x @ w_q.T, x @ w_k.T
        scores = (keys @ queries.T if turned else queries @ keys.T) / (
            (w_q.shape[0] if width == "K" else x.shape[1]) ** power
        )
        if causal and masks:
            hidden = 0.0 if dim is None else -torch.inf
            scores = scores.masked_fill(_later(scores), hidden)
        averaged = {"w_v": x @ w_v.T, "keys": keys, "x": x}[values]
        return (scores.softmax(dim) if dim is not None else scores) @ averaged

    return attend


def _masked_with(how):
    """Self-attention with one mistake in its causal mask."""

    def attend(x, w_q, w_k, w_v, causal):
        values = x @ w_v.T
        scores = (x @ w_q.T) @ (x @ w_k.T).T / w_q.shape[0] ** 0.5
        weights = scores.softmax(-1)
        if causal and how == "zero":
            weights = scores.masked_fill(_later(scores), 0.0).softmax(-1)
        elif causal and how == "after":
            weights = weights.tril()
        elif causal and how == "itself":
            weights = scores.masked_fill(_later(scores, 0), -torch.inf).softmax(-1)
        elif causal and how == "itself, zeros":
            weights = scores.masked_fill(_later(scores, 0), -torch.inf).softmax(-1).nan_to_num()
        elif causal and how == "past":
            weights = scores.masked_fill(_later(scores).T, -torch.inf).softmax(-1)
        elif causal and how == "kept":
            weights = scores.masked_fill(~_later(scores), -torch.inf).softmax(-1)
        return weights @ values

    return attend


_SLIPS_OF_ATTENTION = {
    "the softmax runs over the queries: each row of the weights, over the keys, sums to 1": {
        "dim": 0
    },
    "the scores are not divided by √K": {"power": 0.0},
    "the scores are divided by K and not by √K": {"power": 1.0},
    "the scores are divided by √D, the width of x, and not by √K": {"width": "D"},
    "queries and keys are exchanged: row i of the scores belongs to query i": {"turned": True},
    "the softmax is missing": {"dim": None},
    "x itself is averaged instead of the values": {"values": "x"},
    "the keys are averaged instead of the values": {"values": "keys"},
}

check_attend = FunctionCheck(
    title="Exercise 6.2",
    solution=attend_to_itself,
    cases=_attend_cases,
    mistakes={
        **{words: _attend_with(**slip) for words, slip in _SLIPS_OF_ATTENTION.items()},
        **{
            f"{words}; and `causal` has no effect yet": _attend_with(**slip, masks=False)
            for words, slip in _SLIPS_OF_ATTENTION.items()
        },
        "`causal` has no effect": _masked_with("ignored"),
        "the masked scores are 0 instead of −∞: exp(0) is 1, so later positions still get weight": (
            _masked_with("zero")
        ),
        "the mask is applied after the softmax, so the weights of a row no longer sum to 1: mask "
        "the scores": _masked_with("after"),
        "a position may not attend to itself, so the first one has no key left: mask only j > i": (
            _masked_with("itself")
        ),
        "a position may not attend to itself: mask only j > i": _masked_with("itself, zeros"),
        "the mask hides the past instead of the future: it is transposed": _masked_with("past"),
        "True and False of the mask are exchanged": _masked_with("kept"),
    },
    remark="It equals PyTorch's `scaled_dot_product_attention`, also with `is_causal=True`.",
)


def reach(weights: Tensor) -> Tensor:
    """The solution of exercise 6.5: weights (H, S, S) -> (H,), the mean of |i − j|, in tokens."""
    places = torch.arange(weights.shape[-1])
    return (weights * (places[:, None] - places).abs()).sum(-1).mean(-1)


def _reach_cases() -> list[Case]:
    itself, even = torch.eye(3), torch.full((3, 3), 1 / 3)
    before = torch.tensor([[1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    (scores,) = random_tensors((5, 7, 7))
    return [
        Case(
            "three heads: one attends to itself, one to the previous position, one uniformly",
            (torch.stack([itself, before, even]),),
            torch.tensor([0.0, 2 / 3, 8 / 9]),
        ),
        Case("five heads over seven positions", (scores.softmax(-1),)),
    ]


def _reach_with(*, signed=False, over=-1, ending="mean", squared=False):
    def wrong(weights):
        places = torch.arange(weights.shape[-1])
        apart = places[:, None] - places
        apart = apart if signed else apart.square() if squared else apart.abs()
        summed = (weights * apart).sum(over) if over is not None else (weights * apart).mean(-1)
        return getattr(summed, ending)(-1)

    return wrong


def _reach_of_the_best(weights):
    places = torch.arange(weights.shape[-1])
    return (weights.argmax(-1) - places).abs().double().mean(-1)


check_reach = FunctionCheck(
    title="Exercise 6.5",
    solution=reach,
    cases=_reach_cases,
    mistakes={
        "the distance has a sign, so left and right cancel": _reach_with(signed=True),
        "the result is a sum over the queries instead of their mean": _reach_with(ending="sum"),
        "it is divided by the number of keys: weights already sum to 1": _reach_with(over=None),
        "the distances are squared": _reach_with(squared=True),
        "the mean is also taken over the heads": lambda w: reach(w).mean(),
        "only the key with the largest weight is counted": _reach_of_the_best,
    },
    remark="It is small for heads that attend to neighbours, such as encoder 2.4.",
)
