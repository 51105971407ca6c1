"""Chapter 12, Further page: checks of the exercises on the online softmax and on load balance."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


def merge(
    largest_a: Tensor,
    total_a: Tensor,
    mixed_a: Tensor,
    largest_b: Tensor,
    total_b: Tensor,
    mixed_b: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """The solution of exercise 12.7: join what two parts of the keys gave for the same queries.

    Args:
        largest_a, largest_b: (T, 1), the largest score of each query within its part.
        total_a, total_b: (T, 1), the sum of exp(score − largest).
        mixed_a, mixed_b: (T, K), the sum of exp(score − largest) · value.

    Returns:
        largest (T, 1), total (T, 1) and mixed (T, K) of both parts together.
    """
    largest = torch.maximum(largest_a, largest_b)
    of_a, of_b = (largest_a - largest).exp(), (largest_b - largest).exp()
    return largest, of_a * total_a + of_b * total_b, of_a * mixed_a + of_b * mixed_b


def _merged_with(*, inverse=False, mixed=True, total=True, average=False, of="both", unsafe=False):
    """A merge with one mistake."""

    def merged(largest_a, total_a, mixed_a, largest_b, total_b, mixed_b):
        largest = largest_b if of == "b" else torch.maximum(largest_a, largest_b)
        sign = -1 if inverse else 1
        of_a, of_b = (sign * (one - largest) for one in (largest_a, largest_b))
        of_a, of_b = of_a.exp(), of_b.exp()
        if unsafe:
            scale = (-largest).exp()
            of_a, of_b = largest_a.exp() * scale, largest_b.exp() * scale
        sums = of_a * total_a + of_b * total_b if total else total_a + total_b
        vectors = of_a * mixed_a + of_b * mixed_b if mixed else mixed_a + mixed_b
        return largest, sums, vectors / sums if average else vectors

    return merged


def _parts(scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What one part of the keys gives: from scores (T, S) and values (S, K)."""
    largest = scores.amax(dim=1, keepdim=True)
    weights = (scores - largest).exp()
    return largest, weights.sum(dim=1, keepdim=True), weights @ values


def _merge_cases() -> list[Case]:
    scores, values = random_tensors((3, 7), (7, 2))
    ln2 = torch.tensor(2.0).log()
    one = torch.ones(1, 1)
    by_hand = (ln2 * one, one, one * 6.0, 0 * one, 2 * one, one * 9.0)
    parts = (*_parts(scores[:, :3], values[:3]), *_parts(scores[:, 3:], values[3:]))
    late = 200 * torch.tensor([[0.0] * 3 + [1.0] * 4])
    far = (*_parts(scores[:, :3], values[:3]), *_parts((scores + late)[:, 3:], values[3:]))
    return [
        Case("one query, a part with score ln 2 and one with two scores 0", by_hand),
        Case("three queries, three and four keys", parts),
        Case("scores above 200 in the second part", far),
    ]


check_merge = FunctionCheck(
    title="Exercise 12.7",
    solution=merge,
    cases=_merge_cases,
    parts=("largest", "total", "mixed"),
    mistakes={
        "the sums are added without the factors exp(largest of the part − largest of both)": (
            _merged_with(total=False, mixed=False)
        ),
        "the factors are missing in `mixed`": _merged_with(mixed=False),
        "the factors are missing in `total`": _merged_with(total=False),
        "the sign in the exponent is wrong: a factor is never larger than 1": (
            _merged_with(inverse=True)
        ),
        "`mixed` is already divided by `total`: that happens once, at the very end": (
            _merged_with(average=True)
        ),
        "`largest` is that of the second part alone": _merged_with(of="b"),
        "exp(largest) is computed by itself, which overflows: subtract first": (
            _merged_with(unsafe=True)
        ),
    },
    remark="The order of the parts does not matter, so that several GPUs may share the keys.",
)


def balance(probabilities: Tensor) -> Tensor:
    """The solution of exercise 12.8.

    Args:
        probabilities: (N, E), what the router gives each of N tokens.

    Returns:
        E Σ_e f_e P_e, a number; each token goes to its most probable expert.
    """
    experts = probabilities.shape[1]
    load = F.one_hot(probabilities.argmax(dim=1), experts).float().mean(dim=0)  # f (E,)
    return experts * (load * probabilities.mean(dim=0)).sum()


def _load(probabilities: Tensor) -> Tensor:
    return F.one_hot(probabilities.argmax(dim=1), probabilities.shape[1]).float().mean(dim=0)


def _balance_cases() -> list[Case]:
    even = torch.tensor([[0.9, 0.1], [0.1, 0.9]])
    hand = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.7, 0.3], [0.3, 0.7]])
    (scores,) = random_tensors((7, 5))
    skewed = (scores + torch.tensor([2.0, 0.0, 0.0, 0.0, 0.0])).softmax(dim=1)
    return [
        Case("four tokens and two experts", (hand,), torch.tensor(1.1), gradient=True),
        Case("two tokens, one for each expert", (even,), torch.tensor(1.0), gradient=True),
        Case("seven tokens and five experts", (skewed,), gradient=True),
    ]


check_balance = FunctionCheck(
    title="Exercise 12.8",
    solution=balance,
    cases=_balance_cases,
    mistakes={
        "the factor E is missing: equal shares would give 1/E, not 1": (
            lambda probabilities: balance(probabilities) / probabilities.shape[1]
        ),
        "the mean probabilities are squared: one of the two factors is the share of tokens": (
            lambda p: p.shape[1] * p.mean(dim=0).square().sum()
        ),
        "the shares of tokens are squared, so that no gradient reaches the router": (
            lambda p: p.shape[1] * _load(p).square().sum() + 0 * p.sum()
        ),
        "the tokens are counted; f is their share, so divide by N": (
            lambda probabilities: len(probabilities) * balance(probabilities)
        ),
        "the mean over the experts is taken in place of the sum": (
            lambda p: (_load(p) * p.mean(dim=0)).mean()
        ),
        "the least probable expert is counted in place of the most probable one": (
            lambda p: p.shape[1] * (_load(-p) * p.mean(dim=0)).sum()
        ),
    },
    remark="The gradient lowers the probability of an expert in proportion to its load.",
)
