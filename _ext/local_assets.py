"""Point every page at the local copies of the browser's libraries, and at nothing else.

The models that run in the page lie in `live/`, where `tools/book/export_live.py` puts them and from
where `html_extra_path` copies them beside the pages. Pages with views get `_static/host.js`, which
shows them: the modules of `gates2heads/browser/host`, joined. It is the first deferred script of
the page, so that the views are there before the theme starts. It shows anywidgets and no other
widgets, so a page that shows another fails the build.

All addresses are relative to the page, so the book works from any folder, also from file://.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.builders.html._assets import _JavaScript
from sphinx.config import Config
from sphinx.errors import ExtensionError

from gates2heads.browser.host.script import foreign_widgets, host_script

HOST = "host.js"
STATE = "application/vnd.jupyter.widget-state+json"
VIEW = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-view\+json">(.*?)</script>', re.S
)

# The theme measures every scrollable box in one pass; `_static/scroll_stops.js` does not.
THEME = "_static/scripts/pydata-sphinx-theme.js"
MEASURED = re.compile(r"\{e\.tabIndex=e\.scrollWidth>e\.clientWidth\|\|[^}]*\?0:-1\}")

# The theme loads the index of the search on every page, for a search while typing that is off.
SEARCH_TOOLS = re.compile(
    r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
)


def set_paths(app: Sphinx, config: Config) -> None:
    """Give MyST-NB the local address, to which it prefixes _static/."""
    config.nb_ipywidgets_js = {HOST: {"defer": "defer"}}


def check_assets(app: Sphinx) -> None:
    """Stop early when the models are not there: the pages would be broken without a sound."""
    if app.builder.format != "html":
        return
    folders = [app.confdir / folder for folder in app.config.html_extra_path]
    engines = [path.name for folder in folders for path in folder.glob("live/engine-*.js")]
    if len(engines) != 1:
        raise ExtensionError(
            f"live/ must hold one engine, it has {len(engines)}: "
            "run python tools/book/export_live.py."
        )
    app.config.live_engine = engines[0]


def write_host(app: Sphinx) -> None:
    """Write the script that shows the views among the theme's."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    (static / HOST).write_text(host_script(), encoding="utf-8")


def check_widgets(pagename: str, state: str, body: str) -> None:
    """Stop where a page shows a widget that the host cannot show."""
    shown = [json.loads(view)["model_id"] for view in VIEW.findall(body)]
    if foreign := foreign_widgets(json.loads(state), shown):
        raise ExtensionError(
            f"{pagename} must show views made with anywidget only, got {', '.join(foreign)}."
        )


def _filename(script) -> str:
    return str(getattr(script, "filename", script) or "")


def settle_scripts(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Drop what talks to other servers and set the widgets up on the pages that have some."""
    if app.builder.format != "html":
        return
    kept = []
    for script in context.get("script_files", []):
        filename = _filename(script)
        body = getattr(script, "attributes", {}).get("body") or ""
        if "thebe" in filename or "THEBE" in body:
            continue
        if filename.startswith("_static/../"):
            filename = filename.removeprefix("_static/../")
            kept.append(_JavaScript(filename, priority=script.priority, **script.attributes))
        else:
            kept.append(script)
        if getattr(script, "attributes", {}).get("type") == STATE:
            check_widgets(pagename, body, context.get("body", ""))
    host = [script for script in kept if _filename(script) == f"_static/{HOST}"]
    context["script_files"][:] = host + [script for script in kept if script not in host]
    if host:  # inline, before any script with an address of its own
        engine = f'window.gates2heads_engine = "{app.config.live_engine}";'
        context["script_files"].insert(0, _JavaScript(None, priority=0, body=engine))


def drop_search_tools(app: Sphinx, exception: Exception | None) -> None:
    """Take the search out of the pages that cannot use it: all but its own."""
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        slim = SEARCH_TOOLS.sub("", text)
        if page.name != "search.html" and slim != text:
            page.write_text(slim, encoding="utf-8")


def drop_measuring(app: Sphinx, exception: Exception | None) -> None:
    """Take out of the theme's script what keeps a long page from reacting.

    Raises:
        ExtensionError: the theme's script is another than this knows.
    """
    script = Path(app.outdir, THEME)
    if exception is not None or app.builder.format != "html" or not script.exists():
        return
    text, found = MEASURED.subn("{}", script.read_text(encoding="utf-8"))
    if found:
        script.write_text(text, encoding="utf-8")
    elif "tabIndex=" in text:
        raise ExtensionError(f"{THEME} sets tab stops as _ext/local_assets.py does not know.")


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_config_value("live_engine", "", "")  # a name that changes with the engine
    app.connect("config-inited", set_paths)
    app.connect("builder-inited", check_assets)
    app.connect("builder-inited", write_host)
    app.connect("html-page-context", settle_scripts, priority=900)
    app.connect("build-finished", drop_search_tools, priority=300)
    app.connect("build-finished", drop_measuring, priority=300)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
