"""Show the buttons that lead to the repository, to Colab and to Binder, if it has an address.

The address is `repository.url` in `_config.yml`; `tools/publishing/repository.py` carries it to
the files that are read without the book. Colab and Binder open the notebooks of the release, whose
set-up cell installs the library of the same release; a suggested edit goes to the branch.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx
from sphinx.config import Config

BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")
LAUNCH = {"notebook_interface": "jupyterlab", "binderhub_url": "https://mybinder.org"}
COLAB = {"colab_url": "https://colab.research.google.com"}
VERSION = re.compile(r'^version = "(.+)"$', re.M)


def set_buttons(app: Sphinx, config: Config) -> None:
    """Fill the theme's options, or leave them without any button that leads nowhere."""
    options = config.html_theme_options
    url = options.get("repository_url", "").rstrip("/").removesuffix(".git")
    options["repository_url"] = url
    options["launch_buttons"] = LAUNCH | (COLAB if "//github.com/" in url else {}) if url else {}
    options |= dict.fromkeys(BUTTONS, bool(url))


def launch_the_release(app: Sphinx) -> None:
    """Let Colab and Binder open the release; the theme has noted the branch for edits by now."""
    options = app.config.html_theme_options
    if options["repository_url"]:
        project = (app.confdir / "pyproject.toml").read_text(encoding="utf-8")
        options["repository_branch"] = f"v{VERSION.search(project)[1]}"


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("config-inited", set_buttons)
    app.connect("builder-inited", launch_the_release, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
