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


def center_gradient(center: Tensor, outputs: Tensor, target: int) -> Tensor:
    """The solution of exercise 2.2: v_c (D,), all u (V, D), o -> ∂ log P(o | c) / ∂ v_c (D,)."""
    probs = (outputs @ center).softmax(0)
    return outputs[target] - probs @ outputs


def _gradient_cases() -> list[Case]:
    center, outputs = random_tensors((5,), (7, 5))
    by_hand = torch.tensor([1.0, 0.0]), torch.tensor([[0.0, 1.0], [0.0, 3.0]]), 1
    return [
        Case("two equally probable words", by_hand, torch.tensor([0.0, 1.0])),
        Case("seven words", (center, outputs, 3)),
    ]


check_center_gradient = FunctionCheck(
    title="Exercise 2.2",
    solution=center_gradient,
    cases=_gradient_cases,
    mistakes={
        "the sign is reversed: this is the gradient of the loss, −log P": (
            lambda center, outputs, target: -center_gradient(center, outputs, target)
        ),
        "the expected vector is missing: the denominator depends on the centre vector as well": (
            lambda center, outputs, target: outputs[target].clone()
        ),
        "the expected vector is the plain mean: weight each output vector by its probability": (
            lambda center, outputs, target: outputs[target] - outputs.mean(0)
        ),
        "the softmax is missing: the scores themselves are not probabilities": (
            lambda center, outputs, target: outputs[target] - (outputs @ center) @ outputs
        ),
        "the centre vector is used instead of the context word's output vector": (
            lambda center, outputs, target: center - (outputs @ center).softmax(0) @ outputs
        ),
        "the softmax is over the dimensions of the vector and not over the words": (
            lambda center, outputs, target: (
                outputs[target] - (outputs * center).softmax(1).mul(outputs).sum(0)
            )
        ),
        "the expected vector is missing: this is (1 − P) times the output vector of the observed "
        "word, but the other words contribute as well": (
            lambda center, outputs, target: (
                (1 - (outputs @ center).softmax(0)[target]) * outputs[target]
            )
        ),
        "this is (1 − P) times the centre vector, the gradient with respect to the observed word's "
        "output vector": (
            lambda center, outputs, target: (1 - (outputs @ center).softmax(0)[target]) * center
        ),
        "σ is used instead of the softmax: the probabilities of all words must sum to 1": (
            lambda center, outputs, target: outputs[target] - (outputs @ center).sigmoid() @ outputs
        ),
    },
    remark="Observed minus expected: the gradient of every log-softmax has this form.",
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
