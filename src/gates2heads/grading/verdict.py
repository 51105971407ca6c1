"""The result of a check: correct, not yet and why, or not tried."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from gates2heads.accepts.shown import shown
from gates2heads.grading.readers_code import is_stub, said_by


@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of a check; its truth value is whether the exercise is solved."""

    passed: bool
    message: str
    tried: bool = True

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        sign = "✔" if self.passed else "✘" if self.tried else "○"
        return f"{sign} {self.message}"


class NotYetError(Exception):
    """Raised inside a check: the answer is not correct yet, and the message says why."""


class NotTriedError(Exception):
    """Raised inside a check: there is no answer yet; the message says what to fill in."""


def check(title: str) -> Callable:
    """Make a check of a function that raises `NotYetError`, or returns a closing remark.

    An error in the reader's own code becomes part of the verdict, so that a notebook with
    unsolved exercises still runs from top to bottom.

    Args:
        title: names the exercise in front of each message, such as "Exercise 5.1".

    Raises:
        TypeError: `title` is not a text, for instance because the brackets were forgotten.
    """
    if not isinstance(title, str):
        raise TypeError(f"title must be a text, got {shown(title)}")

    def decorate(function: Callable[..., str]) -> Callable[..., Verdict]:
        @wraps(function)
        def checked(*answers, **named) -> Verdict:
            return verdict_of(title, lambda: function(*map(tried, answers), **_all_tried(named)))

        checked.title = title
        return checked

    return decorate


def verdict_of(title: str, ask: Callable[[], str]) -> Verdict:
    """Describe the result of a check in one sentence.

    Args:
        title: names the exercise.
        ask: gives a closing remark, or raises: `NotYetError`, `NotTriedError`, or whatever the
            reader's code raises.
    """
    try:
        return Verdict(True, f"{title}: right. {ask()}")
    except NotTriedError as reason:
        return Verdict(False, f"{title}: not tried yet. {reason}", tried=False)
    except NotYetError as reason:
        return Verdict(False, f"{title}: not yet. {reason}")
    except (Exception, SystemExit) as error:  # the reader's code may raise anything
        return Verdict(False, f"{title}: not yet. Your code raised {said_by(error)}.")


def _all_tried(named: dict) -> dict:
    return {name: tried(answer) for name, answer in named.items()}


def tried(answer):
    """Return an answer.

    Raises:
        NotTriedError: it is the `...` of the page, or a function with nothing else in its body.
    """
    if answer is ...:
        raise NotTriedError("Put your answer in place of `...`, and run the cell again.")
    if is_stub(answer):
        name = answer.__name__
        subject = "your function" if name.startswith("<") else f"`{name}`"
        raise NotTriedError(f"Fill in the body of {subject}, and run the cell again.")
    return answer
