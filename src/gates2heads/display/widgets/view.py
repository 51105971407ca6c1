"""What every live view shares: its files joined into one module, and positions within bounds."""

from pathlib import Path
from typing import Any

import anywidget
from traitlets import TraitError

_HERE = Path(__file__).parent


def asset(*names: str) -> str:
    """Join files of this folder into one text.

    A view travels as one string that may import nothing, so the shared kit is put in front of it.

    Args:
        names: file names such as `view.js`, in the order in which they are joined.

    Returns:
        The joined text.
    """
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


class PositionError(TraitError, ValueError):
    """A position outside of what there is to show; also a ValueError, as any wrong argument."""


class View(anywidget.AnyWidget):
    """A view with integer positions that count from 0.

    Python code that sets a position out of bounds is told so. A browser that sends one (a linked
    slider may be longer than the sentence) is moved to the nearest position, as the picture is.
    """

    def _bounds(self, asked: dict[str, Any]) -> dict[str, int]:
        """Number of places of each position trait, once the traits in `asked` are set."""
        raise NotImplementedError

    def _checked(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        places = self._bounds({})[name]
        if not 0 <= value < places:
            raise PositionError(f"{name} must be from 0 to {places - 1}, got {value}")
        return value

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a state from the browser, with its positions moved into bounds."""
        inside = dict(sync_data)
        for name in self._bounds({}):
            if isinstance(inside.get(name), int):
                inside[name] = min(max(inside[name], 0), self._bounds(inside)[name] - 1)
        super().set_state(inside)
