"""Drive the unroller in a page and compare each number with what Python's network computes."""

import json
from dataclasses import dataclass, field

import numpy as np
import torch
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.watching.forced_tokens import ObservedForcing, observe_forcing
from tests.chromium.live.scripts import STORED

ROUNDING = 3e-3  # two float32 passes, summed in another order; what is recorded has two bytes
NETWORKS = ("forced_teacher", "forced_free", "forced_mixed")
LINES = ("free", "held", "taught")
ROOM = 16
FACTS = """root => {
  const row = (name) => [...root.querySelectorAll(`.g2h-${name} .g2h-letters button`)];
  const bars = (at) => [...root.querySelectorAll(".g2h-bars")[at].children]
    .map(({ dataset }) => Number(dataset.value));
  const of = (names, read) => Object.fromEntries(names.map((name) => [name, read(row(name))]));
  const texts = (buttons) => buttons.map((one) => one.textContent);
  const marks = (buttons) => buttons.map((one) => one.dataset.mark ?? "");
  const current = (buttons) => buttons.findIndex((one) => one.hasAttribute("aria-current"));
  const share = ({ dataset: { value } }) => (value === undefined ? null : Number(value));
  return {
    lines: of(["reads", "free", "held", "taught", "expects"], texts),
    marks: of(["held", "expects"], marks),
    current: of(["reads", "free"], current),
    apart: bars(0),
    nats: bars(1),
    steps: [...root.querySelectorAll(".g2h-states")].map(({ dataset }) => Number(dataset.steps)),
    shades: root.querySelectorAll(".g2h-states path").length,
    shares: [...root.querySelectorAll(".g2h-numbers tbody tr")].map((row) => [
      Number(row.querySelector("code").dataset.id), [...row.querySelectorAll("td")].map(share)]),
    pressed: [...root.querySelectorAll(".g2h-keys [aria-pressed=true]")]
      .map(({ dataset }) => dataset.token),
  };
}"""
SETTLED = """([root, asked]) => root.dataset.state === "done" && !root.hasAttribute("data-stale")
  && root.dataset.question === asked"""


@dataclass
class Unrolled:
    """The view on the page, and what was asked of it."""

    page: Page
    root: Locator
    text: str
    step: int
    held: dict = field(default_factory=dict)
    taught: str = ""
    network: int = 0

    def __post_init__(self):
        self.field, self.lesson = self.root.locator("input[type=text]").all()
        self.state = self.root.locator(".g2h-state")
        self.slider = self.root.locator("input[type=range]")

    def python(self) -> ObservedForcing:
        """What the library's network does with the same."""
        one = shipped(NETWORKS[self.network])
        held = {int(step): token for step, token in self.held.items()}
        options = {"held": held, "taught": self.taught or None, "max_length": ROOM}
        return observe_forcing(one.model, self.text, one.source, one.target, **options)

    def settle(self) -> None:
        """Wait for the answer to what was asked."""
        held = dict(sorted(self.held.items(), key=lambda one: int(one[0])))  # as JavaScript has it
        asked = json.dumps(
            [self.text, self.network, held, self.taught],
            separators=(",", ":"),
            ensure_ascii=False,
        )
        self.page.wait_for_function(SETTLED, arg=[self.root.element_handle(), asked])

    def check(self) -> None:
        """Every character and number of the view is Python's."""
        told, seen = self.root.evaluate(FACTS), self.python()
        words = {"<eos>": "end", " ": "␣"}
        shown = {name: getattr(seen, name).tokens for name in LINES} | {"reads": seen.source}
        for name, tokens in shown.items():
            assert told["lines"][name] == [words.get(token, token) for token in tokens]
        best = [seen.vocabulary[number] for number in seen.taught.log_probs.argmax(-1)]
        assert told["lines"]["expects"] == [words.get(token, token) for token in best]
        assert told["marks"]["expects"] == [
            "" if one == other else "otherwise"
            for one, other in zip(best, seen.taught.tokens, strict=True)
        ]
        self.check_marks(told["marks"]["held"], seen)
        self.check_numbers(told, seen)
        assert told["steps"] == [len(seen.source), len(seen.held.tokens)]
        assert told["shades"] > 4
        length = len(seen.source)
        reading = self.step < length
        assert told["current"]["reads"] == (self.step if reading else -1)
        at = self.step - length
        assert told["current"]["free"] == (at if 0 <= at < len(seen.free.tokens) else -1)
        self.check_shares(told, seen, at)

    def check_marks(self, marks: list, seen: ObservedForcing) -> None:
        free, held = seen.free.tokens, seen.held.tokens
        for step, mark in enumerate(marks):
            same = step < len(free) and free[step] == held[step]
            wanted = "" if same else "otherwise"
            assert mark == ("held" if str(step) in self.held else wanted), step

    def check_numbers(self, told: dict, seen: ObservedForcing) -> None:
        steps = min(len(seen.free.tokens), len(seen.held.tokens))
        gap = (seen.free.hidden[:steps] - seen.held.hidden[:steps]).square().mean(-1).sqrt()
        np.testing.assert_allclose(told["apart"], gap, rtol=0, atol=ROUNDING)
        numbers = torch.tensor([seen.vocabulary.index(token) for token in seen.taught.tokens])
        nats = -seen.taught.log_probs.gather(1, numbers[:, None])[:, 0]
        np.testing.assert_allclose(told["nats"], nats, rtol=2e-3, atol=ROUNDING)

    def check_shares(self, told: dict, seen: ObservedForcing, at: int) -> None:
        assert told["pressed"] == ([self.held[str(at)]] if str(at) in self.held else [])
        if at < 0:
            assert told["shares"] == []
            return
        for number, shares in told["shares"]:
            for name, share in zip(LINES, shares, strict=True):
                line = getattr(seen, name)
                if at >= len(line.tokens):
                    assert share is None
                else:
                    wanted = float(line.log_probs[at, number].exp())
                    assert abs(share - wanted) < ROUNDING, (name, number)

    def answered(self) -> None:
        """The answer stands there, and says in words what it is."""
        self.settle()
        self.check()
        seen, said = self.python(), self.state.inner_text()
        free = "".join(token for token in seen.free.tokens if token != "<eos>")
        assert f"The greedy output is {free or 'empty'}." in said
        assert ("No character is clamped" in said) == (not self.held)


def drive_unroller(page: Page, root: Locator, traits: dict) -> None:
    """Every example, network, step, key and lesson; what cannot be read gets a sentence."""
    if traits["simple"]:
        drive_simple(page, root, traits)
        return
    view = Unrolled(
        page, root, traits["text"], traits["step"], dict(traits["held"]), traits["taught"]
    )
    expect(root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    view.check()
    drive_steps(view)
    drive_examples(view, traits)
    drive_holds(view)
    for network in (1, 2, 0):
        root.locator("select").select_option(index=network)
        view.network = network
        view.answered()
    drive_lessons(view)
    drive_dates(view)


def drive_simple(page: Page, root: Locator, traits: dict) -> None:
    """One line of output: for each example and an own date it is Python's."""
    own = root.locator("input[type=text]")
    assert own.count() == 1
    expect(root).to_have_attribute("data-state", "recorded")
    one = shipped(NETWORKS[0])
    for text in (*traits["examples"][1:], "17 Okt 2050"):
        own.fill(text)
        asked = json.dumps([text, 0, {}, ""], separators=(",", ":"), ensure_ascii=False)
        page.wait_for_function(SETTLED, arg=[root.element_handle(), asked])
        seen = observe_forcing(
            one.model, text, one.source, one.target, held={}, taught=None, max_length=ROOM
        )
        written = root.locator(".g2h-free .g2h-letters button").all_inner_texts()
        words = {"<eos>": "end", " ": "␣"}
        assert written == [words.get(token, token) for token in seen.free.tokens]


def drive_steps(view: Unrolled) -> None:
    """Slider, buttons, a press on a character and the arrows choose a step."""
    last = int(view.slider.get_attribute("max")) - 1
    back, on = (view.root.get_by_role("button", name=name) for name in ("Back", "Next step"))
    view.slider.fill("1")
    view.step = 0
    view.check()
    expect(back).to_be_disabled()
    on.click()
    view.step = 1
    view.check()
    view.slider.fill(str(last + 1))
    view.step = last
    view.check()
    expect(on).to_be_disabled()
    back.click()
    view.step -= 1
    view.check()
    view.root.locator(".g2h-reads .g2h-letters button").nth(2).click()
    view.step = 2
    view.check()
    view.page.keyboard.press("ArrowRight")
    view.step = 3
    view.check()
    view.page.keyboard.press("Home")
    view.step = 0
    view.check()
    expect(view.root.locator(".g2h-keys button").first).to_be_disabled()
    expect(view.root.locator(".g2h-live")).to_contain_text("Encoder step 1")


def drive_examples(view: Unrolled, traits: dict) -> None:
    for place, text in reversed(list(enumerate(traits["examples"]))):
        chip = view.root.locator(".g2h-chip[data-place]").nth(place)
        chip.click()
        if text != view.text:
            view.held = {}  # what was clamped belongs to the previous text
        view.text = text
        view.answered()
        expect(chip).to_have_attribute("aria-pressed", "true")


def at_writing(view: Unrolled, place: int) -> None:
    """Go to a step of writing."""
    view.step = len(view.text) + 1 + place
    view.slider.fill(str(view.step + 1))


def drive_holds(view: Unrolled) -> None:
    """Hold a character, another beside it, let one go by pressing it again, release all."""
    release = view.root.get_by_role("button", name="Release all")
    expect(release).to_be_disabled()
    for place, token in ((0, "3"), (4, "7")):
        at_writing(view, place)
        view.root.locator(f".g2h-keys [data-token='{token}']").click()
        view.held[str(place)] = token
        view.answered()
    view.root.locator(".g2h-keys [data-token='7']").click()
    del view.held["4"]
    view.answered()
    view.root.locator(".g2h-keys [data-token='<eos>']").click()
    view.held["4"] = "<eos>"
    view.answered()
    release.click()
    view.held = {}
    view.answered()
    at_writing(view, 1)
    view.root.locator(".g2h-keys [data-token='-']").click()
    view.held["1"] = "-"
    view.answered()


def drive_lessons(view: Unrolled) -> None:
    """A teacher's line of the reader's own; what it may not hold is said beside it."""
    for taught in ("1999-12-31", "2", "----"):
        view.lesson.fill(taught)
        view.lesson.press("Enter")
        view.taught = taught
        view.answered()
    refusal = view.root.locator(".g2h-refusal").nth(1)
    for wrong, sentence in (("19x", "“x” is not allowed"), ("1" * 16, "at most 15 are possible")):
        view.lesson.fill(wrong)
        view.lesson.press("Enter")
        expect(refusal).to_contain_text(sentence)
        assert view.lesson.input_value() == wrong
    view.lesson.fill("")
    view.lesson.press("Enter")
    view.taught = ""
    view.answered()
    expect(refusal).to_be_hidden()


def drive_dates(view: Unrolled) -> None:
    """What is typed is read; empty, strange and too long get a sentence, and the field keeps it."""
    refusal = view.root.locator(".g2h-refusal").nth(0)
    picture = view.root.locator(".g2h-dim").first
    for text, sentence in (
        ("", "The field is empty"),
        ("<b>4</b> mai", "did not occur in training"),
        ("4 " * 31 + "4", "63 characters (maximum "),
    ):
        view.field.fill(text)
        expect(refusal).to_contain_text(sentence)
        assert view.field.input_value() == text
        expect(picture).to_have_css("opacity", "0.45")
    written = view.step - len(view.text) - 1
    warning = view.root.locator(".g2h-warning")
    expect(warning).to_be_empty()
    view.text, view.held = "17 Okt 2050", {}
    view.field.fill(view.text)
    view.settle()
    view.step = len(view.text) + 1 + written  # the same step of writing
    view.answered()
    expect(refusal).to_be_hidden()
    view.text = "31 Februar 2999"
    view.field.fill(view.text)
    view.settle()
    expect(warning).to_have_text(
        "The input is unlike the training data: the year 2999 is not between 1900 and 2100."
    )
    assert view.root.locator(".g2h-letters b, .g2h-letters img").count() == 0
