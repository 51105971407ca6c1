"""The picture of a view that a notebook stores beside it, for whoever cannot draw the view.

JupyterLab does not trust a notebook that was cloned, and shows the picture of a view until it is
run. `tools/notebooks/view_pictures.py` takes the pictures; `tools/execute_notebooks.py` keeps them
when a notebook is run again, unless the view asks or suggests something else than before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
PICTURE = "image/png"
OURS = "gates2heads."
USE = "Run the notebook to use it."


@dataclass(frozen=True)
class ShownView:
    """One of the book's views in a notebook's outputs.

    Attributes:
        at: the id of its cell, and which of the cell's views it is, counted from 0.
        output: the output that shows it.
        traits: its saved state.
    """

    at: tuple[str, int]
    output: dict
    traits: Mapping

    def alt(self) -> str:
        """Describe what the picture shows: the title, and the questions or the suggestion."""
        asked = [one for one in self.traits.get("questions", ()) if isinstance(one, dict)]
        said = " ".join(one["text"] for one in asked) or self.traits.get("hint", "")
        return " ".join(f"Picture of a live view, “{self.traits['title']}”. {said} {USE}".split())

    def picture(self) -> str | None:
        """Return the stored picture in base 64, or None; a picture of an earlier view is none."""
        stored = self.output["metadata"].get(PICTURE, {})
        return self.output["data"].get(PICTURE) if stored.get("alt") == self.alt() else None

    def store(self, picture: str) -> None:
        """Put a picture in base 64, and what it says in words, beside the view."""
        self.output["data"][PICTURE] = picture
        self.output["metadata"][PICTURE] = {"alt": self.alt()}


def shown_views(notebook: Mapping) -> Iterator[ShownView]:
    """Yield the book's views that a notebook shows, in its order."""
    state = notebook["metadata"].get("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook["cells"]:
        place = 0
        for output in cell.get("outputs", ()):
            shown = output.get("data", {}).get(VIEW)
            traits = state.get(shown["model_id"], {}).get("state", {}) if shown else {}
            if traits.get("_anywidget_id", "").startswith(OURS):
                yield ShownView((cell["id"], place), output, traits)
                place += 1


def pictures(notebook: Mapping) -> dict[tuple[str, int], tuple[str, str]]:
    """Return the stored pictures with their words, by the positions of the views."""
    found = ((view.at, view.picture(), view.alt()) for view in shown_views(notebook))
    return {at: (picture, alt) for at, picture, alt in found if picture}


def put_back(notebook: Mapping, kept: Mapping[tuple[str, int], tuple[str, str]]) -> None:
    """Store, in place, the pictures of those views that still say the same."""
    for view in shown_views(notebook):
        picture, alt = kept.get(view.at, ("", ""))
        if picture and alt == view.alt():
            view.store(picture)
