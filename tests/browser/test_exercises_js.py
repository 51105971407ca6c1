"""Answers typed into the built page: the same verdict as in Python, for every check of the book."""

import json
import math
import random
import sys
from pathlib import Path

import pytest

from gates2heads.grading.paper import ChoiceCheck, NumbersCheck, described
from tests.javascript import run_javascript

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "_ext"))

import exercise_forms  # noqa: E402

SCRIPT = (ROOT / "_static" / "exercises.js").resolve().as_uri()
CHAPTERS = [f"{number:02}" for number in range(1, 14)]
CHECKS = [
    check
    for chapter in CHAPTERS
    for check in exercise_forms.checks_of(chapter).values()
    if isinstance(check, NumbersCheck | ChoiceCheck)
]
INFINITE = 1e300


def in_node(body, given=None):
    load = f"await import({json.dumps(SCRIPT)}); const page = globalThis.gates2headsExercises;"
    return run_javascript(f"{load} {body}", given=given)


def _edges(question):
    """Answers to one question: in the middle of each range, at its bounds and just beyond them."""
    found = []
    for one in (*question.right, *question.slips):
        low = [max(x, -INFINITE) for x in one.low]
        high = [min(x, INFINITE) for x in one.high]
        if one.of_sum:
            share = (low[0] + high[0]) / 2 / question.size
            found.append((share + 0.2, share - 0.2) + (share,) * (question.size - 2))
            continue
        found.append(tuple((a + b) / 2 for a, b in zip(low, high, strict=True)))
        found += [tuple(low), tuple(high)]
        found.append(tuple(math.nextafter(x, -math.inf) for x in low))
        found.append(tuple(math.nextafter(x, math.inf) for x in high))
    draw = random.Random(0)
    found += [tuple(draw.uniform(-3, 3) for _ in range(question.size)) for _ in range(20)]
    return found


def _answers(check):
    if isinstance(check, ChoiceCheck):
        return [sorted(names) for names in (check.right, *check.against)]
    right = [_edges(question)[0] for question in check.questions]
    found = [right]
    for place, question in enumerate(check.questions):
        found += [[*right[:place], one, *right[place + 1 :]] for one in _edges(question)]
    return found


def _in_python(check, answer):
    if isinstance(check, ChoiceCheck):
        return check(answer if len(answer) > 1 else answer[0])
    return check(*(numbers if len(numbers) > 1 else numbers[0] for numbers in answer))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.title)
def test_the_page_says_what_python_says(check):
    answers = _answers(check)
    found = in_node(
        "return given.answers.map((answer) => page.judge(given.check, answer));",
        {"check": described(check), "answers": answers},
    )
    for answer, told in zip(answers, found, strict=True):
        verdict = _in_python(check, answer)
        assert told == {"passed": verdict.passed, "message": verdict.message}, answer
    assert found[0]["passed"]
    assert not all(told["passed"] for told in found)


def test_every_diagnosis_can_be_reached():
    """A range that lies in an earlier one would never be reported."""
    for check in CHECKS:
        told = {_in_python(check, answer).message for answer in _answers(check)}
        words = (
            list(check.against.values())
            if isinstance(check, ChoiceCheck)
            else [one.words for question in check.questions for one in question.slips]
        )
        for one in words:
            assert f"{check.title}: not yet. {one}" in told


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("69", 69),
        (" 0.140625 ", 0.140625),
        (".5", 0.5),
        ("3/4", 0.75),
        ("-7", -7),
        ("−7.5", -7.5),
        ("6*10^6*4*10**6", 24e12),
        ("6 · 10^6 × 4e6", 24e12),
        ("2.4E13", 2.4e13),
        ("-2^2", -4),
        ("2^-2", 0.25),
        ("2^3^2", 512),
        ("1 - 2 - 3", -4),
        ("8/4/2", 1),
        ("(1 + 2) * 3", 9),
        ("ln(1/2)/ln(0.99)", math.log(0.5) / math.log(0.99)),
        ("sqrt(2)", math.sqrt(2)),
        ("√2", math.sqrt(2)),
        ("exp(1 - 7/6)", math.exp(1 - 7 / 6)),
        ("log10(1000) + log2(8) + pi - pi + e^0", 7),
        ("80 %", 0.8),
    ],
)
def test_an_expression_has_its_value(text, value):
    assert in_node("return page.calculate(given);", text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "many", "1 +", "(1", "1)", "1 2", "1..2", "__proto__", "constructor", "sqrt"),
        *("alert(1)", "1/0", "0/0", "ln(0)", "x", "1,2", "9" * 201, "(" * 60 + "1" + ")" * 60),
        *("-" * 100 + "1", "[1]", "1;2", "10^400", "toString(1)"),
    ],
)
def test_anything_else_is_not_read(text):
    found = in_node(
        "try { return page.calculate(given); } catch (error) { return error.constructor.name; }",
        text,
    )
    assert found == "Unreadable"


@pytest.mark.parametrize(
    ("text", "size", "numbers"),
    [
        ("16,777,216", 1, [16_777_216]),
        ("0,14", 1, [0.14]),
        ("1/2, 1/4, 1/4", 3, [0.5, 0.25, 0.25]),
        ("(4/13, 1/13, 8/13)", 3, [4 / 13, 1 / 13, 8 / 13]),
        ("[-1, 1, 1, -1]", 4, [-1, 1, 1, -1]),
        ("-0.5 -7 7.5", 3, [-0.5, -7, 7.5]),
        ("0,31; 0,08; 0,62", 3, [0.31, 0.08, 0.62]),
        ("1 - 1/2, 1/2", 2, [0.5, 0.5]),
    ],
)
def test_several_numbers_are_read(text, size, numbers):
    found = in_node(
        "return page.readNumbers(given.text, given.size);", {"text": text, "size": size}
    )
    assert found == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("text", "size"), [("1, 2", 3), ("1, 2, 3, 4", 3), ("1, a, 3", 3), ("", 2)]
)
def test_too_few_or_too_many_numbers_are_not_read(text, size):
    found = in_node(
        "try { return page.readNumbers(given.text, given.size); } "
        "catch (error) { return error.constructor.name; }",
        {"text": text, "size": size},
    )
    assert found == "Unreadable"


ENTRY = {"solved": True, "answer": ["69"], "when": "2026-11-24"}


def test_what_was_saved_is_read_again():
    kept = in_node("return page.readProgress(page.writeProgress(given));", {"1.1": ENTRY})
    assert kept == {"1.1": ENTRY}


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "null", "3", '{"format": "other", "exercises": {}}'),
        json.dumps({"format": "gates2heads.exercises", "exercises": None}),
        json.dumps({"format": "gates2heads.exercises", "exercises": {"<b>": ENTRY}}),
        json.dumps({"format": "gates2heads.exercises", "exercises": {"1.1": {"solved": "yes"}}}),
        json.dumps({"format": "gates2heads.exercises", "exercises": {"1.1": None}}),
    ],
)
def test_another_file_is_refused(text):
    found = in_node(
        "try { return page.readProgress(given); } catch (error) { return error.constructor.name; }",
        text,
    )
    assert found in {"Unreadable", "SyntaxError"}


def test_of_two_records_an_exercise_stays_solved():
    open_one = {"solved": False, "answer": ["3"], "when": "2026-11-25"}
    ours, theirs = {"1.1": ENTRY, "1.2": open_one}, {"1.1": open_one, "1.2": ENTRY, "2.1": ENTRY}
    both = in_node("return page.merged(given[0], given[1]);", [ours, theirs])
    assert both == {"1.1": ENTRY, "1.2": ENTRY, "2.1": ENTRY}
