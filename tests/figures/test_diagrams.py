"""Diagrams: nothing lies on anything else, arrows end at boxes, both themes, plain refusals."""

import math
import re
import warnings
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Polygon

from gates2heads.figures.content import figure_content
from gates2heads.figures.diagrams.attention import (
    attention_encoder_decoder,
    attention_in_heads,
    one_query,
    residual_orders,
    transformer_architecture,
)
from gates2heads.figures.diagrams.diagram import Diagram
from gates2heads.figures.diagrams.layout import (
    TRUNK,
    Rect,
    centres,
    check_clear,
    label_places,
    text_size,
    way,
)
from gates2heads.figures.diagrams.recurrent import (
    backpropagation_through_time,
    convolutional_translator,
    gru_cell,
    lstm_cell,
    teacher_forcing_and_free_running,
    unrolled_encoder_decoder,
    unrolled_rnn,
)
from gates2heads.figures.diagrams.stages import lstm_steps
from gates2heads.figures.theme import COLOURS, themed_svg

A, B = Rect(0, 0, 2, 1), Rect(5, 4, 7, 6)


def pair(**options) -> Diagram:
    diagram = Diagram()
    diagram.box("a", "one", at=(0, 0), shape="(B, S)")
    diagram.box("b", "other", at=(1, 0))
    if options:
        diagram.arrow("a", "b", **options)
    return diagram


def written(figure) -> list:
    """Where the texts stand when they are really drawn, in pixels."""
    canvas = FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the letters of a test
        canvas.draw()
    return [text.get_window_extent(canvas.get_renderer()) for text in figure.axes[0].texts]


def assert_texts_are_apart(figure) -> None:
    boxes, paper = written(figure), figure.bbox
    for box in boxes:
        assert paper.x0 <= box.x0
        assert box.x1 <= paper.x1
        assert paper.y0 <= box.y0
        assert box.y1 <= paper.y1
    for one, other in combinations(boxes, 2):
        across = min(one.x1, other.x1) - max(one.x0, other.x0)
        down = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(across, down) <= 0, (one, other)


# ---- the layout, by hand


def test_columns_are_as_wide_as_their_boxes_and_gaps_as_asked():
    # columns 0, 1, 2 of widths 2, 4, 1; gaps 3 and 0.5: middles 1, 7 and 10
    assert centres([0, 1, 2, 0.5], {0: 2, 1: 4, 2: 1}, {0: 3}, 0.5) == {0: 1, 0.5: 4, 1: 7, 2: 10}
    assert centres([-1, 0.25], {-1: 2}, {}, 1) == {-1: 1, 0.25: 0.25 * 4 + 0.75 * 3}


@pytest.mark.parametrize(
    ("end", "route", "corners"),
    [
        (Rect(5, 0, 7, 1), "", [(2, 0.5), (5, 0.5)]),
        (Rect(-5, 0.5, -3, 2), "", [(0, 0.75), (-3, 0.75)]),
        (Rect(1, 4, 7, 6), "", [(1.5, 1), (1.5, 4)]),
        (Rect(0, -4, 2, -3), "", [(1, 0), (1, -3)]),
        (B, "", [(2, 0.5), (2.2, 0.5), (2.2, 5), (5, 5)]),
        (B, "across", [(2, 0.5), (2.2, 0.5), (2.2, 5), (5, 5)]),
        (B, "down", [(1, 1), (1, 1.2), (6, 1.2), (6, 4)]),
        (B, "across then down", [(2, 0.5), (6, 0.5), (6, 4)]),
        (B, "down then across", [(1, 1), (1, 5), (5, 5)]),
    ],
)
def test_ways_by_hand(end, route, corners):
    found = way(A, end, route)
    np.testing.assert_allclose(found, corners)


def test_a_straight_way_can_be_moved():
    assert way(A, Rect(5, 0, 7, 1), "", 0.2) == [(2, 0.7), (5, 0.7)]
    assert way(A, Rect(0, 3, 2, 4), "", -0.2) == [(0.8, 1), (0.8, 3)]


@given(
    *[st.floats(-9, 9)] * 2, *[st.floats(0.2, 3)] * 4,
    st.sampled_from(["", "across", "down", "across then down", "down then across"]),
)  # fmt: skip
def test_every_way_is_square_and_joins_the_two_boxes(x, y, width, height, wide, high, route):
    start, end = Rect(-width, -height, width, height), Rect(x - wide, y - high, x + wide, y + high)
    if start.grown(0.3).meets(end):
        return
    corners = way(start, end, route)
    for point, box in ((corners[0], start), (corners[-1], end)):
        assert box.left - 1e-9 <= point[0] <= box.right + 1e-9
        assert box.top - 1e-9 <= point[1] <= box.bottom + 1e-9
        edges = (point[0] - box.left, point[0] - box.right, point[1] - box.top,
                 point[1] - box.bottom)  # fmt: skip
        assert min(map(abs, edges)) < 1e-9
    for (x0, y0), (x1, y1) in pairwise(corners):
        assert min(abs(x0 - x1), abs(y0 - y1)) < 1e-9


def test_words_stand_above_and_below_a_level_step_and_beside_an_upright_one():
    above, below = label_places([(0, 0), (1.4, 0)], (1, 0.2), (0.5, 0.1))
    assert above == pytest.approx((0.65, -0.15))  # the middle of the line without its head
    assert below == pytest.approx((0.65, 0.1))
    above, _ = label_places([(0, 0), (0, 9), (5, 9)], (1, 0.2), (0, 0))
    assert above == pytest.approx((5 - 0.1 - 0.12 - 0.5, 8.85))  # a long one has it at its end
    above, below = label_places([(0, 0), (0, 2)], (1, 0.2), (0.5, 0.1))
    assert above == pytest.approx((0.58, 0.95))
    assert below == pytest.approx((0.33, 1.1))


def test_text_is_measured_and_chinese_is_square():
    one, two = text_size("ab", 9), text_size("ab\nab", 9)
    assert two == (one[0], 2 * one[1])
    assert text_size("", 9) == (0, 0)
    assert text_size("注意力", 12)[0] == pytest.approx(3 * 12 / 72, rel=0.1)


def test_what_overlaps_is_named():
    boxes = {"a": A, "b": Rect(1, 0.5, 3, 2)}
    with pytest.raises(ValueError, match="at must"):
        check_clear({}, boxes, {}, {})
    line = {"x → y": ([(0, 5), (9, 5)], ("x", "y"))}
    with pytest.raises(ValueError, match="arrow 'x → y' must not run through 'b'"):
        check_clear({}, {"a": A, "b": B}, line, {})
    with pytest.raises(ValueError, match="keep 'label' off the frame of 'Group'"):
        check_clear({"label": Rect(8, 8, 10, 9)}, {}, {}, {"Group": Rect(0, 0, 9, 9)})


# ---- whole diagrams


def test_the_models_own_diagram_is_clear_and_says_every_shape():
    figure = attention_encoder_decoder()
    assert_texts_are_apart(figure)
    assert figure.get_size_inches()[0] < 9
    words = {text.get_text() for text in figure.axes[0].texts}
    assert {"keys", "values", "query", "softmax over S", "Attention", "first step only"} <= words
    assert {"states hᵢ (B, S, U)", "(B, U)", "weights (B, S)", "logits (B, V)"} <= words
    assert {"context cₜ (B, U)", "first state s₀ (B, U)", "sₜ₋₁ (B, U)"} <= words


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (attention_in_heads, {"join the heads", "3 × (B, H, S, K)", "(B, S, D)"}),
        (gru_cell, {"gate z", "gate r", "σ", "candidate", "r × h", "× (1 − z)", "x", "h", "(U,)"}),
        (lstm_cell, {"gate f", "σ", "candidate", "f × c", "o × tanh(c)", "(D,), (U,)"}),
        (unrolled_rnn, {"h0 = 0", "h3", "W", "A", "(D,)", "(U,)", "loss L"}),
        (backpropagation_through_time, {"h3 = 1/4", "= 1/16", "w = ½", "× w"}),
        (transformer_architecture, {"masked self-attention", "memory", "embedding × √D", "logits"}),
        (unrolled_encoder_decoder, {"→h2", "←h1", "context c", "s3", "and c", "<eos>", "(U/2,)"}),
        (teacher_forcing_and_free_running, {"−log P(9)", "ŷ2 = 8", "true", "own", "context c"}),
        (residual_orders, {"layer norm", "residual", "(B, S, D)"}),
        (convolutional_translator, {"output projection", "(B, S, D)", "logits (B, T, V)"}),
    ],
)
def test_a_part_of_a_model_is_drawn_with_every_shape(draw, said):
    figure = draw()
    assert_texts_are_apart(figure)
    assert figure.get_size_inches()[0] < 7.5
    assert said <= {text.get_text() for text in figure.axes[0].texts}


def test_the_stages_of_an_lstm_have_the_librarys_numbers_as_they_are_known():
    sums, cell = (0.0, math.log(3), -0.7, -1.1), 4.0
    figures = lstm_steps(*sums, cell)
    reference = torch.nn.LSTMCell(1, 1)
    with torch.no_grad():
        for matrix in (reference.weight_ih, reference.weight_hh, reference.bias_hh):
            matrix.zero_()
        reference.bias_ih.copy_(torch.tensor(sums))
        h, c = reference(torch.zeros(1, 1), (torch.zeros(1, 1), torch.full((1, 1), cell)))
    for stage, figure in enumerate(figures, start=1):
        assert_texts_are_apart(figure)
        assert figure.get_size_inches()[0] < 7.8
        texts = "\n".join(text.get_text() for text in figure.axes[0].texts)
        assert texts.count("?") == {1: 4, 2: 3, 3: 1, 4: 0}[stage]
        assert ("= 3\n" in f"{texts}\n") == (stage >= 2)
        assert (f"= {c.item():.3g}" in texts) == (stage >= 3)
        assert (f"= {h.item():.3g}" in texts) == (stage == 4)


QUERY = {
    "query": "q = (a, 0)",
    "keys": ["k = (a, 0)", "k = (0, a)", "k = (a, a)"],
    "exponentials": ["2", "1", "2"],
    "weights": [Fraction(2, 5), Fraction(1, 5), Fraction(2, 5)],
    "values": ["v = a", "v = 0", "v = a"],
    "context": "c = 4/5 · a",
}


def across_band(corners):
    # the distance between the two long sides of a band
    along, wide = corners[3] - corners[0], corners[1] - corners[0]
    return abs(along[0] * wide[1] - along[1] * wide[0]) / np.hypot(*along)


def test_one_query_is_drawn_in_numbers_and_its_bands_are_as_thick_as_the_weights():
    figure = one_query(["children", "enjoy", "walks"], "enjoy", **QUERY)
    assert_texts_are_apart(figure)
    assert figure.get_size_inches()[0] < 3.75  # the width of a phone
    said = {text.get_text() for text in figure.axes[0].texts}
    assert {"enjoy", "q = (a, 0)", "k = (0, a)", "1/5", "v = 0", "c = 4/5 · a"} <= said
    bands = [patch.get_xy() for patch in figure.axes[0].patches if isinstance(patch, Polygon)]
    thick = [across_band(corners) for corners in bands]
    assert thick[0] == pytest.approx(2 * thick[1])
    assert thick[2] == pytest.approx(2 * thick[1])
    feet = [corners[2:4, 0] for corners in bands]  # right and left, at the context
    assert all(left.max() < right.min() for left, right in pairwise(feet))
    with pytest.raises(ValueError, match=r"^asks must be one of the words"):
        one_query(["children", "enjoy", "walks"], "run", **QUERY)
    with pytest.raises(ValueError, match=r"^keys must have one entry for each word, got 3"):
        one_query(["children", "enjoy"], "enjoy", **QUERY)


def test_every_residual_connection_of_the_transformer_passes_its_norm_and_its_sublayer():
    boxes = Diagram(row_gap=0.3)
    for row, name in enumerate(("sum", "layer", "norm", "in")):
        boxes.box(name, name, at=(0, row))
    boxes.arrow("in", "sum", route="around the left", shift=0.2)
    boxes.arrow("layer", "norm", route="around the right")
    boxes.draw()
    low, high = Rect(1, 5, 2, 6), Rect(0, 0, 3, 1)
    over = way(high, low, "around the top", 0.1)
    assert over[1][1] == over[2][1] < min(high.top, low.top)
    assert (over[0][1], over[3][1]) == (high.top, low.top)
    left = way(low, high, "around the left", 0.25)
    assert left == [(1, 5.5), (0 - TRUNK - 0.25, 5.5), (0 - TRUNK - 0.25, 0.5), (0, 0.5)]
    right = way(low, high, "around the right")
    assert right == [(2, 5.5), (3 + TRUNK, 5.5), (3 + TRUNK, 0.5), (3, 0.5)]


@given(
    st.lists(st.text("abc WM(,)注", min_size=1, max_size=12).filter(str.strip), min_size=2,
             max_size=6),
    st.lists(st.text("keys()注", max_size=9), min_size=5, max_size=5),
    st.booleans(),
)  # fmt: skip
def test_chains_of_any_words_are_clear(names, labels, upright):
    diagram = Diagram()
    for place, name in enumerate(names):
        at = (0, place) if upright else (place, 0)
        diagram.box(str(place), name, at=at, shape="(B, S)" * (place % 2))
    for place, label in zip(range(1, len(names)), labels, strict=False):
        diagram.arrow(str(place - 1), str(place), label, shape="(B)")
    figure = diagram.draw()
    boxes = [text for text in written(figure) if text.width]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert len(figure.axes[0].patches) == 2 * len(names) - 1  # boxes and heads


def test_two_arrows_side_by_side_and_a_circle_of_arrows():
    diagram = pair()
    diagram.arrow("a", "b", "there", shift=-0.1)
    diagram.arrow("b", "a", shape="back", shift=0.1, dashed=True)
    diagram.group("Both", "a", "b", colour="pink")
    assert_texts_are_apart(diagram.draw())
    assert repr(diagram) == "Diagram(2 boxes, 2 arrows)"


def test_boxes_of_one_column_are_equally_wide_and_a_long_title_widens_its_frame():
    diagram = Diagram()
    diagram.box("a", "a", at=(0, 0))
    diagram.box("b", "a much longer text", at=(0, 1))
    diagram.box("c", "+", at=(0, 2), kind="round")
    diagram.group("A title that is longer than the text of its boxes", "a", "b")
    figure = diagram.draw()
    frame, one, other, small = [patch.get_bbox().width for patch in figure.axes[0].patches]
    assert one == other > small
    assert frame > one + 0.3
    assert_texts_are_apart(figure)


def test_both_themes_and_the_same_bytes_each_time():
    svg = themed_svg(attention_encoder_decoder())
    for name in ("blue", "green", "orange"):
        assert f"stroke: var(--g2h-{name}, {COLOURS[name]})" in svg
    assert not re.search(r"#000000|: black", svg)
    assert svg == themed_svg(attention_encoder_decoder())
    first, second = (figure_content(attention_encoder_decoder()) for _ in range(2))
    assert first == second


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a"}, "name must"),
        ({"at": (0,)}, "at must"),
    ],
)
def test_boxes_that_are_none(options, message):
    given_all = {"name": "c", "text": "c", "at": (2, 0)} | options
    with pytest.raises(ValueError, match=message):
        pair().box(given_all.pop("name"), given_all.pop("text"), **given_all)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "z"}, r"start must"),
        ({"end": []}, "end must"),
        ({"end": "a"}, "end must"),
    ],
)
def test_arrows_that_are_none(options, message):
    with pytest.raises(ValueError, match=message):
        pair().arrow(**({"start": "a", "end": "b"} | options))


def test_groups_that_are_none_and_an_empty_diagram():
    diagram = pair()
    diagram.group("G", "a")
    for arguments, message in [
        (("G", "b"), "title must"),
        (("H",), "names must"),
        (("H", "z"), "names must"),
    ]:
        with pytest.raises(ValueError, match=message):
            diagram.group(*arguments)
    with pytest.raises(ValueError, match="at least one box, got none"):
        Diagram().draw()


def test_a_crowded_diagram_says_what_lies_on_what():
    diagram = pair()
    diagram.box("c", "in the way", at=(0.1, 0))
    with pytest.raises(ValueError, match="at must"):
        diagram.draw()
    through = pair()
    through.box("c", "last", at=(2, 0))
    through.arrow("a", "c")
    with pytest.raises(ValueError, match="arrow 'a → c' must not run through 'b'"):
        through.draw()
