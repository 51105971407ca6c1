"""The page of claims chooses by verdict, and opens the entry that a link leads to."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "_ext"))
import claims

pytestmark = pytest.mark.book
PAGE = "chapters/appendix/claims.html"
EVERY = [one for entries in claims.read_claims().values() for one in entries]


@pytest.fixture
def page(chromium, address):
    context = chromium.new_context()
    opened = context.new_page()
    errors = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


def test_a_verdict_shows_its_entries_and_hides_the_others(page, address):
    page.goto(f"{address}{PAGE}")
    shown = page.locator(".g2h-entry:visible")
    assert shown.count() == len(EVERY)
    assert page.locator(".g2h-entry details[open]").count() == 0
    count = Counter(one["verdict"] for one in EVERY)
    for verdict, words in claims.VERDICTS.items():
        if count[verdict]:
            page.get_by_label(f"{words} ({count[verdict]})", exact=True).check()
            kinds = shown.evaluate_all("found => found.map((one) => one.dataset.verdict)")
            assert kinds == [verdict] * count[verdict]
            told = f"{count[verdict]} of {len(EVERY)} claims are shown."
            assert page.get_by_role("status").inner_text() == told
            # a chapter without such an entry is hidden with its heading
            empty = [
                claims.heading(chapter)
                for chapter, found in claims.read_claims().items()
                if verdict not in {one["verdict"] for one in found}
            ]
            for title in empty:
                assert not page.locator("h2", has_text=title).is_visible()
    page.get_by_label(f"all ({len(EVERY)})").check()
    assert shown.count() == len(EVERY)


def test_all_entries_open_and_close(page, address):
    page.goto(f"{address}{PAGE}")
    page.get_by_role("button", name="Unfold the evidence").click()
    assert page.locator(".g2h-entry details[open]").count() == len(EVERY)
    page.get_by_role("button", name="Fold the evidence").click()
    assert page.locator(".g2h-entry details[open]").count() == 0


def test_a_link_of_a_chapter_opens_its_entry(page, address):
    page.goto(f"{address}chapters/01_recurrent_gates.html")
    link = page.locator("a.g2h-claim", has_text="1-7").first
    link.click()
    page.wait_for_url("**/claims.html#claim-*")
    name = page.url.partition("#")[2]
    entry = page.locator(f"#{name}")
    assert entry.locator("a").first.inner_text() == "1-7"
    assert entry.locator("details").get_attribute("open") is not None
    assert page.locator(".g2h-entry details[open]").count() == 1
    # a link within the page does the same, whatever is chosen
    other = next(one for one in EVERY if one["verdict"] == "stands")
    page.get_by_label(f"open ({sum(one['verdict'] == 'open' for one in EVERY)})").check()
    page.evaluate("(name) => { location.hash = name; }", claims.anchor(other))
    page.locator(f"#{claims.anchor(other)} details[open]").wait_for()
    assert page.locator(".g2h-entry:visible").count() == len(EVERY)


def test_a_link_to_what_is_hidden_or_folded_shows_it(page, address):
    page.goto(f"{address}{PAGE}")
    entry = page.locator("#claim-forget-bias")
    page.get_by_role("link", name="1-7", exact=True).first.click()
    page.locator("#claim-forget-bias details[open]").wait_for()
    page.get_by_label(f"open ({sum(one['verdict'] == 'open' for one in EVERY)})").check()
    assert not entry.is_visible()
    page.get_by_role("link", name="1-7", exact=True).first.click()  # the address stays the same
    assert entry.is_visible()
    # the chapters in the contents and in the table
    hidden = next(
        chapter
        for chapter, found in claims.read_claims().items()
        if "open" not in {one["verdict"] for one in found}
    )
    page.get_by_label(f"open ({sum(one['verdict'] == 'open' for one in EVERY)})").check()
    title = page.locator("h2", has_text=claims.heading(hidden))
    assert not title.is_visible()
    page.locator("table").get_by_role("link", name=str(hidden), exact=True).first.click()
    title.wait_for()
    page.wait_for_timeout(500)  # the page above it gets its height
    assert 0 <= title.bounding_box()["y"] < 200
    # the settings of a study
    page.locator("#claim-forget-bias").get_by_role("link", name="ch01/learning_time").first.click()
    page.locator("details[open]#settings-of-ch01-learning-time").wait_for()


def test_only_what_is_chosen_is_unfolded(page, address):
    page.goto(f"{address}{PAGE}")
    count = sum(one["verdict"] == "open" for one in EVERY)
    page.get_by_label(f"open ({count})").check()
    page.get_by_role("button", name="Unfold the evidence").click()
    assert page.locator(".g2h-entry details[open]").count() == count
    page.get_by_label(f"all ({len(EVERY)})").check()
    page.get_by_role("button", name="Unfold the evidence").wait_for()
