"""What runs the models of a page: its files and their faults, Python's channel, threads, speed."""

import re
import shutil
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from gates2heads.decoding.translation import translate
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from tests.chromium.live.scripts import AGREES, CHANNEL, RUN_TIMES, SECOND_VIEW, WATCH_FRAMES
from tests.chromium.sites import served
from tests.chromium.views.translate.driver import OWN, Translator, asked, opened, python_text

pytestmark = pytest.mark.browser


@pytest.fixture
def copy(live, tmp_path) -> Path:
    """The same page with a file that a test may spoil."""
    return shutil.copytree(live[0], tmp_path / "site")


def test_two_views_share_one_model(live, open_page):
    folder, _ = live
    with served(folder, "http") as site:
        view = opened(open_page, site)
        asked(view, OWN)
        loaded = view.page.evaluate(SECOND_VIEW, OWN)
    assert loaded == {"requests": 1, "written": python_text(OWN)}


# ---- a model that is not there, or not the right one


def spoil(folder: Path, change) -> None:
    (path,) = (folder / "live").glob("translator-*.js")
    change(path)


def altered(path: Path) -> None:
    text = path.read_text()
    middle = len(text) // 2
    letter = "A" if text[middle] != "A" else "B"
    path.write_text(text[:middle] + letter + text[middle + 1 :])


def of_another_hash(path: Path) -> None:
    text = path.read_text()
    digits = text.split('"sha256": "')[1][:64]
    path.write_text(text.replace(digits, "0" * 64))


def cut(path: Path) -> None:
    path.write_text(path.read_text()[:1_000_000])


def empty(path: Path) -> None:
    path.write_text("")


@pytest.mark.parametrize("mode", ["http", "file"])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (Path.unlink, "or the file is missing."),
        (altered, None),
        (of_another_hash, "holds another model."),
        (cut, "is damaged."),
        (empty, "is damaged."),
    ],
    ids=["missing", "altered", "other", "cut", "empty"],
)
def test_without_its_model_it_says_so_and_keeps_the_example(copy, chromium, mode, change, sentence):
    spoil(copy, change)
    with served(copy, mode) as site:
        context = chromium.new_context()
        context.add_init_script(AGREES)
        page = context.new_page()
        page.goto(site + "index.html")
        root = page.locator(".g2h-translate")
        expect(root).to_have_attribute("data-state", "recorded")
        view = Translator(page, root)
        words = view.words("target")
        view.examples.nth(1).click()
        expect(root).to_have_attribute("data-state", "fault")
        said = view.state.inner_text()
        print(f"\n{said}")
        assert said.endswith("The view still shows the stored result.")
        assert said.count(". ") == 1
        assert sentence is None or sentence in said
        assert view.words("target") == words
        watch = root.locator(".g2h-watch")
        expect(watch).to_have_text("The dimmed result below belongs to the previous text.")
        expect(root).to_have_attribute("data-stale", "")
        context.close()


# ---- files with code of others


def fault_of(folder: Path, chromium, mode: str) -> tuple[str, bool]:
    """Ask, wait for the answer or the fault; give what is said, and whether foreign code ran."""
    with served(folder, mode) as site:
        context = chromium.new_context()
        context.add_init_script(AGREES)
        page = context.new_page()
        page.goto(site + "index.html")
        view = Translator(page, page.locator(".g2h-translate"))
        expect(view.root).to_have_attribute("data-state", "recorded")
        view.examples.nth(1).click()
        expect(view.root).to_have_attribute("data-state", re.compile("fault|done"))
        said = view.state.inner_text()
        ran = page.evaluate("() => globalThis.foreign === true")
        context.close()
    return said, ran


@pytest.mark.parametrize("mode", ["http", "file"])
def test_of_a_models_file_nothing_runs_over_http(copy, chromium, mode):
    """From file:// it is a script, like those of the page itself: docs/authors.md says so."""
    spoil(copy, lambda path: path.write_text(path.read_text() + "globalThis.foreign = true;\n"))
    said, ran = fault_of(copy, chromium, mode)
    if mode == "http":
        assert "is damaged." in said
        assert not ran
    else:
        assert said.startswith("Translated in ")
        assert ran


@pytest.mark.parametrize("mode", ["http", "file"])
def test_an_engine_that_was_altered_does_not_run(copy, chromium, mode):
    (path,) = (copy / "live").glob("engine-*.js")
    text = path.read_text()
    assert text.count('\\"use strict\\";') >= 1
    path.write_text(text.replace('\\"use strict\\";', "globalThis.foreign = true;", 1))
    page = copy / "index.html"  # in a page without Workers the engine would run in the page
    page.write_text(page.read_text().replace("<head>", "<head><script>delete Worker</script>"))
    said, ran = fault_of(copy, chromium, mode)
    assert f"The engine's file (live/{path.name}) is damaged." in said
    assert not ran


# ---- without a Worker, and with Python


@pytest.mark.parametrize("how", ["thrown", "forbidden"])
def test_where_workers_are_refused_it_runs_in_the_page(live, copy, chromium, how):
    if how == "forbidden":
        page_file = copy / "index.html"
        rule = "<meta http-equiv='Content-Security-Policy' content=\"worker-src 'none'\">"
        page_file.write_text(page_file.read_text().replace("<head>", f"<head>{rule}"))
    with served(copy, "http") as site:
        context = chromium.new_context()
        context.add_init_script(AGREES)
        page = context.new_page()
        if how == "thrown":
            page.add_init_script("window.Worker = class { constructor() { throw Error('no'); } };")
        page.goto(site + "index.html")
        view = Translator(page, page.locator(".g2h-translate"))
        expect(view.root).to_have_attribute("data-state", "recorded")
        view.input.click()
        expect(view.state).to_contain_text("allows no background thread here")
        asked(view, OWN)
        view.check(OWN)
        context.close()


def test_python_answers_over_the_channel(live, open_page):
    folder, _ = live
    with served(folder, "http") as site:
        page = open_page(site, "index.html")
        expect(page.locator(".g2h-translate")).to_have_count(1)
        told = page.evaluate(CHANNEL, {"text": OWN, "parts": 7})
    assert told["asked"] == 1
    assert told["written"] == python_text(OWN)
    assert told["listeners"] == 0


def test_what_python_refuses_is_told(live, open_page):
    folder, _ = live
    with served(folder, "http") as site:
        page = open_page(site, "index.html")
        expect(page.locator(".g2h-translate")).to_have_count(1)
        told = page.evaluate(CHANNEL, {"text": OWN, "error": "Python has x, not y."})
    assert told["state"] == "Python has x, not y. The view still shows the stored result."


def test_when_python_is_silent_the_view_says_so(live, open_page):
    folder, _ = live
    with served(folder, "http") as site:
        page = open_page(site, "index.html")
        expect(page.locator(".g2h-translate")).to_have_count(1)
        page.clock.install()
        page.evaluate(
            "given => { window.told = (" + CHANNEL + ")(given); }", {"text": OWN, "parts": 0}
        )
        page.clock.run_for(30_000)
        told = page.evaluate("() => window.told")
    assert told["state"].startswith("Python does not answer: if cells are running, try again")


def test_while_cells_run_the_view_says_that_it_waits(live, open_page):
    """However long they run, and the answer that comes then is taken."""
    folder, _ = live
    with served(folder, "http") as site:
        page = open_page(site, "index.html")
        expect(page.locator(".g2h-translate")).to_have_count(1)
        page.clock.install()
        given = {"text": OWN, "parts": 3, "busy": True}
        page.evaluate("given => { window.told = (" + CHANNEL + ")(given); }", given)
        page.clock.run_for(5_000)
        state = page.locator(".g2h-translate .g2h-state").last
        expect(state).to_have_text("Waits for the kernel, which is running cells.")
        page.clock.run_for(300_000)
        expect(state).to_have_text("Waits for the kernel, which is running cells.")
        page.evaluate("() => window.cells_end()")
        told = page.evaluate("() => window.told")
    assert told["written"] == python_text(OWN)
    assert told["listeners"] == 0


# ---- how long the page waits


@pytest.mark.timed
def test_typing_never_stutters(live, open_page, capsys):
    """Long tasks and gaps between frames while the model loads, reads and writes."""
    with served(live[0], "http") as site:
        view = opened(open_page, site, reduced_motion="no-preference")
        view.page.evaluate(WATCH_FRAMES)
        view.input.fill("")
        view.input.press_sequentially(
            "Zwei Hunde spielen mit einem roten Ball im Schnee.", delay=60
        )
        view.settled("Zwei Hunde spielen mit einem roten Ball im Schnee.")
        frames = view.page.evaluate("() => window.frames_seen()")
    with capsys.disabled():
        print(
            f"\nwhile the model loads and a sentence is typed: longest gap between frames "
            f"{frames['gap']:.0f} ms of {frames['count']}, longest task {frames['task']:.0f} ms "
            f"(0: none over 50 ms)"
        )
    assert frames["count"] > 50


@pytest.mark.timed
def test_speed_is_reported(live, open_page, capsys):
    trained = load(shipped_weights("translator"))
    sentences = [
        f"{who} {does} in {where} und {what} an einem warmen Tag ."
        for who, does, where, what in zip(
            ["Ein Mann", "Eine Frau", "Ein Kind", "Ein Hund", "Ein Koch"] * 4,
            ["sitzt", "steht", "spielt", "schläft", "wartet"] * 4,
            ["einem Park", "einer Küche", "einem Zug", "einer Straße"] * 5,
            ["liest", "lacht", "singt", "isst"] * 5,
            strict=True,
        )
    ]
    with served(live[0], "http") as site:
        begin = time.perf_counter()
        view = opened(open_page, site)
        view.examples.nth(1).click()
        view.settled("Zwei Kinder bauen am Strand eine Burg aus Sand.")
        first = time.perf_counter() - begin
        times = sorted(view.page.evaluate(RUN_TIMES, sentences))
    library = []
    for text in sentences:
        begin = time.perf_counter()
        translate(trained.model, [text], trained.source, trained.target, max_length=80)
        library.append(1000 * (time.perf_counter() - begin))
    library.sort()
    half, most = times[len(times) // 2], times[int(len(times) * 0.95)]
    with capsys.disabled():
        print(
            f"\ntyped to translated, greedy, 12 words: p50 {half:.0f} ms, p95 {most:.0f} ms; the "
            f"library p50 {library[len(library) // 2]:.0f} ms, ratio "
            f"{half / library[len(library) // 2]:.2f}; first visit to first answer {first:.1f} s"
        )
    assert len(times) == len(sentences)
