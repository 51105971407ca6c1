"""A page that shows saved widgets with local copies of the browser's libraries, and no kernel."""

import json
import shutil
from pathlib import Path

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
window.requirejs = {{ baseUrl: "./", paths: {{
  "anywidget": "vendor/anywidget/index",
  "@jupyter-widgets/base": "vendor/html-manager/embed-amd",
  "@jupyter-widgets/controls": "vendor/html-manager/embed-amd",
}}}};
</script>
<script src="vendor/requirejs/require.js"></script>
<script src="vendor/html-manager/embed-amd.js" data-jupyter-widgets-cdn="./"></script>
</head>
<body>
{views}
<script type="application/vnd.jupyter.widget-state+json">{state}</script>
</body>
</html>
"""
VIEW = '<div><script type="application/vnd.jupyter.widget-view+json">{}</script></div>'


def write_page(
    folder: Path, saved: dict, libraries: dict[str, Path], *, live: Path | None = None
) -> Path:
    """Write index.html and its libraries.

    Args:
        folder: where; made if missing.
        saved: {"state": a widget manager's state, "shown": ids of the shown widgets in order}.
        libraries: folders for requirejs, html-manager and anywidget.
        live: the folder of the engine and the models, for views that run one.
    """
    for name, source in libraries.items():
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
    text = PAGE.format(views="\n".join(views), state=state, engine=engine)
    page.write_text(text, encoding="utf-8")
    return page
