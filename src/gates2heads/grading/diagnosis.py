"""Checks of a reader's function that recognise common mistakes."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from gates2heads.accepts.shown import shown
from gates2heads.grading.comparison import difference, same
from gates2heads.grading.readers_code import said_by
from gates2heads.grading.verdict import NotTriedError, NotYetError, Verdict, tried, verdict_of


@dataclass(frozen=True)
class Case:
    """One call of the reader's function.

    Args:
        name: its name in the verdict, such as "the example done by hand".
        arguments: the arguments of the call; the function receives copies, which it may modify.
        wanted: the correct answer, if it is known without the solution; otherwise the solution's.
        gradient: compare also the gradient with respect to the first argument, of a weighted sum of
            the answer's entries with distinct weights.
    """

    name: str
    arguments: tuple
    wanted: object = None
    gradient: bool = False


@dataclass(frozen=True, kw_only=True)
class FunctionCheck:
    """A check of a function: called with the reader's function, it returns a `Verdict`.

    Args:
        title: names the exercise, such as "Exercise 5.1".
        solution: a correct function, with the parameters that the reader's should have.
        cases: returns the test calls, the simplest first.
        mistakes: a description of a mistake → a function that makes it. The description ends the
            sentence "It looks as if …". A mistake is named only if the reader's function agrees
            with it in every case.
        remark: a remark for a correct answer.
        parts: the names of the results, if the function returns more than one.
        without: names that the reader's function may not use, since they are the exercise.
    """

    title: str
    solution: Callable
    cases: Callable[[], Sequence[Case]]
    mistakes: Mapping[str, Callable] = field(default_factory=dict)
    remark: str = ""
    parts: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def __call__(self, answer: Callable) -> Verdict:
        """Test the reader's function."""
        return verdict_of(self.title, lambda: self._ask(tried(answer)))

    def _ask(self, answer: Callable) -> str:
        self._refuse_other_parameters(answer)
        cases = self.cases()
        for case in cases:
            result = self._result(answer, case)
            wanted = self._wanted(case)
            if fault := self._fault(result, wanted):
                raise NotYetError(f"For {case.name}: {fault}.{self._mistake(answer, cases)}")
            if fault := self._gradient_fault(answer, case):
                raise NotYetError(
                    f"For {case.name}: the answer is right, but {fault}."
                    f"{self._mistake(answer, cases)}"
                )
        self._refuse_shortcuts(answer)
        return self.remark

    def _gradient_fault(self, answer: Callable, case: Case) -> str:
        if not case.gradient:
            return ""
        name = next(iter(inspect.signature(self.solution).parameters))
        try:
            reached = _gradient(answer, case)
        except Exception as error:  # the reader's code may raise anything
            return f"no gradient reaches `{name}`: {said_by(error, answer)}"
        fault = difference(reached, _gradient(self.solution, case))
        return f"its gradient with respect to `{name}` is not: {fault}" if fault else ""

    def _refuse_other_parameters(self, answer: Callable) -> None:
        if not callable(answer):
            raise NotYetError(f"Your answer should be a function, and is {shown(answer)}.")
        names = list(inspect.signature(self.solution).parameters)
        try:
            inspect.signature(answer).bind(*names)
        except TypeError:
            raise NotYetError(
                f"Your function should take {len(names)} arguments: {', '.join(names)}."
            ) from None
        except ValueError:  # a built-in function may not reveal its parameters
            return

    def _refuse_shortcuts(self, answer: Callable) -> None:
        used = getattr(getattr(answer, "__code__", None), "co_names", ())
        if shortcut := next((name for name in self.without if name in used), None):
            raise NotYetError(
                f"The answers are right, but your function uses `{shortcut}`: do without it."
            )

    def _result(self, answer: Callable, case: Case) -> object:
        """Call the reader's function; describe any problem in one sentence."""
        arguments = _copies(case.arguments)
        try:
            result = answer(*arguments)
        except NotImplementedError:
            raise NotTriedError("Fill in the body of your function.") from None
        except (Exception, SystemExit) as error:  # the reader's code may raise anything
            if "ellipsis" in str(error):
                raise NotTriedError(f"There is still a `...`: {said_by(error, answer)}.") from None
            raise NotYetError(
                f"For {case.name} your code raised {said_by(error, answer)}."
            ) from None
        if result is ...:
            raise NotTriedError("Your function still returns `...`.")
        if result is None:
            raise NotYetError("Your function returns nothing: is a `return` missing?")
        for name, now, before in zip(
            inspect.signature(self.solution).parameters, arguments, case.arguments, strict=True
        ):
            if isinstance(before, Tensor) and not same(now, before, tolerance=0.0):
                raise NotYetError(f"Your function changes its argument `{name}`: work on a copy.")
        return result

    def _wanted(self, case: Case) -> object:
        if case.wanted is not None:
            return case.wanted
        return self.solution(*_copies(case.arguments))

    def _fault(self, result: object, wanted: object) -> str:
        if not self.parts:
            return difference(result, wanted)
        if not isinstance(result, tuple | list) or len(result) != len(self.parts):
            return f"the answer should be {len(self.parts)} results: {' and '.join(self.parts)}"
        for name, one, right in zip(self.parts, result, wanted, strict=True):
            if fault := difference(one, right):
                return f"for {name}, {fault}"
        return ""

    def _mistake(self, answer: Callable, cases: Sequence[Case]) -> str:
        """Name the mistake that explains the reader's answers, if one does."""
        outcomes = [_outcome(answer, case) for case in cases]
        for words, mistaken in self.mistakes.items():
            pairs = zip(outcomes, (_outcome(mistaken, case) for case in cases), strict=True)
            if all(self._agree(one, other) for one, other in pairs):
                return f" It looks as if {words}."
        return ""

    def _agree(self, one: object, other: object) -> bool:
        if isinstance(one, BaseException) or isinstance(other, BaseException):
            return type(one) is type(other)
        if isinstance(one, tuple | list) and isinstance(other, tuple | list):
            return len(one) == len(other) and all(map(_alike, one, other))
        return _alike(one, other)


def _alike(one: object, other: object) -> bool:
    """Whether two results are the same; two NaN at the same index are."""
    if isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape:
        holes = one.isnan()
        if holes.any():
            return bool((holes == other.isnan()).all()) and same(one[~holes], other[~holes])
    return same(one, other)


def _gradient(function: Callable, case: Case) -> Tensor:
    first, *others = _copies(case.arguments)
    answer = function(first.requires_grad_(), *others)
    (answer * random_tensors(answer.shape)[0]).sum().backward()
    return first.grad


def _outcome(function: Callable, case: Case) -> object:
    try:
        if case.gradient:
            return function(*_copies(case.arguments)), _gradient(function, case)
        return function(*_copies(case.arguments))
    except (Exception, SystemExit) as error:  # compared by its kind
        return error


def _copies(arguments: tuple) -> tuple:
    """The arguments copied deep, so that a function may use them up; models are not copied."""
    return tuple(one if isinstance(one, nn.Module) else deepcopy(one) for one in arguments)


def random_tensors(*shapes: tuple[int, ...]) -> list[Tensor]:
    """Sample tensors of these shapes from a normal distribution, with a fixed seed."""
    draw = torch.Generator().manual_seed(5)
    return [torch.randn(shape, generator=draw) for shape in shapes]
