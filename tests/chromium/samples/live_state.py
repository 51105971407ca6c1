"""How a sample is stored whose view runs a model in the page."""

import json
from functools import cache
from pathlib import Path

from ipywidgets.embed import embed_data

from gates2heads.browser.live.models import live_files
from gates2heads.views.kit.live_view import LiveView

files = cache(live_files)  # all models; several samples may be made in one process


def write(path: Path, view: LiveView) -> None:
    """Write the state of one view, and the files that its page loads."""
    data = embed_data([view], drop_defaults=False)
    shown = [view["model_id"] for view in data["view_specs"]]
    state = {"state": data["manager_state"], "shown": shown}
    path.write_text(json.dumps(state), encoding="utf-8")
    folder = path.with_name("live")
    folder.mkdir()
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")
