"""Exercises of the built book: answers typed into the page, and what the browser keeps of them."""

import json
import time

import pytest
from playwright.sync_api import Page, expect

from gates2heads.book.ch01 import exercises
from gates2heads.book.ch05 import answers
from tests import hangs
from tests.chromium.sites import ROOT, served

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
GATES, ATTENTION = "chapters/01_recurrent_gates.html", "chapters/05_attention_further.html"


def form(page, number):
    return page.locator(f'form.g2h-answer[data-exercise="{number}"]')


def reload_until_kept(page: Page, typed: str) -> None:
    """Load the page again until exercise 1.1 shows what was typed.

    The browser writes to its storage a moment later, in another process: a page that is loaded
    again within this moment may be given what was stored before.
    """
    deadline = time.monotonic() + hangs.PAGE / 1000
    page.reload()
    while form(page, "1.1").get_by_role("textbox").input_value() != typed:
        assert time.monotonic() < deadline, f"{typed} was not kept"
        page.reload()


@pytest.mark.parametrize("mode", ["http", "file"])
def test_an_answer_is_judged_kept_and_counted(open_page, mode):
    with served(BUILT, mode) as site:
        page = open_page(site, GATES)
        one = form(page, "1.1")
        for typed, number in (("50", 50), ("ln(1/2) / ln(0.99)", 68.9676), ("69", 69)):
            one.get_by_role("textbox", name="steps").fill(typed)
            one.get_by_role("button", name="Check").click()
            expect(one.locator("output")).to_contain_text(exercises.check_half_life(number).message)
        line = page.locator(".g2h-page-progress")
        expect(line).to_contain_text("Solved on this page: 1 of 5.")
        reload_until_kept(page, "69")
        expect(form(page, "1.1").locator("output")).to_contain_text("solved on")
        # A wrong answer later does not undo what is solved.
        form(page, "1.1").get_by_role("textbox").fill("3")
        form(page, "1.1").get_by_role("textbox").press("Enter")
        expect(form(page, "1.1").locator("output")).to_contain_text("That is too few")
        expect(line).to_contain_text("1 of 5")
        line.get_by_role("link", name="All chapters").click()
        expect(page.locator(".g2h-progress")).to_contain_text(
            "1 of 72 exercises of the chapters, and 0 of 17"
        )
        page.locator(".g2h-progress").get_by_role("link", name="1.4", exact=True).click()
        expect(page.locator("h3", has_text="Exercise 1.4")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("typed", "words"), [("", "Type a number"), ("many", "“many” cannot be read as an answer")]
)
def test_what_is_no_number_gets_a_sentence_and_stays(open_page, typed, words):
    with served(BUILT, "file") as site:
        page = open_page(site, GATES)
        field = form(page, "1.1").get_by_role("textbox")
        field.fill(typed)
        field.press("Enter")
        expect(form(page, "1.1").locator("output")).to_contain_text(words)
        expect(field).to_have_value(typed)
        expect(field).to_be_focused()
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(page.locator(".g2h-page-progress")).to_contain_text("0 of 5")


def test_a_bug_is_diagnosed_by_keyboard_alone(open_page):
    with served(BUILT, "file") as site:
        page = open_page(site, GATES)
        one = form(page, "1.5")
        first = one.get_by_role("radio").first
        first.focus()
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        expect(one.get_by_role("radio").nth(2)).to_be_checked()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(one.locator("output")).to_contain_text("Then padding after a sequence")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect(one.locator("output")).to_contain_text(
            "✔ Exercise 1.5: right. The state is detached"
        )


def test_two_names_are_chosen(open_page):
    with served(BUILT, "file") as site:
        page = open_page(site, ATTENTION)
        one = form(page, "5.5")
        one.get_by_role("button").click()
        expect(one.locator("output")).to_contain_text("Choose 2 answers; you chose none.")
        for chosen in (("dot", "general"), ("additive", "concat")):
            for box in one.get_by_role("checkbox").all():
                box.set_checked(box.get_attribute("value") in chosen)
            one.get_by_role("button").click()
            expect(one.locator("output")).to_contain_text(answers.check_same(chosen).message)


def test_progress_is_saved_added_and_forgotten(open_page, tmp_path):
    with served(BUILT, "http") as site:
        page = open_page(site, GATES)
        page.get_by_label("I have solved exercise 1.2").check()
        page.goto(f"{site}chapters/intro.html")
        panel = page.locator(".g2h-progress")
        status = panel.get_by_role("status")
        with page.expect_download() as download:
            panel.get_by_role("button", name="Save as a file").click()
        saved = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert list(saved["exercises"]) == ["1.2"]
        saved["exercises"]["8.1"] = saved["exercises"].pop("1.2")
        other, damaged = tmp_path / "other.json", tmp_path / "damaged.json"
        other.write_text(json.dumps(saved), encoding="utf-8")
        damaged.write_text('{"format": "gates2heads.exercises", "exerc', encoding="utf-8")
        panel.locator("input[type=file]").set_input_files(damaged)
        expect(status).to_have_text(
            "damaged.json is not a file that was saved here. Nothing has changed."
        )
        panel.locator("input[type=file]").set_input_files(other)
        expect(status).to_contain_text("Solved in this browser: 2 of")
        panel.get_by_role("button", name="Forget all").click()
        expect(status).to_contain_text("2 of")  # not before it is confirmed
        panel.get_by_role("button", name="Forget all").click()
        expect(status).to_contain_text("0 of")


def test_a_damaged_record_is_put_aside_and_not_lost(open_page):
    with served(BUILT, "http") as site:
        page = open_page(site, GATES)
        page.add_init_script("localStorage.setItem('gates2heads.exercises', '{damaged')")
        page.reload()
        expect(page.locator(".g2h-page-progress")).to_contain_text("0 of 5")
        aside = page.evaluate("localStorage.getItem('gates2heads.exercises.unreadable')")
        assert aside == "{damaged"


def test_without_scripts_no_form_stands_empty(open_page):
    with served(BUILT, "file") as site:
        page = open_page(site, GATES, java_script_enabled=False, agrees=False)
        expect(form(page, "1.1")).to_be_hidden()
        task = page.locator(".g2h-task").first
        expect(task.locator("label")).to_be_hidden()
        expect(task).to_contain_text("Write the code in the notebook: ")
