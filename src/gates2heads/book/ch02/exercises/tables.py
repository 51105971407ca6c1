"""Chapter 2, Word vectors: checks of the exercises on counts, GloVe and analogies."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


def ppmi(counts: Tensor) -> Tensor:
    """The solution of exercise 2.1: counts X (V, V) -> positive mutual information (V, V)."""
    expected = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    return (counts / expected).log().clamp(min=0).nan_to_num(0)


def _ppmi_cases() -> list[Case]:
    generator = torch.Generator().manual_seed(0)
    counts = torch.randint(0, 6, (6, 6), generator=generator).float()
    lonely = counts.clone()
    lonely[2], lonely[:, 2] = 0, 0
    by_hand = torch.tensor([[0.0, 3.0], [1.0, 0.0]])
    log_ratios = torch.tensor([[0.0, math.log(4 / 3)], [math.log(4), 0.0]])
    return [
        Case("two words", (by_hand,), log_ratios),
        Case("six words", (counts,)),
        Case("six words, one of which never occurs", (lonely,)),
    ]


def _ppmi_with(*, log=torch.log, positive=True, total=True, safe=True):
    """Positive mutual information with one mistake."""

    def wrong(counts):
        expected = counts.sum(1, keepdim=True) * counts.sum(0)
        if total:
            expected = expected / counts.sum()
        found = log(counts / expected)
        if positive:
            found = found.clamp(min=0)
        return found.nan_to_num(0) if safe else found

    return wrong


def _ppmi_without_infinity(counts: Tensor) -> Tensor:
    """PMI, in which only the log of 0 and what is undefined are replaced by 0."""
    expected = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    return (counts / expected).log().nan_to_num(0, posinf=0, neginf=0)


def _ppmi_without_keepdim(counts: Tensor) -> Tensor:
    """The row sums as a row: entry (i, j) is divided by P(j) twice."""
    expected = counts.sum(1) * counts.sum(0) / counts.sum()
    return (counts / expected).log().clamp(min=0).nan_to_num(0)


check_ppmi = FunctionCheck(
    title="Exercise 2.1",
    solution=ppmi,
    cases=_ppmi_cases,
    mistakes={
        "negative values are kept: PPMI replaces them, and the log of 0, by 0": (
            _ppmi_with(positive=False, safe=False)
        ),
        "negative values are kept: only −∞ was replaced": _ppmi_without_infinity,
        "negative values are kept: −∞ became a large negative number": _ppmi_with(positive=False),
        "a word without counts gives 0/0, which is not a number; it must give 0": (
            _ppmi_with(safe=False)
        ),
        "1 was added to every count: PPMI uses the counts as they are, and log 0 becomes 0": (
            lambda counts: ppmi(counts + 1)
        ),
        "the logarithm has base 2; use the natural logarithm": _ppmi_with(log=torch.log2),
        "the logarithm is missing": _ppmi_with(log=lambda ratio: ratio),
        "the total or one of the two sums is missing: no ratio exceeds 1, so every entry is 0": (
            _ppmi_with(total=False)
        ),
        "`sum(1) * sum(0)` multiplies the sums of each word with itself: the row sums must be a "
        "column (V, 1), `sum(1, keepdim=True)`": _ppmi_without_keepdim,
    },
    remark="Most entries of a large matrix are 0, so it is usually stored in a sparse format.",
)


def glove_loss(
    v: Tensor, u: Tensor, beta: Tensor, tilde_beta: Tensor, counts: Tensor, x_max: float
) -> Tensor:
    """The solution of exercise 2.4: v, u (V, D), both biases (V,), X (V, V), x_max -> (2.8)."""
    i, j = counts.nonzero(as_tuple=True)
    error = (v[i] * u[j]).sum(-1) + beta[i] + tilde_beta[j] - counts[i, j].log()
    return ((counts[i, j] / x_max).clamp(max=1) ** 0.75 * error**2).sum()


def _glove_cases() -> list[Case]:
    v, u, beta, tilde_beta = random_tensors((5, 3), (5, 3), (5,), (5,))
    counts = torch.tensor([0, 1, 0, 40, 3, 9, 0, 2, 0, 25, 6, 0, 1, 17, 0, 0, 4, 0, 11, 2, 5, 0])
    counts = torch.cat([counts, torch.tensor([1, 0, 8])]).reshape(5, 5).float()
    once, nothing = torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.zeros(2)
    by_hand = torch.tensor([[2.0], [5.0]]), torch.tensor([[7.0], [1.0]]), nothing, nothing
    return [
        # (1/16)^¾ = ⅛, and 2 · 1 − ln 1 = 2: an eighth of 4
        Case("words that co-occur once, x_max = 16", (*by_hand, once, 16.0), torch.tensor(0.5)),
        Case("five words and x_max = 10", (v, u, beta, tilde_beta, counts, 10.0)),
    ]


def _glove_with(*, weight=None, log=torch.log, power=2, biases=True, of="ij", mean=False):
    """The loss of GloVe with one mistake; `of` names the words whose biases are added."""

    def wrong(v, u, beta, tilde_beta, counts, x_max):
        i, j = counts.nonzero(as_tuple=True)
        words = {"i": i, "j": j}
        x, own = counts[i, j], beta[words[of[0]]] + tilde_beta[words[of[1]]]
        error = (v[i] * u[j]).sum(-1) + biases * own - log(x)
        weights = (x / x_max).clamp(max=1) ** 0.75 if weight is None else weight(x / x_max)
        terms = weights * error**power
        return terms.mean() if mean else terms.sum()

    return wrong


def _glove_of_all(v, u, beta, tilde_beta, counts, x_max):
    """All pairs: a zero count gives 0 times the square of log 0."""
    error = v @ u.T + beta[:, None] + tilde_beta - counts.log()
    return ((counts / x_max).clamp(max=1) ** 0.75 * error**2).sum()


check_glove_loss = FunctionCheck(
    title="Exercise 2.4",
    solution=glove_loss,
    cases=_glove_cases,
    mistakes={
        "the weight f is missing: rare pairs have the same influence as frequent ones": (
            _glove_with(weight=torch.ones_like)
        ),
        "the weight is not limited: f is at most 1": _glove_with(weight=lambda x: x**0.75),
        "the exponent ¾ of the weight is missing": _glove_with(weight=lambda x: x.clamp(max=1)),
        "the count is used instead of its logarithm": _glove_with(log=lambda x: x),
        "log(1 + X) is used instead of log X: pairs with a zero count are skipped anyway": (
            _glove_with(log=torch.log1p)
        ),
        "pairs with a zero count are in the sum: their log 0 makes it undefined": _glove_of_all,
        "the biases are missing": _glove_with(biases=False),
        "the two biases are exchanged": _glove_with(of="ji"),
        "both biases are those of the row: the second one belongs to the column, word j": (
            _glove_with(of="ii")
        ),
        "both biases are those of the column: the first one belongs to the row, word i": (
            _glove_with(of="jj")
        ),
        "the error is not squared": _glove_with(power=1),
        "this is the mean: (2.8) is a sum over the pairs": _glove_with(mean=True),
    },
    remark=(
        "The library's `GloVe` divides the sum by the number of pairs, so that batches of "
        "different sizes can be compared."
    ),
)


def fourth(unit: Tensor, a: int, b: int, c: int) -> Tensor:
    """The solution of exercise 2.5: unit vectors (V, D) and three words -> the fourth's number."""
    scores = unit @ (unit[b] - unit[a] + unit[c])
    scores[[a, b, c]] = -torch.inf
    return scores.argmax()


def _fourth_cases() -> list[Case]:
    # Two axes, and a word beside them. b − a + c lies nearest to c itself.
    words = F.normalize(
        torch.tensor(
            [[5.0, 1, 0], [5.0, 2, 0], [0, 1, 5.0], [0, 2, 5.0], [1, -4, 0], [-2, 0, 5.0]]
        ),
        dim=1,
    )
    some = F.normalize(torch.randn(23, 5, generator=torch.Generator().manual_seed(4)), dim=1)
    more = [Case(f"23 words: {n}, {n + 1}, {n + 2}", (some, n, n + 1, n + 2)) for n in range(9)]
    # b − a + c is at 180°; the words that may answer are all more than 90° away, nearest the one
    # at 75°. A score of 0 for the excluded words would be larger.
    degrees = torch.tensor([150.0, 210.0, 180.0, 60.0, -70.0, 75.0]).deg2rad()
    behind = torch.stack([degrees.cos(), degrees.sin()], dim=1)
    opposite = Case("six words, all remaining cosines negative", (behind, 2, 0, 1), 5)
    return [Case("six words", (words, 0, 1, 2), 3), *more, opposite]


def _fourth_with(*, signs=(-1, 1, 1), without="abc", value=-torch.inf):
    """The analogy with one mistake."""

    def wrong(unit, a, b, c):
        scores = unit @ (signs[0] * unit[a] + signs[1] * unit[b] + signs[2] * unit[c])
        left = [{"a": a, "b": b, "c": c}[name] for name in without]
        if left:
            scores[left] = value
        return scores.argmax()

    return wrong


check_fourth = FunctionCheck(
    title="Exercise 2.5",
    solution=fourth,
    cases=_fourth_cases,
    mistakes={
        "the three words of the question are allowed as answers: exclude all of them": (
            _fourth_with(without="")
        ),
        "only c is excluded: exclude a and b as well": _fourth_with(without="c"),
        "only a and c are excluded: exclude b as well": _fourth_with(without="ac"),
        "only b and c are excluded: exclude a as well": _fourth_with(without="bc"),
        "only a and b are excluded: exclude c as well": _fourth_with(without="ab"),
        "the scores of the excluded words are set to 0, which is still the largest if all others "
        "are negative: set them to −∞": _fourth_with(value=0.0),
        "the signs of a and b are exchanged: the query is b − a + c": (
            _fourth_with(signs=(1, -1, 1))
        ),
        "the signs of a and b are exchanged (the query is b − a + c), and the three words of the "
        "question are allowed as answers": _fourth_with(signs=(1, -1, 1), without=""),
        "the third word is missing from the query": _fourth_with(signs=(-1, 1, 0)),
        "this is the farthest word and not the nearest": (
            lambda unit, a, b, c: (unit @ (unit[b] - unit[a] + unit[c])).argmin()
        ),
        "all three vectors are added: a must be subtracted": _fourth_with(signs=(1, 1, 1)),
    },
    remark="`WordVectors.analogy` does the same; `exclude=False` allows the three words too.",
)
