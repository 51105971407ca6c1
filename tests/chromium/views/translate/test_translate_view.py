"""The translator in a page of its own: what it writes, hostile text, phone, themes, names."""

import re
import time

import pytest
from playwright.sync_api import expect

from gates2heads.decoding.translation import translate
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone
from tests.chromium.views.translate.driver import OWN, SHOWN, asked, drive_translate, opened

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("mode", ["http", "file"])
def test_it_writes_and_looks_as_python_does(live, open_page, mode):
    folder, traits = live
    with served(folder, mode) as site:
        view = opened(open_page, site)
        drive_translate(view.page, view.root, traits)


def test_a_page_that_lost_its_network_goes_on(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        asked(view, OWN)
        view.page.context.set_offline(True)
        asked(view, "Ein Mann spielt Gitarre.")
        view.check("Ein Mann spielt Gitarre.")


SENTENCE = re.compile(r"^Too long: \d+ (?:tokens|characters) \(maximum \d+\)\.$")
# How the links of a word lie: how many there are, and how far any end is from the edge of a word.
LINKS = """(root, [side, place]) => {
  const picture = root.querySelector(".g2h-sentences");
  const frame = picture.getBoundingClientRect();
  const words = (of) => [...picture.querySelectorAll(`[data-side=${of}] .g2h-word`)];
  const ends = (of, edge) => words(of).map((word) => {
    const box = word.getBoundingClientRect();
    return [box.left + box.width / 2 - frame.left, box[edge] - frame.top];
  });
  const sides = { source: ends("source", "bottom"), target: ends("target", "top") };
  const other = side === "source" ? "target" : "source";
  const distance = ([x, y], [a, b]) => Math.hypot(x - a, y - b);
  const links = [...picture.querySelectorAll("path.g2h-chosen")].map((path) => {
    const numbers = path.getAttribute("d").match(/-?[0-9.]+/g).map(Number);
    return { source: numbers.slice(0, 2), target: numbers.slice(-2) };
  });
  const offs = links.flatMap((link) => [
    distance(link[side], sides[side][place]),
    Math.min(...sides[other].map((end) => distance(link[other], end))),
  ]);
  return {
    chosen: words(side)[place].getAttribute("aria-pressed") === "true",
    others: links.length,
    strong: words(other).filter((word) => Number(word.dataset.weight) >= 0.02).length,
    farthest: Math.max(...offs),
  };
}"""
HOSTILE = [
    "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>",
    "Ein Hund 🐕 springt über 👩‍👧.",
    "كلب يركض في الثلج",
    "שלום עולם",
    "Ein\u202eHund\u0007 bellt\u0000laut",
    "小狗在雪地里跑。",
    "../../etc/passwd?x=1#y",
    "A" * 300,
    "'; DROP TABLE captions; --",
    "\u0301\u0308",
    "1234567890 3,14 €",
    "?!… –.,;:",
]


def test_any_text_is_text_and_gets_an_answer(live, open_page):
    trained = load(shipped_weights("translator"))
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        for text in HOSTILE:
            asked(view, text)
            told = view.root.get_attribute("data-written")
            wanted = translate(trained.model, [text], trained.source, trained.target, max_length=80)
            assert told == wanted[0], text
        assert view.page.title() == "widgets"
        assert view.root.locator("img, script, b, i:not(.g2h-shade, .g2h-occurs-bar)").count() == 0


def test_remarks_on_what_it_never_saw(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        asked(view, "Ein ☃ steht im Garten.")
        expect(view.state).to_contain_text("The vocabulary has no token for “☃”")
        asked(view, "Ein Hund.")
        expect(view.state).not_to_contain_text("vocabulary")


def test_blanks_alone_are_nothing_to_translate(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        for text in ("", "   \n\t "):
            asked(view, OWN)
            view.input.fill(text)
            expect(view.root).to_have_attribute("data-state", "empty")
            expect(view.live).to_have_text("The field is empty: type a German sentence.")
            assert view.words("source") == view.words("target") == []
            view.input.fill("Hund " * 1000)  # no result is left to which a message could refer
            expect(view.root).to_have_attribute("data-state", "refused")
            expect(view.root.locator(".g2h-watch")).to_have_text("")
            expect(view.live).to_have_text("\u00a0")
            view.input.fill(text)
            expect(view.root).to_have_attribute("data-state", "empty")
        view.width.fill("3")  # there is still nothing to search for
        expect(view.width).to_have_attribute("aria-valuetext", "beam search, width 3")
        expect(view.root).to_have_attribute("data-state", "empty")
        assert view.words("source") == []


def test_too_long_a_text_gets_one_sentence(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        view.input.fill("Ein Hund läuft. " * 200)
        expect(view.root).to_have_attribute("data-state", "refused")
        expect(view.root.locator(".g2h-refusal:not(.g2h-english *)")).to_contain_text(
            "tokens (maximum 512)."
        )
        expect(view.root).to_have_attribute("data-stale", "")
        assert len(view.input.input_value()) == len("Ein Hund läuft. ") * 200
        asked(view, OWN)
        view.check(OWN)
        assert view.root.locator(".g2h-refusal:not(.g2h-english *)").is_hidden()
        assert view.root.get_attribute("data-stale") is None


LONG = {
    "4,000 characters": "Ein Hund läuft durch den Schnee. " * 121 + "Ja, ja.",
    "a word of 3,000 letters": "ä" * 3000,
    "200 lines": "\n".join(["Ein Hund läuft."] * 200),
    "5,000 characters": "Ein kleiner Hund " * 295,
}


def test_very_long_input_gets_one_sentence_and_keeps_the_field(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        refusal = view.root.locator(".g2h-refusal:not(.g2h-english *)")
        for width in ("1", "10"):
            view.width.fill(width)
            for name, text in LONG.items():
                view.input.fill("")
                view.page.keyboard.insert_text(text)  # as if it was pasted
                expect(refusal, name).to_have_text(SENTENCE)
                expect(view.root, name).to_have_attribute("data-state", "refused")
                expect(view.input, name).to_have_value(text)
            asked(view, OWN)
            view.check(OWN, int(width))


def test_as_long_a_text_as_is_read_gets_an_answer(live, open_page):
    text = "Hund " * 500  # one token each, and the end
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        view.width.fill("10")
        view.input.fill(text)
        view.settled(text.strip())
        expect(view.state).to_contain_text("The output was cut off after 80 tokens")
        assert len(view.words("source")) == 501


# ---- the beam slider


def test_the_slider_works_at_both_ends(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        text = view.root.get_attribute("data-shown")
        for key, width in (("End", 10), ("ArrowRight", 10), ("Home", 1), ("ArrowLeft", 1)):
            view.width.press(key)
            expect(view.root).to_have_attribute("data-width", str(width))
            expect(view.width).to_have_value(str(width))
            view.check(text, width)
        view.width.press("End")
        view.settled(text)
        view.check_looks(view.check(text, 10))


def test_sliding_fast_ends_with_the_answer_of_the_last_position(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        text = view.root.get_attribute("data-shown")
        box = view.width.bounding_box()
        mouse, middle = view.page.mouse, box["y"] + box["height"] / 2
        there_and_back = [*range(11), *range(10, -1, -1)]
        for last in (10, 0, 10):
            mouse.move(box["x"], middle)
            mouse.down()
            for tenth in [*there_and_back, *there_and_back, last]:
                mouse.move(box["x"] + box["width"] * tenth / 10, middle)
            mouse.up()
            width = max(last, 1)
            expect(view.width).to_have_value(str(width))
            expect(view.root).to_have_attribute("data-width", str(width))
            view.settled(text, "recorded" if width == 1 else "done")  # greedy search is stored
            view.check(text, width)
            assert view.root.get_attribute("data-stale") is None


# ---- links on a phone


def check_links(view, side: str, place: int) -> None:
    """Each link of a word runs from the lower edge of a source word to the upper of its target."""
    found = view.root.evaluate(LINKS, [side, place])
    assert found["chosen"]
    assert found["others"] == found["strong"] > 0
    assert found["farthest"] < 1


def test_on_a_phone_a_tap_shows_the_links_of_a_word_and_one_elsewhere_ends_them(live, open_page):
    text = "Drei kleine Kinder in roten Jacken bauen am Strand eine große Burg aus nassem Sand."
    with served(live[0], "http") as site:
        upright, lying = {"width": 390, "height": 844}, {"width": 844, "height": 390}
        view = opened(open_page, site, viewport=upright, has_touch=True, is_mobile=True)
        asked(view, text)
        first = view.root.locator("[data-side=target] .g2h-shown")
        expect(first).to_have_count(1)
        shown = int(first.get_attribute("data-place"))
        for size in (upright, lying, {"width": 320, "height": 600}, upright):
            view.page.set_viewport_size(size)
            for side, place in (("target", 1), ("source", 2)):
                word = view.word(side, place)
                word.tap()
                expect(word).to_have_class(SHOWN)
                check_links(view, side, place)
                check_phone(view.page, [view.root])
            view.looks.select_option(index=1)  # a control of the view keeps the word
            expect(view.word("source", 2)).to_have_class(SHOWN)
            check_links(view, "source", 2)
            view.looks.select_option(index=0)
            view.root.locator(".g2h-legend").tap()
            expect(view.word("target", shown)).to_have_class(SHOWN)
            expect(view.root.locator(".g2h-shown")).to_have_count(2)  # and one of the counts
            check_links(view, "target", shown)
        view.word("target", 1).tap()
        view.word("target", 1).tap()  # the second tap lets it go
        expect(view.word("target", shown)).to_have_attribute("aria-pressed", "true")


@pytest.mark.timed
def test_a_newer_text_ends_the_older_run(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        asked(view, OWN)
        view.width.fill("10")
        view.settled(OWN)
        long = "Ein Mann und eine Frau und ein Kind und ein Hund " * 6
        view.input.fill(long)
        view.page.wait_for_timeout(400)
        begin = time.perf_counter()
        asked(view, "Ein Hund.")
        print(f"\na newer text was answered {time.perf_counter() - begin:.2f} s after it came")
        view.check("Ein Hund.", 10)
        view.page.wait_for_timeout(500)
        assert view.root.get_attribute("data-shown") == "Ein Hund."


# ---- how it stands on the page


def test_phone_has_no_sideways_page_scroll(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site, viewport={"width": 390, "height": 844}, has_touch=True)
        asked(view, "Ein Donaudampfschifffahrtsgesellschaftskapitän " + "x" * 60)
        check_phone(view.page, [view.root])
        asked(view, OWN)
        view.word("target", 1).tap()
        expect(view.word("target", 1)).to_have_attribute("aria-pressed", "true")
        assert "“cat” attends most to “Katze”" in view.live.inner_text()


def test_themes_change_colours_and_stay_readable(live, open_page):
    folder, _ = live
    with served(folder, "http") as site:
        view = opened(open_page, site)
        check_contrast(view.page, [view.root])
        for theme in ("light", "dark"):
            view.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            asked(view, "Ein ☃ lacht.")
            check_contrast(view.page, [view.root])


def test_every_control_has_a_name(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        for role, name in [
            ("textbox", "German sentence: type one, or choose an example"),
            ("slider", "decoding"),
            ("combobox", "attention weights"),
        ]:
            expect(view.root.get_by_role(role, name=name)).to_have_count(1)
        examples = view.root.get_by_role("group", name="examples")
        expect(examples).to_have_count(1)
        told = ["easy", "snow", "sand", "<b>hard</b>", "<i>ball</i>", "no caption"]
        expect(examples.locator("> *")).to_have_text(told)  # a group is named once
