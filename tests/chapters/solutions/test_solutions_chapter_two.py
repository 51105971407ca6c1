"""The folded solutions of chapter 2, taken from the page and run against their checks."""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.ch02 import exercises, faulty
from tests.chapters.solutions.test_solutions import solutions, verdict_on

PAGES = ("02_word_vectors.ipynb", "02_word_vectors_further.ipynb")
SOLUTIONS = {number: code for page in PAGES for number, code in solutions(page).items()}
ANSWERS = {
    "2.1": ("ppmi", exercises.check_ppmi),
    "2.2": ("context_gradient", exercises.check_context_gradient),
    "2.3": ("negative_loss", exercises.check_negative_loss),
    "2.4": ("glove_loss", exercises.check_glove_loss),
    "2.5": ("fourth", exercises.check_fourth),
    "2.6": ("diagnosis", faulty.check_fault),
    "2.7": ("probability", exercises.check_path),
}


def test_every_exercise_has_a_solution_and_a_check():
    assert SOLUTIONS.keys() == ANSWERS.keys()


@pytest.mark.parametrize("number", ANSWERS)
def test_the_printed_solution_passes_its_check(number):
    answer, checker = ANSWERS[number]
    verdict = verdict_on(SOLUTIONS[number], answer, checker, {"torch": torch, "F": F})
    assert verdict.passed, verdict.message


def test_the_path_is_not_the_sum_and_not_all_left():
    assert exercises.check_path(0.140625).passed
    assert exercises.check_path(torch.tensor(9 / 64)).passed


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (27 / 64, "turns left at all three"),
        (1.75, "This is the sum"),
        (3 / 64, "Left and right are exchanged"),
        (1 / 64, "turns right at all three"),
        (1.962, "the loss"),
        (0.125, "½ at every node"),
        (0.75, "the first turn alone"),
        (0.1875, "two turns"),
        (0.14, "give more digits"),
        (0.5, "Each node contributes one factor"),
        (7, "between 0 and 1"),
        ("a", "should be a number"),
        (None, "should be a number"),
        (torch.ones(3), "should be a number"),
        (..., "not tried yet"),
    ],
)
def test_other_paths_get_a_sentence(answer, told):
    verdict = exercises.check_path(answer)
    assert not verdict.passed
    assert told in verdict.message


def test_the_gradient_for_a_context_vector_is_autograds():
    torch.manual_seed(0)
    context, outputs = torch.randn(3, 5, requires_grad=True), torch.randn(7, 5)
    log_p = (outputs @ context.mean(0)).log_softmax(0)[4]
    (by_context,) = torch.autograd.grad(log_p, context)
    ours = exercises.context_gradient(context.detach(), outputs, 4)
    assert torch.allclose(by_context, ours.expand_as(by_context), atol=1e-6)


def test_ppmi_names_the_usual_mistakes():
    for wrong, told in (
        (lambda x: (x * x.sum() / (x.sum(1, keepdim=True) * x.sum(0))).log(), "negative values"),
        (lambda x: x / x.sum(), "Exercise 2.1"),
        (lambda x: ..., "not"),
    ):
        verdict = exercises.check_ppmi(wrong)
        assert not verdict.passed
        assert told in verdict.message


@pytest.mark.parametrize(
    ("checker", "wrong", "told"),
    [
        (
            exercises.check_ppmi,
            lambda x: (x * x.sum() / (x.sum(1) * x.sum(0))).log().clamp(min=0).nan_to_num(0),
            "`sum(1, keepdim=True)`",
        ),
        (
            exercises.check_ppmi,
            lambda x: (x * x.sum() / (x.sum(1, keepdim=True) * x.sum(0))).log().nan_to_num(0, 0, 0),
            "only −∞ was replaced",
        ),
        (
            exercises.check_context_gradient,
            lambda v, u, c: u[c] - (u @ v.mean(0)).softmax(0) @ u,
            "the factor 1/(2m) is missing",
        ),
        (
            exercises.check_context_gradient,
            lambda v, u, c: ((u @ v.mean(0)).softmax(0) @ u - u[c]) / len(v),
            "the sign is reversed",
        ),
        (
            exercises.check_context_gradient,
            lambda v, u, c: (1 - (u @ v.mean(0)).softmax(0)[c]) * v.mean(0),
            "u and v are exchanged: this is the gradient with respect to the output vector",
        ),
        (
            exercises.check_context_gradient,
            lambda v, u, c: (v.mean(0) - (v @ u[c]).softmax(0) @ v) / len(v),
            "u and v are exchanged: the softmax is over all words",
        ),
        (
            exercises.check_context_gradient,
            lambda v, u, c: (u[c] - (u @ v.mean(0)).softmax(0) @ u) / 4,
            "this divides by 4",
        ),
        (
            exercises.check_context_gradient,
            lambda v, u, c: ((u[c] - (u @ v.mean(0)).softmax(0) @ u) / len(v)).repeat(len(v), 1),
            "return that for one of them",
        ),
        (
            exercises.check_negative_loss,
            lambda h, u, n: -F.logsigmoid(u @ h) + F.logsigmoid(-n @ h).sum(),
            "has a plus sign",
        ),
        (
            exercises.check_negative_loss,
            lambda h, u, n: -F.logsigmoid(u @ h) - F.logsigmoid(-n.sum(0) @ h),
            "added before σ",
        ),
        (
            exercises.check_negative_loss,
            lambda h, u, n: -F.logsigmoid(u @ h) - F.logsigmoid(-n @ h),
            "the sum over the noise words is missing",
        ),
    ],
)
def test_a_mistake_is_named(checker, wrong, told):
    verdict = checker(wrong)
    assert not verdict.passed
    assert told in verdict.message


@pytest.mark.parametrize(
    ("excluded", "value", "told"),
    [
        ("abc", 0.0, "set them to −∞"),
        ("ac", -torch.inf, "only a and c are excluded"),
        ("bc", -torch.inf, "only b and c are excluded"),
        ("ab", -torch.inf, "only a and b are excluded"),
        ("c", -torch.inf, "only c is excluded"),
        ("", 0.0, "allowed as answers"),
    ],
)
def test_an_analogy_without_the_right_exclusion_is_refused(excluded, value, told):
    def wrong(unit, a, b, c):
        scores = unit @ (unit[b] - unit[a] + unit[c])
        for name, word in zip("abc", (a, b, c), strict=True):
            if name in excluded:
                scores[word] = value
        return scores.argmax()

    verdict = exercises.check_fourth(wrong)
    assert not verdict.passed
    assert told in verdict.message
