"""English typed into every view of German: the German is Python's, and the view goes on from it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import bytes_to_load, live_model
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.translation import translate
from tests.chromium.live.scripts import AGREES
from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone

pytestmark = pytest.mark.browser
ENGLISH = "A man is playing the guitar."
OTHER = "Two dogs are running on the beach."
SECOND = """() => performance.getEntriesByType("resource")
  .filter((entry) => entry.name.includes("/live/translator_to_german-")).length"""
VIEWS = {
    "views/translate/samples.py": ".g2h-translate",
    "views/beam_laboratory/samples.py": ".g2h-beam",
    "views/head_explorer/samples.py": ".g2h-head-explorer",
    "views/model_walk/samples.py": ".g2h-model-walk",
}
LOADED_ALONE = re.compile(
    r"^A second model translates the sentence into German. It is loaded once, at the first "
    r"translation \((8\.\d) MB\)\.$"
)
PRECEDES = """(node, other) =>
  Boolean(node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING)"""
GRAVE = {"serious", "critical"}


def in_german(text: str) -> str:
    """What the second model writes in Python, searching as its card says."""
    one = shipped("translator_to_german")
    width, power, most = (one.decoding[name] for name in ("width", "length_power", "max_length"))
    (written,) = translate(
        one.model,
        [text],
        one.source,
        one.target,
        width=width,
        length_rule=Power(power),
        max_length=most,
    )
    return written


class Writer:
    """The parts of a view of German that all of them share."""

    def __init__(self, page: Page, root: Locator):
        self.page, self.root = page, root
        self.opener = root.locator(".g2h-english summary")
        self.english = root.get_by_role("textbox", name="English", exact=True)
        self.button = root.get_by_role("button", name="Translate into German")
        self.told = root.locator(".g2h-english-state")
        self.refusal = root.locator(".g2h-english .g2h-refusal")
        self.german = root.locator(".g2h-german > label").locator("input, textarea")
        self.chips = root.get_by_role("group", name="examples").locator("button")
        self.remark = root.locator(".g2h-remark")
        self.words = root.locator(".g2h-occurs-word")
        self.names = root.locator(".g2h-occurs-word bdi")
        self.about = root.locator(".g2h-occurs-told")

    def write(self, text: str) -> None:
        self.english.fill(text)
        self.button.click()
        self.written(text)

    def written(self, text: str) -> None:
        """Wait for the German of a text, and for the view's own answer to it."""
        expect(self.root.locator(".g2h-english")).to_have_attribute("data-english", text)
        expect(self.german).to_have_value(in_german(text))
        expect(self.root).to_have_attribute("data-state", "done")
        expect(self.told).to_contain_text("Translated into German in ")
        expect(self.names).to_have_text(re.findall(r"\w+", in_german(text)))

    def type(self, text: str) -> None:
        """Type German, and wait until what is seen is the answer to it."""
        self.german.fill(text)  # from here on the answer before is dimmed
        expect(self.root).not_to_have_attribute("data-stale", "")
        expect(self.root).to_have_attribute("data-state", "done")


def opened(open_page, site: str, view: str, **options) -> Writer:
    page = open_page(site, "index.html", **options)
    root = page.locator(view)
    expect(root).to_have_attribute("data-state", "recorded")
    return Writer(page, root)


@pytest.fixture
def writer(live, open_page):
    with served(live[0], "http") as site:
        yield opened(open_page, site, ".g2h-translate")


def test_a_stored_english_sentence_needs_no_model(writer):
    example, text = writer.german.input_value(), "A small dog jumps through <i>deep</i> snow."
    writer.type("Ein Mann.")
    before = writer.page.evaluate(SECOND)
    writer.opener.click()
    writer.root.get_by_role("button", name=text).click()
    expect(writer.english).to_have_value(text)
    expect(writer.german).to_have_value(example)
    expect(writer.root).to_have_attribute("data-state", "recorded")
    expect(writer.told).to_contain_text("is stored with the page")
    assert writer.page.evaluate(SECOND) == before == 0


@pytest.mark.parametrize("script", VIEWS)
def test_english_becomes_german_and_the_view_goes_on(sample_page, open_page, script):
    folder, _ = sample_page(script)
    with served(folder, "file") as site:
        view = opened(open_page, site, VIEWS[script])
        expect(view.words.first).to_be_visible()  # of the recorded example
        expect(view.opener).to_have_text("Don't know German? Start from English")
        assert view.german.evaluate(PRECEDES, view.opener.element_handle())
        assert view.opener.evaluate(PRECEDES, view.chips.first.element_handle())
        view.opener.click()
        view.write(ENGLISH)
        view.type("The dog runs in the park.")
        expect(view.remark).to_contain_text(
            "This looks like English, but the model translates from German."
        )
        expect(view.told).to_have_text("")


def test_the_second_model_is_loaded_when_it_is_used_and_once(writer):
    writer.german.click()
    expect(writer.root.locator(".g2h-state")).to_contain_text("The model is loaded")
    writer.opener.click()
    second = bytes_to_load(live_model("translator_to_german")) - bytes_to_load()  # but the engine
    expect(writer.told).to_have_text(LOADED_ALONE)
    (told,) = re.findall(LOADED_ALONE, writer.told.inner_text())
    assert float(told) == pytest.approx(second / 1e6, rel=0.015)
    writer.english.fill(ENGLISH)
    writer.page.wait_for_timeout(600)
    assert writer.page.evaluate(SECOND) == 0  # typing alone loads nothing
    writer.english.press("Enter")
    writer.written(ENGLISH)
    assert writer.page.evaluate(SECOND) == 1
    writer.english.fill(OTHER)  # from now on it follows what is typed
    writer.written(OTHER)
    assert writer.page.evaluate(SECOND) == 1


def test_the_panel_says_how_much_the_question_will_ask_for(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site, ".g2h-translate", agrees=False)
        view.opener.click()
        both = bytes_to_load(live_model("translator"), live_model("translator_to_german"))
        size = f"({both / 1e6:.1f} MB)."
        expect(view.told).to_have_text(
            "A second model translates the sentence into German. Both models and the program that "
            f"runs them are loaded once, at the first translation {size}"
        )
        view.english.fill(ENGLISH)
        view.button.click()
        question = view.root.locator(".g2h-ask span")
        expect(question).to_have_text(
            f"The models run in your browser and must be downloaded first {size}"
        )
        # directly below the button that asked for it
        expect(view.root.locator(".g2h-english + .g2h-ask")).to_have_count(1)


def test_a_negation_and_a_large_number_word_are_remarked_on_in_both_languages(writer):
    remarks = (
        "The model mistranslates most negations. The model gets most number words above nine wrong."
    )
    state = writer.root.locator(".g2h-state")
    writer.type("Zwölf Männer tragen keine Hüte.")
    expect(state).to_contain_text(remarks)
    writer.type("Neun Männer tragen Hüte.")
    expect(state).to_contain_text("Translated in")
    expect(state).not_to_contain_text("The model")
    writer.opener.click()
    writer.write("Twelve men are not wearing hats.")  # the German may hold neither
    expect(writer.told).to_contain_text(remarks)
    writer.write(ENGLISH)
    expect(writer.told).not_to_contain_text("The model")


def test_what_cannot_be_translated_gets_one_sentence(writer):
    writer.opener.click()
    writer.english.fill(" \t ")
    writer.button.click()
    expect(writer.refusal).to_have_text("Type an English sentence first.")
    assert writer.page.evaluate(SECOND) == 0
    writer.english.fill("🐕 " * 400)
    writer.button.click()
    expect(writer.refusal).to_contain_text("tokens (maximum 512).")
    assert writer.refusal.inner_text().count(".") == 1
    writer.write(ENGLISH)
    expect(writer.refusal).to_be_hidden()


def test_german_in_the_english_field_replaces_nothing_before_the_reader_says_so(writer):
    writer.opener.click()
    writer.write(ENGLISH)
    before = writer.german.input_value()
    german = "Ein Hund rennt durch den Schnee."
    writer.english.fill(german)
    expect(writer.told).to_contain_text(
        "This looks like German, but the model translates from English."
    )
    expect(writer.german).to_have_value(before)
    writer.told.get_by_role("button", name="Use it as the German sentence").click()
    expect(writer.german).to_have_value(german)
    expect(writer.told).to_have_text("")
    writer.write(german)  # the second time it is translated all the same


def test_a_long_text_is_refused_and_not_cut(writer):
    writer.opener.click()
    writer.english.focus()
    text = ENGLISH * 180
    writer.page.keyboard.insert_text(text)  # as if it was pasted
    writer.english.press("Enter")
    expect(writer.refusal).to_have_text(f"Too long: {len(text)} characters (maximum 4000).")
    expect(writer.english).to_have_value(text)
    assert writer.page.evaluate(SECOND) == 0
    writer.write(ENGLISH)
    expect(writer.refusal).to_be_hidden()


def test_without_its_file_it_says_so_and_german_goes_on(live, chromium):
    with served(live[0], "http") as site:
        context = chromium.new_context()
        context.add_init_script(AGREES)
        page = context.new_page()
        page.route("**/live/translator_to_german-*", lambda route: route.abort())
        page.goto(site + "index.html")
        writer = Writer(page, page.locator(".g2h-translate"))
        writer.opener.click()
        writer.english.fill(ENGLISH)
        writer.button.click()
        expect(writer.refusal).to_contain_text("could not be loaded: there is no connection")
        writer.type("Ein Hund.")
        expect(writer.names).to_have_text(["Ein", "Hund"])
        context.close()


KINDS_OF_TEXT = [
    ("Ich bin müde.", "2 of these 3 words occur fewer than 10 times", "“bin” occurs 2 times"),
    ("Drei Mädchen kochen eine Suppe.", "", "“Suppe” occurs 2 times in the 29,000"),
    ("小狗在雪地里跑。", "This word does not occur", "the model reads it as single bytes."),
    ("🐕", "This text contains no words", None),
    ("...", "This text contains no words", None),
    ("The dog runs in the park.", "This looks like English", "“runs” does not occur"),
    (
        "Der Mathematikprofessor erläutert Differentialgleichungen.",
        "3 of these 4 words do not occur in the German training captions",
        "“Mathematikprofessor” does not occur",
    ),
]


def test_counts_and_remarks_of_all_kinds_of_text(writer):
    for text, said, told in KINDS_OF_TEXT:
        writer.type(text)
        expect(writer.remark).to_have_text(re.compile(f".*{said}.+" if said else "^$"))
        if told:
            expect(writer.about).to_contain_text(told)
        else:
            expect(writer.words).to_have_count(0)


def test_thirty_words_have_bars_and_the_rest_is_counted(writer):
    more = writer.root.locator(".g2h-occurs-more")
    writer.type("Ein Hund " * 15)
    expect(writer.words).to_have_count(30)
    expect(more).to_be_hidden()
    writer.type("Ein Hund " * 32)
    expect(writer.words).to_have_count(30)
    expect(more).to_have_text("… and 34 more")


def test_a_question_in_english_is_remarked_on(writer):
    writer.opener.click()
    writer.write("Is a dog sitting in the grass?")
    question = "The training captions contain almost no questions: expect nonsense."
    expect(writer.told).to_contain_text(question)
    writer.write(ENGLISH)
    expect(writer.told).not_to_contain_text(question)


def test_english_of_unseen_characters_or_rare_words_is_remarked_on(writer):
    writer.opener.click()
    writer.write("I am tired.")
    expect(writer.told).to_contain_text(
        "2 of these 3 words occur fewer than 10 times in the English training captions"
    )
    writer.write("A cat 🐈 sits in the snow.")
    expect(writer.told).to_contain_text("The vocabulary has no token for “🐈”")
    expect(writer.told).not_to_contain_text("fewer than")


def test_on_a_phone_the_result_comes_into_sight(live, open_page):
    with served(live[0], "http") as site:
        phone = {"viewport": {"width": 390, "height": 500}, "has_touch": True}
        view = opened(open_page, site, ".g2h-translate", **phone)
        view.opener.tap()
        view.english.focus()
        view.english.evaluate("(node) => node.scrollIntoView({ block: 'start' })")
        expect(view.german).not_to_be_in_viewport()
        view.write(ENGLISH)
        expect(view.german).to_be_in_viewport()


def test_a_text_in_english_can_be_carried_over(writer):
    writer.type(ENGLISH)
    assert writer.page.evaluate(SECOND) == 0
    carry = writer.root.get_by_role("button", name="Start from English instead")
    expect(carry).to_have_text(re.compile(r" \(loads 8\.\d MB\)$"))  # its size is told first
    carry.click()
    expect(writer.english).to_be_visible()
    expect(writer.english).to_have_value(ENGLISH)
    writer.written(ENGLISH)
    expect(writer.remark).to_have_text("")


def test_keys_walk_along_the_words(writer):
    writer.type("Ein Hund frisst Quittenschnaps.")
    expect(writer.about).to_contain_text("“Quittenschnaps” does not occur")  # the rarest, unasked
    focused = "(node) => node === document.activeElement"
    writer.german.focus()
    stops = 0
    while not writer.words.nth(0).evaluate(focused):  # the row is one stop of the Tab key
        writer.page.keyboard.press("Tab")
        stops += 1
        assert stops < 30
    expect(writer.words.nth(0)).to_be_focused()
    expect(writer.about).to_contain_text("“Ein” occurs 18,")
    for key, place in [("ArrowRight", 1), ("End", 3), ("ArrowRight", 3), ("Home", 0)]:
        writer.page.keyboard.press(key)
        expect(writer.words.nth(place)).to_be_focused()
    expect(writer.words.nth(3)).to_have_accessible_name(
        re.compile("^“Quittenschnaps” does not occur in the 29,000 .+ as the tokens .+ · .+$")
    )
    shares = [float(one.get_attribute("data-count")) for one in writer.words.all()]
    assert shares[0] > shares[1] > shares[2] > shares[3] == 0


def test_a_phone_themes_and_a_screen_reader(live, open_page):
    with served(live[0], "http") as site:
        phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
        view = opened(open_page, site, ".g2h-translate", **phone)
        view.opener.tap()
        view.write(ENGLISH)
        view.type("The Donaudampfschifffahrtsgesellschaftskapitän runs in the park. " + "x" * 60)
        check_phone(view.page, [view.root])
        for theme in ("light", "dark"):
            view.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            view.type(f"The dog runs in the {theme} park.")
            expect(view.remark).to_contain_text("This looks like English")
            # Colours fade into each other when the theme changes.
            view.page.wait_for_function("() => document.getAnimations().length === 0")
            found = Axe().run(view.page, ".g2h-translate").response["violations"]
            grave = [one for one in found if one["impact"] in GRAVE]
            assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in grave] == []
        check_contrast(view.page, [view.root])
