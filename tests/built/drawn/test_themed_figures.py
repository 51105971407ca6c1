"""The book shows figures inline on its pages and as pictures elsewhere, each caption once."""

import base64
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from gates2heads.figures import figures, theme

ROOT = Path(__file__).resolve().parents[3]
CONFIG = f"""
import sys
sys.path[:0] = [{str(ROOT / "_ext")!r}, {str(ROOT / "_ext" / "drawn")!r}]
extensions = ["myst_nb", "themed_figures"]
nb_execution_mode = "off"
root_doc = "page"
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The source folder of a book of one executed notebook with one figure."""
    shown = []
    figure = figures.curves({"m": ([0, 1], [0, 1])}, xlabel="step", ylabel="loss (nats)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            theme, "display", lambda data, metadata=None, raw=False: shown.append((data, metadata))
        )
        figures.show(
            figure,
            alt='A line that "rises" & ends.',
            caption="One line of two points.",
            number="5.3",
        )
    outputs = [nbformat.v4.new_output("display_data", data, metadata=m or {}) for data, m in shown]
    cell = nbformat.v4.new_code_cell("show(figure)", outputs=outputs, execution_count=1)
    title = nbformat.v4.new_markdown_cell("# Page")
    notebook = nbformat.v4.new_notebook(cells=[title, cell])
    notebook.metadata.language_info = {"name": "python", "pygments_lexer": "ipython3"}
    folder = tmp_path_factory.mktemp("book")
    nbformat.write(notebook, folder / "page.ipynb")
    (folder / "conf.py").write_text(CONFIG)
    return folder, shown[0][0]


def build(folder, builder):
    target = folder.parent / builder
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", builder, folder, target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.slow
def test_html_holds_the_svg_and_the_caption_once(page):
    folder, bundle = page
    html = (build(folder, "html") / "page.html").read_text(encoding="utf-8")
    svg = bundle[figures.FIGURE_MIME]["svg"]
    assert (
        html.count(
            f'<figure class="g2h-figure" id="figure-5-3" style="margin: 1rem 0">{svg}</figure>'
        )
        == 1
    )
    assert html.count('aria-label="A line that &quot;rises&quot; &amp; ends."') == 1
    assert html.count("<em>One line of two points.</em>") == 1
    assert html.count("One line of two points.") == 1
    assert ".png" not in html


@pytest.mark.slow
def test_latex_holds_the_png_and_the_caption_once(page):
    folder, bundle = page
    target = build(folder, "latex")
    (picture,) = target.glob("*.png")
    assert picture.read_bytes() == base64.b64decode(bundle["image/png"])
    (tex,) = target.glob("*.tex")
    text = tex.read_text(encoding="utf-8")
    assert text.count("One line of two points.") == 1
    assert text.count(picture.stem) == 1
    assert "<svg" not in text
