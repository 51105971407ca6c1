"""Predict first: a question whose result stays closed until the reader commits to an answer."""

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from IPython.display import display
from matplotlib.figure import Figure
from traitlets import Dict, List, Unicode

from gates2heads.accepts.shown import shown
from gates2heads.checks.values import check_characters
from gates2heads.display.theme import themed_svg
from gates2heads.display.widgets.view import View, module, style

Result = Figure | str | Sequence[Sequence[str]] | None


@dataclass(frozen=True)
class Question:
    """A question with options, of which one is right.

    Args:
        text: the question. Here and below, `code` and *emphasis* are shown as such.
        options: two or more (answer, reason, is it right); one is right. The reason is shown once
            the reader has committed, the right one's and the wrong ones' alike.

    Raises:
        TypeError: an option that is no (str, str, bool).
        ValueError: an empty text, fewer than two options, not exactly one right, one named twice.
    """

    text: str
    options: Sequence[tuple[str, str, bool]]

    def __post_init__(self):
        _check_text(self.text, "text")
        object.__setattr__(self, "options", _options(self.options))

    def payload(self) -> dict[str, Any]:
        """Give what the page needs, as JSON holds it."""
        names = ("answer", "reason", "right")
        options = [dict(zip(names, option, strict=True)) for option in self.options]
        return {"text": self.text, "options": options}

    def in_markdown(self) -> str:
        """Say the same as Markdown: the options, and after them what is right and why."""
        listed = [f"{place}. {answer}" for place, (answer, _, _) in enumerate(self.options, 1)]
        reasons = [
            f"{place}. **{'Right' if right else 'No'}.** {reason}"
            for place, (_, reason, right) in enumerate(self.options, 1)
        ]
        return _folded(self.text, "\n".join(listed), "\n".join(reasons))


@dataclass(frozen=True)
class Guess:
    """A question whose answer is a number, guessed with a slider.

    Args:
        text: the question, as in `Question`.
        answer: the number that the run gave.
        low, high: the ends of the slider.
        step: the distance between two places of the slider, which begin at low.
        unit: printed after each number, such as "%" or "ms".
        within: a guess no farther from the answer than this counts as right.
        reason: why it is that number, shown once the reader has committed.

    Raises:
        ValueError: an empty text or reason, a number that is not finite, ends in the wrong order,
            an answer beyond them, a step that does not fit between them, a negative within.
    """

    text: str
    answer: float
    low: float
    high: float
    step: float
    reason: str
    unit: str = ""
    within: float = 0.0

    def __post_init__(self):
        _check_text(self.text, "text")
        _check_text(self.reason, "reason")
        for name in ("answer", "low", "high", "step", "within"):
            object.__setattr__(self, name, _finite(getattr(self, name), name))
        if not isinstance(self.unit, str):
            raise ValueError(f"unit must be a str, got {shown(self.unit)}")
        if self.low >= self.high:
            raise ValueError(f"high must be above low = {self.low:g}, got {self.high:g}")
        if not self.low <= self.answer <= self.high:
            raise ValueError(
                f"answer must be from {self.low:g} to {self.high:g}, got {self.answer:g}"
            )
        if not 0 < self.step <= self.high - self.low:
            raise ValueError(
                f"step must be above 0 and at most {self.high - self.low:g}, got {self.step:g}"
            )
        if self.within < 0:
            raise ValueError(f"within must be at least 0, got {self.within:g}")

    def payload(self) -> dict[str, Any]:
        """Give what the page needs, as JSON holds it."""
        names = ("text", "answer", "low", "high", "step", "unit", "within", "reason")
        return {name: getattr(self, name) for name in names}

    def in_markdown(self) -> str:
        """Say the same as Markdown: the range, and after it the number and why."""
        unit = f" {self.unit}" if self.unit else ""
        ends = f"A number from {self.low:g} to {self.high:g}{unit}."
        return _folded(self.text, ends, f"**{self.answer:g}{unit}.** {self.reason}")


class Predict(View):
    """Asks, takes an answer, gives each option's reason, and only then opens the result.

    Everything happens in the page, with native radio buttons and sliders. Displayed, it brings a
    second output: the same questions as folded Markdown, which the view hides where it lives, and
    which remains on paper, without JavaScript and on sites that draw no widgets.

    Args:
        questions: one or more `Question` or `Guess`.
        result: what opens when all are answered: a Matplotlib figure or an SVG text, a table as
            rows of words whose first row is the head, or a plain text; None for a mere quiz.
        alt: what is to be seen in a figure, with its numbers; also the result's text on paper.
        title: above it all.

    Attributes:
        answers: for each question the chosen option, counted from 0, or the guessed number; None
            while the reader has not committed.

    Raises:
        TypeError: questions that are none, or a result of another kind.
        ValueError: no question, a figure without alt, a table whose rows differ in length.
    """

    _esm = module("predict.js")
    _css = style("predict.css")

    questions = List(Dict()).tag(sync=True)
    result = Dict().tag(sync=True)
    twin = Unicode().tag(sync=True)
    answers = List().tag(sync=True)

    def __init__(
        self,
        questions: Sequence[Question | Guess],
        *,
        result: Result = None,
        alt: str = "",
        title: str = "Predict first",
        **kwargs: Any,
    ):
        questions = _questions(questions)
        opened = _opened(result, alt)
        if not isinstance(title, str):
            raise TypeError(f"title must be a string, got {shown(title)}")
        self._in_markdown = "\n\n".join(
            [*(question.in_markdown() for question in questions), *_result_in_markdown(opened)]
        )
        mark = hashlib.sha256(self._in_markdown.encode()).hexdigest()[:10]
        super().__init__(
            questions=[question.payload() for question in questions],
            result=opened,
            twin=f"g2h-twin-{mark}",
            answers=[None] * len(questions),
            title=title,
            **kwargs,
        )

    def in_markdown(self) -> str:
        """Give the static twin: all questions folded, under an id that the view looks for."""
        return f'<div class="g2h-twin" id="{self.twin}">\n\n{self._in_markdown}\n\n</div>'

    def _ipython_display_(self, **kwargs: Any) -> None:
        if hasattr(super(), "_ipython_display_"):  # ipywidgets 7
            super()._ipython_display_(**kwargs)
        else:
            bundle = self._repr_mimebundle_()
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
            display(data, metadata=metadata, raw=True)
        text = self.in_markdown()
        display({"text/markdown": text, "text/plain": self.title}, raw=True)

    def __repr__(self):
        count = len(self.questions)
        return f"Predict({count} question{'' if count == 1 else 's'})"


def predict(
    question: str,
    options: Sequence[tuple[str, str, bool]],
    result: Result = None,
    alt: str = "",
    title: str = "Predict first",
) -> Predict:
    """Ask one question with options before a result is shown: `Predict` in one line.

    Args:
        question, options: as `Question` has them.
        result, alt, title: as `Predict` has them.
    Returns:
        The view, to be displayed as the last line of its cell.
    Raises:
        TypeError, ValueError: as in `Question` and `Predict`.
    """
    return Predict([Question(question, options)], result=result, alt=alt, title=title)


def _check_text(text: str, name: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{name} must say something, got {shown(text)}")
    check_characters(name, text)


def _finite(number: float, name: str) -> float:
    real = isinstance(number, int | float) and not isinstance(number, bool)
    if not real or not abs(number) <= sys.float_info.max:
        raise ValueError(f"{name} must be a finite number, got {shown(number)}")
    return float(number)


def _options(options: Sequence[tuple[str, str, bool]]) -> tuple[tuple[str, str, bool], ...]:
    if not isinstance(options, Sequence) or isinstance(options, str):
        raise TypeError(f"options must be a list of (answer, reason, right), got {shown(options)}")
    options = tuple(options)
    for option in options:
        parts = tuple(option) if isinstance(option, list | tuple) else ()
        if [type(part) for part in parts] != [str, str, bool]:
            raise TypeError(
                f"options must be (answer, reason, right) of str, str, bool, got {shown(option)}"
            )
        _check_text(parts[0], "options, in each answer,")
        _check_text(parts[1], "options, in each reason,")
    if len(options) < 2:
        raise ValueError(f"options must be at least 2, got {len(options)}")
    right = sum(option[2] for option in options)
    if right != 1:
        raise ValueError(f"options must have exactly one that is right, got {right}")
    if len({option[0] for option in options}) < len(options):
        raise ValueError("options must differ, got one answer twice")
    return options


def _questions(questions: Sequence[Question | Guess]) -> list[Question | Guess]:
    several = list(questions) if isinstance(questions, list | tuple) else [questions]
    for question in several:
        if not isinstance(question, Question | Guess):
            raise TypeError(f"questions must be Question or Guess, got {shown(question)}")
    if not several:
        raise ValueError("questions must hold at least one, got none")
    return several


def _opened(result: Result, alt: str) -> dict[str, Any]:
    """Turn the result into what the page can show: {"svg", "alt"}, {"rows"}, {"text"} or {}."""
    if not isinstance(alt, str):
        raise ValueError(f"alt must say what the result shows, got {shown(alt)}")
    check_characters("alt", alt)
    if result is None:
        return {}
    if hasattr(result, "savefig") or (isinstance(result, str) and "<svg" in result):
        _check_text(alt, "alt")
        svg = result if isinstance(result, str) else themed_svg(result, alt=alt)
        return {"svg": svg[svg.index("<svg") :], "alt": alt}
    if isinstance(result, str):
        _check_text(result, "result")
        return {"text": result}
    if not isinstance(result, list | tuple):
        raise TypeError(f"result must be a figure, a text or rows of words, got {shown(result)}")
    rows = [[str(word) for word in row] for row in result if isinstance(row, list | tuple)]
    if len(rows) != len(result) or len(rows) < 2 or len({len(row) for row in rows}) != 1:
        raise ValueError("result must be a table of a head and rows of its length, got others")
    return {"rows": rows, "text": alt}


def _folded(text: str, before: str, inside: str) -> str:
    summary = "<summary>The answer, and why</summary>"
    return f'{text}\n\n{before}\n\n<details class="predict">{summary}\n\n{inside}\n\n</details>'


def _result_in_markdown(opened: dict[str, Any]) -> list[str]:
    parts = []
    if rows := opened.get("rows"):
        cells = ["| " + " | ".join(word.replace("|", "\\|") for word in row) + " |" for row in rows]
        parts.append("\n".join([cells[0], "|" + " --- |" * len(rows[0]), *cells[1:]]))
    if text := opened.get("alt") or opened.get("text"):
        parts.append(text)
    if not parts:
        return []
    inside = "\n\n".join(parts)
    return [f'<details class="predict"><summary>The result</summary>\n\n{inside}\n\n</details>']
