"""What a notebook saved about its widgets: the views it shows, in order, with their numbers."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class SavedView:
    """One shown widget.

    Attributes:
        kind: our own view's class name, such as `FrameViewer`, or the model's name.
        traits: the saved state; binary traits as bytes.
    """

    kind: str
    traits: dict

    @property
    def is_ours(self) -> bool:
        return self.traits.get("_anywidget_id", "").startswith("gates2heads.")


def shown_views(state: dict, shown: list[str]) -> list[SavedView]:
    """List the shown views in document order; a box stands for what is in it.

    Args:
        state: a widget manager's state, as in a notebook's metadata.
        shown: the model ids in the outputs.
    """
    views = []
    for model in shown:
        entry = state["state"][model]
        children = entry["state"].get("children")
        if children:
            inner = [child.removeprefix("IPY_MODEL_") for child in children]
            views += shown_views(state, inner)
        else:
            views.append(_view(entry))
    return views


def notebook_views(path: Path) -> list[SavedView]:
    """List the views that a notebook's outputs show; none if it saved no widgets."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    state = notebook["metadata"].get("widgets", {}).get(STATE)
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    shown = [output["data"][VIEW]["model_id"] for output in outputs if VIEW in _data(output)]
    return shown_views(state, shown) if state else []


def _data(output: dict) -> dict:
    return output.get("data", {})


def _view(entry: dict) -> SavedView:
    traits = dict(entry["state"])
    for buffer in entry.get("buffers", []):
        (name,) = buffer["path"]
        traits[name] = base64.b64decode(buffer["data"])
    kind = traits.get("_anywidget_id", entry["model_name"]).rpartition(".")[2]
    return SavedView(kind, traits)
