"""Models load on a click or a keystroke only, and large ones when the reader has agreed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.live.models import bytes_to_load, live_model
from tests.chromium.live.scripts import STORED
from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone
from tests.chromium.views.translate.driver import OWN, Translator, asked, opened, python_writes
from tests.chromium.views.translate.samples import EXAMPLES

pytestmark = pytest.mark.browser
LIVE = re.compile(r"/live/(\w+)-[0-9a-f]+\.js$")
SIZE = re.compile(
    r"^The (model runs|\w+ models run) in your browser "
    r"and must be downloaded first \((\d+\.\d) MB\)\.$"
)
OLD_TEXT = "The dimmed result below belongs to the previous text."
SAVES_DATA = """Object.defineProperty(navigator, "connection", {
  get: () => ({ saveData: true }), configurable: true });"""
NO_STORAGE = """Object.defineProperty(window, "sessionStorage", {
  get: () => { throw new DOMException("not allowed", "SecurityError"); } });"""


@dataclass
class Visit:
    """A page with one view, and the files of models that it asked for."""

    page: Page
    root: Locator
    fetched: list[str]

    def __post_init__(self):
        self.field = self.root.locator("textarea, input[type=text]").first
        self.chips = self.root.get_by_role("group", name="examples").locator("button")
        self.state = self.root.locator(".g2h-state")
        self.question = self.root.locator(".g2h-ask")
        self.load = self.question.get_by_role("button")


@pytest.fixture
def visit(open_page):
    """Give a function that opens a page whose reader has agreed to nothing."""

    @contextmanager
    def one(folder: Path, view: str, script: str = "", **options) -> Iterator[Visit]:
        with served(folder, "http") as site:
            page = open_page(site, "index.html", agrees=False, **options)
            fetched = []
            if script:
                page.add_init_script(script)
                page.reload()
            page.on("request", lambda request: note(request.url, fetched))
            root = page.locator(view)
            expect(root).to_have_attribute("data-state", "recorded")
            yield Visit(page, root, fetched)

    return one


def note(url: str, fetched: list[str]) -> None:
    found = LIVE.search(url)
    if found:
        fetched.append(found[1])


@pytest.fixture
def large(live, visit):
    """The visit of a translator: 8.8 MB."""
    with visit(live[0], ".g2h-translate") as one:
        yield one


@pytest.fixture
def small(sample_page, visit):
    """The visit of a gate explorer: 0.1 MB."""
    folder, _ = sample_page("views/gate_explorer/samples.py")
    with visit(folder, ".g2h-gate-explorer") as one:
        yield one


def test_what_is_no_use_of_a_view_loads_nothing(small):
    """Pointing, the wheel, a drag over text, the tab key, keys that scroll, and a click on text."""
    small.page.evaluate("document.body.style.paddingBottom = '3000px'")
    for control in small.root.locator("input, button, select, textarea").all():
        if control.is_visible():
            control.hover(force=True)
    small.page.mouse.wheel(0, 600)
    small.page.mouse.wheel(0, -600)
    for _ in range(20):
        small.page.keyboard.press("Tab")
    small.root.locator(".g2h-hint").click()
    small.state.click()
    for key in ("PageDown", "Home", "Shift", "Control", "Escape"):
        small.page.keyboard.press(key)
    small.page.wait_for_timeout(300)
    assert small.fetched == []
    expect(small.state).to_contain_text(STORED)
    expect(small.question).to_have_count(0)


def test_a_click_in_the_field_loads_a_small_model_at_once(small):
    small.field.click()
    expect(small.root).to_have_attribute("data-state", "ready")
    assert sorted(small.fetched) == ["engine", "gates_lstm"]
    expect(small.question).to_have_count(0)
    expect(small.state).to_contain_text("This result was computed in advance. Ready.")


def test_typing_loads_a_small_model_at_once(small):
    small.field.focus()
    small.page.wait_for_timeout(200)
    assert small.fetched == []  # focus alone loads nothing
    small.page.keyboard.type("def f(x):")
    expect(small.root).to_have_attribute("data-state", "done")
    assert sorted(small.fetched) == ["engine", "gates_lstm"]


def test_a_field_emptied_while_the_model_comes_stays_empty(small):
    """The model's file is held back until the field is empty."""
    held = []

    def hold(route):
        held.append(route)

    small.page.route("**/live/gates_lstm-*", hold)
    small.field.click()
    small.page.keyboard.type("def f(x):")
    expect(small.root).to_have_attribute("data-state", "reading")
    small.field.fill("")
    expect(small.root).to_have_attribute("data-state", "empty")
    for route in held:
        route.continue_()
    small.page.unroute("**/live/gates_lstm-*")
    expect(small.state).to_contain_text("Ready.")
    expect(small.root).to_have_attribute("data-state", "empty")
    small.field.fill("def f(x):")
    expect(small.root).to_have_attribute("data-state", "done")


def test_a_large_model_is_asked_for_and_what_was_typed_is_answered(large):
    large.field.focus()
    large.page.keyboard.press("Control+A")
    large.page.keyboard.type(OWN)
    expect(large.root).to_have_attribute("data-state", "asking")
    (told,) = large.question.locator("span").all_inner_texts()
    assert SIZE.fullmatch(told)[2] == f"{bytes_to_load(live_model('translator')) / 1e6:.1f}"
    expect(large.load).to_have_text("Load the model")
    expect(large.load).to_have_class("g2h-main")
    expect(large.field).to_be_focused()  # the question takes no key from who types
    large.page.wait_for_timeout(400)
    assert large.fetched == []
    large.load.click()
    view = Translator(large.page, large.root)
    view.settled(OWN)
    view.check(OWN)
    expect(large.question).to_have_count(0)
    assert sorted(large.fetched) == ["engine", "translator"]


def test_a_moved_slider_is_not_said_to_be_answered(large):
    large.root.locator("input[type=range]").fill("4")
    expect(large.root).to_have_attribute("data-state", "asking")
    expect(large.state).to_have_text("")
    watch = large.root.locator(".g2h-watch")
    expect(watch).to_have_text("The dimmed result below belongs to the previous beam width.")
    large.root.locator("input[type=range]").fill("1")  # back to what is stored
    expect(large.question).to_have_count(0)
    expect(large.state).to_contain_text(STORED)
    expect(watch).to_have_text("Point at a word.")


def test_the_size_is_that_of_the_files(large):
    large.chips.nth(1).click()
    told = float(SIZE.fullmatch(large.question.locator("span").inner_text())[2])
    bodies = []
    large.page.on("response", lambda one: LIVE.search(one.url) and bodies.append(one))
    large.load.click()
    expect(large.root).to_have_attribute("data-state", "done")
    assert len(bodies) == 2
    assert sum(len(one.body()) for one in bodies) / 1e6 == pytest.approx(told, abs=0.06)


def test_who_does_not_agree_keeps_the_stored_result_and_the_text(large):
    words = Translator(large.page, large.root).words("target")
    large.field.fill(OWN)
    for text in ("Ein", "Ein Hund", OWN):
        large.field.fill(text)
        large.page.wait_for_timeout(250)
    expect(large.question).to_have_count(1)
    expect(large.state).to_have_text("")
    expect(large.root.locator(".g2h-watch")).to_have_text(OLD_TEXT)
    expect(large.field).to_have_value(OWN)
    assert Translator(large.page, large.root).words("target") == words
    large.field.fill("x" * 5000)  # refused, before any model is there
    expect(large.root).to_have_attribute("data-state", "refused")
    expect(large.state).to_have_text("")
    expect(large.root.locator(".g2h-watch")).to_have_text(OLD_TEXT)
    assert large.fetched == []


def test_the_keyboard_agrees_and_the_focus_stays_in_the_view(large):
    large.chips.nth(1).focus()
    large.page.keyboard.press("Enter")
    large.load.focus()
    large.page.keyboard.press("Enter")
    expect(large.state).to_be_focused()
    Translator(large.page, large.root).settled("Zwei Kinder bauen am Strand eine Burg aus Sand.")


def test_consent_is_remembered_until_the_tab_is_closed(large):
    large.field.fill(OWN)
    large.load.click()
    expect(large.root).to_have_attribute("data-state", "done")
    large.page.reload()
    expect(large.root).to_have_attribute("data-state", "recorded")
    large.fetched.clear()
    large.field.fill(OWN)
    expect(large.root).to_have_attribute("data-state", "done")
    assert "translator" in large.fetched
    large.page.add_init_script("sessionStorage.clear()")
    large.page.reload()
    large.field.fill(OWN)
    expect(large.question).to_have_count(1)


@pytest.mark.parametrize("stored", ["{", '"x"', "[1, null]"])
def test_a_damaged_memory_is_none(large, stored):
    large.page.evaluate("text => sessionStorage.setItem('gates2heads.agreed', text)", stored)
    large.field.fill(OWN)
    expect(large.question).to_have_count(1)
    large.load.click()
    expect(large.root).to_have_attribute("data-state", "done")


def test_without_storage_each_page_asks(live, visit):
    with visit(live[0], ".g2h-translate", NO_STORAGE) as one:
        one.field.fill(OWN)
        one.load.click()
        expect(one.root).to_have_attribute("data-state", "done")
        one.page.reload()
        one.field.fill(OWN)
        expect(one.question).to_have_count(1)


def test_who_saves_data_is_asked_before_any_model(sample_page, visit):
    folder, _ = sample_page("views/gate_explorer/samples.py")
    with visit(folder, ".g2h-gate-explorer", SAVES_DATA) as one:
        one.field.fill("def f(x):")
        expect(one.question).to_contain_text("and must be downloaded first (0.3 MB).")
        assert one.fetched == []
        one.load.click()
        expect(one.root).to_have_attribute("data-state", "done")
        assert sorted(one.fetched) == ["engine", "gates_lstm"]


def test_a_load_that_failed_is_tried_again_by_the_next_click(live, chromium):
    with served(live[0], "http") as site:
        context = chromium.new_context()
        page = context.new_page()
        page.route("**/live/translator-*", lambda route: route.abort())
        page.goto(site + "index.html")
        view = Translator(page, page.locator(".g2h-translate"))
        view.examples.nth(1).click()
        page.locator(".g2h-ask button").click()
        expect(view.root).to_have_attribute("data-state", "fault")
        expect(view.state).to_contain_text("The view still shows the stored result.")
        page.unroute("**/live/translator-*")
        view.examples.nth(1).click()
        view.settled("Zwei Kinder bauen am Strand eine Burg aus Sand.")
        expect(page.locator(".g2h-ask")).to_have_count(0)  # it was agreed to
        context.close()


def test_from_disk_nothing_is_asked(live, open_page):
    with served(live[0], "file") as site:
        view = opened(open_page, site, agrees=False)
        asked(view, OWN)
        expect(view.root.locator(".g2h-ask")).to_have_count(0)


def test_english_asks_once_for_both_models(large):
    large.root.locator(".g2h-english summary").click()
    english = large.root.get_by_role("textbox", name="English", exact=True)
    english.fill("A man is playing the guitar.")
    expect(large.question).to_have_count(0)
    large.root.get_by_role("button", name="Translate into German").click()
    expect(large.question).to_contain_text("The models run in your browser")
    both = bytes_to_load(live_model("translator"), live_model("translator_to_german")) / 1e6
    expect(large.question).to_contain_text(f"must be downloaded first ({both:.1f} MB).")
    assert large.fetched == []
    large.load.click()
    expect(large.root).to_have_attribute("data-state", "done")
    expect(large.question).to_have_count(0)
    expect(large.root.locator(".g2h-english")).to_have_attribute("data-english", re.compile("man"))


def test_the_question_fits_a_phone_and_both_themes(live, visit):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    with visit(live[0], ".g2h-translate", **phone) as one:
        one.chips.nth(1).tap()
        expect(one.load).to_be_in_viewport()
        check_phone(one.page, [one.root])
        check_contrast(one.page, [one.root])
        one.root.locator("input[type=range]").fill("3")  # far below the examples
        expect(one.load).to_be_in_viewport()


# ---- a view with a choice of models


@pytest.fixture
def tables(sample_page, visit):
    """The visit of an embedding map: four tables, 1.2 to 1.4 MB each."""
    folder, _ = sample_page("views/embedding_map/samples.py")
    with visit(folder, ".g2h-embedding-map") as one:
        yield one


def asks_for(visit: Visit, model: str) -> None:
    """The question is about this model alone."""
    size = f"{bytes_to_load(live_model(model)) / 1e6:.1f}"
    told = f"The model runs in your browser and must be downloaded first ({size} MB)."
    expect(visit.question.locator("span")).to_have_text(told)


def test_a_model_that_is_no_longer_selected_is_not_asked_for(tables):
    """A loaded model answers, although another one was selected in between and not loaded."""
    model = tables.root.locator("select")
    tables.field.fill("guitar")
    asks_for(tables, "words_skip_gram")
    tables.load.click()
    expect(tables.root).to_have_attribute("data-state", "done")
    model.select_option(index=1)
    expect(tables.question).to_contain_text("The model runs in your browser")
    model.select_option(index=0)
    expect(tables.question).to_have_count(0)
    expect(tables.root).to_have_attribute("data-state", "done")
    tables.field.fill("piano")
    expect(tables.root).to_have_attribute("data-question", re.compile("piano"))
    expect(tables.question).to_have_count(0)
    assert sorted(tables.fetched) == ["engine", "words_skip_gram"]


def test_back_at_the_stored_result_nothing_is_asked(tables):
    model = tables.root.locator("select")
    model.select_option(index=1)
    asks_for(tables, "words_cbow")
    expect(tables.root).to_have_attribute("data-stale", "")
    model.select_option(index=2)
    asks_for(tables, "words_glove")
    model.select_option(index=0)
    expect(tables.question).to_have_count(0)
    expect(tables.root).to_have_attribute("data-state", "recorded")
    expect(tables.root).not_to_have_attribute("data-stale", "")
    expect(tables.state).to_contain_text(STORED)
    tables.field.fill("guitar")
    asks_for(tables, "words_skip_gram")
    tables.field.fill("dog")  # the stored example
    expect(tables.question).to_have_count(0)
    expect(tables.state).to_contain_text(STORED)
    assert tables.fetched == []


# ---- examples that are stored with the page


@pytest.fixture
def stored(sample_page, visit):
    """The visit of a translator whose examples are stored, all but the last."""
    folder, _ = sample_page("views/translate/stored_samples.py")
    with visit(folder, ".g2h-translate") as one:
        yield one


def test_a_stored_example_is_shown_at_once_and_loads_nothing(stored):
    view = Translator(stored.page, stored.root)
    for place in (1, 2, 0, 2):
        text = EXAMPLES[place].text
        stored.chips.nth(place).click()
        view.settled(text, "recorded")
        view.check_looks(view.check(text))
        expect(stored.chips.nth(place)).to_have_attribute("aria-pressed", "true")
        expect(stored.state).to_contain_text(STORED)
        expect(stored.root.locator(".g2h-watch")).to_have_text(EXAMPLES[place].watch)
        counted = stored.root.locator(".g2h-occurs-word bdi")
        expect(counted).to_have_text(re.findall(r"\w+", text))
        assert stored.root.get_attribute("data-stale") is None
    view.word("target", 1).click()  # a word is no question to the model
    view.looks.select_option(index=1)
    view.check_looks(python_writes(EXAMPLES[2].text, 1), None)
    stored.page.wait_for_timeout(300)
    expect(stored.question).to_have_count(0)
    assert stored.fetched == []


def test_typed_text_asks_and_a_stored_example_takes_the_question_away(stored):
    view = Translator(stored.page, stored.root)
    stored.field.fill(OWN)
    expect(stored.question).to_have_count(1)
    expect(stored.root.locator(".g2h-watch")).to_have_text(OLD_TEXT)
    stored.chips.nth(1).click()
    expect(stored.question).to_have_count(0)
    view.settled(EXAMPLES[1].text, "recorded")
    stored.chips.nth(3).click()  # this one is not stored
    expect(stored.question).to_have_count(1)
    assert stored.fetched == []
    stored.load.click()
    view.settled(EXAMPLES[3].text)
    view.check(EXAMPLES[3].text)
    stored.chips.nth(2).click()
    view.settled(EXAMPLES[2].text, "recorded")
    view.check(EXAMPLES[2].text)


def test_the_live_model_outputs_what_is_stored(live, open_page):
    """The sample of `live` stores its first example alone, so that the page computes the others."""
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        for example in EXAMPLES[1:3]:
            view.examples.nth(EXAMPLES.index(example)).click()
            view.settled(example.text)
            view.check_looks(view.check(example.text))
