"""Keep room on a page for views, so that nothing moves when they are drawn.

The heights were measured in a browser, in three widths of the window: `make heights` measures them
again and writes `view_heights.json`. A view that is not in there gets no room, and a test says so.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

VIEW = re.compile(r'<script type="application/vnd\.jupyter\.widget-view\+json">.*?</script>', re.S)
STORED = Path(__file__).parent / "view_heights.json"
# Without scripts there is no view: no room for it, and its text is shown.
WITHOUT_SCRIPTS = (
    "<noscript><style>.g2h-reserved { min-height: 0 !important; } "
    ".g2h-reserved + .g2h-twin { display: block !important; }</style></noscript>\n"
)


def read_heights(app: Sphinx, config: Config) -> None:
    """Read what was measured: page -> width class -> heights in pixels, in the page's order."""
    config.view_heights = json.loads(STORED.read_text(encoding="utf-8"))


def reserve(body: str, heights: dict[str, list[int]]) -> str:
    """Put each view of a page into a box of its height."""
    places = iter(range(len(VIEW.findall(body))))

    def boxed(found: re.Match) -> str:
        place = next(places)
        room = "; ".join(
            f"--g2h-{width}: {all_[place]}px"
            for width, all_ in heights.items()
            if place < len(all_)
        )
        return f'<div class="g2h-reserved" style="{room}">{found[0]}</div>'

    return VIEW.sub(boxed, body)


def reserve_on_page(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Reserve the heights of a page's views."""
    body = context.get("body", "")
    if app.builder.format == "html" and VIEW.search(body):
        context["body"] = reserve(body, app.config.view_heights.get(pagename, {}))
        context["metatags"] = context.get("metatags", "") + WITHOUT_SCRIPTS


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_config_value("view_heights", {}, "html")
    app.connect("config-inited", read_heights)
    app.connect("html-page-context", reserve_on_page, priority=950)  # after the views are checked
    return {"parallel_read_safe": True, "parallel_write_safe": True}
