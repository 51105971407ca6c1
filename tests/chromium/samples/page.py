"""A page that shows saved widgets without a kernel, by the book's host or by a widget manager."""

import json
import shutil
from pathlib import Path

from gates2heads.browser.host.script import host_script

PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-content_root="./">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>widgets</title><link rel="icon" href="data:,">
<style>
html {{ color-scheme: light; background: #fff; color: #1b2129 }}
html[data-theme=dark] {{ color-scheme: dark; background: #14181e; color: #ced6dd }}
body {{ max-width: 46rem; margin: 1rem auto; padding: 0 1rem; font-family: sans-serif }}
</style>
<script>
window.gates2heads_engine = "{engine}";
</script>
{scripts}
</head>
<body>
{views}
<script type="application/vnd.jupyter.widget-state+json">{state}</script>
</body>
</html>
"""
HOST = '<script src="host.js" defer></script>'
MANAGER = """<script>
window.requirejs = { baseUrl: "./", paths: {
  "anywidget": "vendor/anywidget/index",
  "@jupyter-widgets/base": "vendor/html-manager/embed-amd",
  "@jupyter-widgets/controls": "vendor/html-manager/embed-amd",
} };
</script>
<script src="vendor/requirejs/require.js"></script>
<script src="vendor/html-manager/embed-amd.js" data-jupyter-widgets-cdn="./"></script>"""
VIEW = '<div><script type="application/vnd.jupyter.widget-view+json">{}</script></div>'


def write_page(
    folder: Path,
    saved: dict,
    libraries: dict[str, Path] | None = None,
    *,
    live: Path | None = None,
) -> Path:
    """Write index.html and what it loads.

    Args:
        folder: where; made if missing.
        saved: {"state": a widget manager's state, "shown": ids of the shown widgets in order}.
        libraries: folders for requirejs, html-manager and anywidget, if these are to draw the
            widgets and not the book's own host.
        live: the folder of the engine and the models, for views that run one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if libraries is None:
        (folder / "host.js").write_text(host_script(), encoding="utf-8")
    for name, source in (libraries or {}).items():
        shutil.copytree(source, folder / "vendor" / name)
    engine = ""
    if live:
        shutil.copytree(live, folder / "live")
        (engine,) = (path.name for path in live.glob("engine-*.js"))
    views = [
        VIEW.format(json.dumps({"version_major": 2, "version_minor": 0, "model_id": model}))
        for model in saved["shown"]
    ]
    state = json.dumps(saved["state"]).replace("<", "\\u003c")
    page = folder / "index.html"
    scripts = HOST if libraries is None else MANAGER
    text = PAGE.format(views="\n".join(views), state=state, engine=engine, scripts=scripts)
    page.write_text(text, encoding="utf-8")
    return page
