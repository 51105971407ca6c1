"""Drive a model walk and compare all that it shows with Python's model."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.watching.walk import Walk, walk
from tests.chromium.live.scripts import STORED

ROUNDING = 2e-3  # two float32 passes, summed in another order
OWN = "Drei Männer warten auf den Bus."
LONG = " ".join(["Der Hund sieht den Ball."] * 8)
FACTS = """root => {
  const numbers = (node, name, selector) =>
    [...node.querySelectorAll(selector)].map((one) => Number(one.dataset[name]));
  return {
    tokens: [...root.querySelectorAll(".g2h-row")].map((row) => row.children.length),
    sizes: numbers(root, "size", ".g2h-box"),
    parts: [...root.querySelectorAll(".g2h-part")].map((part) => ({
      name: part.dataset.part,
      lines: Object.fromEntries([...part.querySelectorAll(".g2h-line")].map((line) =>
        [line.dataset.name, Number(line.dataset.size)])),
      heads: [...part.querySelectorAll("tbody tr")].map((row) => numbers(row, "weight", "td")),
    })),
    lens: [...root.querySelectorAll(".g2h-lens tbody tr")].map((row) =>
      [...row.querySelectorAll("button")].map((cell) => ({
        word: cell.dataset.word, prob: Number(cell.dataset.prob),
        isFinal: cell.classList.contains("g2h-final"),
      }))),
    named: [...root.querySelectorAll(".g2h-named li")].map((one) =>
      ({ word: one.dataset.word, prob: Number(one.dataset.prob) })),
    rank: Number(root.querySelector(".g2h-named").dataset.rank),
    cache: ["source", "target", "without"].map((name) =>
      Number(root.querySelector(".g2h-cache").dataset[name])),
  };
}"""


@cache
def python_walks(text: str) -> Walk:
    """What the library's model does with a text."""
    one = shipped("translator")
    return walk(one.model, text, one.source, one.target, max_length=40)


def as_text(walked: Walk) -> str:
    """The translation as the page shows it."""
    words = shipped("translator").target
    return words.decode(words.vocabulary.encode(walked.target))


@dataclass
class Walker:
    """The view on the page, and the sentence that was typed."""

    page: Page
    root: Locator
    typed: str

    def __post_init__(self):
        self.field = self.root.locator("input[type=text]")
        self.state = self.root.locator(".g2h-state")
        self.slider = self.root.locator("input[type=range]")
        self.boxes = self.root.locator(".g2h-box")
        self.cells = self.root.locator(".g2h-says")
        self.on = self.root.get_by_role("button", name="Next block")
        self.back = self.root.get_by_role("button", name="Previous block")

    def facts(self) -> dict:
        return self.root.evaluate(FACTS)

    def type(self, text: str) -> Walk:
        """Type a text and wait for its answer."""
        self.typed = text
        self.field.fill(text)
        return self.settled()

    def settled(self) -> Walk:
        self.page.wait_for_function(
            "([root, text]) => root.dataset.state === 'done' && root.dataset.shown === text",
            arg=[self.root.element_handle(), self.typed],
        )
        walked = python_walks(self.typed)
        expect(self.state).to_contain_text(f"Output: “{as_text(walked)}”")
        return walked

    @property
    def place(self) -> int:
        pressed = [box.get_attribute("aria-pressed") == "true" for box in self.boxes.all()]
        return pressed.index(True)

    def at(self, side: str) -> int:
        """Which token of a side, "read" or "written", is at hand."""
        token = self.root.locator(f".g2h-side.g2h-{side} [aria-pressed=true]")
        return int(token.get_attribute("data-place"))

    def check(self, walked: Walk) -> None:
        """All numbers on the page are Python's."""
        told, step, token = self.facts(), self.at("written"), self.at("read")
        assert told["tokens"] == [len(walked.source), len(walked.target)]
        rows = {"encoder": token, "decoder": step}
        boxes = boxes_of(walked)
        after = [stages[-1].after[rows[stages[-1].stack]] for stages in boxes]
        near(told["sizes"], after)
        for part, stage in zip(told["parts"], boxes[self.place], strict=True):
            row = rows[stage.stack]
            assert part["name"] == stage.part
            known = {"input": stage.before, "adds": stage.added, "sum": stage.after}
            for name, size in part["lines"].items():
                near(size, known[name][row])
            assert ("adds" in part["lines"]) == (stage.added is not None)
            if stage.weights is None:
                assert part["heads"] == []
                continue
            seen = step + 1 if (stage.stack, stage.part) == ("decoder", "self_attn") else None
            near(part["heads"], stage.weights[:, row, :seen])
        self.check_lens(told, walked, step)
        kept = walked.cache
        assert told["cache"] == [kept.source, kept.target[step], kept.without[step]]

    def check_lens(self, told: dict, walked: Walk, step: int) -> None:
        words, log_probs, rank, _ = walked.readouts
        probs = log_probs.exp()
        for depth, cells in enumerate(told["lens"]):
            near([cell["prob"] for cell in cells], probs[depth, :, 0])
            for cell, best, written in zip(cells, words[depth], walked.target, strict=True):
                assert cell["word"] == best[0]
                assert cell["isFinal"] == (best[0] == written)
        depth = int(self.root.locator(".g2h-says[aria-pressed=true]").get_attribute("data-depth"))
        near([one["prob"] for one in told["named"]], probs[depth, step])
        assert told["named"][0]["word"] == words[depth][step][0]
        assert told["rank"] == rank[depth, step]


def near(ours, theirs) -> None:
    """Equal to within the rounding of two passes, by their share where they are large."""
    theirs = torch.as_tensor(theirs).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=ROUNDING, atol=ROUNDING)


def boxes_of(walked: Walk) -> list[list]:
    """The stages of each box."""
    found = {}
    for stage in walked.stages:
        found.setdefault((stage.stack, stage.block), []).append(stage)
    return list(found.values())


def drive_walk(page: Page, root: Locator, traits: dict) -> None:
    """Every example, box, step and cell; the way through them; what is refused; the keyboard."""
    view = Walker(page, root, traits["text"])
    expect(root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    view.check(python_walks(view.typed))
    for place, text in enumerate(traits["examples"][1:], start=1):
        view.typed = text
        root.locator(f".g2h-chip[data-place='{place}']").click()
        walked = view.settled()
        assert view.field.input_value() == text
        view.check(walked)
    assert (
        root.locator("i:not(.g2h-shade, .g2h-fill, .g2h-occurs-bar)").count() == 0
    )  # what is typed is text
    walked = view.type(OWN)
    for place in range(view.boxes.count()):
        view.boxes.nth(place).click()
        assert view.place == place
        view.check(walked)
    drive_steps(view, walked)
    drive_way(view, walked)
    drive_cells(view, walked)
    drive_refusals(view, walked)
    drive_keys(view, walked)


def drive_steps(view: Walker, walked: Walk) -> None:
    """Each word by the slider and by pressing it, each token of the source by pressing it."""
    for step in range(len(walked.target)):
        view.slider.fill(str(step + 1))
        view.check(walked)
    view.boxes.nth(2).click()
    written = view.root.locator(".g2h-side.g2h-written .g2h-token")
    written.nth(1).click()
    assert (view.at("written"), view.place) == (1, 6)  # the decoder's box of the same depth
    view.check(walked)
    for token in range(len(walked.source)):
        view.root.locator(".g2h-side.g2h-read .g2h-token").nth(token).click()
        assert (view.at("read"), view.place) == (token, 2)
        view.check(walked)


def drive_way(view: Walker, walked: Walk) -> None:
    """Through all boxes, then through the decoder's again for the next word; and back."""
    view.slider.fill("1")
    view.boxes.first.click()
    expect(view.back).to_be_disabled()
    way = [(place, 0) for place in range(8)] + [(place, 1) for place in range(4, 8)]
    for place, step in way[1:]:
        view.on.click()
        assert (view.place, view.at("written")) == (place, step)
        if place >= 4:  # the logit lens goes with the decoder's blocks
            listed = view.root.locator(".g2h-says[aria-pressed=true]")
            assert listed.get_attribute("data-depth") == str(place - 4)
    view.check(walked)
    for place, step in way[-2::-1]:
        view.back.click()
        assert (view.place, view.at("written")) == (place, step)
    view.slider.fill(str(len(walked.target)))
    view.boxes.last.click()
    expect(view.on).to_be_disabled()
    expect(view.root.locator(".g2h-live")).to_contain_text("Decoder, block 3, predicting “end”")


def drive_cells(view: Walker, walked: Walk) -> None:
    """A cell that is pointed at names its likeliest words; one that is pressed stays."""
    steps = len(walked.target)
    named = view.root.locator(".g2h-named p")
    view.cells.nth(2 * steps + 1).click()
    assert (view.at("written"), view.place) == (1, 6)
    view.check(walked)
    expect(named).to_contain_text("Step 2, after block 2")
    view.cells.nth(3).hover()
    expect(named).to_contain_text("Step 4, after the embedding")
    told = view.facts()
    near([one["prob"] for one in told["named"]], walked.readouts.log_probs[0, 3].exp())
    assert told["rank"] == walked.readouts.rank[0, 3]
    view.field.hover()
    expect(named).to_contain_text("Step 2, after block 2")


def drive_refusals(view: Walker, walked: Walk) -> None:
    """What is empty or too long gets a sentence; the field keeps it, the old answer is dimmed."""
    refusal, picture = (
        view.root.locator(".g2h-refusal:not(.g2h-english *)"),
        view.root.locator("div.g2h-dim"),
    )
    for text, sentence in (
        ("", "The field is empty"),
        ("Hund " * 99, "100 tokens (maximum 40)"),
        (LONG, "tokens (maximum 40)"),
    ):
        view.field.fill(text)
        expect(refusal).to_contain_text(sentence)
        expect(refusal).to_contain_text("The dimmed result below belongs to the previous sentence.")
        assert view.field.input_value() == text
        expect(picture).to_have_css("opacity", "0.45")
        expect(view.root.locator(".g2h-live")).to_have_css("opacity", "0.45")
    for text in ("☃ שלום", "x", OWN):
        view.check(view.type(text))
        expect(refusal).to_be_hidden()
        expect(picture).to_have_css("opacity", "1")
    view.field.fill("Eine Frau")
    view.check(view.type(OWN))  # a newer question comes first


def drive_keys(view: Walker, walked: Walk) -> None:
    """Tokens, boxes and cells are walked by the arrows; each row of tokens is one stop."""
    press = view.page.keyboard.press
    read = view.root.locator(".g2h-side.g2h-read .g2h-token")
    read.first.focus()
    for key, token in [("ArrowRight", 1), ("End", len(walked.source) - 1), ("ArrowLeft", -2)]:
        press(key)
        expect(read.nth(token)).to_be_focused()
        assert view.at("read") == token % len(walked.source)
    expect(view.root.locator(".g2h-read .g2h-token[tabindex='0']")).to_have_count(1)
    view.boxes.nth(1).focus()
    for key, place in [("ArrowRight", 2), ("ArrowDown", 6), ("ArrowLeft", 5), ("ArrowUp", 1)]:
        press(key)
        expect(view.boxes.nth(place)).to_be_focused()
    press("Enter")
    assert view.place == 1
    steps = len(walked.target)
    view.page.mouse.move(0, 0)  # a resting mouse would name the cell that scrolls under it
    view.cells.first.focus()
    for key, cell in [("ArrowDown", steps), ("ArrowRight", steps + 1), ("End", 2 * steps - 1)]:
        press(key)
        expect(view.cells.nth(cell)).to_be_focused()
        said = view.cells.nth(cell).get_attribute("aria-label")
        assert said.startswith(f"after block 1, step {cell - steps + 1}: ")
        named = view.root.locator(".g2h-named p")
        expect(named).to_contain_text(f"Step {cell - steps + 1}, after block 1")
    press("Enter")
    assert view.at("written") == steps - 1
    view.slider.focus()
    press("Home")
    assert view.at("written") == 0
    view.check(walked)
