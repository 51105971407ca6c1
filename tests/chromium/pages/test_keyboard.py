"""One chapter without a mouse: every stop is seen and named, and everything can be operated."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import ROOT, served
from tests.scrolling import TO_THE_END
from tools.book.view_heights import SETTLED

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
CHAPTER = "chapters/08_decoding.html"
# What the element with the focus looks like, and where it is.
FOCUSED = """() => {
  const one = document.activeElement;
  // The sign in the contents is outlined, not the line that it opens; and an answer as a whole, not
  // the circle beside it.
  const around = [one, ...one.children, one.closest("label") ?? one];
  const looks = around.map((each) => getComputedStyle(each));
  const seen = looks.some((look) => look.boxShadow !== "none"
    || (look.outlineStyle !== "none" && parseFloat(look.outlineWidth) > 0));
  return {
    tag: one.tagName,
    words: (one.getAttribute("aria-label") || one.textContent).trim().slice(0, 40),
    type: one.type ?? "",
    seen,
    inside: one.closest("#main-content") !== null,
  };
}"""
MOST_STOPS = 1_000


@pytest.fixture
def chapter(open_page):
    with served(BUILT, "http") as site:
        page = open_page(site, CHAPTER)
        page.evaluate(SETTLED)
        page.evaluate(TO_THE_END)
        page.evaluate("scrollTo(0, 0)")
        yield page


def test_the_tabulator_passes_every_stop_and_each_is_seen(chapter):
    stops = []
    for _ in range(MOST_STOPS):
        chapter.keyboard.press("Tab")
        stops.append(chapter.evaluate(FOCUSED))
        if stops[-1]["tag"] == "BODY":  # once around
            break
    assert stops.pop()["tag"] == "BODY"
    assert sum(stop["inside"] for stop in stops) > 100
    assert [stop for stop in stops if not stop["seen"]] == []


def test_the_accessibility_tree_names_what_can_be_operated(chapter):
    # Chromium leaves out of this tree what is far from the window, and lays it out for a reader.
    chapter.add_style_tag(content="section { content-visibility: visible !important; }")
    session = chapter.context.new_cdp_session(chapter)
    nodes = [
        node
        for node in session.send("Accessibility.getFullAXTree")["nodes"]
        if not node.get("ignored")
    ]
    role = {node["nodeId"]: node["role"]["value"] for node in nodes}
    name = {node["nodeId"]: node.get("name", {}).get("value", "").strip() for node in nodes}
    operated = {
        "button",
        "link",
        "slider",
        "textbox",
        "radio",
        "checkbox",
        "combobox",
        "spinbutton",
    }
    assert [(one, kind) for one, kind in role.items() if kind in operated and not name[one]] == []
    assert {"button", "slider", "textbox", "radio"} <= set(role.values())
    pictures = [one for one, kind in role.items() if kind in {"image", "img"}]
    assert len(pictures) > 5
    assert [one for one in pictures if not name[one]] == []
    assert list(role.values()).count("main") == 1
    levels = [
        int(next(one["value"]["value"] for one in node["properties"] if one["name"] == "level"))
        for node in nodes
        if node["role"]["value"] == "heading"
    ]
    assert levels.count(1) == 1
    jumps = [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1]
    assert jumps == []


def test_a_prediction_is_committed_by_keyboard(chapter):
    view = chapter.locator(".g2h-predict").first
    view.get_by_role("radio").first.focus()
    chapter.keyboard.press("ArrowDown")
    expect(view.get_by_role("radio").nth(1)).to_be_checked()
    expect(view.locator(".g2h-result")).to_contain_text("appears once you commit")
    button = view.get_by_role("button").first
    for _ in range(5):
        chapter.keyboard.press("Tab")
        if button.evaluate("(one) => one === document.activeElement"):
            break
    chapter.keyboard.press("Enter")
    expect(view.locator(".g2h-result")).not_to_contain_text("appears once you commit")


def test_a_slider_moves_and_a_solution_opens_by_keyboard(chapter):
    slider = chapter.get_by_role("slider").first
    slider.focus()
    before = slider.input_value()
    chapter.keyboard.press("ArrowRight")
    after = slider.input_value()
    if after == before:  # it was at its end
        chapter.keyboard.press("ArrowLeft")
        after = slider.input_value()
    assert after != before
    solution = chapter.locator("details.solution").first
    solution.locator("summary").focus()
    chapter.keyboard.press("Enter")
    expect(solution).to_have_attribute("open", "")
