"""Points with intervals, and vectors of two dimensions."""

import pytest

from gates2heads.figures.figures import intervals, plane

ROWS = {"PPMI": (0.5, 0.4, 0.7), "CBOW": (0.2, 0.2, 0.3)}


def test_every_value_stands_in_its_row_with_its_interval():
    figure = intervals({"ρ": ROWS, "%": {name: (50, 40, 60) for name in ROWS}})
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["PPMI", "CBOW"]
    assert [axis.get_xlabel() for axis in (left, right)] == ["ρ", "%"]
    lines = [(*line.get_xdata(), *line.get_ydata()) for line in left.lines]
    assert (0.4, 0.7, 0, 0) in lines
    assert (0.5, 0) in lines
    assert (0.2, 0.3, 1, 1) in lines
    assert left.get_ylim()[0] > left.get_ylim()[1]  # the first row is on top


@pytest.mark.parametrize(
    ("panels", "error", "names"),
    [
        ({}, ValueError, "series"),
        ({"ρ": {}}, ValueError, "panels"),
        ({"ρ": ROWS, "%": {"PPMI": (1, 1, 1)}}, ValueError, "%"),
        ({"ρ": {"PPMI": (0.9, 0.4, 0.7)}}, ValueError, "PPMI"),
        ({"ρ": {"PPMI": (0.5, 0.4)}}, TypeError, "PPMI"),
        ({"ρ": {"PPMI": ("x", 0.4, 0.7)}}, TypeError, "PPMI"),
    ],
)
def test_bad_rows_are_refused_by_name(panels, error, names):
    with pytest.raises(error, match=names):
        intervals(panels)


def test_vectors_and_their_differences_are_arrows():
    vectors = {"man": (3.0, 1.0), "woman": (2.0, 2.0), "boy": (-1.0, 1.0)}
    (axis,) = plane(vectors, [("man", "woman")]).axes
    arrows = [(note.xyann, note.xy) for note in axis.texts if not note.get_text()]
    assert ((0, 0), (3.0, 1.0)) in arrows
    assert ((3.0, 1.0), (2.0, 2.0)) in arrows
    assert len(arrows) == 4
    assert {note.get_text() for note in axis.texts} == {"", "man", "woman", "boy"}
    assert axis.get_xlim()[0] < -1


def test_an_angle_is_an_arc_with_its_degrees():
    vectors = {"dog": (2.0, 0.0), "while": (0.0, 1.0), "cat": (-1.0, -1.0), "fox": (-1.0, 1.0)}
    (axis,) = plane(vectors, angles=[("while", "dog"), ("cat", "fox")]).axes
    first, second = axis.patches[-2:]
    assert (first.theta1, first.theta2) == pytest.approx((0, 90))
    assert (second.theta1, second.theta2) == pytest.approx((135, 225))
    assert [note.get_text() for note in axis.texts if "°" in note.get_text()] == ["90°", "90°"]


@pytest.mark.parametrize(
    ("arguments", "error", "names"),
    [
        (({"man": (1, 2)}, [], [("man", "boy")]), ValueError, "angles"),
        (({},), ValueError, "series"),
        (({"man": (1, 2, 3)},), TypeError, "man"),
        (({"man": (1, "x")},), TypeError, "man"),
        (({"man": (1, 2)}, [("man", "boy")]), ValueError, "boy"),
    ],
)
def test_bad_vectors_are_refused_by_name(arguments, error, names):
    with pytest.raises(error, match=names):
        plane(*arguments)
