"""Show the buttons that lead to the repository, to Colab and to Binder, if it has an address.

The address is `repository.url` in `_config.yml`; `tools/repository.py` carries it to the files
that are read without the book.
"""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.config import Config

LAUNCH = {
    "notebook_interface": "jupyterlab",
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
}


def set_buttons(app: Sphinx, config: Config) -> None:
    """Fill the theme's options, or leave them without any button that leads nowhere."""
    options = config.html_theme_options
    known = bool(options.get("repository_url"))
    options["launch_buttons"] = LAUNCH if known else {}
    options["use_repository_button"] = known


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("config-inited", set_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
