"""The models that notebooks name are the models that the build puts beside the pages."""

import json

import pytest

from gates2heads.browser.live.models import live_files
from tests.built.test_notebooks import NOTEBOOKS, ROOT

STATE = "application/vnd.jupyter.widget-state+json"


def asked_for(notebook) -> set[str]:
    """The files that a notebook's views will load."""
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    models = metadata.get("widgets", {}).get(STATE, {}).get("state", {}).values()
    named = [one for model in models for one in model["state"].get("live", [])]
    return {f"{one['name']}-{one['hash']}.js" for one in named}


@pytest.mark.slow
def test_every_notebooks_models_are_made_by_the_build():
    wanted = {path.stem: asked_for(path) for path in NOTEBOOKS}
    assert any(wanted.values())
    made = set(live_files())
    assert {name: files - made for name, files in wanted.items() if files - made} == {}


@pytest.mark.book
def test_the_built_book_has_them_and_nothing_else():
    there = {path.name: path.read_text() for path in (ROOT / "_build/html/live").glob("*.js")}
    assert there == live_files()


@pytest.mark.book
def test_pages_name_the_engine_that_lies_beside_them():
    (engine,) = (path.name for path in (ROOT / "_build/html/live").glob("engine-*.js"))
    pages = [path for path in (ROOT / "_build/html/chapters").rglob("*.html")]
    live = [page for page in pages if "widget-state+json" in page.read_text(encoding="utf-8")]
    assert live
    for page in live:
        assert f'window.gates2heads_engine = "{engine}"' in page.read_text(encoding="utf-8")
