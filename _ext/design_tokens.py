"""Give the pages the colours, type and spacing that the library's views and figures have."""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.config import Config

TOKENS = "src/gates2heads/figures/tokens.css"


def add_tokens(app: Sphinx, config: Config) -> None:
    """Copy the library's list beside the book's own style sheet, and put it before that one."""
    config.html_static_path.append(str(app.confdir / TOKENS))
    app.add_css_file("tokens.css", priority=150)  # before the theme's; names of our own clash not


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("config-inited", add_tokens)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
