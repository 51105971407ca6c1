"""Chapter 5, Attention: the checks of its exercises, and the faulty model of "When it breaks"."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.checks.shown import shown
from gates2heads.exercises.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.exercises.verdict import NotYetError, check
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.recurrent import GRUCell
from gates2heads.models.translation.seq2seq import EncoderDecoder


def pool(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """The solution of exercise 5.1: query (K,), keys (S, K), values (S, D) -> (D,)."""
    return (keys @ query).softmax(0) @ values


def _pool_cases() -> list[Case]:
    query, keys, values = random_tensors((3,), (7, 3), (7, 5))
    by_hand = torch.tensor([1.0]), torch.tensor([[1.0], [2.0], [3.0]]).log()
    return [
        Case(
            "the example done by hand",
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
        "the scores are divided by √K: that is the scaled dot score": (
            lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v
        ),
        "the exponentials are not divided by their sum": lambda q, k, v: (k @ q).exp() @ v,
        "the exponentials overflow: take the softmax of torch, or subtract the maximum": (
            lambda q, k, v: F.normalize((k @ q).exp(), p=1, dim=0) @ v
        ),
        "every value counts the same": lambda q, k, v: v.mean(0),
        "the values are summed without weights": lambda q, k, v: v.sum(0),
        "only the best key is read, which is hard attention": (lambda q, k, v: v[(k @ q).argmax()]),
        "the keys are averaged, not the values": lambda q, k, v: (k @ q).softmax(0) @ k,
    },
    remark="With scores in the thousands it picks one value: softmax has become argmax.",
)


def masked_softmax_by_hand(scores: Tensor, mask: Tensor) -> Tensor:
    """The solution of exercise 5.2: scores (T, S), mask (T, S), True = may attend -> (T, S)."""
    highest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0)
    mass = (scores.masked_fill(~mask, -torch.inf) - highest).exp()
    return mass / mass.sum(-1, keepdim=True).clamp_min(1e-30)


def _masked_cases() -> list[Case]:
    scores, other = random_tensors((5, 7), (5, 7))
    mask = other > -0.4
    mask[:, 0] = True
    nothing = mask.clone()
    nothing[2] = False
    by_hand = torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]).log()
    return [
        Case(
            "scores ln 1, ln 2, ln 3 of which the last is forbidden, above three equal ones",
            (by_hand, torch.tensor([[True, True, False], [True, True, True]])),
            torch.tensor([[1 / 3, 2 / 3, 0], [1 / 3, 1 / 3, 1 / 3]]),
        ),
        Case("random scores (5, 7)", (scores, mask)),
        Case("a row in which nothing is allowed", (scores, nothing)),
        Case("scores in the thousands", (scores * 1e4, mask)),
    ]


def _softmax_if_allowed(scores: Tensor, mask: Tensor, forbidden: float, dim: int = -1) -> Tensor:
    return scores.masked_fill(~mask, forbidden).softmax(dim)


check_masked_softmax = FunctionCheck(
    title="Exercise 5.2",
    solution=masked_softmax_by_hand,
    cases=_masked_cases,
    mistakes={
        "the mask is forgotten": lambda s, m: s.softmax(-1),
        "the mask is turned round: True means may attend": (
            lambda s, m: masked_softmax_by_hand(s, ~m)
        ),
        "the forbidden weights were erased after the softmax, so the rest no longer sums to 1": (
            lambda s, m: s.softmax(-1).masked_fill(~m, 0)
        ),
        "forbidden scores were set to 0, which is a score like any other": (
            lambda s, m: _softmax_if_allowed(s, m, 0.0)
        ),
        "the softmax runs over the queries and not over the positions": (
            lambda s, m: _softmax_if_allowed(s, m, -torch.inf, 0).nan_to_num(0)
        ),
        "a row in which nothing is allowed becomes NaN": (
            lambda s, m: _softmax_if_allowed(s, m, -torch.inf)
        ),
        "a row in which nothing is allowed gets equal weights": (
            lambda s, m: _softmax_if_allowed(s, m, torch.finfo(s.dtype).min)
        ),
        "the exponentials overflow: subtract the largest allowed score first": (
            lambda s, m: (
                (e := s.exp().masked_fill(~m, 0)) / e.sum(-1, keepdim=True).clamp_min(1e-30)
            )
        ),
    },
    remark="And a position that may not be looked at costs the others nothing.",
)


def luong_step(
    cell, weight: Tensor, y: Tensor, s: Tensor, states: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor]:
    """The solution of exercise 5.3, one step of a decoder that asks with its new state.

    Args:
        cell: (y, s) -> the next state.
        weight: W of shape (U, 2U).
        y, s: what is read and the state before, (1, E) and (1, U).
        states: of the encoder, (S, U).
        mask: (1, S), True = may attend.

    Returns:
        what the readout sees, and the next state, each (1, U).
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
        Case("seven positions, all of them real", (*given, full)),
        Case("seven positions, the last three padding", (*given, torch.arange(7)[None] < 4)),
    ]


def _luong_with(*, asks="after", scale=1.0, masked=True, order="cs", last="tanh", returns="after"):
    """A step with one thing done otherwise."""

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
    title="Exercise 5.3",
    solution=luong_step,
    cases=_luong_cases,
    mistakes={
        "the state before the step asks, as in Bahdanau's decoder": _luong_with(asks="before"),
        "the mask is forgotten": _luong_with(masked=False),
        "state and context were joined the wrong way round: [c; s]": _luong_with(order="sc"),
        "the tanh is missing": _luong_with(last="none"),
        "the old state was handed on": _luong_with(returns="before"),
        "the scores are divided by √U: that is the scaled dot score": _luong_with(scale=5**-0.5),
    },
    parts=("what the readout sees", "the next state"),
    remark="Here the context comes too late for the step itself: only the readout knows of it.",
)


def split(matrix: Tensor, query_size: int) -> tuple[Tensor, Tensor]:
    """The solution of exercise 5.4: matrix of shape (N, Q + K) -> W_q (N, Q) and W_k (N, K)."""
    return matrix[:, :query_size], matrix[:, query_size:]


check_split = FunctionCheck(
    title="Exercise 5.4",
    solution=split,
    cases=lambda: [Case("a (7, 8) matrix and Q = 3", (*random_tensors((7, 8)), 3))],
    mistakes={
        "the two are the wrong way round: the query comes first in [q; k]": (
            lambda w, n: (w[:, n:], w[:, :n])
        ),
        "rows were cut and not columns": lambda w, n: (w[:n], w[n:]),
        "the last columns were given to the query": lambda w, n: (w[:, -n:], w[:, :-n]),
        "the matrices are transposed": lambda w, n: (w[:, :n].T, w[:, n:].T),
    },
    parts=("W_q", "W_k"),
    remark="So concat and additive are one score function under two names.",
)


def entropy(weights: Tensor) -> Tensor:
    """The solution of exercise 5.5: weights (…, S) -> (…), in nats."""
    return -torch.xlogy(weights, weights).sum(-1)


check_entropy = FunctionCheck(
    title="Exercise 5.5",
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
    ],
    mistakes={
        "the logarithm has base 2: these are bits": lambda w: entropy(w) / math.log(2),
        "the logarithm has base 10": lambda w: entropy(w) / math.log(10),
        "the minus sign is missing": lambda w: -entropy(w),
        "it is a mean over the positions and not a sum": lambda w: entropy(w) / w.shape[-1],
        "everything was summed, and not the last axis alone": lambda w: entropy(w).sum(),
        "the wrong axis was summed": lambda w: -torch.xlogy(w, w).sum(0),
        "the logarithms are not weighted": lambda w: -w.log().sum(-1),
        "a weight of 0 meets its logarithm: 0 · log 0 counts as 0, and torch says NaN": (
            lambda w: -(w * w.log()).sum(-1)
        ),
    },
    remark="e to this power is the number of positions that the model looks at.",
)


FAULTS = {
    "a": "the softmax runs over the target axis instead of the source axis",
    "b": "padding may be attended to",
    "c": "padding is counted in the loss",
    "d": "the decoder reads the token that it should predict",
}


class FaultyAttention(Attention):
    """The library's attention with one fault, which the reader is to find from its symptoms."""

    def forward(self, query, keys, values, *, mask=None, projected=False):
        """As in `Attention`, but for the fault."""
        return super().forward(query, keys, values, mask=None, projected=projected)


def faulty_model(source_size: int, target_size: int) -> EncoderDecoder:
    """An encoder–decoder that trains, and is wrong in one place.

    Raises:
        TypeError, ValueError: a size of a vocabulary is no whole number of at least 1.
    """
    model = EncoderDecoder(source_size, target_size, score="scaled dot")
    model.decoder.attention = FaultyAttention(model.decoder.attention.score)
    return model


@check("Exercise 5.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of `faulty_model`: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then, one step at a time, every weight would be 1 and the sums would exceed 1.",
        "c": "Then a date alone and a date in company would still get the same probabilities.",
        "d": "Then free running, with only its own output to read, would get most dates wrong.",
    }
    letter = str(letter).strip(" ().").lower()
    if letter not in FAULTS:
        raise NotYetError(
            f"Answer with one of the letters {', '.join(FAULTS)}, got {shown(letter)}."
        )
    if letter in contradiction:
        raise NotYetError(f"{contradiction[letter]}")
    return f"{FAULTS[letter].capitalize()}, so a sentence's neighbours in the batch change it."
