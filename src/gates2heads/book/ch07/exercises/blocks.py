"""Chapter 7, Transformer: checks of the exercises on blocks, masks and norms."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 7.1: x = (0, 2, 4, 2) and f(x) = (1, 3, 1, −1) leave a post-norm block as this
OUTPUT = (-1.0, 1.0, 1.0, -1.0)
_ROOT = math.sqrt(2)
check_by_hand = NumbersCheck(
    title="Exercise 7.1",
    questions=(
        Numbers(
            name="output",
            right=(near(OUTPUT, within=1e-3),),
            slips=slips(
                {
                    (1.0, 5.0, 5.0, 1.0): "That is the sum. In a post-norm block, layer "
                    "normalisation still follows.",
                    (-2.0, 2.0, 2.0, -2.0): "You have subtracted the mean. Now divide by the "
                    "standard deviation.",
                    (-0.5, 0.5, 0.5, -0.5): "You divided by the variance. Its square root is the "
                    "standard deviation.",
                    (-0.866, 0.866, 0.866, -0.866): "The variance is the mean of the four squared "
                    "deviations: divide their sum by 4, not by 3.",
                    (0.0, _ROOT, 0.0, -_ROOT): "You normalised the output of the sublayer alone. "
                    "The residual connection adds x to it first.",
                    (-_ROOT, 0.0, _ROOT, 0.0): "You normalised x alone. The output of the sublayer "
                    "is added first.",
                    (1 - _ROOT, 3.0, 1 + _ROOT, -1.0): "You normalised x before the addition, "
                    "which is pre-norm. In a post-norm block, normalisation follows the addition.",
                    (0.277, 1.387, 1.387, 0.277): "That is RMSNorm, which does not subtract the "
                    "mean.",
                },
                within=5e-3,  # so far off is a number that was rounded to two decimals
            ),
            otherwise="Add x and the output of the sublayer component by component. Subtract the "
            "mean of the sum. Divide by the standard deviation, the square root of the mean "
            "squared deviation.",
            ask="Give the four numbers in parentheses, such as (2, 0, -2, 0)",
        ),
    ),
    remark="The sublayer has made the two middle components, 2 and 4 in x, equal.",
)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The solution of exercise 7.2: x (S, D), weight and bias (D,) -> (S, D)."""
    apart = x - x.mean(-1, keepdim=True)
    deviation = (apart.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return apart / deviation * weight + bias


def _normed(
    *, dim=-1, unbiased=False, root=True, mean=True, scaled=True, shifted=True, least=1e-5, late=0.0
) -> Callable:
    """LayerNorm with one mistake."""

    def wrong(x, weight, bias):
        apart = x - x.mean(dim, keepdim=True) if mean else x
        squares = apart.square()
        if unbiased:
            variance = squares.sum(dim, keepdim=True) / (x.shape[-1] - 1) + least
        else:
            variance = squares.mean(dim, keepdim=True) + least
        out = apart / ((variance.sqrt() if root else variance) + late)
        return out * (weight if scaled else 1) + (bias if shifted else 0)

    return wrong


def _norm_cases() -> list[Case]:
    x, weight, bias = random_tensors((7, 5), (5,), (5,))
    by_hand = torch.tensor([[3.0, 3.0, -1.0, -1.0], [1.0, 5.0, 1.0, 5.0]])
    wanted = torch.tensor([[1.0, 1.0, -1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]])
    plain = torch.ones(4), torch.zeros(4)
    return [
        Case("the vectors (3, 3, −1, −1) and (1, 5, 1, 5)", (by_hand, *plain), wanted),
        Case("seven vectors of width 5", (3 * x + 2, weight, bias)),
        Case("a vector whose components are all 4", (torch.full((1, 5), 4.0), weight, bias)),
        Case(
            "a vector whose components differ by about 0.002",
            (4 + 1e-3 * torch.tensor([[1.0, -1.0, 1.0, -1.0]]), *plain),
        ),
    ]


check_layer_norm = FunctionCheck(
    title="Exercise 7.2",
    solution=layer_norm,
    cases=_norm_cases,
    mistakes={
        "the mean and variance are taken over the positions: each vector has its own": _normed(
            dim=0
        ),
        "the variance divides by D − 1 (as `std` and `var` do by default)": _normed(unbiased=True),
        "you divide by the variance: its square root is missing": _normed(root=False),
        "the mean is not subtracted, which is RMSNorm": _normed(mean=False),
        "the weight is missing": _normed(scaled=False),
        "the bias is missing": _normed(shifted=False),
        "the weight and the bias are both missing": _normed(scaled=False, shifted=False),
        "nothing is added to σ²: a vector of equal components divides zero by zero": _normed(
            least=0.0
        ),
        "the number that is added to σ² is much smaller than 10⁻⁵": _normed(least=1e-12),
        "the variance divides by D − 1 (as `std` and `var` do by default), and nothing is added to "
        "it": _normed(unbiased=True, least=0.0),
        "10⁻⁵ is added to σ, after the square root, instead of to σ²": _normed(
            least=0.0, late=1e-5
        ),
    },
    without=("layer_norm", "LayerNorm"),
    remark="It equals PyTorch's `F.layer_norm`.",
)


def attention_mask(real: Tensor) -> Tensor:
    """The solution of exercise 7.4: real (B, T) bool -> (B, T, T) bool, True = may attend."""
    length = real.shape[1]
    return torch.ones(length, length, dtype=torch.bool).tril() & real[:, None]


def _ones(real: Tensor) -> Tensor:
    return torch.ones(real.shape[1], real.shape[1], dtype=torch.bool)


check_attention_mask = FunctionCheck(
    title="Exercise 7.4",
    solution=attention_mask,
    cases=lambda: [
        Case(
            "one sequence of two tokens and one padding position",
            (torch.tensor([[True, True, False]]),),
            torch.tensor([[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]).bool(),
        ),
        Case(
            "three sequences of 5, 3 and 1 tokens, padded on the right",
            (torch.arange(5) < torch.tensor([5, 3, 1])[:, None],),
        ),
        Case(
            "the same, padded on the left",
            (torch.arange(5) >= torch.tensor([0, 2, 4])[:, None],),
        ),
    ],
    mistakes={
        "a token may not attend to itself: the diagonal is allowed": (
            lambda real: _ones(real).tril(-1) & real[:, None]
        ),
        "later positions are visible and earlier ones hidden: rows are queries, columns are keys": (
            lambda real: _ones(real).triu() & real[:, None]
        ),
        "the padding mask is applied to the queries, the rows: it belongs to the keys": (
            lambda real: _ones(real).tril() & real[:, :, None]
        ),
        "padding is visible": lambda real: _ones(real).tril().expand(len(real), -1, -1),
        "later tokens are visible": lambda real: _ones(real) & real[:, None],
        "True and False are exchanged: True means may attend": lambda real: ~attention_mask(real),
        "the padding mask is applied to rows and columns: the columns, the keys, are enough": (
            lambda real: attention_mask(real) & real[:, :, None]
        ),
    },
    remark="Rows are queries, columns are keys.",
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
            "`norm2` changes the sign",
            (torch.tensor([[2.0, 4.0]]), lambda v: 2 * v, lambda v: v + 1, lambda v: v / 2,
             lambda v: -v),
            torch.tensor([[-7.0, -13.0]]),
        ),
        Case(
            "seven vectors of width 5",
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


def _first_missing(x, attend, feed_forward, norm1, norm2):
    x = norm1(attend(x))
    return norm2(x + feed_forward(x))


check_encoder_block = FunctionCheck(
    title="Exercise 7.3",
    solution=encoder_block,
    cases=_block_cases,
    mistakes={
        "it is pre-norm: in a post-norm block, each normalisation follows its addition": _pre_norm,
        "only the output of each sublayer is normalised, and not the sum": _the_part_alone,
        "the second residual connection adds the original x again, so the output of attention "
        "is lost from it": (_from_the_start),
        "the residual connections are missing: nothing is added": (
            lambda x, a, f, m, n: n(f(m(a(x))))
        ),
        "the second residual connection is missing: the output of `feed_forward` replaces its "
        "input": (lambda x, a, f, m, n: n(f(m(x + a(x))))),
        "the first residual connection is missing: the output of `attend` replaces its input": (
            _first_missing
        ),
        "`norm1` is used twice": lambda x, a, f, m, n: encoder_block(x, a, f, m, m),
        "the feed-forward network is parallel to attention instead of following it": (
            lambda x, a, f, m, n: n(m(x + a(x) + f(x)))
        ),
    },
    remark="`layers.transformer_layers.EncoderLayer` with `norm_first=False` is this, with masks.",
)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """The solution of exercise 7.8: x (S, D), weight (D,) -> (S, D)."""
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight


def _by_rms(*, dim=-1, root=True, centred=False, summed=False, scaled=True, least=1e-6) -> Callable:
    """RMSNorm with one mistake."""

    def wrong(x, weight):
        kept = x - x.mean(-1, keepdim=True) if centred else x
        squares = kept.square()
        size = squares.sum(dim, keepdim=True) if summed else squares.mean(dim, keepdim=True)
        size = size + least
        return kept / (size.sqrt() if root else size) * (weight if scaled else 1)

    return wrong


def _rms_cases() -> list[Case]:
    x, weight = random_tensors((7, 5), (5,))
    return [
        Case(
            "the vector (1, 7), whose root mean square is 5",
            (torch.tensor([[1.0, 7.0]]), torch.ones(2)),
            torch.tensor([[0.2, 1.4]]),
        ),
        Case("seven vectors of width 5", (3 * x + 2, weight)),
        Case("a vector of zeros", (torch.zeros(1, 5), weight)),
    ]


check_rms_norm = FunctionCheck(
    title="Exercise 7.8",
    solution=rms_norm,
    cases=_rms_cases,
    mistakes={
        "the mean is subtracted first: that is layer normalisation": _by_rms(centred=True),
        "the mean square is taken over the positions: each vector has its own": _by_rms(dim=0),
        "you divide by the mean square: its square root is missing": _by_rms(root=False),
        "you divide by the length of the vector: take the mean of the squares, not their sum": (
            _by_rms(summed=True)
        ),
        "the weight is missing": _by_rms(scaled=False),
        "nothing is added to the mean square: a vector of zeros divides zero by zero": _by_rms(
            least=0.0
        ),
    },
    without=("rms_norm", "RMSNorm"),
    remark="It equals PyTorch's `F.rms_norm`.",
)
