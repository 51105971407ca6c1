"""Every page, scrolled to its end: nothing jumps, and nothing is cut off without a sign."""

import pytest

from tests import hangs
from tests.scrolling import TO_THE_END
from tools.book.site_check import pages

pytestmark = [pytest.mark.book, pytest.mark.browser]
GOOD = 0.1  # web.dev: a page is good up to here, and poor from 0.25
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) shifts.push(shift.value);
}).observe({ type: "layout-shift", buffered: true });
"""
# A letter of a picture outside its frame is not drawn; a table wider than its box is read to its
# end only by somebody who sees that the box scrolls: by a shadow that stays while the table moves.
CUT_OFF = """() => {
  const drawn = (node) => {
    const { width, height } = node.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(node).visibility === "visible";
  };
  const named = (node) => node.textContent.trim().replace(/\\s+/g, " ").slice(0, 40);
  const letters = [...document.querySelectorAll("svg text")].filter((text) => {
    let frame = text.ownerSVGElement;
    while (frame?.ownerSVGElement) frame = frame.ownerSVGElement;
    if (!frame || !drawn(text) || getComputedStyle(frame).overflow === "visible") return false;
    const [a, b] = [text, frame].map((node) => node.getBoundingClientRect());
    const sideways = a.left < b.left - 1 || a.right > b.right + 1;
    return sideways || a.top < b.top - 1 || a.bottom > b.bottom + 1;
  });
  const tables = [...document.querySelectorAll("table")].filter((table) => {
    if (!drawn(table)) return false;
    const { left, right } = table.getBoundingClientRect();
    for (let box = table.parentElement; box; box = box.parentElement) {
      const edge = box.getBoundingClientRect();
      if (right <= edge.right + 1 && left >= edge.left - 1) continue;
      const { overflowX, backgroundAttachment } = getComputedStyle(box);
      return !(/auto|scroll/.test(overflowX) && /local.*scroll/.test(backgroundAttachment));
    }
    return false;
  });
  const found = { picture: letters, table: tables };
  return Object.entries(found).flatMap(([kind, all]) => all.map((one) => `${kind}: ${named(one)}`));
}"""
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


def read(chromium, url, size):
    """Open a page and scroll it to its end: how far its parts jumped, and what is cut off."""
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
    page.evaluate(UNFOLD)
    cut_off = page.evaluate(CUT_OFF)
    context.close()
    return total, cut_off


@pytest.fixture(scope="module", params=SIZES)
def reading(request, chromium, site, address):
    """The window's name, and what a reader of each page met."""
    names = [path.relative_to(site).as_posix() for path in pages(site)]
    return request.param, {n: read(chromium, address + n, SIZES[request.param]) for n in names}


def page_with(tmp_path, body):
    (tmp_path / "a.html").write_text(f"<!doctype html><meta charset=utf-8>{body}")
    return (tmp_path / "a.html").as_uri()


def test_the_watch_sees_a_jump(chromium, tmp_path):
    grow = "document.querySelector('#a').style.height = '300px'"
    url = page_with(
        tmp_path,
        "<p id=a>a</p><p style='height: 400px'>b</p>"
        f"<script>setTimeout(() => {{ {grow} }}, 300)</script>",
    )
    assert read(chromium, url, (390, 844))[0] > GOOD


TEXT = "<svg width=80 height=40 style='font: 10px monospace'><text x={x} y=20>abcde</text></svg>"
TABLE = (
    "<details><summary>a</summary>"
    "<div style='width: 100px; overflow-x: {scrolls}; background: {sign}'>"
    "<table style='width: {width}px'><tr><td>a table</table></div></details>"
)
SIGN = "linear-gradient(red, red) local, linear-gradient(red, red) scroll"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (TEXT.format(x=20), []),
        (TEXT.format(x=-10), ["picture: abcde"]),
        (TEXT.format(x=60), ["picture: abcde"]),
        (TABLE.format(width=90, scrolls="auto", sign="none"), []),
        (TABLE.format(width=300, scrolls="auto", sign="none"), ["table: a table"]),
        (TABLE.format(width=300, scrolls="hidden", sign=SIGN), ["table: a table"]),
        (TABLE.format(width=300, scrolls="auto", sign=SIGN), []),
    ],
)
def test_the_watch_sees_what_is_cut_off(chromium, tmp_path, body, found):
    assert read(chromium, page_with(tmp_path, body), (390, 844))[1] == found


def test_no_page_jumps(reading):
    window, pages_read = reading
    found = {name: round(shift, 3) for name, (shift, _) in pages_read.items()}
    print(f"\nlayout shift, {window}: " + ", ".join(f"{name} {v}" for name, v in found.items()))
    assert {name: value for name, value in found.items() if value > GOOD} == {}


def test_nothing_is_cut_off_without_a_sign(reading):
    _, pages_read = reading
    assert {name: cut for name, (_, cut) in pages_read.items() if cut} == {}
