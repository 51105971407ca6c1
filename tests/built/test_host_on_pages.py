"""Pages with views load the host and no other widget manager; another widget fails the build."""

import json
import sys
from pathlib import Path

import pytest
from sphinx.errors import ExtensionError

from gates2heads.browser.host.script import host_script
from tools.book.site_check import pages

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))

from local_assets import check_widgets  # noqa: E402

pytestmark = pytest.mark.book
VIEW = '<script type="application/vnd.jupyter.widget-view+json">{"model_id": "1"}</script>'


def test_only_pages_with_views_load_the_host_and_it_comes_first(site):
    live = 0
    for page in pages(site):
        text = page.read_text(encoding="utf-8")
        has_views = "jupyter.widget-view+json" in text
        host = text.find("_static/host.js")
        assert (host > 0) == has_views, page
        if has_views:
            deferred = text.find("<script defer")
            assert deferred < host < text.find("</script>", deferred), page
        live += has_views
    assert live >= 14
    assert (site / "_static" / "host.js").read_text(encoding="utf-8") == host_script()


def test_the_site_holds_no_other_widget_manager(site):
    assert {path.name for path in (site / "vendor").iterdir() if path.is_dir()} == {
        "katex",
        "minisearch",
    }
    assert not list(site.rglob("embed-amd*"))


def test_a_page_that_shows_another_widget_is_refused_by_name():
    slider = {"model_module": "@jupyter-widgets/controls", "model_name": "IntSliderModel"}
    view = {"model_module": "anywidget", "model_name": "AnyModel"}
    check_widgets("chapters/x", json.dumps({"state": {"1": view, "2": slider}}), VIEW)
    message = "^chapters/x must show views made with anywidget only, got IntSliderModel.$"
    with pytest.raises(ExtensionError, match=message):
        check_widgets("chapters/x", json.dumps({"state": {"1": slider}}), VIEW)
