"""The live views without a browser: their payload, their positions, their messages."""

import json
import re

import matplotlib
import pytest
from ipywidgets import IntSlider, jslink
from ipywidgets.embed import embed_data
from matplotlib.figure import Figure

from gates2heads.views import FrameViewer
from tests.javascript import LIBRARY

matplotlib.use("agg")


def figure(words: str = "") -> Figure:
    drawn = Figure(figsize=(2, 1))
    drawn.text(0.1, 0.5, words)
    return drawn


def frames(number: int = 5, **options) -> FrameViewer:
    return FrameViewer([figure(str(place)) for place in range(number)], **options)


# ---- what travels to the browser


def test_saved_state_is_json_and_carries_its_own_code():
    view = frames()
    state = embed_data([view], drop_defaults=False)["manager_state"]["state"]
    entry = json.loads(json.dumps(state))[view.model_id]
    code, style = entry["state"]["_esm"], entry["state"]["_css"]
    assert entry["state"]["_model_module"] == "anywidget"
    assert "export default" in code
    assert "class Stage" in code
    assert ".g2h-view" in style


def test_view_asks_nothing_of_other_addresses():
    view = frames()
    text = (view._esm + view._css).replace('"http://www.w3.org/2000/svg"', "")
    way_out = r"https?:|//cdn|^\s*import\b|\bimport\(|@import|url\(|fetch\(|XMLHttpRequest"
    assert re.findall(way_out, text, re.MULTILINE) == []


def test_the_words_of_a_figure_stay_words():
    (frame,) = FrameViewer([figure("<img src=x onerror=alert(1)>")]).frames
    assert "<img" not in frame
    assert "&lt;img src=x onerror=alert(1)&gt;" in frame


def test_figures_become_svg_in_the_ink_of_the_page():
    drawn = figure()
    drawn.add_subplot().plot([1, 3, 2])
    (frame,) = FrameViewer([drawn]).frames
    assert frame.startswith("<svg")
    assert "currentColor" in frame


def test_labels_count_the_frames_if_left_out():
    assert frames(3).labels == ["1 of 3", "2 of 3", "3 of 3"]
    assert frames(2, labels=["a", "b"]).labels == ["a", "b"]


# ---- how it prints


def test_reprs_hold_no_address():
    assert repr(frames(5)) == "FrameViewer(5 frames)"
    assert repr(frames(1)) == "FrameViewer(1 frame)"


# ---- positions


def test_positions_from_the_browser_are_moved_inside():
    pictures = frames(5)
    pictures.set_state({"index": 7})
    assert pictures.index == 4
    pictures.set_state({"index": -1})
    assert pictures.index == 0


def test_frame_set_in_python_must_exist():
    with pytest.raises(ValueError, match=r"^index must"):
        frames(5).index = 5
    with pytest.raises(ValueError, match=r"^index must"):
        frames(5, index=5)


def test_positions_can_be_linked_in_the_browser():
    slider, view = IntSlider(), frames()
    assert view.trait_metadata("index", "sync") is True
    assert jslink((slider, "value"), (view, "index")).target == (view, "index")


# ---- bad input, one sentence each


def test_viewer_names_every_frame():
    with pytest.raises(ValueError, match=r"^labels must"):
        frames(1, labels=["a", "b"])


def test_viewer_describes_every_frame_or_none():
    assert frames(2).alts == ["", ""]
    assert frames(2, alts=["a dot", "a line"]).alts == ["a dot", "a line"]
    with pytest.raises(ValueError, match=r"^alts must"):
        frames(3, alts=["a dot"])


@pytest.mark.parametrize(
    "sheet", sorted((LIBRARY / "views").glob("*/style.css")), ids=lambda path: path.parent.name
)
def test_a_sheet_reaches_no_other_view(sheet):
    """Views share a page: each selector names the class of its own view, but for the Markdown
    twin of a prediction, which stands beside the view."""
    (name,) = re.findall(r'super\(model, el, "([^"]+)"\)', sheet.with_name("view.js").read_text())
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.S)
    for selectors in re.findall(r"([^{};]+)\{", text):
        if selectors.strip().startswith("@"):
            continue
        for selector in re.split(r",(?![^()]*\))", selectors):
            is_own = f".g2h-{name}" in selector or ".g2h-twin" in selector
            assert is_own, f"{selector.strip()} is not only for {name}"
