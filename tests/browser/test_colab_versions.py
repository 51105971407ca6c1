"""The views made by Colab's widget versions, drawn by those versions' own scripts."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, served
from playwright.sync_api import expect
from saved_widgets import shown_views
from widget_drivers import check_contrast, drive, ready_views
from widget_page import write_page

pytestmark = pytest.mark.browser
HERE = Path(__file__).parent
VERSIONS = {"ipywidgets": "7.7.1", "anywidget": "0.9.21"}
PROBE = """
import importlib.metadata, json, pathlib, anywidget
found = {name: importlib.metadata.version(name) for name in ("ipywidgets", "anywidget")}
script = pathlib.Path(anywidget.__file__).parent / "nbextension"
print(json.dumps({"versions": found, "anywidget": str(script)}))
"""


@pytest.fixture(scope="module")
def colab(tmp_path_factory, libraries) -> tuple[Path, list]:
    """Make the sample widgets with Colab's Python, and a page with that anywidget's script."""
    python = os.environ.get("G2H_COLAB_PYTHON") or ROOT / ".venv-colab" / "bin" / "python"
    if not Path(python).exists():
        pytest.skip("no environment with Colab's versions: set G2H_COLAB_PYTHON or run make test")
    found = json.loads(subprocess.check_output([python, "-c", PROBE], text=True))
    assert found["versions"] == VERSIONS
    folder = tmp_path_factory.mktemp("colab")
    search = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": search}
    state = folder / "state.json"
    samples = [python, HERE / "widget_samples.py", state]
    subprocess.run(samples, env=environment, check=True)
    saved = json.loads(state.read_text(encoding="utf-8"))
    write_page(folder / "site", saved, libraries | {"anywidget": Path(found["anywidget"])})
    return folder / "site", shown_views(saved["state"], saved["shown"])


def test_every_control_shows_pythons_numbers(colab, open_page):
    folder, views = colab
    assert views[0].traits["_model_module_version"] == "~0.9.*"
    with served(folder, "http") as site:
        drive(open_page(site), views)


def test_themes_change_colours_and_stay_readable(colab, open_page):
    folder, views = colab
    with served(folder, "http") as site:
        page = open_page(site)
        check_contrast(page, ready_views(page, views))


def test_linked_slider_moves_the_frames(colab, open_page):
    folder, views = colab
    with served(folder, "http") as site:
        page = open_page(site)
        frames = ready_views(page, views)[-1].locator(".g2h-frame")
        readout = page.locator(".widget-readout")
        readout.fill("4")
        readout.press("Enter")
        expect(frames).to_have_attribute("data-index", "4")
