"""Chapter 5, Attention: checks of the functions in the exercises of both its pages."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.layers.recurrent import GRUCell


def pool(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """The solution of exercise 5.1: query (K,), keys (S, K), values (S, D) -> (D,)."""
    return (keys @ query).softmax(0) @ values


def _pool_cases() -> list[Case]:
    query, keys, values = random_tensors((3,), (7, 3), (7, 5))
    by_hand = torch.tensor([1.0]), torch.tensor([[1.0], [2.0], [3.0]]).log()
    return [
        Case(
            "the example of section 5.2",
            (*by_hand, torch.tensor([[6.0], [12.0], [0.0]])),
            torch.tensor([5.0]),
        ),
        Case(
            "random keys (7, 3) and values (7, 5)",
            (query, keys, values),
            F.scaled_dot_product_attention(query[None], keys, values, scale=1.0)[0],
        ),
        Case(
            "scores in the thousands",
            (query * 1e4, keys, values),
            values[(keys @ query).argmax()],
        ),
    ]


check_pool = FunctionCheck(
    title="Exercise 5.1",
    solution=pool,
    cases=_pool_cases,
    mistakes={
        "the softmax is missing": lambda q, k, v: (k @ q) @ v,
        "the scores are divided by √K, which gives the scaled dot product": (
            lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v
        ),
        "the scores are divided by √S, and the number of slots has no part in a score": (
            lambda q, k, v: (k @ q / len(k) ** 0.5).softmax(0) @ v
        ),
        "the scores are divided by √3 for every K: this exercise asks for the plain product": (
            lambda q, k, v: (k @ q / 3**0.5).softmax(0) @ v
        ),
        "the exponentials are not divided by their sum": lambda q, k, v: (k @ q).exp() @ v,
        "the exponentials overflow: use torch's softmax, or subtract the largest score first": (
            lambda q, k, v: F.normalize((k @ q).exp(), p=1, dim=0) @ v
        ),
        "all values have the same weight": lambda q, k, v: v.mean(0),
        "the values are added without weights": lambda q, k, v: v.sum(0),
        "only the value of the best key is returned, which is hard attention": (
            lambda q, k, v: v[(k @ q).argmax()]
        ),
        "the keys are averaged, not the values": lambda q, k, v: (k @ q).softmax(0) @ k,
    },
    remark="With scores in the thousands it selects a single value: the softmax approaches argmax.",
)


def masked_softmax_by_hand(scores: Tensor, mask: Tensor) -> Tensor:
    """The solution of exercise 5.3: scores (T, S), mask (T, S), True = may attend -> (T, S)."""
    highest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0)
    mass = (scores.masked_fill(~mask, -torch.inf) - highest).exp()
    return mass / mass.sum(-1, keepdim=True).clamp_min(1e-30)


def _masked_cases() -> list[Case]:
    scores, other = random_tensors((5, 7), (5, 7))
    mask = other > -0.4
    mask[:, 0] = True
    mask[torch.arange(5), scores.argmax(1)] = False  # the highest: in each row the mask matters
    mask[scores.argmax(1) == 0, 1] = True
    nothing = mask.clone()
    nothing[2] = False
    far_above = torch.tensor([[0.0, 1.0, 1000.0], [1.0, 0.0, 0.0]])
    by_hand = torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]).log()
    return [
        Case(
            "scores ln 1, ln 2, ln 3, the last one masked, and a row of three equal scores",
            (by_hand, torch.tensor([[True, True, False], [True, True, True]])),
            torch.tensor([[1 / 3, 2 / 3, 0], [1 / 3, 1 / 3, 1 / 3]]),
        ),
        Case("random scores (5, 7)", (scores, mask)),
        Case("a row in which nothing is allowed", (scores, nothing)),
        Case("scores in the thousands", (scores * 1e4, mask)),
        Case("scores near −1,000", (scores - 1e3, mask)),
        Case(
            "a row whose only allowed score is −100,000",
            (torch.tensor([[-1e5, 0.0, 1.0]]), torch.tensor([[True, False, False]])),
        ),
        Case(
            "a masked score of 1000 beside allowed scores of 0 and 1",
            (far_above, torch.tensor([[True, True, False], [True, True, True]])),
            gradient=True,
        ),
    ]


def _softmax_if_allowed(scores: Tensor, mask: Tensor, forbidden: float, dim: int = -1) -> Tensor:
    return scores.masked_fill(~mask, forbidden).softmax(dim)


def _highest_of_all(scores: Tensor, mask: Tensor) -> Tensor:
    mass = (scores - scores.amax(-1, keepdim=True)).masked_fill(~mask, -torch.inf).exp()
    return mass / mass.sum(-1, keepdim=True).clamp_min(1e-30)


def _masked_after_exp(scores: Tensor, mask: Tensor) -> Tensor:
    highest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0)
    mass = (scores - highest).exp().masked_fill(~mask, 0)
    return mass / mass.sum(-1, keepdim=True).clamp_min(1e-30)


check_masked_softmax = FunctionCheck(
    title="Exercise 5.3",
    solution=masked_softmax_by_hand,
    cases=_masked_cases,
    mistakes={
        "the mask is ignored": lambda s, m: s.softmax(-1),
        "the mask is inverted: True means may attend": (lambda s, m: masked_softmax_by_hand(s, ~m)),
        "the masked weights were set to 0 after the softmax, so the others no longer sum to 1": (
            lambda s, m: s.softmax(-1).masked_fill(~m, 0)
        ),
        "masked scores were set to 0, which is a score like any other": (
            lambda s, m: _softmax_if_allowed(s, m, 0.0)
        ),
        "the softmax runs over the queries instead of the source positions": (
            lambda s, m: _softmax_if_allowed(s, m, -torch.inf, 0).nan_to_num(0)
        ),
        "a row in which nothing is allowed becomes NaN": (
            lambda s, m: _softmax_if_allowed(s, m, -torch.inf)
        ),
        "a row in which nothing is allowed gets equal weights": (
            lambda s, m: _softmax_if_allowed(s, m, torch.finfo(s.dtype).min)
        ),
        "masked scores were set to a large negative number, and an allowed score can be lower": (
            lambda s, m: _softmax_if_allowed(s, m, -1e4) * m.any(-1, keepdim=True)
        ),
        "the mask was applied after `exp`, which overflows for a large masked score": (
            _masked_after_exp
        ),
        "the maximum was taken before the mask was applied: beside a far larger masked score, all "
        "exponentials of allowed ones become 0": _highest_of_all,
        "the exponentials overflow: subtract the largest allowed score first": (
            lambda s, m: (
                (e := s.exp().masked_fill(~m, 0)) / e.sum(-1, keepdim=True).clamp_min(1e-30)
            )
        ),
    },
    remark="The gradients are right too: a masked position has no effect on the others.",
    without=("softmax", "log_softmax", "softmin", "masked_softmax"),
)


def luong_step(
    cell, weight: Tensor, y: Tensor, s: Tensor, states: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor]:
    """The solution of exercise 5.6, one step of a decoder whose new state is the query.

    Args:
        cell: (y, s) -> the next state.
        weight: W of shape (U, 2U).
        y, s: the embedding of the token and the state before the step, (1, E) and (1, U).
        states: those of the encoder, (S, U).
        mask: (1, S), True = may attend.

    Returns:
        the input of the output layer and the next state, each (1, U).
    """
    s = cell(y, s)
    context = masked_softmax_by_hand(s @ states.T, mask) @ states
    return torch.tanh(torch.cat([context, s], -1) @ weight.T), s


def _luong_cases() -> list[Case]:
    torch_state = torch.random.get_rng_state()
    torch.manual_seed(5)
    cell = GRUCell(3, 5).requires_grad_(False)
    torch.random.set_rng_state(torch_state)
    given = (cell, *random_tensors((5, 10), (1, 3), (1, 5), (7, 5)))
    full = torch.ones(1, 7, dtype=torch.bool)
    return [
        Case("seven positions without padding", (*given, full)),
        Case("seven positions, the last three padding", (*given, torch.arange(7)[None] < 4)),
    ]


def _luong_with(*, asks="after", scale=1.0, masked=True, order="cs", last="tanh", returns="after"):
    """A step with one mistake."""

    def step(cell, weight, y, s, states, mask):
        after = cell(y, s)
        query = after if asks == "after" else s
        mask = mask if masked else torch.ones_like(mask)
        context = masked_softmax_by_hand(query @ states.T * scale, mask) @ states
        both = [context, after] if order == "cs" else [after, context]
        seen = torch.cat(both, -1) @ weight.T
        seen = torch.tanh(seen) if last == "tanh" else seen
        return seen, after if returns == "after" else s

    return step


check_luong_step = FunctionCheck(
    title="Exercise 5.6",
    solution=luong_step,
    cases=_luong_cases,
    mistakes={
        "the query is the state before the step, as in Bahdanau's decoder": _luong_with(
            asks="before"
        ),
        "the mask is ignored": _luong_with(masked=False),
        "state and context were concatenated in the wrong order: it should be [c; s]": _luong_with(
            order="sc"
        ),
        "the tanh is missing": _luong_with(last="none"),
        "the state before the step was returned": _luong_with(returns="before"),
        "the scores are divided by √U, which gives the scaled dot product": _luong_with(
            scale=5**-0.5
        ),
    },
    parts=("the input of the output layer", "the next state"),
    remark="The context comes too late for the recurrent step: only the output layer uses it.",
)


def entropy(weights: Tensor) -> Tensor:
    """The solution of exercise 5.7: weights (…, S) -> (…), in nats."""
    return -torch.xlogy(weights, weights).sum(-1)


check_entropy = FunctionCheck(
    title="Exercise 5.7",
    solution=entropy,
    cases=lambda: [
        Case(
            "eight equal weights, twice",
            (torch.full((2, 8), 1 / 8),),
            torch.full((2,), math.log(8)),
        ),
        Case(
            "weights ½, ¼, ¼",
            (torch.tensor([[0.5, 0.25, 0.25]]),),
            torch.tensor([1.5 * math.log(2)]),
        ),
        Case("a single weight of 1", (torch.eye(3),), torch.zeros(3)),
        Case(
            "weights with three axes, (2, 3, 8)",
            (torch.full((2, 3, 8), 1 / 8),),
            torch.full((2, 3), math.log(8)),
        ),
    ],
    mistakes={
        "the logarithm has base 2: these are bits": lambda w: entropy(w) / math.log(2),
        "the logarithm has base 10": lambda w: entropy(w) / math.log(10),
        "the minus sign is missing": lambda w: -entropy(w),
        "it is a mean over the positions instead of a sum": lambda w: entropy(w) / w.shape[-1],
        "the sum runs over all axes instead of the last one": lambda w: entropy(w).sum(),
        "the sum runs over the wrong axis": lambda w: -torch.xlogy(w, w).sum(0),
        "the sum runs over the second axis, which is not always the last": (
            lambda w: -torch.xlogy(w, w).sum(1)
        ),
        "the logarithms are not weighted": lambda w: -w.log().sum(-1),
        "0 · log 0 counts as 0 here, but torch computes NaN": (lambda w: -(w * w.log()).sum(-1)),
    },
    remark="Its exponential is the number of positions with equal weights that have this entropy.",
)
