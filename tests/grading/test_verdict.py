"""How a check ends: right, not yet, not tried, and never with a traceback."""

import pytest

from gates2heads.grading.readers_code import is_stub, said_by, where
from gates2heads.grading.verdict import NotYetError, Verdict, check


def with_a_docstring(query, keys):
    """Only words."""


def with_dots(query): ...


def with_pass(query):
    pass


def returning_dots(query):
    """Words."""
    return ...


def constant(query):
    return 5


def identity(query):
    return query


def beside(x):
    y = x + 1
    return y / 0


def calling(x):
    return beside(x)


class SilentError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def caught(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return error
    return None


@check("Exercise 0")
def inverse(answer):
    if not callable(answer) and answer < 0:
        raise NotYetError("It must not be negative.")
    return f"{1 / answer}" if not callable(answer) else "a function"


def test_a_verdict_shows_and_counts_as_what_it_says():
    assert repr(Verdict(True, "well")) == "✔ well"
    assert repr(Verdict(False, "no")) == "✘ no"
    assert repr(Verdict(False, "nothing yet", tried=False)) == "○ nothing yet"
    assert Verdict(True, "")
    assert not Verdict(False, "")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (2, Verdict(True, "Exercise 0: right. 0.5")),
        (-1, Verdict(False, "Exercise 0: not yet. It must not be negative.")),
        (
            0,
            Verdict(
                False,
                "Exercise 0: not yet. Your code raised ZeroDivisionError: division by zero.",
            ),
        ),
        (
            ...,
            Verdict(
                False,
                "Exercise 0: not tried yet. Put your answer in place of `...`, and run the "
                "cell again.",
                tried=False,
            ),
        ),
        (
            with_dots,
            Verdict(
                False,
                "Exercise 0: not tried yet. Fill in the body of `with_dots`, and run the cell "
                "again.",
                tried=False,
            ),
        ),
        (identity, Verdict(True, "Exercise 0: right. a function")),
    ],
)
def test_every_end_is_a_verdict(answer, verdict):
    assert inverse(answer) == verdict


def test_only_an_empty_function_is_a_stub():
    assert all(map(is_stub, (with_a_docstring, with_dots, with_pass, returning_dots)))
    assert is_stub(lambda x: ...)
    assert "body of your function" in inverse(lambda x: ...).message
    assert not any(map(is_stub, (constant, identity, beside, len, SilentError, 3, None)))


def test_an_error_is_told_in_one_line_with_its_place():
    error = caught(calling, 1)
    assert said_by(error, calling) == "ZeroDivisionError: division by zero (line 3 of `beside`)"
    assert said_by(error) == "ZeroDivisionError: division by zero"
    assert where(caught(lambda x: x.no, 1), lambda x: x) == "line 1 of your function"
    assert said_by(ValueError("one\n  two")) == "ValueError: one two"
    assert said_by(ValueError()) == "ValueError"
    assert said_by(SilentError()) == "SilentError"
    assert len(said_by(ValueError("word " * 1000))) < 250


def test_an_error_from_elsewhere_has_no_place():
    assert where(caught(int, "x"), len) == ""
    assert where(ValueError("never raised"), calling) == ""


def test_who_interrupts_is_not_held_up():
    def endless(x):
        raise KeyboardInterrupt

    @check("Exercise 0")
    def calls(answer):
        return answer(1)

    with pytest.raises(KeyboardInterrupt):
        calls(endless)
