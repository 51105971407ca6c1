"""Drive a view of a model of code and compare every number that it shows with Python's model."""

import json
import math
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.decoding.sampling import narrow
from gates2heads.watching.next_token import Scored, score_tokens
from tests.chromium.live.scripts import STORED
from tests.chromium.views.code_model.small_code import code_model

ROUNDING = 2e-3  # two float32 passes, summed in another order
SETTLED = """([root, asked]) => root.dataset.state === "done" && !root.hasAttribute("data-stale")
  && root.dataset.question === asked"""
FACTS = """root => ({
  bits: [...root.querySelectorAll(".g2h-token[data-bits]")].map((one) => Number(one.dataset.bits)),
  generated: [...root.querySelectorAll(".g2h-token[data-bits]")]
    .map((one) => one.classList.contains("g2h-generated")),
  text: [...root.querySelectorAll(".g2h-unread, .g2h-token[data-bits]")]
    .map((one) => [...one.childNodes].filter((node) => node.nodeType === 3)
      .map((node) => node.textContent).join("")).join(""),
  data: {...root.dataset},
})"""
PANEL = """panel => ({
  data: {...panel.dataset},
  rows: [...panel.querySelectorAll(".g2h-row")].map(({ dataset }) =>
    [dataset.piece, Number(dataset.prob), Number(dataset.drawn), "actual" in dataset]),
})"""


def model_of(name: str):
    """The library's model behind the view, and its tokenizer."""
    if name == "small_code":
        return code_model()
    one = shipped(name)
    return one.model, one.source


@dataclass
class Side:
    """The view on the page."""

    page: Page
    root: Locator
    traits: dict

    def __post_init__(self):
        self.field = self.root.locator("textarea")
        self.state = self.root.locator(".g2h-state")
        self.picture = self.root.get_by_role("listbox")
        self.panel = self.root.locator(".g2h-panel")
        self.model, self.tokenizer = model_of(self.traits["live"][0]["name"])

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name, exact=True)

    def settle(self, text: str) -> None:
        """Wait for the answer to a text."""
        asked = json.dumps([text], separators=(",", ":"), ensure_ascii=False)
        self.page.wait_for_function(SETTLED, arg=[self.root.element_handle(), asked])

    def check(self, text: str) -> Scored:
        """Every number of the picture is Python's."""
        wanted, found = score_tokens(self.model, text, self.tokenizer), self.root.evaluate(FACTS)
        close = {"rtol": 0, "atol": 10 * ROUNDING}
        np.testing.assert_allclose(found["bits"], wanted.bits.tolist(), **close)
        data = found["data"]
        assert float(data["bits"]) == approx(wanted.bits.sum().item())
        assert (int(data["count"]), int(data["unread"])) == (
            len(wanted.tokens),
            len(wanted.unread),
        )
        if not any("<0x" in one for one in wanted.tokens):
            assert found["text"] == text
            if not wanted.unread:
                assert int(data["characters"]) == len(text)
        return wanted

    def answered(self, text: str) -> Scored:
        self.settle(text)
        return self.check(text)

    def check_place(self, wanted: Scored, at: int) -> None:
        """The panel shows the most probable tokens at a place."""
        found = self.panel.evaluate(PANEL)
        assert int(found["data"]["at"]) == at
        top = dict(
            zip(
                (wanted.vocabulary[one] for one in wanted.likeliest[at].tolist()),
                wanted.probs[at].tolist(),
                strict=True,
            )
        )
        listed = [piece for piece, *_ in found["rows"]]
        assert set(top) <= set(listed)
        for piece, prob, drawn, is_actual in found["rows"]:
            assert is_actual == (piece == wanted.tokens[at])
            assert prob == drawn == approx(top.get(piece, 2 ** -wanted.bits[at].item()))

    def check_next(self, wanted: Scored, **way) -> None:
        """The panel shows what is drawn next, narrowed as Python narrows."""
        self.picture.press("End")
        narrowed = narrow(wanted.log_probs, **way).exp()
        found = self.panel.evaluate(PANEL)
        assert abs(int(found["data"]["kept"]) - int((narrowed > 0).sum())) <= 1
        probs = dict(zip(wanted.vocabulary, wanted.log_probs.exp().tolist(), strict=True))
        shares = dict(zip(wanted.vocabulary, narrowed.tolist(), strict=True))
        for piece, prob, drawn, _ in found["rows"]:
            assert prob == approx(probs[piece])
            assert abs(drawn - shares[piece]) < 0.02


def approx(value: float):
    """Equal up to rounding."""
    return Close(value)


class Close:
    """A number that equals those near it."""

    def __init__(self, value: float):
        self.value = value

    def __eq__(self, other) -> bool:
        return math.isclose(self.value, other, rel_tol=ROUNDING, abs_tol=ROUNDING)

    __hash__ = None


def drive_code(page: Page, root: Locator, traits: dict) -> None:
    """Every example, token, slider and button; texts of every kind."""
    view, examples = Side(page, root, traits), traits["examples"]
    expect(root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    wanted = view.check(examples[0])
    drive_places(view, wanted)
    for place, text in reversed(list(enumerate(examples))):
        root.locator(".g2h-chip").nth(place).click()
        wanted = view.answered(text)
    drive_sliders(view, wanted)
    drive_writing(view, examples[0])
    drive_samples(view, examples[0])
    drive_times(view, examples[0], len(wanted.tokens) + 100 >= traits["max_length"])
    drive_texts(view)


def drive_places(view: Side, wanted: Scored) -> None:
    """Each token can be pointed at, pressed and reached with the keys."""
    last = len(wanted.tokens) - 1
    tokens = view.root.locator(".g2h-token[data-bits]")
    tokens.nth(1).hover()
    view.check_place(wanted, 1)
    tokens.nth(3).click()
    view.page.mouse.move(0, 0)
    view.check_place(wanted, 3)
    for key, at in (("ArrowRight", 4), ("Home", 0), ("ArrowLeft", 0)):
        view.picture.press(key)
        view.check_place(wanted, at)
        expect(view.picture).to_have_attribute(
            "aria-activedescendant", tokens.nth(at).get_attribute("id")
        )
        expect(tokens.nth(at)).to_have_attribute("aria-selected", "true")
    view.picture.press("ArrowDown")
    assert 0 < int(view.panel.get_attribute("data-at")) <= last


def drive_sliders(view: Side, wanted: Scored) -> None:
    """What may come next, narrowed by each of the sliders."""
    view.root.locator("details").evaluate("one => { one.open = true }")
    plain = {"temperature": 1.0, "min_p": 0.0, "top_p": 1.0, "top_k": 0}
    for change in ({}, {"min_p": 0.25}, {"temperature": 2.5}, {"top_k": 5}, {"top_p": 0.5}):
        settings = {**plain, **change}
        for trait, value in settings.items():
            slider = view.root.locator(f"[data-trait={trait}]")
            slider.fill(str(int(value) if trait == "top_k" else value))
        k, p = settings.pop("top_k"), settings.pop("top_p")
        view.check_next(wanted, **settings, top_k=k or None, top_p=p if p < 1 else None)


def drive_writing(view: Side, text: str) -> None:
    """With min-p 1 the most probable tokens are written, as in Python; and taken back."""
    slide(view, min_p=1, top_p=1, top_k=0, temperature=1, steps=8)
    for cache in (True, False):
        view.field.fill(text)
        view.answered(text)
        view.root.get_by_label("KV cache").set_checked(cache)
        view.button("Continue").click()
        expect(view.state).to_contain_text("The model generated 8 tokens")
        longer = view.field.input_value()
        assert longer == text + greedy_text(view, text, 8)
        wanted = view.answered(longer)
        generated = view.root.evaluate(FACTS)["generated"]
        assert generated == sorted(generated)
        assert sum(generated) <= 8
        assert len(generated) == len(wanted.tokens)
        times = "cached" if cache else "plain"
        assert float(view.root.get_attribute(f"data-{times}")) >= 0
        view.button("Undo").click()
        expect(view.field).to_have_value(text)
        view.answered(text)
        expect(view.button("Undo")).to_be_disabled()
    view.root.get_by_label("KV cache").check()


def greedy_text(view: Side, text: str, steps: int) -> str:
    """What Python's model writes, always the most probable token."""
    written = view.tokenizer.encode(text, eos=False)
    start = len(view.tokenizer.decode(written))
    for _ in range(steps):
        log_probs = score_numbers(view.model, written)
        written.append(int(log_probs.argmax()))
    return view.tokenizer.decode(written)[start:]


def score_numbers(model, numbers):
    """The log-probabilities after the last tokens, of which there is room for."""
    import torch

    read = [1, *numbers[max(0, len(numbers) - model.max_length + 1) :]]
    with torch.no_grad():
        return model.logits(torch.tensor([read]))[0, -1].log_softmax(-1)


def slide(view: Side, **values: float) -> None:
    for trait, value in values.items():
        view.root.locator(f"input[type=range][data-trait={trait}]").fill(str(value))


def drive_samples(view: Side, text: str) -> None:
    """Several samples stand side by side; the one that is chosen goes on."""
    slide(view, samples=3, min_p=0, temperature=1.5, steps=5)
    view.button("Continue").click()
    expect(view.state).to_contain_text("3 samples")
    cards = view.root.locator(".g2h-candidate")
    expect(cards).to_have_count(3)
    added = cards.locator("pre").all_text_contents()
    assert len(set(added)) > 1
    view.button("Use sample 2").click()
    expect(view.field).to_have_value(text + added[1])
    expect(cards.first).to_be_hidden()
    view.button("Undo").click()
    expect(view.field).to_have_value(text)
    slide(view, samples=1)


def drive_times(view: Side, text: str, is_full: bool) -> None:
    """Both ways write the same; a context that 100 more tokens fill slides; it can be stopped."""
    slide(view, steps=100)
    view.settle(text)
    view.button("Measure both").click()
    expect(view.state).to_contain_text("Both runs generated the same tokens.")
    expect(view.root.locator(".g2h-timed")).to_contain_text("Without the cache a token took")
    for kind in ("cached", "plain"):
        line = view.root.locator(f".g2h-{kind}-line").get_attribute("d")
        assert (line.count("M") > 1) == is_full, "only a full context slides"
    view.button("Undo").click()
    expect(view.field).to_have_value(text)


def drive_texts(view: Side) -> None:
    """Nothing typed is a text, too; what is too long gets a sentence; signs are only signs."""
    refusal = view.root.locator(".g2h-refusal")
    view.field.fill("x" * 20_001)
    expect(refusal).to_contain_text("Too long: 20001 characters (maximum 20000).")
    long = "x = [1, 2]  # <img src=x onerror=alert(1)>\n" * 60
    for text in ("", "<img src=x onerror=alert(1)>", "é 猫👩‍👧 (שלום)", "\tif x:\n\n", long, "a\n"):
        view.field.fill(text)
        view.answered(text)
        expect(refusal).to_be_hidden()
    assert view.root.locator("img").count() == 0
    view.field.fill(long)
    view.settle(long)
    expect(view.root.locator(".g2h-live")).to_contain_text("are read, because the context")
    view.field.fill("def f():")
    view.field.press("End")
    view.field.press("Enter")
    expect(view.field).to_have_value("def f():\n    ")
    view.answered("def f():\n    ")
    view.field.press("Tab")
    expect(view.field).not_to_be_focused()
