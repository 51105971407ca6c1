"""Point every page at the local copies of the browser's libraries, and at nothing else.

MathJax, require.js, the widgets' html-manager and anywidget are taken from `vendor/`, which
`tools/fetch_assets.py` fills and `html_extra_path` copies beside the pages. (Not from `_static/`:
jupyter-book would add each script found there to every page, and widgets would render twice.)

The models that run in the page lie in `live/`, where `tools/export_live.py` puts them.

All addresses are relative to the page, so the book works from any folder, also from file://.
"""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.builders.html._assets import _JavaScript
from sphinx.config import Config
from sphinx.errors import ExtensionError

MATHJAX = "vendor/mathjax/tex-mml-chtml.js"
REQUIREJS = "vendor/requirejs/require.js"
HTML_MANAGER = "vendor/html-manager/embed-amd.js"

# require.js reads its settings from a global of its own name that is there before it.
# The other modules are defined inside html-manager's bundle; their addresses say where their icon
# fonts are: beside it.
WIDGET_PATHS = """
(() => {
  const root = document.documentElement.dataset.content_root;
  const vendor = new URL(root + "vendor/", location.href).href;
  const bundle = vendor + "html-manager/embed-amd";
  window.requirejs = {
    baseUrl: vendor,
    waitSeconds: 60,
    paths: {
      "anywidget": vendor + "anywidget/index",
      "@jupyter-widgets/base": bundle,
      "@jupyter-widgets/base7": bundle,
      "@jupyter-widgets/controls": bundle,
      "@jupyter-widgets/controls7": bundle,
      "@jupyter-widgets/html-manager": bundle,
      "@jupyter-widgets/html-manager/dist/libembed-amd": bundle,
    },
  };
})();
"""

# html-manager typesets labels through MathJax 2's queue; the page has MathJax 3.
MATHJAX_QUEUE = """
document.addEventListener("DOMContentLoaded", () => {
  const mathjax = window.MathJax;
  if (!mathjax?.startup?.promise || mathjax.Hub) return;
  mathjax.Hub = {
    Config() {},
    Queue(...calls) {
      for (const call of calls) {
        if (!Array.isArray(call) || call[0] !== "Typeset") continue;
        mathjax.startup.promise.then(() => mathjax.typesetPromise([call[2]]));
      }
    },
  };
});
"""

# The search page fetches the pages it found, to quote them; a browser forbids that to files.
PLAIN_SEARCH = (
    'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
)


def set_paths(app: Sphinx, config: Config) -> None:
    """Give Sphinx and MyST-NB the local addresses; both prefix them with _static/."""
    config.mathjax_path = f"../{MATHJAX}"
    config.nb_ipywidgets_js = {
        f"../{REQUIREJS}": {"defer": "defer"},
        # Should a module be missing, the search for it stays inside the book.
        f"../{HTML_MANAGER}": {"defer": "defer", "data-jupyter-widgets-cdn": "./"},
    }


def check_assets(app: Sphinx) -> None:
    """Stop early when the libraries are not there: the pages would be broken without a sound."""
    if app.builder.format != "html":
        return
    folders = [app.confdir / folder for folder in app.config.html_extra_path]
    for path in (MATHJAX, REQUIREJS, HTML_MANAGER):
        if not any((folder / path).is_file() for folder in folders):
            raise ExtensionError(f"{path} is missing: run python tools/fetch_assets.py first.")
    engines = [path.name for folder in folders for path in folder.glob("live/engine-*.js")]
    if len(engines) != 1:
        raise ExtensionError(
            f"live/ must hold one engine, it has {len(engines)}: run python tools/export_live.py."
        )
    app.config.live_engine = engines[0]


def settle_scripts(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Drop what talks to other servers and set the widgets up on the pages that have some."""
    if app.builder.format != "html":
        return
    kept, names = [], set()
    # Sphinx carries MathJax over to the page after one with equations.
    has_maths = 'class="math' in context.get("body", "")
    for script in context.get("script_files", []):
        filename = str(getattr(script, "filename", script) or "")
        body = getattr(script, "attributes", {}).get("body") or ""
        if "thebe" in filename or "THEBE" in body:
            continue
        if not has_maths and ("mathjax" in filename or "window.MathJax" in body):
            continue
        if filename.startswith("_static/../"):
            filename = filename.removeprefix("_static/../")
            kept.append(_JavaScript(filename, priority=script.priority, **script.attributes))
        else:
            kept.append(script)
        names.add(filename)
    context["script_files"][:] = kept
    if pagename == "search":
        context["script_files"].append(_JavaScript(None, priority=900, body=PLAIN_SEARCH))
    # Inline, before any script with an address of its own.
    if REQUIREJS in names:
        context["script_files"].insert(0, _JavaScript(None, priority=0, body=WIDGET_PATHS))
        engine = f'window.gates2heads_engine = "{app.config.live_engine}";'
        context["script_files"].insert(0, _JavaScript(None, priority=0, body=engine))
        if MATHJAX in names:
            context["script_files"].insert(0, _JavaScript(None, priority=0, body=MATHJAX_QUEUE))


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_config_value("live_engine", "", "")  # a name that changes with the engine
    app.connect("config-inited", set_paths)
    app.connect("builder-inited", check_assets)
    app.connect("html-page-context", settle_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
