"""Drive a head explorer and compare what it writes and where its heads look with Python's model."""

import copy
import json
import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.layers.attention.heads_off import heads_off
from gates2heads.watching.observation import ObservedHeads, observe_heads
from tests.chromium.live.scripts import STORED
from tests.without_positions import without_positions

ROUNDING = 2e-3  # two float32 passes, summed in another order
OWN = "Drei Männer warten auf den Bus."
LONG = " ".join(["Der Hund sieht den Ball."] * 8)  # 49 tokens
NAMES = (
    "encoder_layers.{}.self_attn",
    "decoder_layers.{}.self_attn",
    "decoder_layers.{}.cross_attn",
)
FACTS = """root => ({
  written: [...root.querySelectorAll(".g2h-answer output")].map((node) => node.textContent.trim()),
  notes: [...root.querySelectorAll(".g2h-note")].map((node) => node.textContent),
  words: [...root.querySelectorAll(".g2h-word")].map((node) => node.textContent),
  weights: [...root.querySelectorAll(".g2h-head")].map((head) =>
    [...head.querySelectorAll(".g2h-seen")].map((node) => Number(node.dataset.weight))),
  numbers: [...root.querySelectorAll(".g2h-numbers tbody tr")].map((row) => ({
    place: row.dataset.place,
    weights: [...row.querySelectorAll("td")].map((cell) => Number(cell.dataset.weight)),
    told: [...row.querySelectorAll("td")].map((cell) => cell.textContent),
  })),
  off: [...root.querySelectorAll(".g2h-model .g2h-off")].length,
})"""
# Whether the view has answered a text under these heads, with or without positions.
SETTLED = """([root, asked]) => ["done", "recorded"].includes(root.dataset.state)
  && !root.hasAttribute("data-stale") && root.dataset.question
  && JSON.stringify(JSON.parse(root.dataset.question).slice(0, 3)) === JSON.stringify(asked)"""


@cache
def translator(positions: bool):
    """The shipped translator, its encoder told of positions or not."""
    one = shipped("translator")
    return one if positions else one._replace(model=without_positions(copy.deepcopy(one.model)))


@cache
def python_sees(text: str, off: tuple = (), positions: bool = True) -> ObservedHeads:
    """What the library's model writes for a text, and where its heads looked."""
    one = translator(positions)
    with heads_off(one.model, off):
        return observe_heads(one.model, text, one.source, one.target, max_length=40)


def judged(text: str, tokens: list[str], off: tuple, positions: bool) -> float:
    """How likely the changed model finds a translation, in nats."""
    one, total = translator(positions), 0.0
    numbers = one.target.vocabulary.encode(tokens)
    with heads_off(one.model, off), torch.no_grad():
        state = one.model.start(torch.tensor([one.source.encode(text)]))
        for last, token in zip([one.target.bos, *numbers], numbers, strict=False):
            log_probs, state = one.model.step(state, torch.tensor([last]))
            total += log_probs[0, token].item()
    return total


def as_text(seen: ObservedHeads) -> str:
    """The translation as the page shows it, blanks in a row as one."""
    words = translator(True).target
    return " ".join(words.decode(words.vocabulary.encode(seen.target)).split())


def nats(told: str) -> float:
    """The number in “log-probability −2.05 nats”."""
    return float(re.search(r"−?[\d.]+", told)[0].replace("−", "-"))


@dataclass
class Explorer:
    """The view on the page, and the sentence that was typed."""

    page: Page
    root: Locator
    typed: str

    def __post_init__(self):
        self.field = self.root.locator("input[type=text]")
        self.state = self.root.locator(".g2h-state")
        self.switches = self.root.locator(".g2h-head input")
        self.told = self.root.locator(".g2h-told input")
        self.off: tuple = ()
        self.positions = True
        self.block = self.layer = 0

    def facts(self) -> dict:
        return self.root.evaluate(FACTS)

    def check(self) -> ObservedHeads:
        """Wait for the answer; both translations, and how likely each is, are Python's."""
        off = [list(head) for head in self.off]
        self.page.wait_for_function(
            SETTLED, arg=[self.root.element_handle(), [self.typed, off, self.positions]]
        )
        order = json.loads(self.root.get_attribute("data-question"))[3]
        body = self.typed.rstrip(".")
        words = [body.split()[place] for place in order]
        assert self.facts()["words"] == words
        text = " ".join(words) + self.typed[len(body) :]
        base, now = python_sees(self.typed), python_sees(text, self.off, self.positions)
        told = self.facts()
        assert told["written"][0] == as_text(base)
        assert abs(nats(told["notes"][0]) - base.log_prob) < 0.01
        assert told["off"] == len(self.off)
        if (text, self.off, self.positions) != (self.typed, (), True):
            assert told["written"][1] == as_text(now)
            assert abs(nats(told["notes"][1]) - now.log_prob) < 0.01
            there = judged(text, base.target, self.off, self.positions)
            shown = float(self.root.locator(".g2h-answers").get_attribute("data-judged"))
            assert abs(shown - there) < 0.01
        return now

    def choose(self, block: int, layer: int) -> None:
        self.block, self.layer = block, layer
        cell = self.root.locator(f".g2h-model [data-block='{block}'][data-depth='{layer}']")
        cell.click()
        expect(cell).to_have_attribute("aria-pressed", "true")

    def check_weights(self, seen: ObservedHeads) -> None:
        """Point at the first, a middle and the last token: all heads' weights are Python's."""
        weights = (seen.encoder, seen.decoder, seen.cross)[self.block][self.layer].numpy()
        rows = weights.shape[1]
        for row in sorted({0, rows // 2, rows - 1}):
            self.root.locator(".g2h-head").first.locator(".g2h-looks").nth(row).hover()
            caption = self.root.locator(".g2h-numbers caption")
            expect(caption).to_contain_text(re.compile(rf", token {row + 1}$"))
            told = self.facts()
            np.testing.assert_allclose(told["weights"], weights[:, row], rtol=0, atol=ROUNDING)
            named = [line for line in told["numbers"] if line["place"]]
            for line in named:
                there = weights[:, row, int(line["place"])]
                np.testing.assert_allclose(line["weights"], there, rtol=0, atol=ROUNDING)
                assert line["told"] == [f"{weight:.2f}" for weight in line["weights"]]
            total = np.sum([line["weights"] for line in told["numbers"]], axis=0)
            np.testing.assert_allclose(total, 1, rtol=0, atol=ROUNDING)
            least = min(max(line["weights"]) for line in named)
            others = np.delete(weights[:, row], [int(line["place"]) for line in named], axis=1)
            assert not others.size or others.max() <= least + ROUNDING

    def head(self, number: int) -> tuple[str, int]:
        return NAMES[self.block].format(self.layer), number


def drive_heads(page: Page, root: Locator, traits: dict) -> None:
    """Every example and block, heads off one by one and together, words moved, no positions."""
    texts = traits["examples"]
    view = Explorer(page, root, texts[0])
    view.block, view.layer = traits["block"], traits["layer"]
    check_recorded(view, traits)
    for place, text in enumerate(texts):
        view.typed = text
        root.locator(f".g2h-chip[data-place='{place}']").click()
        if place == 0:  # the recorded one is not asked again before something changes
            continue
        seen = view.check()
        assert view.field.input_value() == text
        view.check_weights(seen)
    assert root.locator("i:not(.g2h-shade, .g2h-occurs-bar)").count() == 0  # what is typed is text
    view.typed = OWN
    view.field.fill(OWN)
    seen = view.check()
    for block in range(3):
        view.choose(block, block)
        view.check_weights(seen)
    drive_switches(view)
    drive_order(view)
    drive_refusals(view)
    drive_keys(view)
    drive_show_me(view, traits["show_me"])


def check_recorded(view: Explorer, traits: dict) -> None:
    """Before anything is touched, the recorded example stands there and says what it is."""
    expect(view.root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    told = view.facts()
    assert told["written"][0] == traits["recorded"]["written"]
    assert abs(nats(told["notes"][0]) - traits["recorded"]["logProb"]) < 0.006
    view.check_weights(python_sees(traits["text"]))


def drive_switches(view: Explorer) -> None:
    """One head, all but one of a layer, of a block, of the model; all on again."""
    view.choose(2, 2)
    view.switches.nth(1).uncheck()
    view.off = (view.head(1),)
    view.check_weights(view.check())
    expect(view.state).to_contain_text("1 of 36 heads is off")
    view.choose(0, 1)
    view.switches.nth(3).uncheck()
    view.off = (*view.off, view.head(3))
    view.check()
    view.root.get_by_label("only this: head 3").click()
    view.off = (*view.off, view.head(0), view.head(1))
    view.check_weights(view.check())
    scope = view.root.locator(".g2h-controls select")
    on = view.root.get_by_role("button", name="All on")
    for name, blocks in (("this kind of attention", (0,)), ("the whole model", (0, 1, 2))):
        scope.select_option(label=name)
        on.click()
        view.root.get_by_label("only this: head 2").click()
        kept = view.head(1)
        rest = () if len(blocks) == 3 else (("decoder_layers.2.cross_attn", 1),)
        everywhere = [
            (NAMES[block].format(layer), head)
            for block in blocks
            for layer in range(3)
            for head in range(4)
        ]
        view.off = (*rest, *(head for head in everywhere if head != kept))
        view.check()
    on.click()
    view.off = ()
    view.check()
    expect(view.state).to_contain_text("All 36 heads are on")
    expect(on).to_be_disabled()


def drive_order(view: Explorer) -> None:
    """Move a word by button, key and mouse; shuffle; without positions the order is not noticed."""
    words = view.root.locator(".g2h-word")
    before = view.facts()["words"]
    words.nth(1).click()
    view.root.get_by_label("move the word right").click()
    assert view.facts()["words"] == [before[0], before[2], before[1], *before[3:]]
    view.check_weights(view.check())
    words.nth(2).press("Shift+ArrowLeft")
    assert view.facts()["words"] == before
    view.check()
    words.nth(0).drag_to(words.nth(2))
    assert view.facts()["words"] == [*before[1:3], before[0], *before[3:]]
    view.check()
    view.root.get_by_role("button", name="Shuffle the words").click()
    assert sorted(view.facts()["words"]) == sorted(before)
    assert view.facts()["words"] != before
    view.check()
    view.told.uncheck()
    view.positions = False
    view.check_weights(view.check())
    expect(view.state).to_contain_text(
        "the output is the same: the encoder's weights differ only in their order"
    )
    view.root.get_by_role("button", name="Original order").click()
    assert view.facts()["words"] == before
    view.check()
    view.told.check()
    view.positions = True
    view.check()


def drive_refusals(view: Explorer) -> None:
    """What is empty or too long gets a sentence; the field keeps it, the old answer is dimmed."""
    before, refused = view.facts()["written"], view.root.locator(".g2h-refusal:not(.g2h-english *)")
    for text, sentence in (
        ("", "Type a German sentence"),
        ("Hund " * 99, "494 characters (maximum 300)"),
        (LONG, "tokens (maximum 40)"),
    ):
        view.field.fill(text)
        expect(refused).to_contain_text(sentence)
        assert view.field.input_value() == text
        expect(view.field).to_have_attribute("aria-invalid", str(bool(text)).lower())
        expect(view.root.locator(".g2h-answers")).to_have_css("opacity", "0.45")
        assert view.facts()["written"] == before
    warning = view.root.locator(".g2h-warning")
    for text, sentence in (
        ("☃ שלום", "never occurred in training"),
        ("x", ""),
    ):
        view.typed = text
        view.field.fill(text)
        view.check()
        expect(refused).to_be_empty()
        expect(warning).to_contain_text(sentence)
    expect(warning).to_be_empty()
    view.typed = OWN
    view.field.fill(OWN)
    view.check()


def drive_show_me(view: Explorer, buttons: list[dict]) -> None:
    """Every button sets its state, and says what to look at."""
    for one in buttons:
        view.root.get_by_role("button", name=one["label"]).click()
        state = one["state"]
        view.typed = state["text"]
        view.off = tuple((layer, head) for layer, head in state["off"])
        view.positions = state.get("positions", True)
        view.check()
        expect(view.root.locator(".g2h-look")).to_have_text(one["look"])


def drive_keys(view: Explorer) -> None:
    """The tokens of a head are one stop of the tab key; arrows walk along it and across."""
    heads = view.root.locator(".g2h-head")
    heads.first.locator(".g2h-looks").first.focus()
    for key, head, row in [
        ("ArrowDown", 0, 1),
        ("ArrowRight", 1, 1),
        ("ArrowUp", 1, 0),
        ("ArrowUp", 1, 0),
        ("ArrowLeft", 0, 0),
        ("End", 0, len(python_sees(OWN).source) - 1),
    ]:
        view.page.keyboard.press(key)
        expect(heads.nth(head).locator(".g2h-looks").nth(row)).to_be_focused()
    view.page.keyboard.press("Enter")
    label = heads.first.locator(".g2h-looks[aria-pressed=true]").inner_text()
    expect(view.root.locator(".g2h-live")).to_contain_text(f"Largest weight of “{label}”")
    view.switches.nth(2).focus()
    view.page.keyboard.press("Space")
    view.off = (view.head(2),)
    view.check()
    expect(view.switches.nth(2)).to_be_focused()
    view.page.keyboard.press("Space")
    view.off = ()
    view.check()
