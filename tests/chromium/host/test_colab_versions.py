"""The views made by Colab's widget versions, drawn by those versions' own scripts.

Samples of every view are driven control by control; the views that the chapters saved are made
again from their own numbers and drawn. The chapters themselves are not run a second time: of what
they do, these versions can change nothing but the views.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.chromium.samples.by_view import LINKED, MADE_ALONE, MADE_TOGETHER
from tests.chromium.samples.saved_views import SavedView, notebook_views
from tests.chromium.sites import ROOT, served, show
from tests.chromium.views.drivers import check_contrast, drive, ready_views
from tools.fetch_assets import COLAB_SCRIPTS

pytestmark = pytest.mark.browser
NOTEBOOKS = [path for path in sorted((ROOT / "chapters").rglob("*.ipynb")) if notebook_views(path)]
IPYWIDGETS_OWN = {"layout", "tabbable", "tooltip"}
VERSIONS = {"ipywidgets": "7.7.1", "anywidget": "0.9.21"}
PROBE = """
import importlib.metadata, json, pathlib, anywidget
found = {name: importlib.metadata.version(name) for name in ("ipywidgets", "anywidget")}
script = pathlib.Path(anywidget.__file__).parent / "nbextension"
print(json.dumps({"versions": found, "anywidget": str(script)}))
"""


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Make all views with Colab's Python; give a function that shows those of one script."""
    python = os.environ.get("G2H_COLAB_PYTHON") or ROOT / ".venv-colab" / "bin" / "python"
    if not Path(python).exists():
        pytest.skip("no environment with Colab's versions: set G2H_COLAB_PYTHON or run make test")
    if not (COLAB_SCRIPTS / "manifest.json").is_file():
        pytest.fail("run python tools/fetch_assets.py --colab first", pytrace=False)
    found = json.loads(subprocess.check_output([python, "-c", PROBE], text=True))
    assert found["versions"] == VERSIONS
    search = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": search}

    states, jobs = {}, []
    remade = [("samples/remade.py", notebook) for notebook in NOTEBOOKS]
    for script, *arguments in [
        (MADE_TOGETHER,),
        (LINKED,),
        *((one,) for one in MADE_ALONE),
        *remade,
    ]:
        state = tmp_path_factory.mktemp("colab") / "state.json"
        states[(script, *arguments)] = state
        jobs.append([script, *map(str, arguments), str(state)])
    command = [python, "-m", "tests.chromium.samples.scripts", json.dumps(jobs)]
    subprocess.run(command, env=environment, check=True)
    scripts = {name: COLAB_SCRIPTS / name for name in ("requirejs", "html-manager")}
    scripts["anywidget"] = Path(found["anywidget"])

    def page_of(script: str, *arguments: Path) -> tuple[Path, list[SavedView]]:
        # A sample brings its models; a chapter's are those of the book.
        return show(states[(script, *arguments)], scripts, live=ROOT / "_assets" / "live")

    return page_of


@pytest.fixture(scope="module")
def colab(page_of) -> tuple[Path, list[SavedView]]:
    """The page of the sample widgets that need no model."""
    return page_of(MADE_TOGETHER)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapters_views_are_made_and_drawn(notebook, page_of, open_page):
    stored = [view for view in notebook_views(notebook) if view.is_ours]
    folder, views = page_of("samples/remade.py", notebook)
    assert [view.kind for view in views] == [view.kind for view in stored]
    for view, before in zip(views, stored, strict=True):
        assert view.traits["_model_module_version"] == "~0.9.*"
        own = {name for name in before.traits if not name.startswith("_")} - IPYWIDGETS_OWN
        assert {n: view.traits[n] for n in own} == {n: before.traits[n] for n in own}
    with served(folder, "http") as site:
        ready_views(open_page(site), views)


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


def test_linked_slider_moves_the_frames_and_is_held_inside(page_of, open_page):
    folder, views = page_of(LINKED)
    with served(folder, "http") as site:
        page = open_page(site)
        (root,) = ready_views(page, views)
        frames = root.locator(".g2h-frame")
        readout = page.locator(".widget-readout")
        readout.fill("4")
        readout.press("Enter")
        expect(frames).to_have_attribute("data-index", "4")
        readout.fill("9")
        readout.press("Enter")
        expect(frames).to_have_attribute("data-index", "6")
        expect(readout).to_have_text("6")


@pytest.mark.parametrize("script", MADE_ALONE)
def test_a_model_made_by_colabs_python_runs_in_the_page(script, page_of, open_page):
    folder, views = page_of(script)
    assert [view.kind for view in views] == [MADE_ALONE[script]]
    with served(folder, "http") as site:  # as Colab serves it; files are read by other tests
        drive(open_page(site, "index.html"), views)
