"""Chapter 2, Word vectors: checks of the exercises on gradients and losses of word2vec."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, between, near, slips

# Exercise 2.7: left, right, left, each at ln 3: 3/4 · 1/4 · 3/4
PATH = 9 / 64
check_path = NumbersCheck(
    title="Exercise 2.7",
    questions=(
        Numbers(
            name="probability",
            right=(near(PATH, within=5e-4),),
            slips=(
                *slips(
                    {
                        27 / 64: "This turns left at all three nodes. The second turn is right: "
                        "σ(−ln 3) = ¼.",
                        3 / 4 + 1 / 4 + 3 / 4: "This is the sum of the three probabilities. "
                        "Multiply them.",
                        3 / 64: "Left and right are exchanged: the minus sign belongs to the turn "
                        "to the right.",
                        1 / 64: "This turns right at all three nodes. Only the second turn has a "
                        "minus sign.",
                        3 / 4: "This is the probability of the first turn alone.",
                        3 / 16: "This is the product of two turns; the path has three.",
                        -math.log(PATH): "This is the loss, −log P. The exercise asks for the "
                        "probability.",
                        1 / 8: "This uses ½ at every node, which is σ(0); but the inner products "
                        "are ln 3.",
                    },
                    within=2e-3,
                ),
                near(PATH, "That is close, but rounded too far: give more digits.", within=5e-3),
                between(-math.inf, 0, "A probability is between 0 and 1."),
                between(1, math.inf, "A probability is between 0 and 1."),
            ),
            otherwise="Each node contributes one factor: σ(score) for a turn to the left, "
            "σ(−score) to the right.",
        ),
    ),
    remark="¾ · ¼ · ¾. The other leaves have the remaining probability, so all leaves sum to 1.",
)


def context_gradient(context: Tensor, outputs: Tensor, target: int) -> Tensor:
    """The solution of exercise 2.2: n context vectors (n, D), all u (V, D), c -> (D,).

    It is ∂ log P(c | context) / ∂ v of one context word, the same for each of the n words.
    """
    probs = (outputs @ context.mean(0)).softmax(0)
    return (outputs[target] - probs @ outputs) / len(context)


def _gradient_cases() -> list[Case]:
    by_hand = torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.tensor([[0.0, 1.0], [0.0, 3.0]]), 1
    context, outputs = random_tensors((4, 5), (7, 5))
    return [
        Case("two equally probable words", by_hand, torch.tensor([0.0, 0.5])),
        Case("four context words", (context, outputs, 3)),
        Case("three context words, at the end of a sentence", (context[:3], outputs, 5)),
    ]


def _gradient_with(*, probs=torch.softmax, mean=True, factor=True, sign=1, expected=True):
    """The gradient for one context vector with some mistakes."""

    def wrong(context, outputs, target):
        h = context.mean(0) if mean else context.sum(0)
        change = outputs[target] - expected * (probs(outputs @ h, 0) @ outputs)
        return sign * change / (len(context) if factor else 1)

    return wrong


def _uniform(scores: Tensor, dim: int) -> Tensor:
    return torch.full_like(scores, 1 / scores.shape[dim])


def _gradient_of_output(context, outputs, target):
    """(1 − P) h: the gradient with respect to u_c."""
    h = context.mean(0)
    return (1 - (outputs @ h).softmax(0)[target]) * h


def _gradient_with_exchanged_roles(context, outputs, target):
    """The mean of the context vectors less their expected one, as if they were the targets."""
    probs = (context @ outputs[target]).softmax(0)
    return (context.mean(0) - probs @ context) / len(context)


def _gradient_of_separate_words(context, outputs, target):
    """A softmax for each context word, and the mean of their gradients."""
    probs = (context @ outputs.T).softmax(1).mean(0)
    return (outputs[target] - probs @ outputs) / len(context)


check_context_gradient = FunctionCheck(
    title="Exercise 2.2",
    solution=context_gradient,
    cases=_gradient_cases,
    mistakes={
        "the factor 1/(2m) is missing: h is a mean, so each context vector has only this share in "
        "it": _gradient_with(factor=False),
        "the sign is reversed: this is the gradient of the loss, −log P": _gradient_with(sign=-1),
        "the sign is reversed, and the factor 1/(2m) is missing": (
            _gradient_with(sign=-1, factor=False)
        ),
        "u and v are exchanged: this is the gradient with respect to the output vector u_c, "
        "(1 − P) h": _gradient_of_output,
        "u and v are exchanged: the softmax is over all words of the vocabulary, with their output "
        "vectors u, and h is the mean of the context vectors v": _gradient_with_exchanged_roles,
        "u and v are exchanged: the observed vector is the output vector u_c and not h": (
            lambda context, outputs, target: (
                (context.mean(0) - (outputs @ context.mean(0)).softmax(0) @ outputs) / len(context)
            )
        ),
        "h is the sum of the context vectors: (2.6) takes their mean": _gradient_with(mean=False),
        "h is the sum of the context vectors, and the factor 1/(2m) is missing: (2.6) takes their "
        "mean": _gradient_with(mean=False, factor=False),
        "each context word has a softmax of its own: CBOW makes one prediction, from their mean": (
            _gradient_of_separate_words
        ),
        "this divides by 4: near the beginning and the end of a sentence there are fewer context "
        "words, so divide by their number": (
            lambda context, outputs, target: (
                context_gradient(context, outputs, target) * len(context) / 4
            )
        ),
        "this divides by the size of the vocabulary: divide by the number of context words": (
            lambda context, outputs, target: (
                context_gradient(context, outputs, target) * len(context) / len(outputs)
            )
        ),
        "this is the gradient for all context words together: return that for one of them, (D,)": (
            lambda context, outputs, target: context_gradient(context, outputs, target).expand_as(
                context
            )
        ),
        "the expected vector is missing: the denominator of (2.6) depends on h as well": (
            _gradient_with(expected=False)
        ),
        "the expected vector is missing, and so is the factor 1/(2m)": (
            _gradient_with(expected=False, factor=False)
        ),
        "the expected vector is the plain mean: weight each output vector by its probability": (
            _gradient_with(probs=_uniform)
        ),
        "the softmax is missing: the scores themselves are not probabilities": (
            _gradient_with(probs=lambda scores, dim: scores)
        ),
        "σ is used instead of the softmax: the probabilities of all words must sum to 1": (
            _gradient_with(probs=lambda scores, dim: scores.sigmoid())
        ),
    },
    remark="All context words receive the same gradient, whatever their own vectors are.",
)


def negative_loss(hidden: Tensor, positive: Tensor, noise: Tensor) -> Tensor:
    """The solution of exercise 2.3: h (D,), u_o (D,), K noise vectors (K, D) -> loss, a scalar."""
    return -F.logsigmoid(positive @ hidden) - F.logsigmoid(-(noise @ hidden)).sum()


def _loss_cases() -> list[Case]:
    hidden, positive, noise = random_tensors((5,), (5,), (3, 5))
    one_way = torch.tensor([1.0, 0.0])
    third = math.log(3)  # σ(ln 3) = ¾, so each of three factors is ¾
    by_hand = (
        torch.tensor([third, 0.0]),
        torch.tensor([1.0, 2.0]),
        torch.tensor([[-1.0, 0.0], [-1.0, 5.0]]),
    )
    return [
        Case("three factors of ¾", by_hand, torch.tensor(-3 * math.log(0.75))),
        Case("three noise words in width five", (hidden, positive, noise)),
        Case("inner products of ±200", (200 * one_way, -one_way, one_way[None])),
    ]


check_negative_loss = FunctionCheck(
    title="Exercise 2.3",
    solution=negative_loss,
    cases=_loss_cases,
    mistakes={
        "the noise words are attracted like the observed word: their score needs a minus sign": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(positive @ hidden) - F.logsigmoid(noise @ hidden).sum()
            )
        ),
        "the observed word is repelled like the noise words: its score has no minus sign": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(-(positive @ hidden)) - F.logsigmoid(-(noise @ hidden)).sum()
            )
        ),
        "the signs of the scores are exchanged: the minus sign belongs to the noise words": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(-(positive @ hidden)) - F.logsigmoid(noise @ hidden).sum()
            )
        ),
        "the loss of the noise words is averaged: (2.7) sums over all K": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(positive @ hidden) - F.logsigmoid(-(noise @ hidden)).mean()
            )
        ),
        "the term of the noise words has a plus sign: both terms of (2.7) are negative": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(positive @ hidden) + F.logsigmoid(-(noise @ hidden)).sum()
            )
        ),
        "the noise vectors are added before σ: (2.7) sums over the logarithms, one for each word": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(positive @ hidden) - F.logsigmoid(-(noise.sum(0) @ hidden))
            )
        ),
        "the sum over the noise words is missing: the result has one entry for each of them": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(positive @ hidden) - F.logsigmoid(-(noise @ hidden))
            )
        ),
        "the sign is reversed: the loss is the negative log-probability": (
            lambda hidden, positive, noise: -negative_loss(hidden, positive, noise)
        ),
        "the logarithm of σ is infinite for a very negative score, because σ is rounded to 0: use "
        "F.logsigmoid": (
            lambda hidden, positive, noise: (
                -torch.sigmoid(positive @ hidden).log()
                - torch.sigmoid(-(noise @ hidden)).log().sum()
            )
        ),
        "1 − log σ(x) is not log σ(−x): change the sign of the score inside σ": (
            lambda hidden, positive, noise: (
                -F.logsigmoid(positive @ hidden) - (1 - F.logsigmoid(noise @ hidden)).sum()
            )
        ),
        "the logarithm is missing": (
            lambda hidden, positive, noise: (
                -torch.sigmoid(positive @ hidden) - torch.sigmoid(-(noise @ hidden)).sum()
            )
        ),
        "the noise words are missing": (
            lambda hidden, positive, noise: -F.logsigmoid(positive @ hidden) + 0 * noise.sum()
        ),
        "this is a softmax over the observed word and the noise words": (
            lambda hidden, positive, noise: (
                -torch.cat([(positive @ hidden)[None], noise @ hidden]).log_softmax(0)[0]
            )
        ),
    },
    remark="The library's `NegativeSampling` computes the same loss for a batch of pairs.",
)
