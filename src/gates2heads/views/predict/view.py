"""Predict first: a question whose result is hidden until the reader commits to an answer."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from IPython.display import display
from matplotlib.figure import Figure
from traitlets import Dict, List, Unicode

from gates2heads.accepts import accepts, instance, listed, number, positive, string
from gates2heads.accepts.shown import shown
from gates2heads.figures.markdown import as_marked, as_text
from gates2heads.figures.theme import themed_svg
from gates2heads.views.kit.view import View, module, style

OPTION = "(answer, reason, right) of str, str, bool"
Result = Figure | str | Sequence[Sequence[str]] | None


@accepts(text=string(empty=False), options=listed(OPTION, least=2))
@dataclass(frozen=True)
class Question:
    """A question with options, of which one is correct.

    Args:
        text: the question. Here and below, `code` and *emphasis* are shown as such.
        options: two or more (answer, reason, whether it is correct); one is correct. The reason of
            every option is shown once the reader has committed.

    Raises:
        TypeError: an option that is not (str, str, bool).
        ValueError: not exactly one is correct, or one occurs twice.
    """

    text: str
    options: Sequence[tuple[str, str, bool]]

    def __post_init__(self):
        self._check_options()
        object.__setattr__(self, "options", tuple(map(tuple, self.options)))

    def payload(self) -> dict[str, Any]:
        """The data for the page, as JSON values."""
        names = ("answer", "reason", "right")
        options = [dict(zip(names, option, strict=True)) for option in self.options]
        return {"text": self.text, "options": options}

    def in_markdown(self) -> str:
        """The question in Markdown: the options, then the correct answer and the reason."""
        answers = [
            f"{place}. {as_marked(answer)}" for place, (answer, _, _) in enumerate(self.options, 1)
        ]
        reasons = [
            f"{place}. **{'Right' if right else 'No'}.** {as_marked(reason)}"
            for place, (_, reason, right) in enumerate(self.options, 1)
        ]
        return _folded(self.text, "\n".join(answers), "\n".join(reasons))

    def _check_options(self) -> None:
        for option in self.options:
            parts = option if isinstance(option, list | tuple) else ()
            if [type(part) for part in parts] != [str, str, bool]:
                raise TypeError(f"options must be {OPTION}, got {shown(option)}")
            string(empty=False).check("options, in each answer,", option[0])
            string(empty=False).check("options, in each reason,", option[1])
        if sum(option[2] for option in self.options) != 1:
            right = sum(option[2] for option in self.options)
            raise ValueError(f"options must have exactly one that is right, got {right}")
        if len({option[0] for option in self.options}) < len(self.options):
            raise ValueError("options must differ, got one answer twice")


@accepts(
    text=string(empty=False),
    answer=number,
    low=number,
    high=number,
    step=positive,
    reason=string(empty=False),
    unit=string,
    within=number(least=0),
)
@dataclass(frozen=True)
class Guess:
    """A question whose answer is a number, guessed with a slider.

    Args:
        text: the question, as in `Question`.
        answer: the number from the run.
        low, high: the ends of the slider.
        step: the distance between two positions of the slider, which begin at low.
        unit: printed after each number, such as "%" or "ms".
        within: the maximum error of a correct guess.
        reason: the reason, shown once the reader has committed.

    Raises:
        ValueError: ends in the wrong order, an answer beyond them, or a step that does not fit
            between them.
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
        for name in ("answer", "low", "high", "step", "within"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.low >= self.high:
            raise ValueError(f"high must be above low = {self.low:g}, got {self.high:g}")
        if not self.low <= self.answer <= self.high:
            raise ValueError(
                f"answer must be from {self.low:g} to {self.high:g}, got {self.answer:g}"
            )
        if self.step > self.high - self.low:
            raise ValueError(f"step must be at most {self.high - self.low:g}, got {self.step:g}")

    def payload(self) -> dict[str, Any]:
        """The data for the page, as JSON values."""
        names = ("text", "answer", "low", "high", "step", "unit", "within", "reason")
        return {name: getattr(self, name) for name in names}

    def in_markdown(self) -> str:
        """The question in Markdown: the range, and after it the number and the reason."""
        unit = f" {as_text(self.unit)}" if self.unit else ""
        ends = f"A number from {self.low:g} to {self.high:g}{unit}."
        return _folded(self.text, ends, f"**{self.answer:g}{unit}.** {as_marked(self.reason)}")


@accepts(alt=string, title=string)
class Predict(View):
    """Asks for an answer, then shows each option's reason, and finally the result.

    Everything happens in the page, with native radio buttons and sliders. It also displays a second
    output: the same questions as collapsed Markdown, which a live view hides, and which is shown on
    paper, without JavaScript and on sites without widgets.

    Args:
        questions: one or more `Question` or `Guess`.
        result: shown when all are answered: a Matplotlib figure, a table as rows of words
            whose first row is the head, or a text; None for a quiz without a result.
        alt: the content of a figure, with its numbers; also the result's text on paper.
        title: above it all.

    Attributes:
        answers: for each question the chosen option, counted from 0, or the guessed number; None
            while the reader has not committed.

    Raises:
        TypeError: invalid questions, or a result of another type.
        ValueError: a figure without alt, or a table whose rows differ in length.
    """

    _esm = module(__file__)
    _css = style(__file__)

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
        questions = questions if isinstance(questions, list | tuple) else [questions]
        listed("questions", instance((Question, Guess)), least=1).check("questions", questions)
        opened = _opened(result, alt)
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
        """The static counterpart: all questions collapsed, with an id that the view looks up."""
        return f'<div class="g2h-twin" id="{self.twin}">\n\n{self._in_markdown}\n\n</div>'

    def _ipython_display_(self, **kwargs: Any) -> None:
        if hasattr(super(), "_ipython_display_"):  # ipywidgets 7
            super()._ipython_display_(**kwargs)
        else:
            bundle = self._repr_mimebundle_()
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
            display(data, metadata=metadata, raw=True)
        twin = {"text/markdown": self.in_markdown(), "text/plain": self.title}
        display(twin, raw=True)

    def __repr__(self):
        count = len(self.questions)
        return f"Predict({count} question{'' if count == 1 else 's'})"


@accepts(question=string(empty=False), options=listed(OPTION, least=2), alt=string, title=string)
def predict(
    question: str,
    options: Sequence[tuple[str, str, bool]],
    result: Result = None,
    alt: str = "",
    title: str = "Predict first",
) -> Predict:
    """Ask one question with options before a result is shown: `Predict` in one line.

    Args:
        question, options: as in `Question`.
        result, alt, title: as in `Predict`.
    Returns:
        The view, to be displayed as the last line of its cell.
    Raises:
        TypeError, ValueError: as in `Question` and `Predict`.
    """
    return Predict([Question(question, options)], result=result, alt=alt, title=title)


def _opened(result: Result, alt: str) -> dict[str, Any]:
    """Convert the result for the page: {"svg", "alt"}, {"rows"}, {"text"} or {}.

    Only a figure is inserted as a drawing, which is created here. All words are inserted as text.
    """
    if result is None:
        return {}
    if isinstance(result, Figure):
        string(empty=False).check("alt", alt)
        return {"svg": themed_svg(result, alt=alt), "alt": alt}
    if isinstance(result, str):
        string(empty=False).check("result", result)
        return {"text": result}
    if not isinstance(result, list | tuple):
        raise TypeError(f"result must be a figure, a text or rows of words, got {shown(result)}")
    rows = [[str(word) for word in row] for row in result if isinstance(row, list | tuple)]
    if len(rows) != len(result) or len(rows) < 2 or len({len(row) for row in rows}) != 1:
        raise ValueError("result must be a table of a head and rows of its length, got others")
    return {"rows": rows, "text": alt}


def _cell(words: str) -> str:
    """Words in a row of a table, which would interpret the bars of `code` as cell borders."""
    return re.sub(r"(?<!\\)\|", r"\\|", as_marked(words))


def _folded(asked: str, before: str, inside: str) -> str:
    summary = "<summary>The answer, and why</summary>"
    return (
        f"{as_marked(asked)}\n\n{before}\n\n"
        f'<details class="predict">{summary}\n\n{inside}\n\n</details>'
    )


def _result_in_markdown(opened: dict[str, Any]) -> list[str]:
    parts = []
    if rows := opened.get("rows"):
        cells = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
        parts.append("\n".join([cells[0], "|" + " --- |" * len(rows[0]), *cells[1:]]))
    if words := opened.get("alt") or opened.get("text"):
        parts.append(as_marked(words))
    if not parts:
        return []
    inside = "\n\n".join(parts)
    return [f'<details class="predict"><summary>The result</summary>\n\n{inside}\n\n</details>']
