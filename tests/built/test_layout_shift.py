"""Nothing on a page jumps while it is loaded and read: layout shift as browsers measure it."""

import pytest

from tests import hangs
from tests.scrolling import TO_THE_END
from tools.site_check import pages

pytestmark = [pytest.mark.book, pytest.mark.browser]
GOOD = 0.1  # web.dev: a page is good up to here, and poor from 0.25
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) shifts.push(shift.value);
}).observe({ type: "layout-shift", buffered: true });
"""


def shift_of(chromium, url, size):
    """Open a page, scroll it to its end, and add up how far its parts jumped."""
    width, height = size
    context = chromium.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(hangs.PAGE)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.evaluate(TO_THE_END)
    page.wait_for_timeout(200)
    total = page.evaluate("shifts.reduce((sum, value) => sum + value, 0)")
    context.close()
    return total


def test_the_watch_sees_a_jump(chromium, tmp_path):
    grow = "document.querySelector('#a').style.height = '300px'"
    (tmp_path / "a.html").write_text(
        "<p id=a>a</p><p style='height: 400px'>b</p>"
        f"<script>setTimeout(() => {{ {grow} }}, 300)</script>"
    )
    assert shift_of(chromium, (tmp_path / "a.html").as_uri(), (390, 844)) > GOOD


@pytest.mark.parametrize("window", SIZES)
def test_no_page_jumps(chromium, site, address, window):
    found = {}
    for path in pages(site):
        name = path.relative_to(site).as_posix()
        found[name] = round(shift_of(chromium, address + name, SIZES[window]), 3)
    print(f"\nlayout shift, {window}: " + ", ".join(f"{name} {v}" for name, v in found.items()))
    assert {name: value for name, value in found.items() if value > GOOD} == {}
