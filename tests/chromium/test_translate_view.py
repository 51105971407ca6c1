"""The translator in a page of its own: what it writes, hostile text, phone, themes, names."""

import time

import pytest
from conftest import served
from live_scripts import LOADED
from playwright.sync_api import expect
from translate_driver import OWN, asked, drive_translate, opened
from widget_drivers import check_contrast, check_phone

from gates2heads.decoding.translation import translate
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("mode", ["http", "file"])
def test_it_writes_and_looks_as_python_does(live, open_page, mode):
    folder, traits = live
    with served(folder, mode) as site:
        view = opened(open_page, site)
        drive_translate(view.page, view.root, traits)


def test_nothing_is_loaded_before_the_first_touch(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        view.page.wait_for_timeout(300)
        assert view.page.evaluate(LOADED) == 0
        view.examples.first.hover()
        expect(view.state).to_contain_text("The model is here")
        assert view.page.evaluate(LOADED) == 1


def test_scrolling_to_it_loads_it(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        view.page.evaluate("document.body.style.paddingBottom = '3000px'")
        view.page.evaluate("window.scrollTo(0, 40)")
        expect(view.state).to_contain_text("The model is here")


def test_a_page_that_lost_its_network_goes_on(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        asked(view, OWN)
        view.page.context.set_offline(True)
        asked(view, "Ein Mann spielt Gitarre.")
        view.check("Ein Mann spielt Gitarre.")


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
        expect(view.state).to_contain_text("“☃” it has never seen")
        asked(view, "Ein Hund.")
        expect(view.state).not_to_contain_text("never seen")


def test_blanks_alone_are_nothing_to_translate(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        for text in ("", "   \n\t "):
            asked(view, OWN)
            view.input.fill(text)
            expect(view.root).to_have_attribute("data-state", "empty")
            expect(view.live).to_have_text("Nothing to translate yet: type a German sentence.")
            assert view.words("source") == view.words("target") == []
        view.width.fill("3")  # there is still nothing to search for
        expect(view.width).to_have_attribute("aria-valuetext", "beam of 3")
        expect(view.root).to_have_attribute("data-state", "empty")
        assert view.words("source") == []


def test_too_long_a_text_gets_one_sentence(live, open_page):
    with served(live[0], "http") as site:
        view = opened(open_page, site)
        view.input.fill("Ein Hund läuft. " * 200)
        expect(view.root).to_have_attribute("data-state", "refused")
        expect(view.root.locator(".g2h-refusal:not(.g2h-english *)")).to_contain_text(
            "reads at most 512"
        )
        expect(view.root).to_have_attribute("data-stale", "")
        assert len(view.input.input_value()) == len("Ein Hund läuft. ") * 200
        asked(view, OWN)
        view.check(OWN)
        assert view.root.locator(".g2h-refusal:not(.g2h-english *)").is_hidden()
        assert view.root.get_attribute("data-stale") is None


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
        assert "“cat” looked most at “Katze”" in view.live.inner_text()


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
            ("textbox", "German: type here, or press an example"),
            ("slider", "search"),
            ("combobox", "the links show"),
        ]:
            expect(view.root.get_by_role(role, name=name)).to_have_count(1)
        expect(view.root.get_by_role("group", name="examples")).to_have_count(1)
