"""What every live view shares: its files joined into one module, and positions within bounds."""

from pathlib import Path
from typing import Any

import anywidget
from traitlets import TraitError, Unicode

from gates2heads.checks.shown import shown
from gates2heads.display.modules import join_modules

_HERE = Path(__file__).parent


def module(name: str) -> str:
    """Join a view's module of this folder and all that it imports into one text.

    Args:
        name: a file name such as `frame_viewer.js`.

    Returns:
        The joined text, which imports nothing.
    """
    return join_modules(_HERE / name)


def style(name: str) -> str:
    """Put the book's tokens and the shared style sheet in front of a view's own.

    Args:
        name: a file name such as `frame_viewer.css`.

    Returns:
        The joined text.
    """
    sheets = (_HERE.parent / "tokens.css", _HERE / "view.css", _HERE / name)
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


def _whole(name: str, asked: Any) -> int:
    """A position as a browser sends it: a linked slider may have halves."""
    try:
        return int(asked)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"sync_data must hold a number for {name}, got {shown(asked)}") from error


class PositionError(TraitError, ValueError):
    """A position outside of what there is to show; also a ValueError, as any wrong argument."""


class View(anywidget.AnyWidget):
    """A card with a title, a line of what to try, and integer positions that count from 0.

    Python code that sets a position out of bounds is told so. A browser that sends one (a linked
    slider may be longer than the sentence) is moved to the nearest position, as the picture is.

    Attributes:
        title: what the view is, above it.
        hint: what to try first, below the title.
    """

    title = Unicode().tag(sync=True)
    hint = Unicode().tag(sync=True)

    _positions: tuple[str, ...] = ()  # each may depend on those before it

    def _places(self, name: str, at: dict[str, int]) -> int:
        """Number of places of one position, when the ones before it are as in `at`."""
        raise NotImplementedError

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

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a state from the browser, with its positions moved into bounds."""
        if not isinstance(sync_data, dict):
            raise TypeError(f"sync_data must map traits to values, got {shown(sync_data)}")
        at: dict[str, int] = {}
        for name in self._positions:
            asked = _whole(name, sync_data.get(name, getattr(self, name)))
            at[name] = min(max(asked, 0), self._places(name, at) - 1)
        super().set_state({name: at.get(name, value) for name, value in sync_data.items()})
