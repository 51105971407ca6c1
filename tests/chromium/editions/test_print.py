"""The book on paper: pages at full size, what is open and what is not, and the PDF of it all."""

import pytest
import yaml
from pypdf import PdfReader

from tests.chromium.sites import ROOT, served
from tools.book import print_book

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
CONTENTS = print_book.contents(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
PAGES = [entry.page for entry in print_book.in_order(CONTENTS)]
TWO = {"chapters/08_decoding", "chapters/08_decoding_further"}

# What is wider than the paper: a browser prints the whole page smaller for it.
TOO_WIDE = """() => {
  const paper = document.documentElement.clientWidth;
  const over = document.documentElement.scrollWidth - paper;
  if (over <= 0) return null;
  const wide = [...document.querySelectorAll(".bd-article *")]
    .filter((node) => node.getBoundingClientRect().right > paper + 1);
  return [over, ...wide.slice(0, 3).map((node) => node.outerHTML.slice(0, 120))];
}"""
# A table or a listing that is cut off at the edge of its box, which on paper does not scroll.
CUT = """() => [...document.querySelectorAll(".pst-scrollable-table-container, .bd-article pre")]
  .filter((box) => !box.closest(".g2h-view, details.solution, details.hide"))
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.textContent.trim().slice(0, 60))"""
SHOWN = """(kind) => [...document.querySelectorAll(`.bd-article details${kind}`)]
  .filter((one) => !one.closest(".g2h-view"))
  .map((one) => {
    const inside = [...one.children].filter((child) => child.tagName !== "SUMMARY");
    return inside.some((child) => child.checkVisibility() && child.getClientRects().length > 0);
  })"""


@pytest.fixture
def on_paper(chromium):
    with served(BUILT, "http") as site:
        opened = []

        def page_of(name):
            if not (BUILT / f"{name}.html").is_file():
                pytest.fail(f"{name} is missing: run make book first", pytrace=False)
            opened.append(print_book.opened(chromium, f"{site}{name}.html"))
            return opened[-1]

        yield page_of
        for page in opened:
            page.close()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_paper(name, on_paper):
    page = on_paper(name)
    assert page.evaluate(TOO_WIDE) is None
    assert page.evaluate(CUT) == []


NAMES = ["chapters/01_recurrent_gates", "chapters/08_decoding", "chapters/12_one_stack"]


@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_open_and_solutions_and_code_of_drawings_are_not(name, on_paper):
    page = on_paper(name)
    predicted, solved = page.evaluate(SHOWN, ".predict"), page.evaluate(SHOWN, ".solution")
    assert len(predicted) >= 2
    assert all(predicted)
    assert len(solved) >= 4
    assert not any(solved)
    drawn = page.evaluate(SHOWN, ".hide.above-input")
    assert len(drawn) >= 3
    assert not any(drawn)
    assert page.locator(".g2h-predict").count() >= 1
    assert not any(view.is_visible() for view in page.locator(".g2h-predict").all())
    assert page.locator(".bd-article h1").is_visible()
    assert not page.locator("#jb-print-docs-body").is_visible()


def test_a_page_that_is_too_wide_is_noticed(on_paper):
    page = on_paper("chapters/08_decoding")
    page.evaluate(
        """() => { const wide = document.createElement("p");
                   wide.style.width = "1000px";
                   wide.textContent = "wide";
                   document.querySelector(".bd-article section").append(wide); }"""
    )
    assert page.evaluate(TOO_WIDE)[0] > 300


def test_the_contents_are_those_of_the_book():
    built = {path.relative_to(BUILT).with_suffix("").as_posix() for path in BUILT.rglob("*.html")}
    pages = {page for page in built if page.startswith("chapters/")}
    assert len(PAGES) == len(set(PAGES)) > 30
    assert set(PAGES) == pages
    assert PAGES[0] == "chapters/intro"


@pytest.fixture(scope="module")
def printed(chromium, tmp_path_factory):
    file = tmp_path_factory.mktemp("print") / "book.pdf"
    return PdfReader(print_book.print_book(chromium, print_book.only(CONTENTS, TWO), file, BUILT))


def titles(items):
    return [titles(item) if isinstance(item, list) else item.title for item in items]


def test_the_outline_is_the_contents(printed):
    caption, (chapter, below) = titles(printed.outline)
    assert [caption, chapter] == ["Chapters", "8 · Decoding"]
    assert [one for one in below if isinstance(one, str)][-2:] == ["Solutions", "More on decoding"]
    assert any(str(one).startswith("8.2 ") for one in below)


def test_solutions_come_at_the_end_of_the_chapter_and_pages_have_numbers(printed):
    said = [page.extract_text() for page in printed.pages]
    for number, text in enumerate(said, start=1):
        assert text.rstrip().endswith(str(number))
        assert len(text) > 120, f"page {number} is blank"
    first, last = said[0], "".join(said)
    assert "8 · Decoding" in first
    assert last.index("8.9 Summary") < last.index("Solutions")


def test_the_letters_are_of_full_size(printed):
    sizes = []

    def note(text, matrix, place, font, size):
        if len(text.strip()) > 20:
            sizes.append(size * abs(matrix[0]) * abs(place[0]))

    printed.pages[2].extract_text(visitor_text=note)
    assert 10.5 < max(sizes, key=sizes.count) < 12  # points


def test_links_lead_into_the_file_or_to_the_web(printed):
    inside = 0
    for page in printed.pages:
        for reference in page.get("/Annots", []):
            annotation = reference.get_object()
            if "/Dest" in annotation:
                inside += annotation["/Dest"][0].get_object()["/Type"] == "/Page"
            else:
                assert annotation["/A"]["/URI"].startswith("https://")
    assert inside > 20
