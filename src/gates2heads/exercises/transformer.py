"""Chapter 7, Transformer: the checks of its exercises."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.exercises.comparison import difference
from gates2heads.exercises.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.exercises.verdict import NotYetError, check

# Exercise 7.1: x = (0, 2, 4, 2) and f(x) = (1, 3, 1, −1) leave a post-norm block as this
LEAVES = (-1.0, 1.0, 1.0, -1.0)
ROUNDED = 5e-3  # so far off is a number that was rounded to two decimals
_ROOT = math.sqrt(2)
_SLIPS = {
    (1.0, 5.0, 5.0, 1.0): "That is the sum. The norm stands after it.",
    (-2.0, 2.0, 2.0, -2.0): "The mean is off; now divide by the standard deviation.",
    (-0.5, 0.5, 0.5, -0.5): "You divided by the variance; its root is the standard deviation.",
    (-0.866, 0.866, 0.866, -0.866): "The variance is the mean of the four squares: divide by 4 "
    "and not by 3.",
    (0.0, _ROOT, 0.0, -_ROOT): "That is the norm of what the part wrote. The residual adds x to it "
    "first.",
    (-_ROOT, 0.0, _ROOT, 0.0): "That is the norm of x. What the part wrote is added before.",
    (1 - _ROOT, 3.0, 1 + _ROOT, -1.0): "You normalised x before the sum. In a post-norm block the "
    "norm stands after the sum.",
    (0.277, 1.387, 1.387, 0.277): "That is RMSNorm, which leaves the mean in.",
}


@check("Exercise 7.1")
def check_by_hand(leaves) -> str:
    """Check the four numbers that leave the block, found with a pencil."""
    try:
        given = leaves.detach().cpu().tolist() if isinstance(leaves, Tensor) else leaves
    except (RuntimeError, NotImplementedError):  # it holds no numbers, as on the device "meta"
        given = None
    if not isinstance(given, tuple | list) or len(given) != len(LEAVES):
        raise NotYetError(
            f"Give the four numbers in brackets, such as (2, 0, -2, 0), got {shown(leaves)}."
        )
    try:
        numbers = torch.tensor([float(number) for number in given])
    except (TypeError, ValueError, OverflowError):
        raise NotYetError(f"Each should be a number, got {shown(leaves)}.") from None
    if not difference(torch.tensor(LEAVES), numbers, 1e-3):
        return "In x the middle numbers were 2 and 4; what the part wrote has made them equal."
    for slip, words in _SLIPS.items():
        if not difference(torch.tensor(slip), numbers, ROUNDED):
            raise NotYetError(words)
    raise NotYetError(
        "Add x and what the part wrote, number by number; take the mean of the sum off; divide by "
        "the root of the mean of the squares."
    )


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The solution of exercise 7.2: x (S, D), weight and bias (D,) -> (S, D)."""
    apart = x - x.mean(-1, keepdim=True)
    deviation = (apart.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return apart / deviation * weight + bias


def _normed(*, dim=-1, unbiased=False, root=True, mean=True, scaled=True, shifted=True) -> Callable:
    """LayerNorm with one thing done otherwise."""

    def wrong(x, weight, bias):
        apart = x - x.mean(dim, keepdim=True) if mean else x
        squares = apart.square()
        if unbiased:
            variance = squares.sum(dim, keepdim=True) / (x.shape[-1] - 1) + 1e-5
        else:
            variance = squares.mean(dim, keepdim=True) + 1e-5
        out = apart / (variance.sqrt() if root else variance)
        return out * (weight if scaled else 1) + (bias if shifted else 0)

    return wrong


def _norm_cases() -> list[Case]:
    x, weight, bias = random_tensors((7, 5), (5,), (5,))
    by_hand = torch.tensor([[3.0, 3.0, -1.0, -1.0], [1.0, 5.0, 1.0, 5.0]])
    wanted = torch.tensor([[1.0, 1.0, -1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]])
    plain = torch.ones(4), torch.zeros(4)
    return [
        Case("the vectors (3, 3, −1, −1) and (1, 5, 1, 5)", (by_hand, *plain), wanted),
        Case("seven vectors of five numbers", (3 * x + 2, weight, bias)),
    ]


check_layer_norm = FunctionCheck(
    title="Exercise 7.2",
    solution=layer_norm,
    cases=_norm_cases,
    mistakes={
        "mean and deviation run over the places: each vector has its own": _normed(dim=0),
        "the variance divides by D − 1 (as `std` and `var` do unless told otherwise)": _normed(
            unbiased=True
        ),
        "you divide by the variance: its root is missing": _normed(root=False),
        "the mean is not taken off, which is RMSNorm": _normed(mean=False),
        "the weight is forgotten": _normed(scaled=False),
        "the bias is forgotten": _normed(shifted=False),
    },
    without=("layer_norm", "LayerNorm"),
    remark="It equals PyTorch's `F.layer_norm`.",
)


def may_see(real: Tensor) -> Tensor:
    """The solution of exercise 7.4: real (B, T) bool -> (B, T, T) bool, True = may attend."""
    length = real.shape[1]
    return torch.ones(length, length, dtype=torch.bool).tril() & real[:, None]


def _ones(real: Tensor) -> Tensor:
    return torch.ones(real.shape[1], real.shape[1], dtype=torch.bool)


check_may_see = FunctionCheck(
    title="Exercise 7.4",
    solution=may_see,
    cases=lambda: [
        Case(
            "one text of two tokens and one of padding",
            (torch.tensor([[True, True, False]]),),
            torch.tensor([[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]).bool(),
        ),
        Case(
            "three texts of 5, 3 and 1 tokens",
            (torch.arange(5) < torch.tensor([5, 3, 1])[:, None],),
        ),
        Case(
            "the same, filled up in front",
            (torch.arange(5) >= torch.tensor([0, 2, 4])[:, None],),
        ),
    ],
    mistakes={
        "a token may not see itself: the diagonal belongs to the past": (
            lambda real: _ones(real).tril(-1) & real[:, None]
        ),
        "it shows the future and hides the past: rows are queries, columns are keys": (
            lambda real: _ones(real).triu() & real[:, None]
        ),
        "padding is taken from the queries, the rows: it is keys that nobody may see": (
            lambda real: _ones(real).tril() & real[:, :, None]
        ),
        "padding may be seen": lambda real: _ones(real).tril().expand(len(real), -1, -1),
        "later tokens may be seen": lambda real: _ones(real) & real[:, None],
        "True and False have changed places: True means may attend": lambda real: ~may_see(real),
    },
    remark="Rows are the tokens that ask, columns those that are looked at.",
)


def encoder_block(
    x: Tensor, attend: Callable, feed_forward: Callable, norm1: Callable, norm2: Callable
) -> Tensor:
    """The solution of exercise 7.3: x (S, D) -> (S, D), post-norm."""
    x = norm1(x + attend(x))
    return norm2(x + feed_forward(x))


def _block_cases() -> list[Case]:
    (x, mix) = random_tensors((7, 5), (7, 7))
    weights = mix.softmax(-1)

    def scaled(by):
        return lambda vectors: by * vectors / vectors.norm(dim=-1, keepdim=True)

    return [
        Case(
            "x = (2, 4), where `attend` doubles, `feed_forward` adds 1, `norm1` halves and "
            "`norm2` turns the sign",
            (torch.tensor([[2.0, 4.0]]), lambda v: 2 * v, lambda v: v + 1, lambda v: v / 2,
             lambda v: -v),
            torch.tensor([[-7.0, -13.0]]),
        ),
        Case(
            "seven vectors of five numbers",
            (x, lambda v: weights @ v, lambda v: v.relu() - 1, scaled(2), scaled(3)),
        ),
    ]  # fmt: skip


def _pre_norm(x, attend, feed_forward, norm1, norm2):
    x = x + attend(norm1(x))
    return x + feed_forward(norm2(x))


def _the_part_alone(x, attend, feed_forward, norm1, norm2):
    x = x + norm1(attend(x))
    return x + norm2(feed_forward(x))


def _from_the_start(x, attend, feed_forward, norm1, norm2):
    return norm2(x + feed_forward(norm1(x + attend(x))))


check_encoder_block = FunctionCheck(
    title="Exercise 7.3",
    solution=encoder_block,
    cases=_block_cases,
    mistakes={
        "it is pre-norm: here each norm stands behind its sum": _pre_norm,
        "only what a part wrote is normalised, and not the sum": _the_part_alone,
        "the second residual adds the first x again: what attention brought is lost on the way": (
            _from_the_start
        ),
        "nothing is added: a residual keeps what was there": (lambda x, a, f, m, n: n(f(m(a(x))))),
        "`norm1` is used twice": lambda x, a, f, m, n: encoder_block(x, a, f, m, m),
        "the feed-forward network stands beside attention and not after it": (
            lambda x, a, f, m, n: n(m(x + a(x) + f(x)))
        ),
    },
    remark="`layers.transformer_layers.EncoderLayer` with `norm_first=False` is this, with masks.",
)


def cached_step(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor):
    """The solution of exercise 7.5: query, key, value (K,), kept keys, values (t, K)."""
    keys, values = torch.cat([keys, key[None]]), torch.cat([values, value[None]])
    weights = (keys @ query / len(query) ** 0.5).softmax(0)
    return weights @ values, keys, values


def _stepped(*, itself=True, scale=True, front=False, kept=True) -> Callable:
    """A step with one thing done otherwise."""

    def wrong(query, key, value, keys, values):
        both = [(keys, key[None]), (values, value[None])]
        grown = [torch.cat(pair[::-1] if front else pair) for pair in both]
        read = grown if itself else [keys, values]
        scores = read[0] @ query
        weights = (scores / len(query) ** 0.5 if scale else scores).softmax(0)
        return weights @ read[1], *(grown if kept else (keys, values))

    return wrong


def _step_cases() -> list[Case]:
    one, empty = torch.ones(1), torch.zeros(0, 1)
    logs, values = torch.tensor([[0.0], [math.log(2)]]), torch.tensor([[6.0], [12.0]])
    return [
        Case("the first step, with nothing kept yet", (one, one, 4 * one, empty, empty)),
        Case(
            "K = 1, with products 0, ln 2 and ln 3 and values 6, 12 and 0",
            (one, math.log(3) * one, 0 * one, logs, values),
        ),
        Case(
            "K = 5, with seven tokens kept",
            tuple(random_tensors((5,), (5,), (5,), (7, 5), (7, 5))),
        ),
    ]


check_cached_step = FunctionCheck(
    title="Exercise 7.5",
    solution=cached_step,
    cases=_step_cases,
    mistakes={
        "the new token does not look at itself: append first, then attend": _stepped(itself=False),
        "the scores are not divided by √K": _stepped(scale=False),
        "the new key and value stand in front of the others: time goes on at the end": _stepped(
            front=True
        ),
        "the new key and value are not kept for the next step": _stepped(kept=False),
    },
    parts=("context", "keys", "values"),
    remark="No mask is needed: what comes later is not there yet.",
)
