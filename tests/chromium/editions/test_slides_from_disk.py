"""Slides from disk: nothing overflows, views run, keys turn the pages, no solution is on them."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from tests.chromium.sites import ROOT
from tools.slides import slides
from tools.slides.slide_parts import plain, tidy
from tools.teaching.without_solutions import chapters, found_in, open_code, secrets

pytestmark = [pytest.mark.browser, pytest.mark.book]
NAMES = sorted(path.stem for path in slides.PLANS.glob("*.yml"))
each_chapter = pytest.mark.parametrize("name", NAMES)
SIZE = {"width": 1280, "height": 720}
# What is larger than its box, of the slide that is shown; a view scrolls in its own.
OVERFULL = """() => {
  const slide = document.querySelector(".slide.current");
  const boxes = [".body", ".math", ".highlight pre", "table", "figure", ".caption", ".say"]
    .flatMap((name) => [...slide.querySelectorAll(name)])
    .filter((box) => !box.closest(".view"));
  const inside = slide.querySelector(".body").getBoundingClientRect();
  return [slide, ...boxes].filter((box) => {
    const place = box.getBoundingClientRect();
    return (
      box.matches(".body") && box.scrollHeight > box.clientHeight + 2 ||
      box.scrollWidth > box.clientWidth + 2 ||
      box !== slide && (place.bottom > inside.bottom + 2 || place.right > inside.right + 2)
    );
  }).map((box) => box.outerHTML.slice(0, 80));
}"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a lecture") / "slides"
    slides.write(NAMES, folder)
    return folder


@pytest.fixture
def open_deck(decks, open_page):
    def opened(name, **options):
        page = open_page(decks.as_uri() + "/", f"{name}.html", **({"viewport": SIZE} | options))
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    return opened


@each_chapter
def test_no_slide_is_too_full(open_deck, name):
    page = open_deck(name)
    count = page.locator(".slide").count()
    for number in range(1, count + 1):
        expect(page.locator(".slide.current")).to_have_id(f"slide-{number}")
        assert page.evaluate(OVERFULL) == [], number
        page.keyboard.press("PageDown")


@each_chapter
def test_no_slide_has_more_than_forty_words(name):
    page = slides.Page(slides.BOOK / "chapters" / f"{name}.html")
    for slide in slides.slides_of(page, slides.plan_of(name)):
        limit = slides.ASKED if slide.kind == "question" else slides.WORDS
        assert slide.words <= limit, [tidy(plain(one)) for one in slide.say]


@each_chapter
def test_every_view_is_shown_and_its_model_is_there(open_deck, decks, name):
    page = open_deck(name)
    views = page.locator(".g2h-widget")
    assert views.count() == page.locator("[data-kind=view]").count() > 0
    for view in views.all():
        expect(view.locator(".g2h-view")).to_have_count(1)
    built = slides.Page(slides.BOOK / "chapters" / f"{name}.html")
    for view in slides.views_of(slides.slides_of(built, slides.plan_of(name))):
        for file in built.files_of(view):
            assert (decks / "live" / file).is_file()


def test_a_view_on_a_slide_runs_its_model(open_deck):
    page = open_deck("05_attention")
    page.keyboard.press("ArrowRight")
    view = page.locator(".slide.current .g2h-view")
    view.get_by_label("Type a date").fill("Apr 5, 1999 | Mar 3, 1974")
    expect(view).to_contain_text("1999-04-05 1974-03-03")


@each_chapter
def test_links_lead_to_sections_of_the_built_page(open_deck, name):
    page = open_deck(name)
    built = (slides.BOOK / "chapters" / f"{name}.html").read_text(encoding="utf-8")
    for link in page.locator("footer a").all():
        path, _, anchor = link.get_attribute("href").partition("#")
        assert path == f"../html/chapters/{name}.html"
        assert f'id="{anchor}"' in built


def test_keys_and_buttons_turn_the_pages_but_not_while_a_view_has_the_focus(open_deck):
    page = open_deck("05_attention")
    current = page.locator(".slide.current")
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="→")).to_be_disabled()
    page.keyboard.press("Home")
    page.get_by_role("button", name="→").click()
    expect(current).to_have_id("slide-2")
    expect(page).to_have_url(re.compile("#2$"))
    current.locator("input[type=range]").first.press("ArrowRight")
    expect(current).to_have_id("slide-2")
    page.keyboard.press("PageDown")
    expect(current).to_have_id("slide-3")


def test_the_notes_follow_the_slides_in_a_window_of_their_own(open_deck):
    page = open_deck("08_decoding")
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes = opened.value
    expect(notes.locator("h1")).to_have_text("1. Decoding")
    page.keyboard.press("PageDown")
    expect(notes.locator("h1")).to_contain_text("2. ")
    expect(notes.locator("body")).to_contain_text("Type a German caption")


@each_chapter
def test_no_slide_and_no_note_has_a_line_of_a_solution(decks, name):
    whole = {path: nbformat.read(path, as_version=4) for path in chapters()}
    lines = secrets(whole[ROOT / "chapters" / f"{name}.ipynb"], open_code(whole.values()))
    text = (decks / f"{name}.html").read_text(encoding="utf-8")
    assert found_in(text, set().union(*lines.values())) == []
