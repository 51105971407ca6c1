"""The content of a figure as plain data: its words and its numbers, without their positions.

Two runs of a notebook can be compared by this. The drawing itself differs between versions of
matplotlib by fractions of a pixel; its content must not differ.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from gates2heads.accepts import accepts, instance


@accepts(figure=instance(Figure))
def figure_content(figure: Figure) -> dict[str, list]:
    """Collect the labels of a figure and the numbers that it draws.

    Args:
        figure: a matplotlib figure.
    Returns:
        "axes": for each axes its title, labels, named ticks and texts under "words", and under
        "numbers", to six significant digits, the x and the y of each line, bar (its two corners),
        shaded band and point cloud, and the values of cells and pictures row by row;
        "legend": the entries of the figure's own legends.
    """
    legends = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
    return {"axes": [_axes_content(axes) for axes in figure.axes], "legend": legends}


def _axes_content(axes: Axes) -> dict[str, list]:
    words = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    words += _named_ticks(axes.xaxis) + _named_ticks(axes.yaxis)
    words += [text.get_text() for text in axes.texts]
    if axes.get_legend():
        words += [text.get_text() for text in axes.get_legend().get_texts()]
    if axes.get_label() == "<colorbar>":
        # Its cells repeat the colour map; its content is its range.
        return {"words": words, "numbers": [_plain(axes.get_ylim())]}
    numbers = [_plain(line.get_xydata().T) for line in axes.lines]
    numbers += [_plain(patch.get_extents().get_points().T) for patch in _in_data(axes)]
    for collection in axes.collections:
        numbers += _collection_content(collection)
    numbers += [_plain(image.get_array()) for image in axes.images]
    return {"words": words, "numbers": numbers}


def _named_ticks(axis: Axis) -> list[str]:
    if not isinstance(axis.get_major_locator(), FixedLocator):
        return []
    return [label.get_text() for label in axis.get_ticklabels()]


def _in_data(axes: Axes) -> list:
    return [patch.get_path().transformed(patch.get_patch_transform()) for patch in axes.patches]


def _collection_content(collection: Collection) -> list[list]:
    if collection.get_array() is not None:
        return [_plain(collection.get_array())]
    if len(collection.get_offsets()) and collection.get_offsets().any():
        return [_plain(collection.get_offsets().T)]
    return [_plain(path.vertices.T) for path in collection.get_paths()]


def _plain(values: np.ndarray) -> list:
    """Nested lists of numbers with six significant digits; None where a value is masked."""
    array = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
    flat = [None if np.isnan(v) else float(f"{v:.6g}") + 0.0 for v in array.ravel().tolist()]
    return np.array(flat, dtype=object).reshape(array.shape).tolist()
