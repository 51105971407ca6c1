"""Show the library's figures inline, so that they follow the reader's light or dark theme.

`gates2heads.figures.figures.show` stores a PNG and, under a MIME type of its own, an SVG drawn in
the page's text colour. This extension makes myst-nb prefer the SVG on HTML pages; every other
output format takes the PNG. The caption is not drawn here: it is the next output of the cell.
"""

from html import escape

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer, load_mime_renders
from page_links import FIGURE_MIME, figure_anchor
from sphinx.application import Sphinx

HTML_BUILDERS = ("html", "dirhtml", "singlehtml")


class ThemedFigureRenderer:
    """A myst-nb MIME renderer for figures whose ink is the page's text colour."""

    mime_priority_overrides = tuple((builder, FIGURE_MIME, 5) for builder in HTML_BUILDERS)

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Element] | None:
        """Turn a figure bundle into a `<figure>`; leave every other MIME type to myst-nb."""
        if data.mime_type != FIGURE_MIME or inline:
            return None
        svg, alt = data.content["svg"], data.content["alt"]
        if "aria-label=" not in svg.partition(">")[0]:
            svg = svg.replace("<svg", f'<svg aria-label="{escape(alt)}"', 1)
        number = data.content.get("number", "")
        anchor = f' id="{figure_anchor(number)}"' if number else ""
        figure = f'<figure class="g2h-figure"{anchor} style="margin: 1rem 0">{svg}</figure>'
        return [nodes.raw(text=figure, format="html", classes=["output", "g2h-figure"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer for this build."""
    # myst-nb finds renderers by the entry points of installed packages only; the list it keeps
    # of them is the only way in which a book can add its own without installing a package.
    renderers = load_mime_renders()
    if ThemedFigureRenderer not in renderers:
        renderers.append(ThemedFigureRenderer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
