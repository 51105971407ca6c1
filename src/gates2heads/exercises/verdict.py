"""What a check answers to a reader: right, not yet and why, or not tried."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer of a check; its truth value says whether the exercise is solved."""

    passed: bool
    message: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"{'✔' if self.passed else '✘'} {self.message}"


class NotYetError(Exception):
    """Raised inside a check: the answer is not right yet, and the message says what is wrong."""


def check(title: str) -> Callable:
    """Make a check of a function that raises `NotYetError`, or returns a closing remark.

    An error in the reader's own code becomes part of the verdict, so that a notebook with
    unsolved exercises still runs from top to bottom.

    Args:
        title: names the exercise in front of each message, such as "Exercise 5.1".
    """

    def decorate(function: Callable[..., str]) -> Callable[..., Verdict]:
        @wraps(function)
        def checked(*answers) -> Verdict:
            if any(answer is ... for answer in answers):
                return Verdict(False, f"{title}: not tried yet. Put your answer in place of ...")
            try:
                return Verdict(True, f"{title}: right. {function(*answers)}")
            except NotYetError as reason:
                return Verdict(False, f"{title}: not yet. {reason}")
            except Exception as error:  # the reader's code may raise anything
                name = type(error).__name__
                return Verdict(False, f"{title}: your code raised {name}: {error}")

        return checked

    return decorate
