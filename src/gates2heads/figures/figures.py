"""The kinds of figures that the chapters share, drawn from arrays.

Every axis is labelled with its unit; colours are distinguishable for colour-blind readers and
supplemented by line style, hatch or marker. Nothing here trains or loads. `show` displays a figure.
"""

from gates2heads.figures.charts.charts import bars, curve_panels, curves
from gates2heads.figures.charts.heatmaps import alignment_grid, heatmap
from gates2heads.figures.charts.intervals import intervals
from gates2heads.figures.charts.plane import plane
from gates2heads.figures.charts.scatter import scatter
from gates2heads.figures.theme import FIGURE_MIME, PALETTE, card_png, show, themed_svg

__all__ = [
    "FIGURE_MIME",
    "PALETTE",
    "alignment_grid",
    "bars",
    "card_png",
    "curve_panels",
    "curves",
    "heatmap",
    "intervals",
    "plane",
    "scatter",
    "show",
    "themed_svg",
]
