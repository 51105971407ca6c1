"""Arrays in, a figure out: the few kinds of picture that the chapters share.

Every axis is named with its unit; colours are told apart by colour-blind readers and doubled by
line style, hatch or marker. Nothing here trains or loads. `show` puts a figure on the page.
"""

from gates2heads.figures.charts import bars, curve_panels, curves
from gates2heads.figures.heatmaps import alignment_grid, heatmap
from gates2heads.figures.intervals import intervals
from gates2heads.figures.plane import plane
from gates2heads.figures.scatter import scatter
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
