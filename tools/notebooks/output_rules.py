"""How closely the outputs of a notebook's cell are compared with the stored ones.

A text is compared word for word. A cell's tags may loosen that for its numbers alone; see
`tools.notebooks.notebook_report`, which lists them. Figures are compared by what they say
(`gates2heads.figures.content`), never by their pixels.
"""

from __future__ import annotations

import copy
import math
import re
from dataclasses import dataclass

FIGURE_MIME = "application/vnd.gates2heads.figure+json"
FIGURE_TOLERANCE = 1e-3
# A number that stands alone: no part of a date, a range, a version, a name or a shape.
NUMBER = re.compile(
    r"(?<![\w.:/–−-])[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?"
    r"(?![\w:/–]|[-−]\w|\.\d)"
)
# In a Markdown table, the content of the last column, below the heads.
LAST_COLUMN = re.compile(r"(?<=\|)[^|\n]*\|$(?!\n\| ?:?-)", re.M)
SECONDS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?=\s?(?:ms|s|min|seconds|minutes)\b)")
KEYS_NOT_COMPARED = ("image/png", "image/svg+xml", "application/vnd.jupyter.widget-view+json")


@dataclass
class Rules:
    """How closely one cell is compared, read from its tags."""

    relative: float = 0.0
    absolute: float = 0.0
    varying_seconds: bool = False
    varying_numbers: bool = False
    varying_last_column: bool = False
    trained_figure: bool = False

    @classmethod
    def of(cls, tags: list[str], where: str) -> Rules:
        """Read the tags of a cell; a tag that nearly is one of ours is an error."""
        rules = cls()
        rules.varying_seconds = "varying-seconds" in tags
        rules.varying_numbers = "varying-numbers" in tags
        rules.varying_last_column = "varying-last-column" in tags
        rules.trained_figure = "trained-figure" in tags or rules.varying_numbers
        for tag in tags:
            if not tag.startswith("approx"):
                continue
            found = re.fullmatch(r"approx-(abs-)?(\d+(?:\.\d+)?)", tag)
            if not found:
                raise ValueError(
                    f"{where}: tag must be approx-0.02 or approx-abs-0.5 or alike, got {tag!r}"
                )
            setattr(rules, "absolute" if found[1] else "relative", float(found[2]))
        return rules

    @property
    def tolerant(self) -> bool:
        """Whether anything in a text may differ at all."""
        return bool(self.relative or self.absolute or self.varying_seconds or self.exempt)

    @property
    def exempt(self) -> bool:
        """Whether a part is exempt from comparison, for which a reason must be given."""
        return self.varying_numbers or self.varying_last_column

    def near(self, one: float, other: float) -> bool:
        """Whether two numbers of a text pass for the same."""
        return math.isclose(one, other, rel_tol=self.relative, abs_tol=self.absolute)

    def same_text(self, stored: str, new: str) -> bool:
        """Whether two texts agree in every word, and in their numbers as far as they must."""
        if stored == new or not self.tolerant:
            return stored == new
        if self.varying_seconds:
            stored, new = SECONDS.sub("…", stored), SECONDS.sub("…", new)
        if self.varying_last_column:
            stored, new = LAST_COLUMN.sub("…", stored), LAST_COLUMN.sub("…", new)
        if NUMBER.sub("…", stored) != NUMBER.sub("…", new):
            return False
        if self.varying_numbers:
            return True
        pairs = zip(NUMBER.findall(stored), NUMBER.findall(new), strict=True)
        return all(self.near(_value(one), _value(other)) for one, other in pairs)

    def same_figure(self, stored: dict, new: dict) -> bool:
        """Whether two figures say the same."""
        if stored.keys() != new.keys():
            return False
        words = all(self.same_text(stored[key], new[key]) for key in ("alt", "caption"))
        return words and self._same_content(stored.get("content"), new.get("content"))

    def _same_content(self, stored: object, new: object) -> bool:
        if type(stored) is not type(new):
            return stored == new
        if isinstance(stored, dict):
            same_keys = stored.keys() == new.keys()
            return same_keys and all(self._same_content(stored[key], new[key]) for key in stored)
        if isinstance(stored, str):
            unnumbered = NUMBER.sub("…", stored) == NUMBER.sub("…", new)
            return unnumbered if self.trained_figure else self.same_text(stored, new)
        if len(stored) != len(new):
            return False
        if all(value is None or isinstance(value, float | int) for value in stored + new):
            return self._same_numbers(stored, new)
        return all(self._same_content(*pair) for pair in zip(stored, new, strict=True))

    def _same_numbers(self, stored: list[float | None], new: list[float | None]) -> bool:
        if self.trained_figure:
            return True
        largest = max((abs(x) for x in stored if x is not None), default=0.0)
        slack = max(FIGURE_TOLERANCE, self.relative) * largest + max(1e-6, self.absolute)
        return all(
            one is other is None
            or (one is not None and other is not None and abs(one - other) <= slack)
            for one, other in zip(stored, new, strict=True)
        )


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def comparable(outputs: list) -> list:
    """Copy the outputs without what is never compared."""
    kept = []
    for output in copy.deepcopy(list(outputs or [])):
        if output.output_type == "stream" and output.name == "stderr":
            continue
        for key in KEYS_NOT_COMPARED:
            output.get("data", {}).pop(key, None)
        if FIGURE_MIME in output.get("data", {}):
            output.data[FIGURE_MIME].pop("svg", None)
        if output.get("data", True):
            kept.append(output)
    return kept


def adopt(stored: dict, new: dict, rules: Rules) -> None:
    """Replace in a new output what passes for the same as the stored one by the stored one."""
    if "text" in stored and "text" in new and rules.same_text(stored["text"], new["text"]):
        new["text"] = stored["text"]
    before, after = stored.get("data", {}), new.get("data", {})
    for key in before.keys() & after.keys():
        one, other = before[key], after[key]
        if key == FIGURE_MIME:
            same = rules.same_figure(one, other)
        else:
            same = isinstance(one, str) and isinstance(other, str) and rules.same_text(one, other)
        if same:
            after[key] = one
