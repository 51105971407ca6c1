"""Chapter 2, Word vectors: the checks of its exercises."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.verdict import NotYetError, check

# Exercise 2.2: left, right, left, each at ln 3: 3/4 · 1/4 · 3/4
PATH = 9 / 64
_PATH_SLIPS = {
    27 / 64: "That turns left at all three nodes. The second turn is to the right: σ(−ln 3) = ¼.",
    3 / 4 + 1 / 4 + 3 / 4: "That is the sum. The turns must all be taken: multiply.",
    3 / 64: "Left and right are exchanged: the minus stands where the way turns right.",
    1 / 64: "That turns right at all three nodes. Only the second turn has a minus.",
    3 / 4: "That is the first turn alone.",
    3 / 16: "That is two turns; there are three.",
    -math.log(PATH): "That is −log of it, the loss. Asked is the probability.",
    1 / 8: "That would be ½ at every node: σ(0), but the products are ln 3.",
}


@check("Exercise 2.2")
def check_path(probability) -> str:
    """Check the probability of a word that is reached by left, right, left."""
    if isinstance(probability, bool | str) or probability is None:
        raise NotYetError(f"The answer should be a number, got {shown(probability)}.")
    try:
        number = float(probability)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise NotYetError(f"The answer should be a number, got {shown(probability)}.") from None
    if abs(number - PATH) < 5e-4:
        return "¾ · ¼ · ¾. All other words share the rest, so all words together sum to 1."
    for slip, words in _PATH_SLIPS.items():
        if abs(number - slip) < 2e-3:
            raise NotYetError(words)
    if not 0 <= number <= 1:
        raise NotYetError("A probability lies between 0 and 1.")
    raise NotYetError("A factor for each node: σ(score) where the way turns left, σ(−score) right.")


def center_gradient(center: Tensor, outputs: Tensor, target: int) -> Tensor:
    """The solution of exercise 2.1: v_c (D,), all u (V, D), o -> ∂ log P(o | c) / ∂ v_c (D,)."""
    probs = (outputs @ center).softmax(0)
    return outputs[target] - probs @ outputs


def _gradient_cases() -> list[Case]:
    center, outputs = random_tensors((5,), (7, 5))
    by_hand = torch.tensor([1.0, 0.0]), torch.tensor([[0.0, 1.0], [0.0, 3.0]]), 1
    return [
        Case("two words of equal chance", by_hand, torch.tensor([0.0, 1.0])),
        Case("seven words", (center, outputs, 3)),
    ]


check_center_gradient = FunctionCheck(
    title="Exercise 2.1",
    solution=center_gradient,
    cases=_gradient_cases,
    mistakes={
        "the sign is turned: that is the gradient of the loss, −log P": (
            lambda center, outputs, target: -center_gradient(center, outputs, target)
        ),
        "the expected vector is missing: the softmax's sum hangs on the centre too": (
            lambda center, outputs, target: outputs[target].clone()
        ),
        "the expected vector is the plain mean: each word counts by its probability": (
            lambda center, outputs, target: outputs[target] - outputs.mean(0)
        ),
        "the softmax is missing: the scores themselves are no probabilities": (
            lambda center, outputs, target: outputs[target] - (outputs @ center) @ outputs
        ),
        "the centre's own vector stands where the context word's should": (
            lambda center, outputs, target: center - (outputs @ center).softmax(0) @ outputs
        ),
        "the softmax runs over the vector's numbers and not over the words": (
            lambda center, outputs, target: (
                outputs[target] - (outputs * center).softmax(1).mul(outputs).sum(0)
            )
        ),
    },
    remark="What stood there, less what was expected: so it is with the "
    "logarithm of every softmax.",
)


def negative_loss(hidden: Tensor, right: Tensor, noise: Tensor) -> Tensor:
    """The solution of exercise 2.3: h (D,), u_o (D,), K noise vectors (K, D) -> loss, a scalar."""
    return -F.logsigmoid(right @ hidden) - F.logsigmoid(-(noise @ hidden)).sum()


def _loss_cases() -> list[Case]:
    hidden, right, noise = random_tensors((5,), (5,), (3, 5))
    third = math.log(3)  # σ(ln 3) = ¾, so each of three factors is ¾
    by_hand = (
        torch.tensor([third, 0.0]),
        torch.tensor([1.0, 2.0]),
        torch.tensor([[-1.0, 0.0], [-1.0, 5.0]]),
    )
    return [
        Case("three factors of ¾", by_hand, torch.tensor(-3 * math.log(0.75))),
        Case("three noise words in width five", (hidden, right, noise)),
    ]


check_negative_loss = FunctionCheck(
    title="Exercise 2.3",
    solution=negative_loss,
    cases=_loss_cases,
    mistakes={
        "the noise words are pulled near like the right one: their score needs a minus": (
            lambda hidden, right, noise: (
                -F.logsigmoid(right @ hidden) - F.logsigmoid(noise @ hidden).sum()
            )
        ),
        "the noise words' share is averaged: each of the K counts 1": (
            lambda hidden, right, noise: (
                -F.logsigmoid(right @ hidden) - F.logsigmoid(-(noise @ hidden)).mean()
            )
        ),
        "the sign is turned: that is the log-probability, and a loss is its negative": (
            lambda hidden, right, noise: -negative_loss(hidden, right, noise)
        ),
        "the logarithm is missing": (
            lambda hidden, right, noise: (
                -torch.sigmoid(right @ hidden) - torch.sigmoid(-(noise @ hidden)).sum()
            )
        ),
        "the noise words are left out": (
            lambda hidden, right, noise: -F.logsigmoid(right @ hidden) + 0 * noise.sum()
        ),
        "it is a softmax over the right word and the noise": (
            lambda hidden, right, noise: (
                -torch.cat([(right @ hidden)[None], noise @ hidden]).log_softmax(0)[0]
            )
        ),
    },
    remark="The library's `NegativeSampling` does the same, for many rows at once.",
)


def glove_loss(
    v: Tensor, u: Tensor, beta: Tensor, tilde_beta: Tensor, counts: Tensor, most: float
) -> Tensor:
    """The solution of exercise 2.4: v, u (V, D), both biases (V,), X (V, V), x_max -> (2.8)."""
    i, j = counts.nonzero(as_tuple=True)
    error = (v[i] * u[j]).sum(-1) + beta[i] + tilde_beta[j] - counts[i, j].log()
    return ((counts[i, j] / most).clamp(max=1) ** 0.75 * error**2).sum()


def _glove_cases() -> list[Case]:
    v, u, beta, tilde_beta = random_tensors((5, 3), (5, 3), (5,), (5,))
    counts = torch.tensor([0, 1, 0, 40, 3, 9, 0, 2, 0, 25, 6, 0, 1, 17, 0, 0, 4, 0, 11, 2, 5, 0])
    counts = torch.cat([counts, torch.tensor([1, 0, 8])]).reshape(5, 5).float()
    once, nothing = torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.zeros(2)
    by_hand = torch.tensor([[2.0], [5.0]]), torch.tensor([[7.0], [1.0]]), nothing, nothing
    return [
        # (1/16)^¾ = ⅛, and 2 · 1 − ln 1 = 2: an eighth of 4
        Case("two words that met once, with x_max = 16", (*by_hand, once, 16.0), torch.tensor(0.5)),
        Case("five words and x_max = 10", (v, u, beta, tilde_beta, counts, 10.0)),
    ]


def _glove_with(*, weight=None, log=torch.log, power=2, biases=True, turned=False, mean=False):
    """The loss of GloVe with one thing done otherwise."""

    def wrong(v, u, beta, tilde_beta, counts, most):
        i, j = counts.nonzero(as_tuple=True)
        x, own = counts[i, j], (beta[j] + tilde_beta[i] if turned else beta[i] + tilde_beta[j])
        error = (v[i] * u[j]).sum(-1) + biases * own - log(x)
        weights = (x / most).clamp(max=1) ** 0.75 if weight is None else weight(x / most)
        terms = weights * error**power
        return terms.mean() if mean else terms.sum()

    return wrong


def _glove_of_all(v, u, beta, tilde_beta, counts, most):
    """All pairs: where two words never met, 0 times the square of log 0."""
    error = v @ u.T + beta[:, None] + tilde_beta - counts.log()
    return ((counts / most).clamp(max=1) ** 0.75 * error**2).sum()


check_glove_loss = FunctionCheck(
    title="Exercise 2.4",
    solution=glove_loss,
    cases=_glove_cases,
    mistakes={
        "the weight f is missing: rare pairs count as much as frequent ones": (
            _glove_with(weight=torch.ones_like)
        ),
        "the weight has no ceiling: f is 1 at most": _glove_with(weight=lambda x: x**0.75),
        "the weight lacks its power of ¾": _glove_with(weight=lambda x: x.clamp(max=1)),
        "the count itself stands where its logarithm should": _glove_with(log=lambda x: x),
        "log(1 + X) stands where log X should: pairs that never met are left out anyway": (
            _glove_with(log=torch.log1p)
        ),
        "pairs that never met are in the sum: their log 0 makes it no number": _glove_of_all,
        "the biases are missing": _glove_with(biases=False),
        "the two biases have changed places": _glove_with(turned=True),
        "the error is not squared": _glove_with(power=1),
        "the mean is taken: (2.8) is a sum over the pairs": _glove_with(mean=True),
    },
    remark="The library's `GloVe` divides it by the number of pairs, so that batches compare.",
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
    return [Case("six words", (words, 0, 1, 2), 3), *more]


def _fourth_with(*, signs=(-1, 1, 1), without="abc"):
    """The analogy with one thing done otherwise."""

    def wrong(unit, a, b, c):
        scores = unit @ (signs[0] * unit[a] + signs[1] * unit[b] + signs[2] * unit[c])
        left = [{"a": a, "b": b, "c": c}[name] for name in without]
        if left:
            scores[left] = -torch.inf
        return scores.argmax()

    return wrong


check_fourth = FunctionCheck(
    title="Exercise 2.5",
    solution=fourth,
    cases=_fourth_cases,
    mistakes={
        "the three words themselves may answer: leave all of them out": _fourth_with(without=""),
        "only the third word is left out: a and b may not answer either": (
            _fourth_with(without="c")
        ),
        "the signs of a and b have changed places: it is b − a + c": (
            _fourth_with(signs=(1, -1, 1))
        ),
        "the third word is not added": _fourth_with(signs=(-1, 1, 0)),
        "the farthest word is taken and not the nearest": (
            lambda unit, a, b, c: (unit @ (unit[b] - unit[a] + unit[c])).argmin()
        ),
        "all three vectors are added: a must be taken away": _fourth_with(signs=(1, 1, 1)),
    },
    remark="`WordVectors.analogy` does the same; `exclude=False` lets the three answer.",
)
