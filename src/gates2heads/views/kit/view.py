"""Base class of live views: files joined into one module, and positions within bounds."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
from traitlets import List, TraitError, Unicode, validate

from gates2heads.accepts import instance, listed, mapping, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.modules import join_modules

_HERE = Path(__file__).parent
_TOKENS = _HERE.parents[1] / "figures" / "tokens.css"


def module(view: str) -> str:
    """Join `view.js` beside a view's `view.py` and all that it imports into one text.

    Args:
        view: the `__file__` of the view.

    Returns:
        The joined text, which imports nothing.
    """
    return join_modules(Path(view).with_name("view.js"))


def style(view: str, *shared: str) -> str:
    """Put the book's tokens and shared style sheets in front of `style.css`, the view's own.

    Args:
        view: the `__file__` of the view.
        shared: sheets of this folder that the view needs beyond `view.css`, such as `german.css`.

    Returns:
        The joined text.
    """
    kit = (_HERE / name for name in ("view.css", *shared))
    sheets = (_TOKENS, *kit, Path(view).with_name("style.css"))
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


def _number(name: str, asked: Any, kind: type) -> float:
    """A number as a browser sends it: a linked slider may have fractional positions."""
    try:
        number = float(asked)
    except Exception as error:  # any error of the caller's own class
        raise TypeError(f"sync_data must hold a number for {name}, got {shown(asked)}") from error
    if not math.isfinite(number):
        raise TypeError(f"sync_data must hold a finite number for {name}, got {shown(asked)}")
    return kind(number)


class PositionError(TraitError, ValueError):
    """A position out of bounds; also a ValueError, as for any invalid argument."""


class ShowMe(NamedTuple):
    """A button that sets a view to an instructive state, and one sentence on what to look at."""

    label: str  # on the button, such as "Greedy search loses a person"
    look: str  # such as "The orange path is pruned at step 6."
    state: Mapping[str, Any]  # traits of the view to their values


class View(anywidget.AnyWidget):
    """A card with a title, a suggestion, integer positions from 0, and numbers in bounds.

    Python code that sets one out of bounds gets an error. A browser that sends one (a linked slider
    may be longer than the sentence) is moved to the nearest valid one, as in the picture.

    Attributes:
        title: the title of the view, above it.
        hint: a first suggestion, below the title.
        show_me: `ShowMe` buttons, below the hint.
    """

    title = Unicode().tag(sync=True)
    hint = Unicode().tag(sync=True)
    show_me = List().tag(sync=True)

    _positions: tuple[str, ...] = ()  # each may depend on the previous ones

    def _places(self, name: str, at: dict[str, int]) -> int:
        """The number of values of one position, given the previous ones in `at`."""
        raise NotImplementedError

    def _limits(self) -> dict[str, tuple[float, float]]:
        """The lower and upper bound of each number that is not a position."""
        return {}

    @validate("show_me")
    def _showable(self, proposal: dict[str, Any]) -> list[dict[str, Any]]:
        listed("ShowMe buttons", instance(ShowMe)).check("show_me", proposal["value"])
        return [self._button(f"show_me[{at}]", one) for at, one in enumerate(proposal["value"])]

    def _button(self, name: str, one: ShowMe) -> dict[str, Any]:
        """The data of one button for the page; its state must be valid for the view."""
        string(empty=False).check(f"{name}.label", one.label)
        string(empty=False).check(f"{name}.look", one.look)
        mapping("traits to values").check(f"{name}.state", one.state)
        traits = self.traits(sync=True)
        for trait, value in one.state.items():
            if trait not in traits:
                kind = type(self).__name__
                raise ValueError(f"{name}.state must set traits of {kind}, got {shown(trait)}")
            try:
                traits[trait].validate(self, value)
            except TraitError as error:
                raise TypeError(f"{name}.state must hold what {trait} takes: {error}") from error
        return {"label": one.label, "look": one.look, "state": dict(one.state)}

    def _checked(self, proposal: dict[str, Any]) -> int:
        at: dict[str, int] = {}
        for name in self._positions:
            asked = proposal["trait"].name == name
            at[name] = proposal["value"] if asked else getattr(self, name)
            places = self._places(name, at)
            if not 0 <= at[name] < places:
                raise PositionError(f"{name} must be from 0 to {places - 1}, got {at[name]}")
            if asked:
                break
        return proposal["value"]

    def _within_limits(self, proposal: dict[str, Any]) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = self._limits()[name]
        if not low <= value <= high:
            raise PositionError(f"{name} must be from {low} to {high}, got {shown(value)}")
        return value

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a state from the browser, with its positions and numbers moved into bounds."""
        if not isinstance(sync_data, dict) or not all(isinstance(name, str) for name in sync_data):
            raise TypeError(f"sync_data must map names of traits to values, got {shown(sync_data)}")
        super().set_state({**sync_data, **self._moved(sync_data)})

    def _moved(self, sync_data: dict[str, Any]) -> dict[str, Any]:
        """The positions and numbers of a state from the browser, within bounds."""
        at: dict[str, Any] = {}
        for name in self._positions:
            asked = _number(name, sync_data.get(name, getattr(self, name)), int)
            at[name] = min(max(asked, 0), self._places(name, at) - 1)
        for name, (low, high) in self._limits().items():
            if name in sync_data:
                at[name] = min(max(_number(name, sync_data[name], type(low)), low), high)
        return {name: value for name, value in at.items() if name in sync_data}
