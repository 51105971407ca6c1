"""The live views without a browser: their payload, their positions, their messages."""

import json
import re

import matplotlib
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ipywidgets import IntSlider, jslink
from ipywidgets.embed import embed_data
from matplotlib.figure import Figure

from gates2heads.display.widgets import Alignment, AlignmentExplorer, FrameViewer

matplotlib.use("agg")

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>{}</text></svg>'


def rows(target: int, source: int, seed: int = 0) -> np.ndarray:
    weights = np.random.default_rng(seed).random((target, source))
    return weights / weights.sum(1, keepdims=True)


def alignment(source: str = "mai 3", target: str = "05-03", seed: int = 0) -> Alignment:
    return Alignment(list(source), list(target), rows(len(target), len(source), seed))


def explorer(**options) -> AlignmentExplorer:
    additive = [alignment("mai 3", "05-03", 1), alignment("7 juin 19", "19-06-7", 2)]
    dot = [alignment("mai 3", "05", 3), alignment("7 juin 19", "?", 4)]
    return AlignmentExplorer({"additive": additive, "dot product": dot}, **options)


def frames(number: int = 5, **options) -> FrameViewer:
    return FrameViewer([SVG.format(place) for place in range(number)], **options)


# ---- what travels to the browser


def test_payload_holds_every_weight_in_reading_order():
    view = explorer()
    numbers = np.frombuffer(view.weights, "<f4")
    sizes = [5 * 5, 7 * 9, 2 * 5, 1 * 9]
    shapes = [(5, 5), (7, 9), (2, 5), (1, 9)]
    pieces = np.split(numbers, np.cumsum(sizes)[:-1])
    for seed, (piece, shape) in enumerate(zip(pieces, shapes, strict=True), start=1):
        np.testing.assert_array_equal(
            piece.reshape(shape), rows(*shape, seed).astype(np.float32), strict=True
        )


def test_catalogue_names_scores_titles_and_tokens():
    assert explorer().catalogue == {
        "scores": ["additive", "dot product"],
        "titles": ["mai 3", "7 juin 19"],
        "sources": [list("mai 3"), list("7 juin 19")],
        "targets": [[list("05-03"), list("19-06-7")], [list("05"), ["?"]]],
    }


def test_words_are_spaced_in_titles_that_are_left_out():
    view = AlignmentExplorer({"dot": [Alignment(["le", "chat"], ["cat"], [[0.5, 0.5]])]})
    assert view.catalogue["titles"] == ["le chat"]
    ended = Alignment(["m", "a", "i", "<eos>"], ["5"], [[0.25, 0.25, 0.25, 0.25]])
    assert AlignmentExplorer({"dot": [ended]}).catalogue["titles"] == ["mai<eos>"]
    titled = AlignmentExplorer({"dot": [alignment()]}, ["a date"])
    assert titled.catalogue["titles"] == ["a date"]


@given(st.integers(1, 7), st.integers(1, 11), st.integers(0, 99))
def test_alignment_keeps_the_weights_it_was_given(target, source, seed):
    weights = rows(target, source, seed)
    kept = Alignment(["s"] * source, ["t"] * target, weights)
    np.testing.assert_array_equal(kept.weights, weights.astype(np.float32))
    assert kept.weights.dtype == np.dtype("<f4")


def test_tensors_in_need_of_a_gradient_are_taken():
    weights = torch.full((3, 2), 0.5, requires_grad=True)
    kept = Alignment(["a", "b"], ["x", "y", "z"], weights)
    np.testing.assert_array_equal(kept.weights, np.full((3, 2), 0.5))


def test_half_precision_rows_count_as_sums_of_one():
    Alignment(["s"] * 31, ["t"] * 7, rows(7, 31).astype(np.float16))


@pytest.mark.parametrize("view", [explorer(), frames()], ids=repr)
def test_saved_state_is_json_and_carries_its_own_code(view):
    state = embed_data([view], drop_defaults=False)["manager_state"]["state"]
    entry = json.loads(json.dumps(state))[view.model_id]
    code, style = entry["state"]["_esm"], entry["state"]["_css"]
    assert entry["state"]["_model_module"] == "anywidget"
    assert "export default" in code
    assert "class Stage" in code
    assert ".g2h-view" in style


@pytest.mark.parametrize("view", [explorer(), frames()], ids=repr)
def test_view_asks_nothing_of_other_addresses(view):
    text = (view._esm + view._css).replace('"http://www.w3.org/2000/svg"', "")
    way_out = r"https?:|//cdn|^\s*import\b|\bimport\(|@import|url\(|fetch\(|XMLHttpRequest"
    assert re.findall(way_out, text, re.MULTILINE) == []


def test_frames_lose_what_stands_before_the_svg():
    view = FrameViewer(['<?xml version="1.0"?>\n<!DOCTYPE svg>\n' + SVG.format("a")])
    assert view.frames == [SVG.format("a")]


def test_figures_become_svg_in_the_ink_of_the_page():
    figure = Figure(figsize=(2, 1))
    figure.add_subplot().plot([1, 3, 2])
    (frame,) = FrameViewer([figure]).frames
    assert frame.startswith("<svg")
    assert "currentColor" in frame


def test_labels_count_the_frames_if_left_out():
    assert frames(3).labels == ["1 of 3", "2 of 3", "3 of 3"]
    assert frames(2, labels=["a", "b"]).labels == ["a", "b"]


# ---- how it prints


def test_reprs_hold_no_address():
    assert repr(explorer()) == "AlignmentExplorer(2 score functions × 2 sentences)"
    one = AlignmentExplorer({"dot": [alignment()]})
    assert repr(one) == "AlignmentExplorer(1 score function × 1 sentence)"
    assert repr(frames(5)) == "FrameViewer(5 frames)"
    assert repr(frames(1)) == "FrameViewer(1 frame)"
    assert repr(alignment()) == "Alignment(5 source × 5 target tokens)"


# ---- positions


def test_step_stays_on_what_was_written():
    view = explorer(sentence=1, step=6)
    view.sentence = 0
    assert view.step == 4
    view.score = 1
    assert view.step == 1
    view.sentence = 1
    assert view.step == 0


def test_positions_from_the_browser_are_moved_inside():
    view = explorer()
    view.set_state({"sentence": 9, "step": 99})
    assert (view.sentence, view.step) == (1, 6)
    view.set_state({"score": -1, "step": -5})
    assert (view.score, view.step) == (0, 0)
    view.set_state({"score": 1, "sentence": 0, "step": 4})
    assert (view.score, view.sentence, view.step) == (1, 0, 1)
    pictures = frames(5)
    pictures.set_state({"index": 7})
    assert pictures.index == 4


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("step", 5, "step must be from 0 to 4, got 5"),
        ("step", -1, "step must be from 0 to 4, got -1"),
        ("sentence", 2, "sentence must be from 0 to 1, got 2"),
        ("score", 2, "score must be from 0 to 1, got 2"),
    ],
)
def test_positions_set_in_python_must_exist(trait, value, message):
    view = explorer()
    with pytest.raises(ValueError, match=f"^{message}$"):
        setattr(view, trait, value)
    assert getattr(view, trait) == 0
    with pytest.raises(ValueError, match=f"^{message}$"):
        explorer(**{trait: value})


def test_frame_set_in_python_must_exist():
    with pytest.raises(ValueError, match=r"^index must be from 0 to 4, got 5$"):
        frames(5).index = 5
    with pytest.raises(ValueError, match=r"^index must be from 0 to 4, got 5$"):
        frames(5, index=5)


@pytest.mark.parametrize(
    ("view", "traits"),
    [(explorer(), ["sentence", "score", "step"]), (frames(), ["index"])],
    ids=repr,
)
def test_positions_can_be_linked_in_the_browser(view, traits):
    slider = IntSlider()
    for trait in traits:
        assert view.trait_metadata(trait, "sync") is True
        assert jslink((slider, "value"), (view, trait)).target == (view, trait)


# ---- bad input, one sentence each


@pytest.mark.parametrize(
    ("source", "target", "weights", "error", "message"),
    [
        ("ab", ["x"], [[1]], TypeError, "source must be a sequence of tokens, got one str: 'ab'"),
        (["a"], [3], [[1]], TypeError, "target must hold strings, got int"),
        ([], ["x"], [[]], ValueError, "source must hold at least one token, got none"),
        (
            ["a", "b"],
            ["x"],
            [[0.5], [0.5]],
            ValueError,
            r"weights must have the shape \(target, source\) = \(1, 2\), got \(2, 1\)",
        ),
        (["a", "b"], ["x"], [[2, -1]], ValueError, "weights must be at least 0, got -1"),
        (["a"], ["x"], [[np.nan]], ValueError, "weights must be finite, got 1 that are not"),
        (
            ["a", "b"],
            ["x", "y"],
            [[0.5, 0.5], [0.5, 0.25]],
            ValueError,
            "weights must have rows that sum to 1, row 1 sums to 0.750",
        ),
    ],
)
def test_alignment_refuses_what_is_none(source, target, weights, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        Alignment(source, target, weights)


@pytest.mark.parametrize(
    ("alignments", "titles", "error", "message"),
    [
        (
            [alignment()],
            None,
            TypeError,
            "alignments must map each score function's name to its alignments, got list",
        ),
        (
            {"dot": ["a"]},
            None,
            TypeError,
            r"alignments\['dot'\] must be a list of at least one Alignment",
        ),
        (
            {"dot": []},
            None,
            TypeError,
            r"alignments\['dot'\] must be a list of at least one Alignment",
        ),
        (
            {"dot": [alignment(), alignment()], "general": [alignment()]},
            None,
            ValueError,
            r"alignments\['general'\] must show the 2 sentences of 'dot', got 1",
        ),
        (
            {"dot": [alignment("mai 3")], "general": [alignment("mai 5")]},
            None,
            ValueError,
            r"alignments\['general'\]\[0\] must have the source tokens of "
            r"alignments\['dot'\]\[0\], got others",
        ),
        ({"dot": [alignment()]}, ["a", "b"], ValueError, "titles must name 1 sentences, got 2"),
    ],
)
def test_explorer_refuses_what_cannot_be_compared(alignments, titles, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        AlignmentExplorer(alignments, titles)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), ValueError, "frames must hold at least one picture, got none"),
        (
            ([SVG, 3],),
            TypeError,
            r"frames\[1\] must be a Matplotlib Figure or an SVG text, got int",
        ),
        ((["<p>"],), TypeError, r"frames\[0\] must be an SVG text, it has no <svg"),
        (([SVG], ["a", "b"]), ValueError, "labels must name 1 frames, got 2"),
        (
            ([SVG], None, "", 0),
            ValueError,
            "interval_ms must be at least 1, got 0",
        ),
    ],
)
def test_viewer_refuses_what_it_cannot_show(arguments, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        FrameViewer(*arguments)


def test_viewer_describes_every_frame_or_none():
    assert frames(2).alts == ["", ""]
    assert frames(2, alts=["a dot", "a line"]).alts == ["a dot", "a line"]
    with pytest.raises(ValueError, match=r"^alts must describe 3 frames, got 1$"):
        frames(3, alts=["a dot"])
    with pytest.raises(TypeError, match=r"^alts must be a list of strings"):
        frames(1, alts=[3])
