"""The checks of chapter 7: right answers pass, and each plausible wrong answer gets its reason."""

import math

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.ch07 import exercises
from gates2heads.book.ch07.exercises import attention_mask, cached_step, encoder_block
from gates2heads.book.ch07.faulty import FAULTS, check_fault

WRONG = [
    (exercises.check_layer_norm, lambda x, w, b: (x - x.mean(0)) / x.std(0) * w + b, "expected"),
    (
        exercises.check_layer_norm,
        lambda x, w, b: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * w + b,
        "divides by D − 1",
    ),
    (exercises.check_layer_norm, lambda x, w, b: F.rms_norm(x, x.shape[-1:]) * w + b, "RMSNorm"),
    (
        exercises.check_layer_norm,
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
        "do without it",
    ),
    (
        exercises.check_layer_norm,
        lambda x, w, b: (
            (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0) * w + b
        ),
        "zero by zero",
    ),
    (
        exercises.check_layer_norm,
        lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, 1e-12),
        "much smaller than 10⁻⁵",
    ),
    (
        exercises.check_layer_norm,
        lambda x, w, b: (
            (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + 1e-5) * w + b
        ),
        "after the square root",
    ),
    (exercises.check_layer_norm, lambda x, w, b: F.layer_norm(x, (x.shape[-1],)), "both missing"),
    (
        exercises.check_attention_mask,
        lambda r: attention_mask(r) & r[:, :, None],
        "rows and columns",
    ),
    (exercises.check_repair, lambda v, t, s: v + t[: v.shape[1]], "the bug itself"),
    (exercises.check_repair, lambda v, t, s: v + t[s], "every vector"),
    (exercises.check_repair, lambda v, t, s: v + t[s + 1 : s + 1 + v.shape[1]], "from 1"),
    (exercises.check_layer_norm, lambda x, w: x, "should take 3 arguments"),
    (
        exercises.check_attention_mask,
        lambda r: torch.ones(r.shape[1], r.shape[1]).tril().bool().expand(len(r), -1, -1),
        "padding is visible",
    ),
    (exercises.check_attention_mask, lambda r: ~attention_mask(r), "are exchanged"),
    (exercises.check_intensity, lambda n, width, size: 2 * n / size, "vectors are not counted"),
    (
        exercises.check_intensity,
        lambda n, width, size: 2 * width / (size * (width + 2)),
        "once for all",
    ),
    (
        exercises.check_intensity,
        lambda n, width, size: n * width / (size * (width + 2 * n)),
        "a multiplication and an addition",
    ),
    (exercises.check_rms_norm, lambda x, w: F.layer_norm(x, x.shape[-1:], w), "expected"),
    (exercises.check_rms_norm, lambda x, w: F.normalize(x, dim=-1) * w, "expected"),
    (exercises.check_rms_norm, lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6), "without it"),
    (
        exercises.check_rms_norm,
        lambda x, w: x / x.square().mean(-1, keepdim=True).sqrt() * w,
        "zero by zero",
    ),
    (
        exercises.check_attention_mask,
        lambda r: attention_mask(r).float(),
        "True and False, got numbers",
    ),
    (
        exercises.check_encoder_block,
        lambda x, a, f, m, n: n(f(m(x + a(x)))),
        "the second residual connection is missing",
    ),
    (
        exercises.check_encoder_block,
        lambda x, a, f, m, n: n(m(a(x)) + f(m(a(x)))),
        "the first residual connection is missing",
    ),
    (
        exercises.check_attention_mask,
        lambda r: torch.ones(r.shape[1], r.shape[1]).tril(),
        "of shape",
    ),
    (
        exercises.check_encoder_block,
        lambda x, a, f, m, n: x + a(m(x)) + f(n(x + a(m(x)))),
        "pre-norm",
    ),
    (exercises.check_encoder_block, lambda x, a, f, m, n: n(x + f(m(a(x)))), "expected"),
    (exercises.check_encoder_block, lambda x, a, f, m, n: n(m(a(x) + f(x) + x)), "parallel"),
    (
        exercises.check_cached_step,
        lambda q, k, v, ks, vs: cached_step(q, k, v, ks, vs)[0],
        "should be 3 results",
    ),
    (
        exercises.check_cached_step,
        lambda q, k, v, ks, vs: (cached_step(q, k, v, ks, vs)[0], ks, vs),
        "not stored for the next step",
    ),
    (
        exercises.check_cached_step,
        lambda q, k, v, ks, vs: cached_step(q * len(q) ** 0.5, k, v, ks, vs),
        "not divided by √K",
    ),
]


@pytest.mark.parametrize(("checker", "answer", "reason"), WRONG)
def test_a_wrong_answer_gets_its_reason(checker, answer, reason):
    verdict = checker(answer)
    assert not verdict.passed
    assert reason in verdict.message, verdict.message


def test_other_right_ways_pass():
    def normed(x, weight, bias):
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + 1e-5) * weight + bias

    def block(x, attend, feed_forward, norm1, norm2):
        middle = norm1(attend(x) + x)
        return norm2(feed_forward(middle) + middle)

    def visible(real):
        places = torch.arange(real.shape[1])
        return (places[None] <= places[:, None]) & real[:, None, :]

    def stepped(query, key, value, keys, values):
        keys, values = torch.vstack([keys, key]), torch.vstack([values, value])
        return F.scaled_dot_product_attention(query[None], keys, values)[0], keys, values

    assert exercises.check_layer_norm(normed)
    assert exercises.check_encoder_block(block)
    assert exercises.check_attention_mask(visible)
    assert exercises.check_cached_step(stepped)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((1, 5, 5, 1), "That is the sum"),
        ((-2, 2, 2, -2), "standard deviation"),
        ((-0.866, 0.866, 0.866, -0.866), "by 4, not by 3"),
        ((0, 2**0.5, 0, -(2**0.5)), "adds x to it first"),
        ((-1.41, 0, 1.41, 0), "normalised x alone"),
        ((-0.414, 3, 2.414, -1), "follows the addition"),
        ([0.277, 1.387, 1.387, 0.277], "RMSNorm"),
        ((1, -1, 1, -1), "Add x and the output"),
        ((1, 1, -1), "four numbers"),
        ("1 1 -1 -1", "four numbers"),
        ((1, 1, "a", -1), "four numbers"),
        (torch.ones(4, device="meta"), "four numbers"),
        (..., "not tried yet"),
    ],
)
def test_the_pencil_is_answered(answer, reason):
    verdict = exercises.check_by_hand(answer)
    assert not verdict.passed
    assert reason in verdict.message, verdict.message


def test_the_pencil_by_hand():
    # (0, 2, 4, 2) + (1, 3, 1, −1) = (1, 5, 5, 1); mean 3, deviation 2
    x, part = torch.tensor([0.0, 2, 4, 2]), torch.tensor([1.0, 3, 1, -1])
    output = F.layer_norm(x + part, (4,))
    assert exercises.check_by_hand(output)
    assert exercises.check_by_hand((-1, 1, 1, -1))
    assert torch.allclose(output, torch.tensor(exercises.OUTPUT), atol=1e-3)


def test_a_step_by_hand():
    # weights 1/6, 2/6, 3/6 of 6, 12, 0: 1 + 4 + 0
    one = torch.ones(1)
    keys, values = torch.tensor([[0.0], [math.log(2)]]), torch.tensor([[6.0], [12.0]])
    context, *_ = cached_step(one, math.log(3) * one, 0 * one, keys, values)
    assert context.item() == pytest.approx(5)


def test_a_block_by_hand():
    # (2, 4) + 2 · (2, 4) = (6, 12), halved (3, 6); plus (4, 7), with the other sign
    out = encoder_block(
        torch.tensor([2.0, 4.0]), lambda v: 2 * v, lambda v: v + 1, lambda v: v / 2, lambda v: -v
    )
    assert out.tolist() == [-7, -13]


@pytest.mark.parametrize("letter", FAULTS)
def test_the_diagnosis(letter):
    verdict = check_fault(letter)
    assert verdict.passed == (letter == "b")
    assert check_fault(f" ({letter.upper()}) ").passed == verdict.passed


def test_a_diagnosis_that_is_none():
    assert "one of the letters" in check_fault("e").message
    assert "not tried yet" in check_fault(...).message
