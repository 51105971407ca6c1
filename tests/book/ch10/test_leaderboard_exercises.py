"""The checks of chapter 10: right answers pass, and each plausible wrong answer gets its reason."""

import numpy as np
import pytest

from gates2heads.book.ch10 import exercises
from gates2heads.book.ch10 import faulty as faulty_board
from gates2heads.metrics.seeds import pareto_front, seed_interval


def by_numpy(scores, t):
    half = t * np.std(scores, ddof=1) / np.sqrt(len(scores))
    return np.mean(scores) - half, np.mean(scores) + half


def test_another_way_to_be_right():
    for check, answer in (
        (exercises.check_interval, by_numpy),
        (exercises.check_front, pareto_front),
    ):
        verdict = check(answer)
        assert verdict.passed, verdict.message
    assert exercises.interval([1.0, 2.0, 4.0], 4.302652729749458) == pytest.approx(
        seed_interval([1, 2, 4])
    )


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (
            exercises.check_interval,
            lambda scores, t: (np.mean(scores) - t, np.mean(scores) + t),
            "lower end",
        ),
        (exercises.check_interval, lambda scores, t: (min(scores), max(scores)), "lower end"),
        (exercises.check_interval, lambda scores, t: t, "2 results"),
        (
            exercises.check_interval,
            lambda scores, t: (
                np.mean(scores) - t * np.std(scores) / len(scores) ** 0.5,
                np.mean(scores) + t * np.std(scores) / len(scores) ** 0.5,
            ),
            "R − 1",
        ),
        (exercises.check_front, lambda costs, qualities: [True] * len(costs), "expected"),
        (exercises.check_front, lambda costs, qualities: qualities[9], "raised"),
        (exercises.check_front, lambda costs, qualities: [0, 1], "front|expected|kind"),
        (
            exercises.check_front,
            lambda costs, qualities: [q == max(qualities) for q in qualities],
            "expected",
        ),
    ],
)
def test_a_wrong_answer_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert any(word in verdict.message for word in words.split("|")), verdict.message


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((6, 20, 8), "divide by three"),
        ((-2, 20, 8), "not the first from the second"),
        ((2, 720, 8), "order within a group"),
        ((2, 10, 8), "count both assignments"),
        ((2, 64, 8), "Exactly three"),
        ((2, 20, 4), "both directions"),
        ((2, 20, 0.4), "asks for their number"),
        ((2, 20, 9), "list the sums"),
        (("2", 20, 8), "should be a number"),
        ((..., ..., ...), "not tried yet"),
    ],
)
def test_the_pencil_knows_its_slips(answers, words):
    verdict = exercises.check_by_hand(*answers)
    assert not verdict.passed
    assert words in verdict.message


def test_the_pencil_is_right():
    # 35 + 34 + 37 = 106 of 206. Sums of three at 106 or more: 106, 106, 107, 108, and as many below
    assert exercises.check_by_hand(2, 20, 8).passed


def test_the_faulty_board_ranks_by_the_best_and_keeps_the_width():
    scores = [30.0, 31.0, 35.0]
    sound, faulty = (faulty_board.told(scores, faulty=faulty) for faulty in (False, True))
    assert sound[0] == pytest.approx(32)
    assert sound[1:] == pytest.approx(seed_interval(scores))
    assert faulty[0] == 35
    assert faulty[2] - faulty[1] == pytest.approx(sound[2] - sound[1])
    assert faulty_board.told(iter(scores), faulty=True) == faulty  # they are read twice


def test_the_fault_is_found_and_the_other_letters_get_their_reason():
    assert faulty_board.check_fault("c").passed
    for letter in set(faulty_board.FAULTS) - {"c"}:
        assert not faulty_board.check_fault(letter).passed
