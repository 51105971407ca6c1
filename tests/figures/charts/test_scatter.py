"""Points in a plane that are drawn as their labels."""

import pytest

from gates2heads.figures.figures import scatter

SEASONS = {"1": ([0.0, 0.1], [1.0, 1.1]), "12": ([2.0], [3.0])}
AXES = {"xlabel": "first component", "ylabel": "second component"}


def test_each_point_is_drawn_as_its_label_in_its_panel():
    figure = scatter({"month": SEASONS, "language": {"de": ([5.0], [6.0])}}, columns=2, **AXES)
    left, right = figure.axes
    assert [axis.get_title() for axis in (left, right)] == ["month", "language"]
    one, twelve = left.lines
    assert "{1}" in one.get_marker()
    assert "{12}" in twelve.get_marker()
    assert one.get_xdata().tolist() == [0.0, 0.1]
    assert one.get_linestyle() == "None"
    assert right.lines[0].get_ydata().tolist() == [6.0]
    assert left.get_ylabel() == "second component"
    assert {axis.get_xlabel() for axis in figure.axes} == {"first component"}


def test_a_row_that_is_not_full_has_no_empty_axes():
    assert len(scatter({"a": SEASONS, "b": SEASONS, "c": SEASONS}, columns=2, **AXES).axes) == 3


@pytest.mark.parametrize(
    ("panels", "error", "names"),
    [
        ({}, ValueError, "series"),
        ({"month": {}}, ValueError, "series"),
        ({"month": {"1": ([1.0], [1.0, 2.0])}}, ValueError, "equal lengths"),
        ({"month": {"1": ([1.0],)}}, TypeError, "pair"),
        ({"month": {"1": (["x"], [1.0])}}, TypeError, "month"),
        ({"month": {"$1$": ([1.0], [1.0])}}, ValueError, "letters and digits"),
        ({"month": {"": ([1.0], [1.0])}}, ValueError, "letters and digits"),
    ],
)
def test_bad_points_are_refused_by_name(panels, error, names):
    with pytest.raises(error, match=names):
        scatter(panels, **AXES)
