"""The views that a notebook saved, made again from what it saved about them.

    python -m tests.chromium.samples.remade NOTEBOOK STATE.json

For an interpreter with Colab's widget versions: it takes each view's own traits, so a chapter's
very numbers go through those versions, and nothing has to be trained again.
"""

import importlib
import json
import sys
from pathlib import Path

import anywidget
import ipywidgets
from ipywidgets.embed import embed_data

from gates2heads.views.kit.view import ShowMe
from tests.chromium.samples.saved_views import SavedView, notebook_views


def remade(view: SavedView) -> ipywidgets.Widget:
    """Make one saved view anew, past its own constructor, whose arguments were not saved."""
    module, _, name = view.traits["_anywidget_id"].rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    own = kind.class_traits(sync=True).keys() - anywidget.AnyWidget.class_traits().keys()
    fresh = kind.__new__(kind)
    traits = {name: value for name, value in view.traits.items() if name in own}
    traits["show_me"] = [ShowMe(**button) for button in traits["show_me"]]
    anywidget.AnyWidget.__init__(fresh, **traits)
    return fresh


def saved(notebook: Path) -> dict:
    """The state and the views of one notebook, as a page without a kernel carries them."""
    views = notebook_views(notebook)
    for view in views:
        if not view.is_ours and not hasattr(ipywidgets, view.kind.removesuffix("Model")):
            raise SystemExit(f"{notebook.name} shows {view.kind}, which Colab's ipywidgets lacks")
    data = embed_data([remade(view) for view in views if view.is_ours], drop_defaults=False)
    shown = [spec["model_id"] for spec in data["view_specs"]]
    return {"state": data["manager_state"], "shown": shown}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(saved(Path(sys.argv[1]))), encoding="utf-8")
