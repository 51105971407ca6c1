"""The checks of chapter 6: right answers pass, and each plausible wrong answer gets its reason."""

import math

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.ch06 import exercises
from gates2heads.book.ch06 import further_exercises as further
from gates2heads.book.ch06.exercises import attend_to_itself, reach
from gates2heads.layers.attention.heads import split_heads
from gates2heads.layers.positions import alibi_bias, sinusoids


def masked(hide):
    """Self-attention that hides later keys in a way of its own."""

    def attend(x, q, k, v, causal):
        scores = (x @ q.T) @ (x @ k.T).T / len(q) ** 0.5
        later = torch.ones_like(scores).triu(1).bool()
        return (hide(scores, later) if causal else scores).softmax(-1) @ (x @ v.T)

    return attend


WRONG = [
    (exercises.check_attend, lambda x, q, k, v, causal: x, "W_q = W_k = 2^¼ I"),
    (
        exercises.check_attend,
        lambda x, q, k, v, causal: ((x @ q.T) @ (x @ k.T).T).softmax(-1) @ (x @ v.T),
        "not divided by √K; and `causal` has no effect yet",
    ),
    (
        exercises.check_attend,
        lambda x, q, k, v, causal: ((x @ q.T) @ (x @ k.T).T / len(q) ** 0.5).softmax(0) @ (x @ v.T),
        "runs over the queries",
    ),
    (
        exercises.check_attend,
        lambda x, q, k, v, causal: attend_to_itself(x, k, q, v, causal),
        "are exchanged",
    ),
    (exercises.check_attend, lambda x, q, k, v, causal: q.T @ x.T @ v, "raised"),
    (exercises.check_attend, lambda x, q, k, v, causal: attend_to_itself(x, q, k, v), "no effect"),
    (exercises.check_attend, masked(lambda scores, later: scores * ~later), "exp(0) is 1"),
    (
        exercises.check_attend,
        masked(lambda scores, later: scores.masked_fill(later.T, -torch.inf)),
        "hides the past",
    ),
    (
        exercises.check_attend,
        lambda x, q, k, v, causal: F.scaled_dot_product_attention(
            x @ q.T, x @ k.T, x @ v.T, torch.ones(len(x), len(x)).tril(-1 if causal else 9).bool()
        ),
        "may not attend to itself",
    ),
    (exercises.check_attend, lambda x, w: x, "should take 5 arguments"),
    (exercises.check_split, lambda x, h: x.reshape(h, len(x), -1), "mixes the positions"),
    (exercises.check_split, lambda x, h: torch.stack(x.chunk(h, 0)), "raised"),
    (exercises.check_split, lambda x, h: x.view(len(x), h, -1), "still in the order (S, H, K)"),
    (exercises.check_split, lambda x, h: x.view(len(x), -1, h).permute(2, 0, 1), "every H-th"),
    (
        exercises.check_encoding,
        lambda p, d: torch.tensor([math.sin(p), math.cos(p)] * (d // 2)),
        "expected",
    ),
    (
        exercises.check_encoding,
        lambda p, d: sinusoids(torch.tensor(float(p)), d).view(-1, 2).T.flatten(),
        "all sines come before all cosines",
    ),
    (
        exercises.check_encoding,
        lambda p, d: sinusoids(torch.tensor(float(p)), d).view(-1, 2).flip(-1).flatten(),
        "are exchanged",
    ),
    (
        exercises.check_encoding,
        lambda p, d: torch.stack(
            [[torch.sin, torch.cos][n % 2](torch.tensor(p / 10000 ** (2 * n / d)))
             for n in range(d)]
        ),
        "counts the components",
    ),
    (
        exercises.check_encoding,
        lambda p, d: torch.tensor(
            [[math.sin, math.cos][j % 2](p / 10000 ** (j / d)) for j in range(d)]
        ),
        "j/D for every component j",
    ),
    (
        exercises.check_encoding,
        lambda p, d: torch.tensor(
            [f(p / 10000 ** (n / d)) for n in range(d // 2) for f in (math.sin, math.cos)]
        ),
        "the exponent is n/D and not 2n/D",
    ),
    (
        exercises.check_encoding,
        lambda p, d: torch.stack(
            [f(torch.tensor(p) / 10000 ** (2 * torch.arange(0, d, 2) / d))
             for f in (torch.sin, torch.cos)], -1
        ).flatten(),
        "do not double it",
    ),
    (
        further.check_angles,
        lambda new, old, k: torch.arange(new)[:, None] * 10000 ** (-torch.arange(0, k, 2) / k),
        "not interpolated",
    ),
    (
        further.check_angles,
        lambda new, old, k: further.angles(new, old, k) * max(1, new / old) ** 2,
        "L'/L instead of L/L'",
    ),
    (
        further.check_angles,
        lambda new, old, k: (
            torch.arange(new) * old / new)[:, None] * 10000 ** (-torch.arange(0, k, 2) / k),
        "stretched as well",
    ),
    (
        further.check_angles,
        lambda new, old, k: (torch.arange(new) * min(1, old / new))[:, None]
        * 10000 ** (-2 * torch.arange(0, k, 2) / k),
        "exponent is doubled",
    ),
    (further.check_angles, lambda new, old, k: torch.zeros(new, k), "shape"),
    (
        further.check_alibi,
        lambda h, s: alibi_bias(h, s).softmax(-1),
        "expected",
    ),
    (further.check_alibi, alibi_bias, "these are the biases"),
    (
        further.check_alibi,
        lambda h, s: (-alibi_bias(h, s)).masked_fill(
            torch.ones(s, s).triu(1).bool(), -torch.inf).softmax(-1),
        "should be negative",
    ),
    (
        further.check_alibi,
        lambda h, s: (alibi_bias(h, s) + alibi_bias(h, s).mT).softmax(-1),
        "later positions are not masked",
    ),
    (
        further.check_window,
        lambda s, w, k: torch.ones(s, s).tril().triu(1 - w).bool(),
        "the sinks are missing",
    ),
    (
        further.check_window,
        lambda s, w, k: torch.ones(s, s).tril().triu(-w).bool() | (
            (torch.arange(s) < k) & torch.ones(s, s).tril().bool()),
        "the window has W + 1 positions",
    ),
    (
        further.check_window,
        lambda s, w, k: torch.ones(s, s).tril().triu(1 - w).bool() | (torch.arange(s) < k),
        "sinks that come after them",
    ),
    (further.check_window, lambda s, w, k: ~further.window_mask(s, w, k), "True means hidden"),
    (exercises.check_reach, lambda w: w.argmax(-1).float().mean(-1), "expected"),
    (exercises.check_reach, lambda w: reach(w).mean(), "also taken over the heads"),
    (exercises.check_reach, lambda w: reach(w) * w.shape[-1], "a sum over the queries"),
    (exercises.check_reach, lambda w: w.mean(-1), "shape"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "answer", "words"), WRONG)
def test_a_wrong_answer_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert words in verdict.message


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (
            exercises.check_attend,
            lambda x, q, k, v, causal: F.scaled_dot_product_attention(
                x @ q.T, x @ k.T, x @ v.T, is_causal=causal
            ),
        ),
        (exercises.check_split, lambda x, h: split_heads(x[None], h)[0]),
        (exercises.check_split, lambda x, h: torch.stack(x.chunk(h, -1))),
        (exercises.check_encoding, lambda p, d: sinusoids(torch.tensor(p), d)),
        (
            exercises.check_reach,
            lambda w: torch.stack([
                sum(h[i, j] * abs(i - j) for i in range(len(h)) for j in range(len(h))) / len(h)
                for h in w
            ]),
        ),
    ],
)  # fmt: skip
def test_another_way_to_be_right(check, answer):
    verdict = check(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((1 / 4, 1 / 4, 1 / 2), "third row of the example"),
        ((2 / 7, 1 / 7, 4 / 7), "not 0, and exp(−ln 2) is ½"),
        ((1 / 3, 0, 2 / 3), "still has a weight"),
        ((2, 0.5, 4), "Divide each by their sum"),
        ((1, -1, 2), "Apply the softmax"),
        ((0.5, -0.5, 1), "exp of each score first"),
        ((8 / 13, 1 / 13, 4 / 13), "wrong order"),
        ((0.2, 0.2, 0.6), "Write down the inner products"),
        ((1, 2, 4), "yours do not"),
        ((1, 2), "three weights in brackets"),
        ("4/13, 1/13, 8/13", "three weights in brackets"),
        (("a", 1, 2), "three weights in brackets"),
        ((0.31, 0.08, 0.62), "fractions, or with three decimals"),
        ((0.29, 0.14, 0.57), "not 0, and exp(−ln 2) is ½"),
        (torch.tensor([0.25, 0.25, 0.5]), "third row of the example"),
        (torch.tensor([[0.25, 0.25, 0.5]]), "third row of the example"),
        (torch.tensor([[0.25], [0.25], [0.5]]), "third row of the example"),
        (torch.empty(3, device="meta"), "three weights in brackets"),
        (torch.tensor(0.5), "three weights in brackets"),
        (..., "not tried yet"),
    ],
)
def test_the_pencil_exercise_names_the_slip(answer, words):
    verdict = exercises.check_by_hand(answer)
    assert not verdict.passed
    assert words in verdict.message


def test_the_pencil_exercise():
    assert exercises.check_by_hand((4 / 13, 1 / 13, 8 / 13)).passed
    assert exercises.check_by_hand([0.3077, 0.0769, 0.6154]).passed
    assert exercises.check_by_hand((0.308, 0.077, 0.615)).passed
    assert exercises.check_by_hand(torch.tensor([4.0, 1.0, 8.0], requires_grad=True) / 13).passed
