"""What a first visit to a page costs, compressed; a page with widgets may cost 2 MB."""

import gzip
from collections import Counter
from functools import cache

import pytest

from tests import hangs
from tools.site_check import pages

pytestmark = [pytest.mark.book, pytest.mark.browser]
LIMIT = 2_000_000
KINDS = {
    "html-manager": "widget manager",
    "mathjax": "maths",
    "fontawesome": "icons",
    "vendor": "other libraries",
    "_images": "pictures",
    "_static": "theme",
    "searchindex": "search index",
}


@cache
def compressed(body):
    """Bytes after gzip -9; most files are those of the page before."""
    return len(gzip.compress(body, 9))


def kind_of(url):
    """Put an address under a heading of the table."""
    return next((kind for part, kind in KINDS.items() if part in url), "the page itself")


def weigh(chromium, url):
    """Visit with an empty cache; give bytes by kind, each response as gzip -9 makes it."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(hangs.PAGE)
    page = context.new_page()
    responses = {}
    page.on("response", lambda response: responses.setdefault(response.url, response))
    page.goto(url)
    page.wait_for_load_state("networkidle")
    weights = Counter()
    for address, response in list(responses.items()):
        if not address.startswith(("blob:", "data:")) and response.ok:
            weights[kind_of(address)] += compressed(response.body())
    context.close()
    return weights


def test_pages_with_widgets_stay_under_two_megabytes(chromium, site, address):
    table = {}
    for path in pages(site):
        name = path.relative_to(site).as_posix()
        if name.startswith("chapters/"):
            live = "jupyter.widget-state+json" in path.read_text(encoding="utf-8")
            table[name] = (live, weigh(chromium, address + name))
    kinds = ["the page itself", *dict.fromkeys(KINDS.values())]
    print("\nkB compressed (gzip -9) on a first visit")
    print(f"{'':42}{'total':>7}  " + "  ".join(kinds))
    for name, (live, weights) in table.items():
        cells = "  ".join(f"{weights[kind] / 1e3:{len(kind)}.0f}" for kind in kinds)
        print(f"{name + (' *' if live else ''):42}{weights.total() / 1e3:7.0f}  {cells}")
    print("* has widgets")
    assert any(live for live, _ in table.values())
    heavy = {name: weights.total() for name, (live, weights) in table.items() if live}
    assert max(heavy.values()) <= LIMIT, heavy
    # A page without widgets must not pay for their machinery.
    assert not any(weights["widget manager"] for live, weights in table.values() if not live)
