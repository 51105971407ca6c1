"""Drive the attention explorer and the knobs, and compare what they show with the library's."""

import re

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.layers.attention.scores import GaussianScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.watching.observation import Observed, observe
from tests.chromium.live.scripts import STORED

OWN = "1er mars 2003"
FACTS = """root => ({
  written: [...root.querySelectorAll(".g2h-written")].map((node) => node.textContent),
  rows: [...root.querySelectorAll(".g2h-numbers tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent)),
  said: root.querySelector(".g2h-live").textContent,
})"""


def drive_attention(page: Page, root: Locator, traits: dict) -> None:
    """Press every example, type a text of our own, choose every reader and some of its steps."""
    readers = dict(
        zip(traits["names"], (shipped(one["name"]) for one in traits["live"]), strict=True)
    )
    field = root.locator("input[type=text]")
    check_recorded(root, traits)
    assert root.locator(".g2h-chip").all_inner_texts() == traits["labels"]
    for place, text in enumerate(traits["examples"]):
        root.locator(f"[data-place='{place}']").click()
        check_text(page, root, readers, text)
        assert field.input_value() == text
    field.fill(OWN)
    check_text(page, root, readers, OWN, every_step=True)
    if traits["separator"] == "|":  # however a list is typed, it is read as those of training
        field.fill("|Mar 3, 1974|4 juin  2001 |")
        check_text(page, root, readers, "Mar 3, 1974 | 4 juin 2001")
        field.fill("|".join(["4 juin 2001"] * 20))  # longer than a reader writes
        wait_for(root, " | ".join(["4 juin 2001"] * 20))
        expect(root.locator(".g2h-state")).to_contain_text("Stopped at the limit")
    check_hostile(root, field)
    field.fill(traits["examples"][0])
    check_text(page, root, readers, traits["examples"][0])


def check_recorded(root: Locator, traits: dict) -> None:
    """Before anything is touched, the recorded example stands there and says what it is."""
    expect(root.locator(".g2h-state")).to_contain_text(STORED)
    told = root.evaluate(FACTS)
    for reading, written in zip(traits["readings"], told["written"], strict=True):
        assert written == "".join(token for token in reading["target"] if token != "<eos>")


def wait_for(root: Locator, text: str) -> None:
    """Wait until the page has read this text."""
    expect(root).to_have_attribute("data-text", text, timeout=60_000)
    expect(root).to_have_attribute("data-state", "done", timeout=60_000)
    assert root.get_attribute("data-stale") is None
    assert root.locator(".g2h-refusal").is_hidden()


def check_text(page: Page, root: Locator, readers: dict, text: str, *, every_step=False) -> None:
    wait_for(root, text)
    seen = {
        name: observe(
            one.model, text, one.source, one.target, max_length=one.decoding["max_length"]
        )
        for name, one in readers.items()
    }
    written = ["".join(t for t in one.target if t != "<eos>") for one in seen.values()]
    assert root.evaluate(FACTS)["written"] == written, text
    for place, one in enumerate(seen.values()):
        root.locator("input[type=radio]").nth(place).check()
        if one.weights is None:
            expect(root.locator(".g2h-nothing")).to_be_visible()
            expect(root.locator(".g2h-numbers")).to_be_hidden()
            continue
        last = len(one.target) - 1
        for step in range(last + 1) if every_step else {0, last // 2, last}:
            root.locator("input[type=range]").fill(str(step))
            check_step(root, one, step)


def check_step(root: Locator, one: Observed, step: int) -> None:
    """The numbers of a step: characters by weight, and one row for the rest."""
    rows = root.evaluate(FACTS)["rows"]
    weights, scores = one.weights[step], one.scores[step]
    for row in rows[:6]:
        place = int(re.search(r"(\d+)$", row[0])[1]) - 1
        assert float(row[1]) == pytest.approx(scores[place].item(), abs=0.02)
        assert float(row[2]) == pytest.approx((scores[place] - scores.max()).exp().item(), abs=0.01)
        assert float(row[3]) == pytest.approx(weights[place].item(), abs=0.01)
    shown = [float(row[3]) for row in rows[:6]]
    assert shown == sorted(shown, reverse=True)
    assert shown[0] == pytest.approx(weights.max().item(), abs=0.01)
    if len(weights) > 6:
        assert rows[6][0] == f"{len(weights) - 6} others"
        assert sum(shown) + float(rows[6][3]) == pytest.approx(1, abs=0.01)


def check_hostile(root: Locator, field: Locator) -> None:
    """What no reader knows gets a sentence beside the field; the last answer stays, dimmed."""
    before = root.evaluate(FACTS)["written"]
    for text in ("<img src=x onerror=alert(1)>", "☃ 1999", "\u202e1999", "9" * 400):
        field.fill(text)
        expect(root).to_have_attribute("data-state", re.compile("refused|done"), timeout=60_000)
        expect(root.locator(".g2h-state:not(:empty), .g2h-refusal:not(:empty)")).to_have_count(1)
        assert root.locator("img").count() == 0
    field.fill("☃ 1999")
    expect(root).to_have_attribute("data-state", "refused", timeout=60_000)
    expect(root.locator(".g2h-refusal")).to_contain_text("☃")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(root).to_have_attribute("data-stale", "")
    assert field.input_value() == "☃ 1999"
    field.fill("9" * 401)
    expect(root.locator(".g2h-refusal")).to_have_text(
        re.compile(r"Too long: 401 characters \(maximum 400\)\."), timeout=60_000
    )
    field.fill("")
    expect(root).to_have_attribute("data-state", "empty", timeout=60_000)
    expect(root.locator(".g2h-refusal")).to_contain_text("The field is empty")
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(root).to_have_attribute("data-stale", "")
    assert len(root.evaluate(FACTS)["written"]) == len(before)


def drive_pooling(page: Page, root: Locator, traits: dict) -> None:
    """Move both knobs, forbid slots by box and by pressing them, and forbid them all."""
    query, width = root.locator("input[type=range]").all()
    boxes = root.locator("input[type=checkbox]")
    check_pooling(root, traits, traits["query"])  # the slider shows the step nearest to it
    for where in ("min", "max"):
        for slider in (query, width):
            slider.fill(slider.get_attribute(where))
            check_pooling(root, traits, float(query.input_value()))
    width.fill("200")
    query.press("ArrowLeft")
    check_pooling(root, traits, float(query.input_value()))
    boxes.nth(0).uncheck()
    root.locator("circle").nth(1).click()
    assert not boxes.nth(1).is_checked()
    check_pooling(root, traits, float(query.input_value()))
    for place in range(2, boxes.count()):
        boxes.nth(place).uncheck()
    check_pooling(root, traits, float(query.input_value()))
    expect(root.locator(".g2h-live")).to_contain_text("Every slot is masked")


def check_pooling(root: Locator, traits: dict, query: float) -> None:
    """Weights and context as the library's attention gives them."""
    keys, values = (torch.tensor(traits[name]) for name in ("slot_keys", "slot_values"))
    allowed = torch.tensor([box.is_checked() for box in root.locator("input[type=checkbox]").all()])
    sigma = float(root.evaluate("root => root.dataset.width"))
    attention = Attention(GaussianScore(1, bandwidth=sigma))
    context, weights = attention(
        torch.tensor([[[query]]]),
        keys[None, :, None],
        values[None, :, None],
        mask=allowed,
    )
    shown = root.evaluate(
        "root => [...root.querySelectorAll('tbody tr')].map(r => r.dataset.weight)"
    )
    assert [float(one) for one in shown] == pytest.approx(weights.flatten().tolist(), abs=2e-3)
    told = float(root.get_attribute("data-context"))
    assert told == pytest.approx(context.item(), abs=5e-3)
