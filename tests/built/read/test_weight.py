"""What a first visit to a page, read to its end, costs, compressed; every page has a limit.

`--store-weights FILE` also writes the table to a file.
"""

import datetime
import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests import hangs
from tests.scrolling import TO_THE_END
from tools.book.site_check import pages

pytestmark = [pytest.mark.book, pytest.mark.browser]
LIMIT = 600_000
KINDS = {
    "host.js": "host of views",
    "katex": "maths",
    "fontawesome": "icons",
    "vendor": "other libraries",
    "_images": "pictures",
    "_static": "theme",
    "searchindex": "search index",
}
ALL_KINDS = ["the page itself", *KINDS.values()]


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
    page.evaluate(TO_THE_END)
    page.wait_for_load_state("networkidle")
    weights = Counter()
    for address, response in list(responses.items()):
        if not address.startswith(("blob:", "data:")) and response.ok:
            weights[kind_of(address)] += compressed(response.body())
    context.close()
    return weights


def store(table, path):
    """Write the table to a file, in kB."""
    rows = [
        {
            "page": name,
            "views": live,
            "total": round(weights.total() / 1e3, 1),
            **{kind: round(weights[kind] / 1e3, 1) for kind in ALL_KINDS},
        }
        for name, (live, weights) in table.items()
    ]
    told = {
        "unit": "kB after gzip -9, on a first visit that scrolls to the end",
        "date": datetime.date.today().isoformat(),
        "rows": rows,
    }
    Path(path).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def test_pages_stay_under_their_limit(chromium, site, address, request):
    table = {}
    for path in pages(site):
        name = path.relative_to(site).as_posix()
        if name.startswith("chapters/"):
            live = "jupyter.widget-state+json" in path.read_text(encoding="utf-8")
            table[name] = (live, weigh(chromium, address + name))
    print("\nkB compressed (gzip -9) on a first visit")
    print(f"{'':42}{'total':>7}  " + "  ".join(ALL_KINDS))
    for name, (live, weights) in table.items():
        cells = "  ".join(f"{weights[kind] / 1e3:{len(kind)}.0f}" for kind in ALL_KINDS)
        print(f"{name + (' *' if live else ''):42}{weights.total() / 1e3:7.0f}  {cells}")
    print("* has views")
    if file := request.config.getoption("--store-weights"):
        store(table, file)
    assert any(live for live, _ in table.values())
    totals = {name: weights.total() for name, (_, weights) in table.items()}
    assert {name: total for name, total in totals.items() if total > LIMIT} == {}
    # A page without views must not pay for their host, and no page for a widget manager.
    assert all(bool(weights["host of views"]) == live for live, weights in table.values())
    assert not any(weights["other libraries"] for _, weights in table.values())
