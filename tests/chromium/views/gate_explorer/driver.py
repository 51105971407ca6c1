"""Drive a gate explorer and compare every number that it shows with Python's networks."""

import json
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.python.source import UNKNOWN, known_characters
from gates2heads.layers.recurrent import clamp_gates
from gates2heads.watching.gates import ObservedGates, observe_gates
from tests.chromium.live.scripts import STORED

ROUNDING = 2e-3  # two float32 passes, summed in another order
NETWORKS = ("gates_lstm", "gates_gru")
GATES = (("forget", "input", "output"), ("reset", "update"))
OWN = "x = [(1, 'a')]\n"
FACTS = """root => ({
  state: root.dataset.state,
  letters: [...root.querySelectorAll(".g2h-letters span")].map((node) => node.textContent),
  colours: [...root.querySelectorAll(".g2h-letters span")]
    .map(({ dataset }) => Number(dataset.value)),
  numbers: [...root.querySelectorAll(".g2h-numbers:not(.g2h-next) tbody tr")].map((row) =>
    [row.querySelector("th").textContent,
      [...row.querySelectorAll("td")].map((cell) => Number(cell.dataset.value))]),
  next: [...root.querySelectorAll(".g2h-next tbody tr")].map((row) =>
    [Number(row.querySelector("code").dataset.id),
      [...row.querySelectorAll("td")].map((cell) => Number(cell.dataset.value))]),
  strips: root.querySelectorAll(".g2h-strip").length,
  free: root.querySelectorAll(".g2h-free").length,
})"""
SETTLED = """([root, asked]) => root.dataset.state === "done" && !root.hasAttribute("data-stale")
  && root.dataset.question === asked"""
NAMES = {
    **{gate: f"{gate} gate" for gate in ("reset", "update", "forget", "input", "output")},
    **{"candidate": "candidate", "cell": "cell", "hidden": "hidden state"},
}


@dataclass
class Explorer:
    """The view on the page, and what was asked of it."""

    page: Page
    root: Locator
    text: str
    unit: int
    place: int
    quantity: str
    network: int = 0
    gates: dict = field(default_factory=dict)
    alone: bool = False

    def __post_init__(self):
        self.field = self.root.locator("textarea")
        self.state = self.root.locator(".g2h-state")

    def facts(self) -> dict:
        return self.root.evaluate(FACTS)

    def own(self) -> dict:
        """What is held of the gates that this network has."""
        return {gate: at for gate, at in self.gates.items() if gate in GATES[self.network]}

    def python(self, held: bool) -> ObservedGates:
        """What the library's network does with the text."""
        one = shipped(NETWORKS[self.network])
        with ExitStack() as blocks:
            if held:
                units = [self.unit] if self.alone else None
                blocks.enter_context(clamp_gates(one.model.recurrent, self.own(), units=units))
            return observe_gates(one.model, known_characters(self.text), one.source)

    def settle(self) -> None:
        """Wait for the answer to what was asked."""
        alone = self.unit if self.gates and self.alone else None
        gates = {gate: int(at) if at == int(at) else at for gate, at in self.gates.items()}
        asked = json.dumps(
            [self.text, self.network, gates, alone], separators=(",", ":"), ensure_ascii=False
        )
        self.page.wait_for_function(SETTLED, arg=[self.root.element_handle(), asked])

    def check(self) -> dict:
        """Every number of the view is Python's, free and held."""
        free, held = self.python(held=False), self.python(held=True)
        runs = [free, held] if self.own() else [free]
        told, now = self.facts(), runs[-1]
        assert len(told["letters"]) == len(now.tokens)
        np.testing.assert_allclose(
            told["colours"], now.quantities[self.quantity][:, self.unit], rtol=0, atol=ROUNDING
        )
        assert {name for name, _ in told["numbers"]} == {NAMES[name] for name in now.quantities}
        for name, values in told["numbers"]:
            key = next(key for key, words in NAMES.items() if words == name)
            wanted = [run.quantities[key][self.place, self.unit] for run in runs]
            np.testing.assert_allclose(values, wanted, rtol=0, atol=ROUNDING, err_msg=name)
        best = now.log_probs[self.place + 1].exp().topk(5).values
        np.testing.assert_allclose(
            [shares[-1] for _, shares in told["next"][:5]], best, rtol=0, atol=ROUNDING
        )
        # the favourite of the free network stands there too, however improbable it has become
        first = free.log_probs[self.place + 1]
        assert len(told["next"]) in ((5, 6) if self.own() else (5,))
        shown = max(first[token] for token, _ in told["next"])
        assert shown > first.max() - ROUNDING
        for token, shares in told["next"]:
            wanted = [run.log_probs[self.place + 1, token].exp() for run in runs]
            np.testing.assert_allclose(shares, wanted, rtol=0, atol=ROUNDING)
        assert told["strips"] == len(now.quantities) + 1
        assert told["free"] == (told["strips"] if self.own() else 0)
        return told

    def answered(self) -> None:
        """The answer stands there, and so do its bits a character."""
        self.settle()
        self.check()
        free, held = (self.python(held=one).bits.mean().item() for one in (False, True))
        said = self.state.inner_text()
        assert self.near(said, "clamped: ", free), (said, free)
        if self.own():
            assert self.near(said, "units: " if not self.alone else "alone: ", held), (said, held)

    @staticmethod
    def near(said: str, before: str, wanted: float) -> bool:
        """Whether the number behind some words is this one, as far as it is written."""
        number = said.partition(before)[2].split(maxsplit=1)[0]
        return abs(float(number) - wanted) < 0.0051 + ROUNDING


def drive_gates(page: Page, root: Locator, traits: dict) -> None:
    """Every example, network, quantity and gate; units and places by button, key and pointer."""
    view = Explorer(page, root, traits["text"], traits["unit"], traits["place"], traits["quantity"])
    expect(root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    view.check()
    for place, text in reversed(list(enumerate(traits["examples"]))):
        root.locator(".g2h-chip[data-place]").nth(place).click()
        view.text, view.place = text, min(traits["place"], len(text) - 1)
        view.answered()
    assert root.locator(".g2h-tape img, .g2h-tape b").count() == 0  # what is typed is text
    drive_places(view)
    drive_units(view, traits)
    drive_clamps(view)
    view.root.locator("[data-trait=model]").select_option(index=1)
    view.network, view.quantity = 1, "hidden"
    found = [one["unit"] for one in traits["found"] if one["model"] == 1]
    view.unit = found[0]  # another network begins with its own unit
    view.answered()
    expect(root.locator(f".g2h-found [data-unit='{found[0]}']")).to_have_attribute(
        "aria-pressed", "true"
    )
    drive_clamps(view)
    drive_texts(view)


def drive_places(view: Explorer) -> None:
    """The slider, the arrows on the tape, and a press on it choose a character."""
    slider = view.root.locator(".g2h-place input")
    last = len(view.text) - 1
    slider.fill(str(last))
    view.place = last
    view.check()
    view.root.locator(".g2h-tape").focus()
    view.page.keyboard.press("ArrowLeft")
    view.place = last - 1
    view.check()
    view.page.keyboard.press("ArrowDown")
    view.unit += 1
    view.check()
    view.page.keyboard.press("ArrowUp")
    view.unit -= 1
    view.root.locator(".g2h-letters span").nth(2).click()
    view.place = 2
    view.check()
    expect(view.root.locator(".g2h-live")).to_contain_text(f"Unit {view.unit} after")
    view.root.locator(".g2h-letters span").nth(4).hover()
    kept, view.place = view.place, 4
    view.check()
    view.field.hover()
    view.place = kept
    view.check()


def drive_units(view: Explorer, traits: dict) -> None:
    """Buttons, number and a press on all units choose one; each quantity can be shown."""
    for found in (one for one in traits["found"] if one["model"] == view.network):
        view.root.locator(f".g2h-found [data-unit='{found['unit']}']").click()
        view.unit = found["unit"]
        view.check()
        expect(view.root.locator(".g2h-told")).to_have_text(found["told"])
    picture = view.root.locator(".g2h-units")
    expect(picture).to_be_hidden()
    view.root.get_by_label("show every unit").check()
    number = view.root.locator("input[type=number]")
    number.fill("999")
    number.press("Enter")
    view.unit = int(number.get_attribute("max"))
    view.check()
    number.fill("999")  # the same unit again: the field shows it and not what was typed
    number.press("Enter")
    expect(number).to_have_value(str(view.unit))
    row = view.root.locator(".g2h-one").first  # the row of a named unit chooses it
    row.click(position={"x": 5, "y": 5})
    view.unit, view.place = int(row.get_attribute("data-unit")), 0
    view.check()
    units = int(number.get_attribute("max")) + 1
    at_20 = picture.bounding_box()["height"] * 20.5 / units
    picture.click(position={"x": 5, "y": at_20})
    view.unit, view.place = 20, 0
    view.check()
    view.field.hover()
    shades = view.root.locator("[data-trait=quantity]")
    for quantity, words in NAMES.items():
        if words in shades.inner_text().split("\n"):
            shades.select_option(value=quantity)
            view.quantity = quantity
            view.check()


def drive_clamps(view: Explorer) -> None:
    """Each gate at 0, at 1 and between, in all units and in one; all free again."""
    scope = view.root.locator(".g2h-scope select")
    for gate in GATES[view.network]:
        group = view.root.locator(f"[data-gate='{gate}']")
        for name in ("0", "1"):
            group.get_by_role("button", name=f": {name}").click()
            view.gates = {**view.gates, gate: int(name)}
            view.answered()
        group.locator("input").fill("0.35")
        view.gates = {**view.gates, gate: 0.35}
        view.answered()
        expect(group.locator("output")).to_have_text("clamped at 0.35")
    scope.select_option(index=1)
    view.alone = True
    view.answered()
    number = view.root.locator("input[type=number]")
    number.fill("7")
    number.press("Enter")
    view.unit = 7
    view.answered()
    first = GATES[view.network][0]
    view.root.locator(f"[data-gate='{first}']").get_by_role("button", name="free").click()
    view.gates = {gate: at for gate, at in view.gates.items() if gate != first}
    view.answered()
    view.root.get_by_role("button", name="Release all").click()
    view.gates = {}
    view.answered()
    scope.select_option(index=0)
    view.alone = False


def drive_texts(view: Explorer) -> None:
    """What is typed is read, foreign characters as one sign; empty and too long get a sentence."""
    refusal = view.root.locator(".g2h-refusal")
    before = view.facts()["letters"]
    for text, sentence in (
        ("", "There is no text yet"),
        ("a" * 401, "401 characters (maximum 400)"),
    ):
        view.field.fill(text)
        expect(refusal).to_contain_text(sentence)
        assert view.field.input_value() == text
        assert view.facts()["letters"] == before
        for part in (".g2h-tape", ".g2h-legend", ".g2h-live"):
            expect(view.root.locator(part)).to_have_css("opacity", "0.45")
    for text in ("<img src=x onerror=alert(1)>", "é 猫👩‍👧\t(שלום)", OWN):
        view.text, view.place = text, 0
        view.field.fill(text)
        view.root.locator(".g2h-place input").fill("0")
        view.answered()
        expect(refusal).to_be_hidden()
        strange = UNKNOWN in known_characters(text)
        assert ("not in the training data" in view.state.inner_text()) == strange
    # What is typed and taken back asks nothing: its answer stands, and is not dimmed.
    view.field.press("End")
    view.field.press_sequentially("x")
    view.field.press("Backspace")
    expect(view.root).not_to_have_attribute("data-stale", "")
