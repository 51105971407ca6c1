"""Checks of answers that were found on paper: numbers, and a choice between given answers.

A check is data. The built page judges the same data by the same rules (`_static/answers.js`), so an
answer gets the same diagnosis in the page as in Python.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.grading.verdict import NotYetError, Verdict, tried, verdict_of


@dataclass(frozen=True)
class Range:
    """Answers with one verdict.

    Args:
        low, high: the bounds of each number of the answer, both included.
        words: the diagnosis; empty for correct answers.
        of_sum: whether the answer's sum has these bounds, and not each of its numbers.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    words: str = ""
    of_sum: bool = False

    def holds(self, numbers: Sequence[float]) -> bool:
        """Whether an answer is in the range."""
        given = (sum(numbers),) if self.of_sum else numbers
        bounds = zip(self.low, given, self.high, strict=True)
        return all(low <= number <= high for low, number, high in bounds)


def near(
    value: float | tuple[float, ...], words: str = "", *, within: float = 1e-6, share: bool = False
) -> Range:
    """The range around a number, or around several numbers in a fixed order.

    Args:
        value: the number or the numbers.
        words: see `Range`.
        within: how far from each.
        share: `within` is a share of each number's absolute value.
    """
    values = value if isinstance(value, tuple) else (value,)
    margins = [within * abs(one) if share else within for one in values]
    return Range(
        tuple(float(one - margin) for one, margin in zip(values, margins, strict=True)),
        tuple(float(one + margin) for one, margin in zip(values, margins, strict=True)),
        words,
    )


def slips(
    of: Mapping[float | tuple[float, ...], str], *, within: float = 1e-6, share: bool = False
) -> tuple[Range, ...]:
    """The ranges around well-known wrong answers; `of` maps each to its diagnosis."""
    return tuple(near(value, words, within=within, share=share) for value, words in of.items())


def between(low: float, high: float, words: str) -> Range:
    """One number from `low` to `high`; either may be infinite."""
    return Range((float(low),), (float(high),), words)


def sums_to(low: float, high: float, words: str) -> Range:
    """Several numbers whose sum is from `low` to `high`."""
    return Range((float(low),), (float(high),), words, of_sum=True)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """One question, whose answer is a number or several numbers in a fixed order.

    Args:
        name: of the variable on the page.
        right: the correct answers, as ranges.
        slips: the wrong answers with a diagnosis of their own. The first that holds is reported.
        otherwise: the diagnosis of all other answers.
        ask: what the answer should be, without a full stop.
    """

    name: str
    right: tuple[Range, ...]
    slips: tuple[Range, ...] = ()
    otherwise: str
    ask: str = "The answer should be a number"

    @property
    def size(self) -> int:
        """How many numbers the answer has."""
        return len(self.right[0].low)

    def read(self, answer: object) -> tuple[float, ...]:
        """The numbers of an answer: of a number, a sequence, a tensor of any shape.

        Raises:
            NotYetError: it does not hold `size` finite numbers.
        """
        numbers = _flat(answer)
        if (self.size > 1 and isinstance(answer, str)) or len(numbers) != self.size:
            raise NotYetError(f"{self.ask}, got {shown(answer)}.")
        found = tuple(map(_finite, numbers))
        if None in found:
            raise NotYetError(f"{self.ask}, got {shown(answer)}.")
        return found

    def fault(self, numbers: Sequence[float]) -> str:
        """The diagnosis of an answer; empty if it is correct."""
        if any(one.holds(numbers) for one in self.right):
            return ""
        return next((one.words for one in self.slips if one.holds(numbers)), self.otherwise)


def _flat(answer: object) -> list:
    """What an answer consists of; nested sequences become one."""
    if isinstance(answer, Tensor):
        try:
            return answer.detach().to_dense().cpu().flatten().tolist()
        except (RuntimeError, NotImplementedError):  # it holds no numbers, as on the device "meta"
            return []
    if isinstance(answer, np.ndarray):
        return answer.flatten().tolist()
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return [number for one in answer for number in _flat(one)]
    return [answer]


def _finite(answer: object) -> float | None:
    if isinstance(answer, bool | str | complex) or answer is None:
        return None
    try:
        number = float(answer)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, kw_only=True)
class NumbersCheck:
    """A check of numbers; called with one answer for each question, it returns a `Verdict`.

    Args:
        title: names the exercise, such as "Exercise 8.1".
        questions: in the order of the arguments. The first that is not answered correctly is
            reported.
        remark: on the correct answer.
    """

    title: str
    questions: tuple[Numbers, ...]
    remark: str

    def __call__(self, *answers, **named) -> Verdict:
        """Judge the reader's answers, in order or by name."""
        return verdict_of(self.title, lambda: self._ask(answers, named))

    def _ask(self, answers: tuple, named: dict) -> str:
        names = [one.name for one in self.questions]
        given = dict(zip(names, answers, strict=False)) | named
        if list(given) != names or len(answers) + len(named) != len(names):
            raise NotYetError(f"The check takes the answers to: {', '.join(names)}.")
        numbers = [one.read(tried(given[one.name])) for one in self.questions]
        for one, found in zip(self.questions, numbers, strict=True):
            if fault := one.fault(found):
                raise NotYetError(fault)
        return self.remark


@dataclass(frozen=True, kw_only=True)
class ChoiceCheck:
    """A check of a choice; called with the reader's choice, it returns a `Verdict`.

    Args:
        title: names the exercise.
        choices: name, such as a letter → description, empty where the name says all.
        right: the names that should be chosen.
        against: the names of each wrong choice → its diagnosis.
        remark: on the correct choice.
    """

    title: str
    choices: Mapping[str, str]
    right: frozenset[str]
    against: Mapping[frozenset[str], str]
    remark: str

    def __call__(self, *answers, **named) -> Verdict:
        """Judge the reader's choice: a name; or several, in one text or in a sequence."""
        return verdict_of(self.title, lambda: self._ask(answers, named))

    def _ask(self, answers: tuple, named: dict) -> str:
        given = [*answers, *named.values()]
        if len(given) != 1:
            raise NotYetError("The check takes one answer.")
        chosen = self._names(tried(given[0]))
        if chosen == self.right:
            return self.remark
        raise NotYetError(self.against[chosen])

    def _names(self, answer: object) -> frozenset[str]:
        several = len(self.right) > 1
        if isinstance(answer, str):
            answer = re.split(r"[,/&]|\band\b", answer) if several else [answer]
        if not isinstance(answer, Collection) or len(answer) != len(self.right):
            if several:
                some = ", ".join(list(self.choices)[: len(self.right)])
                raise NotYetError(f"Answer with {_COUNTS[len(self.right)]} names, such as {some}.")
            raise NotYetError(self._refusal(answer))
        tidy = frozenset(re.sub("[_-]", " ", str(name)).strip(" ().").lower() for name in answer)
        if len(tidy) < len(self.right) or not tidy <= set(self.choices):
            raise NotYetError(self._refusal(answer[0] if not several else answer))
        return tidy

    def _refusal(self, answer: object) -> str:
        names = ", ".join(self.choices)
        many = "one of the letters" if len(self.right) == 1 else f"{_COUNTS[len(self.right)]} of"
        return f"Answer with {many} {names}, got {shown(answer)}."


_COUNTS = {2: "two", 3: "three"}


def bug_check(
    title: str, faults: Mapping[str, str], contradictions: Mapping[str, str], closing: str = "."
) -> ChoiceCheck:
    """The check of a bug hunt: which of the suspected bugs is the true one.

    Args:
        title: names the exercise.
        faults: letter → description of each suspected bug.
        contradictions: letter → the evidence against it, for all but the true one.
        closing: what follows the description of the true one in the verdict.

    Raises:
        ValueError: not exactly one bug is left.
    """
    left = [letter for letter in faults if letter not in contradictions]
    if len(left) != 1 or not set(contradictions) <= set(faults):
        raise ValueError(f"contradictions must leave one bug of {shown(list(faults))}")
    words = faults[left[0]]
    return ChoiceCheck(
        title=title,
        choices=faults,
        right=frozenset(left),
        against={frozenset([letter]): reason for letter, reason in contradictions.items()},
        remark=f"{words[0].upper()}{words[1:]}{closing}",
    )


def described(check: NumbersCheck | ChoiceCheck) -> dict:
    """A check as the built page reads it, in what JSON can hold; null is infinite."""
    shared = {"title": check.title, "remark": check.remark}
    if isinstance(check, ChoiceCheck):
        against = [
            {"names": sorted(names), "words": words} for names, words in check.against.items()
        ]
        choices = [{"name": name, "words": words} for name, words in check.choices.items()]
        return {**shared, "choices": choices, "right": sorted(check.right), "against": against}
    return {**shared, "questions": [_question(one) for one in check.questions]}


def _question(one: Numbers) -> dict:
    return {
        "name": one.name,
        "size": one.size,
        "ask": one.ask,
        "right": [_range(each) for each in one.right],
        "slips": [_range(each) for each in one.slips],
        "otherwise": one.otherwise,
    }


def _range(one: Range) -> dict:
    bounds = {
        name: [number if math.isfinite(number) else None for number in numbers]
        for name, numbers in (("low", one.low), ("high", one.high))
    }
    return {**bounds, "words": one.words, "of_sum": one.of_sum}
