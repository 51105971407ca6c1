"""The style of all figures, and the two formats in which a figure is displayed.

A figure is displayed as a PNG on a light card, which every notebook front end can show, and as an
inline SVG in the page's own text colour, which the book shows in its light and its dark theme.
Everything that a figure draws in black follows the theme, and so do the six colours of `PALETTE`.
"""

import base64
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.display import display
from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from gates2heads.accepts import accepts, instance, string
from gates2heads.accepts.shown import shown
from gates2heads.figures.content import figure_content
from gates2heads.figures.glyphs import fonts_of, warn_of_missing_glyphs, wide_families
from gates2heads.figures.svg import page_svg

FIGURE_MIME = "application/vnd.gates2heads.figure+json"
NUMBER = re.compile(r"\w+\.\w+")

# The hues of Okabe & Ito 2008, "Color universal design", without black (the ink) and yellow (lost
# on white), each as dark as a line on white paper needs; `tokens.css` has those for dark paper.
COLOURS = {
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#008a63",
    "pink": "#bc5f96",
    "amber": "#a97800",
    "sky": "#2895ad",
}
PALETTE = tuple(COLOURS.values())
INKS = {"#000000": "currentColor"}
INKS |= {colour: f"var(--g2h-{name}, {colour})" for name, colour in COLOURS.items()}

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.5,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": "black",
    "grid.alpha": 0.15,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "gates2heads",
    "text.usetex": False,
}

# Zero is transparent, so that one map suits both themes and black numbers remain readable.
SEQUENTIAL = LinearSegmentedColormap.from_list(
    "g2h_sequential", [(0.075, 0.51, 0.78, 0.0), (0.075, 0.51, 0.78, 1.0)], N=101
)
DIVERGING = LinearSegmentedColormap.from_list(
    "g2h_diverging",
    [
        (0.0, (0.835, 0.369, 0.0, 1.0)),
        (0.5, (0.835, 0.369, 0.0, 0.0)),
        (0.5, (0.075, 0.51, 0.78, 0.0)),
        (1.0, (0.075, 0.51, 0.78, 1.0)),
    ],
    N=101,
)


@contextmanager
def styled(changes: dict[str, object] | None = None) -> Iterator[None]:
    """Draw in the book's style, whatever the notebook's own matplotlib settings are."""
    with rc_context(), warnings.catch_warnings():
        rcdefaults()
        rcParams.update(STYLE | (changes or {}))
        # The SVG's text is set in the reader's fonts; `card_png` tells what the PNG lacks.
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        yield


def _drawn(figure: Figure, **options: object) -> bytes:
    """Matplotlib's SVG file.

    Raises:
        ValueError: matplotlib cannot draw it, for instance because of a formula in a label.
    """
    file = io.BytesIO()
    try:
        figure.savefig(file, dpi=192, **options)
    except Exception as error:  # any content of a figure that was made elsewhere
        reason = " ".join(str(error).split())
        raise ValueError(f"figure must be one that matplotlib can draw: {reason:.200}") from error
    return file.getvalue()


@accepts(figure=instance(Figure), alt=string)
def themed_svg(figure: Figure, *, alt: str = "") -> str:
    """Draw a figure as inline SVG with the colour, font and background of the page.

    Args:
        figure: a matplotlib figure; black becomes the page's text colour.
        alt: the text alternative; may be empty if the page gives one itself.
    Returns:
        An `<svg>` element: transparent, text as text, no wider than its container, the same
        bytes for the same figure on every machine, whatever fonts are installed.
    """
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with styled():
        drawn = _drawn(figure, format="svg", transparent=True, metadata=nothing)
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    head = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width * 0.75:g} {height * 0.75:g}",
        "width": f"{width}",
        "height": f"{height}",
        "role": "img",
        **({"aria-label": alt} if alt else {}),
        "fill": "currentColor",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
        "style": "max-width: 100%; height: auto; font-family: inherit",
    }
    return page_svg(drawn, head, INKS)


@accepts(figure=instance(Figure))
def card_png(figure: Figure) -> bytes:
    """Draw a figure as a PNG on a white card, at two pixels per screen pixel.

    A character that no installed font has (Chinese, on a machine without a Chinese font) is
    drawn as an empty box, with a `MissingGlyphWarning`; the SVG, which uses the reader's fonts,
    shows it correctly.
    """
    families = [*STYLE["font.sans-serif"], *wide_families()]
    with warn_of_missing_glyphs(), styled({"font.family": families}), fonts_of(figure, families):
        warnings.filterwarnings("always", category=UserWarning)
        return _drawn(figure, format="png", facecolor="white", metadata={"Software": None})


@accepts(
    figure=instance(Figure), alt=string(empty=False), caption=string(empty=False), number=string
)
def show(figure: Figure, *, alt: str, caption: str, number: str = "") -> None:
    """Display a figure with its text alternative, and its caption in italics below.

    The first output contains the PNG card, the themed SVG, and the figure's content as data: the
    book uses the SVG, every other front end the PNG, and the tests compare the data. The second
    output is the caption, the same everywhere.

    Args:
        figure: a matplotlib figure.
        alt: one sentence for a reader who cannot see it: its content, with numbers.
        caption: one paragraph of Markdown without emphasis of its own.
        number: such as "5.3", for a reference as Figure 5.3. The number is an argument, so that it
            does not depend on the order in which cells are run.
    Raises:
        ValueError: alt or caption is more than one paragraph, or number is not a chapter, a point
            and an index in it.
    """
    alt, caption = _one_line(alt, "alt"), _one_line(caption, "caption")
    if number and not NUMBER.fullmatch(number):
        raise ValueError(f"number must be a chapter and an index such as 5.3, got {shown(number)}")
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    # First: each drawing changes the layout a little, and so do the installed fonts.
    svg = themed_svg(figure, alt=alt)
    bundle = {
        "image/png": base64.b64encode(card_png(figure)).decode(),
        FIGURE_MIME: {
            "svg": svg,
            "alt": alt,
            "caption": caption,
            "content": figure_content(figure),
            **({"number": number} if number else {}),
        },
        "text/plain": alt,
    }
    size = {"image/png": {"width": width, "height": height, "alt": alt}}
    display(bundle, metadata=size, raw=True)
    name = f"Figure {number}." if number else ""
    below = {"text/markdown": f"**{name}** *{caption}*" if name else f"*{caption}*"}
    display(below | {"text/plain": f"{name} {caption}".lstrip()}, raw=True)


def _one_line(words: str, name: str) -> str:
    if "\n\n" in words.strip():
        raise ValueError(f"{name} must be one paragraph, got {words.count(chr(10)) + 1} lines")
    return " ".join(words.split())
