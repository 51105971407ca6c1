"""The views in JupyterLab with a living kernel: the picture moves, and Python hears of it."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from tests import hangs
from tests.chromium.sites import ROOT
from tests.chromium.views.translate.driver import OWN, Translator
from tools.notebooks.stored_pictures import PICTURE, VIEW

pytestmark = pytest.mark.browser

CELLS = [
    "import ipywidgets\n"
    "from tests.chromium.samples.together_samples import pooling, viewer\n"
    "slider, viewer, pooling = ipywidgets.IntSlider(max=99), viewer(), pooling()\n"
    "ipywidgets.jslink((slider, 'value'), (viewer, 'index'))\n"
    "display(slider, viewer, pooling)",
    "print('now', viewer.index, pooling.allowed)",
    "viewer.index = 2; pooling.allowed = [True] * 5",
    "from tests.chromium.samples.together_samples import prediction\nasked = prediction()\nasked",
    "print('answers', asked.answers)",
]

TRANSLATOR = [
    "from tests.chromium.views.translate.samples import translator\nview = translator()\nview",
    "print(view.text, view.width)",
    "view.width = 5; view.text = 'Eine Katze schläft auf dem Sofa.'",
]
BUSY = [TRANSLATOR[0], "import os, time\nwhile not os.path.exists('go on'):\n    time.sleep(0.1)"]

# As a clone holds it: nobody has run it here, so that JupyterLab does not trust it.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC"
STORED = {VIEW: {"model_id": "1"}, PICTURE: DOT, "text/plain": "Predict(1 question)"}


@pytest.fixture(scope="module")
def lab_folder(tmp_path_factory):
    """Give the folder that JupyterLab serves."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def lab(lab_folder):
    """Start JupyterLab with folders and settings of its own; give its address."""
    if not _has_lab():
        pytest.fail("JupyterLab is missing: pip install jupyterlab", pytrace=False)
    folder = lab_folder
    write_notebook(folder / "views.ipynb", CELLS)
    write_notebook(folder / "translator.ipynb", TRANSLATOR)
    write_notebook(folder / "busy.ipynb", BUSY)
    write_notebook(folder / "stored.ipynb", CELLS[3:4], STORED)
    port = _free_port()
    address = f"http://127.0.0.1:{port}/"
    with (folder / "lab.log").open("w") as log:
        command = [sys.executable, "-m", "jupyterlab", *_options(folder, port)]
        server = subprocess.Popen(command, env=_environment(folder), stdout=log, stderr=log)
        try:
            _wait_for(address + "api", server, folder / "lab.log")
            yield address
        finally:
            server.terminate()
            server.wait(600)


def write_notebook(path: Path, cells: list[str], shown: dict | None = None) -> None:
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    outputs = [nbformat.v4.new_output("display_data", shown)] if shown else []
    notebook.cells = [nbformat.v4.new_code_cell(text, outputs=outputs) for text in cells]
    nbformat.write(notebook, path)


def _has_lab() -> bool:
    probe = [sys.executable, "-c", "import jupyterlab"]
    return subprocess.run(probe, check=False, capture_output=True).returncode == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _options(folder: Path, port: int) -> list[str]:
    return [
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.workspaces_dir={folder / 'workspaces'}",
        f"--LabApp.user_settings_dir={folder / 'settings'}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=",
    ]


def _environment(folder: Path) -> dict[str, str]:
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = '{"fetchNews": "false", "checkForUpdates": false}'
    (settings / "notification.jupyterlab-settings").write_text(quiet)
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "RUNTIME", "DATA")}
    places = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    search = os.pathsep.join(places)
    return {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": search}


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(2400):
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, log.read_text()
            time.sleep(0.25)
        else:
            return
    pytest.fail(f"JupyterLab did not answer within ten minutes:\n{log.read_text()}")


class Notebook:
    """The open notebook: runs cells and reads what they print."""

    def __init__(self, page: Page):
        self.page, self.runs = page, 0

    def run(self, number: int) -> str:
        """Run one cell, wait for its end, give the text it printed."""
        cell = self.page.locator(".jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.runs += 1
        prompt = cell.locator(".jp-InputArea-prompt")
        expect(prompt).to_have_text(f"[{self.runs}]:", timeout=hangs.START)
        printed = cell.locator(".jp-OutputArea-output[data-mime-type*=stdout]")
        return "".join(printed.all_inner_texts()).strip()

    def active(self) -> str:
        """Say which cell the notebook's own keys act on, and in which mode."""
        return self.page.evaluate(ACTIVE)


def open_notebook(open_page, lab: str, name: str, cells: int) -> Notebook:
    page = open_page(lab, f"lab/tree/{name}.ipynb?reset", viewport={"width": 1300, "height": 2000})
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(cells, timeout=hangs.START)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=hangs.START)
    return Notebook(page)


def test_views_and_kernel_stay_together(lab, open_page):
    notebook = open_notebook(open_page, lab, "views", len(CELLS))
    page = notebook.page
    notebook.run(0)
    view = page.locator(".g2h-frames")
    expect(view.locator(".g2h-frame")).to_have_attribute("data-index", "0")
    controls_reach_python(notebook, view)
    python_reaches_the_views(notebook, view)
    linked_slider_moves_the_frames(notebook, view)
    a_prediction_is_taken_and_its_twin_hidden(notebook)
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    expect(view).to_have_css("color-scheme", "dark")


def test_a_model_comes_over_the_views_own_channel(lab, open_page):
    """Python has the model, the page has no file: the view asks, once, and answers by itself."""
    notebook = open_notebook(open_page, lab, "translator", len(TRANSLATOR))
    notebook.run(0)
    view = Translator(notebook.page, notebook.page.locator(".g2h-translate"))
    expect(view.root).to_have_attribute("data-state", "recorded")
    view.examples.nth(1).click()
    text = "Zwei Kinder bauen am Strand eine Burg aus Sand."
    view.settled(text)
    view.check_looks(view.check(text))
    assert notebook.run(1) == f"{text} 1"
    notebook.run(2)
    view.settled(OWN)
    expect(view.root).to_have_attribute("data-width", "5")
    view.check(OWN, 5)
    expect(view.input).to_have_value(OWN)


def shows(view: Locator, index: int) -> None:
    """Each sample frame bears its number."""
    expect(view.locator(".g2h-frame")).to_have_attribute("data-index", str(index))
    expect(view.locator(".g2h-frame svg text")).to_have_text(str(index))


def test_before_the_first_run_a_picture_is_shown_and_then_the_view(lab, open_page):
    notebook = open_notebook(open_page, lab, "stored", 1)
    picture = notebook.page.locator(".jp-RenderedImage img")
    expect(picture).to_have_attribute("src", f"data:image/png;base64,{DOT}")
    expect(notebook.page.get_by_text("Predict(1 question)")).to_have_count(0)
    notebook.run(0)
    expect(notebook.page.locator(".g2h-predict")).to_have_count(1, timeout=60_000)
    expect(picture).to_have_count(0)


def test_while_cells_run_a_view_says_that_it_waits_for_them(lab, lab_folder, open_page):
    notebook = open_notebook(open_page, lab, "busy", len(BUSY))
    page, text = notebook.page, "Zwei Kinder bauen am Strand eine Burg aus Sand."
    notebook.run(0)
    view = Translator(page, page.locator(".g2h-translate"))
    page.locator(".jp-CodeCell").nth(1).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    view.examples.nth(1).click()
    expect(view.state).to_have_text("Waits for the kernel, which is running cells.")
    (lab_folder / "go on").touch()
    view.settled(text)
    view.check_looks(view.check(text))


def controls_reach_python(notebook: Notebook, view: Locator) -> None:
    """Slider, buttons, boxes and arrow keys; the notebook takes none of the keys."""
    page, slider = notebook.page, view.locator("input[type=range]")
    slider.fill("4")
    shows(view, 4)
    slider.focus()
    before = notebook.active()
    for key, index in [("ArrowRight", 5), ("ArrowDown", 4), ("End", 6), ("ArrowLeft", 5)]:
        page.keyboard.press(key)
        shows(view, index)
    assert slider.evaluate("node => node === document.activeElement")
    assert notebook.active() == before
    view.get_by_label("next frame").click()
    shows(view, 6)
    page.locator(".g2h-pooling input[type=checkbox]").nth(1).uncheck()
    assert notebook.run(1) == "now 6 [True, False, False, True, True]"


def python_reaches_the_views(notebook: Notebook, view: Locator) -> None:
    notebook.run(2)
    shows(view, 2)
    boxes = notebook.page.locator(".g2h-pooling input[type=checkbox]")
    assert all(box.is_checked() for box in boxes.all())


def linked_slider_moves_the_frames(notebook: Notebook, view: Locator) -> None:
    """The link runs in the browser; a slider that asks for too much comes back."""
    readout = notebook.page.locator(".widget-readout")
    readout.fill("3")
    readout.press("Enter")
    shows(view, 3)
    readout.fill("42")
    readout.press("Enter")
    shows(view, 6)
    expect(readout).to_have_text("6")
    assert notebook.run(1) == "now 6 [True, True, True, True, True]"


def a_prediction_is_taken_and_its_twin_hidden(notebook: Notebook) -> None:
    """Keys choose and commit; Python hears the answer; the folded Markdown stays for paper."""
    page = notebook.page
    notebook.run(3)
    root = page.locator(".g2h-predict")
    expect(root).to_have_count(1, timeout=60_000)
    before = notebook.active()
    root.get_by_role("radio").first.focus()
    for key in ("Space", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(root.locator(".g2h-verdict")).to_have_text("Correct.")
    assert notebook.active() == before
    expect(page.locator(".g2h-twin")).to_have_count(1)
    expect(page.locator(".g2h-twin")).to_be_hidden()
    assert notebook.run(4) == "answers [1]"


ACTIVE = """() => {
  const cells = [...document.querySelectorAll(".jp-Notebook .jp-Cell")];
  const active = cells.findIndex((cell) => cell.classList.contains("jp-mod-active"));
  const mode = document.querySelector(".jp-Notebook").classList.contains("jp-mod-editMode");
  return `cell ${active} of ${cells.length}, ${mode ? "edit" : "command"} mode`;
}"""
