"""Each page in a browser, over http and from the file system: silent, complete, and at home."""

import pytest

from tests import hangs
from tools.book.site_check import pages

pytestmark = [pytest.mark.book, pytest.mark.browser]

SETTLED = """async () => {
  const views = document.querySelectorAll(
    'script[type="application/vnd.jupyter.widget-view+json"]').length;
  const deadline = Date.now() + 600000;
  while (document.querySelectorAll(".g2h-widget > *").length < views && Date.now() < deadline)
    await new Promise((done) => setTimeout(done, 50));
  await document.fonts.ready;
}"""
DRAWN = """() => ({
  maths: document.querySelectorAll(".math").length,
  typeset: [...document.querySelectorAll(".math .katex")]
    .filter((formula) => formula.querySelector(".katex-html").getBoundingClientRect().width > 0
      && formula.querySelector("math annotation").textContent.trim()).length,
  wrong: document.querySelectorAll(".katex-error").length,
  tags: document.querySelectorAll(".katex-display .katex-tag").length,
  overlaid: [...document.querySelectorAll(".katex-display .katex-tag")].filter((tag) =>
    tag.previousElementSibling.getBoundingClientRect().right > tag.getBoundingClientRect().left + 1
  ).length,
  views: document.querySelectorAll(
    'script[type="application/vnd.jupyter.widget-view+json"]').length,
  widgets: document.querySelectorAll(".g2h-widget > *").length,
  empty: [...document.querySelectorAll(".g2h-widget > *")]
    .filter((view) => view.getBoundingClientRect().height < 8).length,
})"""


def visit(chromium, url, home, *, size=(1280, 900), scheme="light"):
    """Open a page; give it, and all that it should not have done."""
    context = chromium.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
    )
    context.set_default_timeout(hangs.PAGE)
    page = context.new_page()
    noise = []

    def note_request(request):
        if not request.url.startswith((home, "data:", "blob:")):
            noise.append(f"request to {request.url}")

    def note_console(message):
        if message.type == "error":
            noise.append(f"console: {message.text}")

    page.on("request", note_request)
    page.on("console", note_console)
    page.on("pageerror", lambda error: noise.append(f"page error: {error}"))
    page.on("requestfailed", lambda request: noise.append(f"failed: {request.url}"))
    page.goto(url)
    page.wait_for_load_state("load")
    page.evaluate(SETTLED)
    page.wait_for_timeout(200)
    return page, noise


@pytest.fixture(scope="module", params=["http", "file"])
def home(request, site):
    """Where the book is read from."""
    if request.param == "file":
        return f"{site.as_uri()}/"
    return request.getfixturevalue("address")


@pytest.fixture(scope="module")
def visited(chromium, site, home):
    """What each page did that it should not have done, and what is drawn on it."""
    seen = {}
    for path in pages(site):
        page, noise = visit(chromium, home + path.relative_to(site).as_posix(), home)
        drawn = page.evaluate(DRAWN)
        page.context.close()
        seen[path] = noise, drawn
    return seen


def test_pages_ask_for_nothing_from_outside_and_report_no_error(visited):
    assert {path: noise for path, (noise, _) in visited.items() if noise} == {}


def test_the_books_own_address_shows_the_first_page(chromium, home):
    context = chromium.new_context()
    context.set_default_timeout(hangs.PAGE)
    page = context.new_page()
    page.goto(f"{home}index.html")
    page.get_by_role("link", name="5 · Attention").first.click()
    page.wait_for_url(f"{home}chapters/05_attention.html")
    page.go_back()
    assert page.title() == "Gates to Heads"
    assert page.locator(".g2h-translate").count() == 1
    context.close()


def test_maths_and_widgets_are_drawn(visited, site):
    views = 0
    for path, (_, drawn) in visited.items():
        name = path.relative_to(site)
        assert drawn["typeset"] >= drawn["maths"], (name, drawn)
        assert drawn["wrong"] == drawn["overlaid"] == 0, (name, drawn)
        assert drawn["widgets"] == drawn["views"], (name, drawn)
        assert drawn["empty"] == 0, (name, drawn)
        written = path.read_text(encoding="utf-8").count(r"\tag{")
        assert (drawn["tags"] > 0) == (written > 0), (name, drawn, written)
        views += drawn["views"]
    assert views > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_takes_the_readers_theme(chromium, address, scheme):
    url = f"{address}chapters/intro.html"
    page, noise = visit(chromium, url, address, scheme=scheme)
    theme = page.evaluate("document.documentElement.dataset.theme")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.context.close()
    light = sum(int(part) for part in ground[4:-1].split(",")[:3]) > 3 * 128
    assert (theme, light, noise) == (scheme, scheme == "light", [])


def test_no_page_is_wider_than_a_phone(chromium, site, address):
    wide = {}
    for path in pages(site):
        name = path.relative_to(site).as_posix()
        page, _ = visit(chromium, address + name, address, size=(390, 844))
        over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        # A wide equation scrolls, and shows its beginning first.
        cut = page.evaluate(
            """() => [...document.querySelectorAll("div.math .katex-html")]
                 .filter((formula) => formula.getBoundingClientRect().left <
                   formula.closest("div.math").getBoundingClientRect().left - 1).length"""
        )
        page.context.close()
        if over > 0 or cut > 0:
            wide[name] = (over, cut)
    assert wide == {}


def test_the_parts_of_an_equation_are_on_one_baseline(chromium, address):
    page, _ = visit(chromium, f"{address}chapters/08_decoding.html", address)
    # An empty box of a line stands on the baseline.
    apart = page.evaluate(
        """() => [...document.querySelectorAll(".katex-display .katex-html")].map((formula) => {
             const feet = [...formula.querySelectorAll(":scope > .katex-base")].map((part) => {
               const foot = document.createElement("span");
               foot.style.display = "inline-block";
               part.append(foot);
               return foot.getBoundingClientRect().bottom;
             });
             return Math.max(...feet) - Math.min(...feet);
           })"""
    )
    page.context.close()
    assert apart
    assert max(apart) < 1


def test_search_finds_a_word_of_the_book(chromium, home):
    page, noise = visit(chromium, f"{home}search.html?q=recurrent", home)
    page.wait_for_selector("#search-results li a")
    hits = page.eval_on_selector_all("#search-results li a", "links => links.map(a => a.href)")
    page.context.close()
    assert noise == []
    assert any("chapters/" in hit for hit in hits)
    assert all(hit.startswith(home) for hit in hits)
