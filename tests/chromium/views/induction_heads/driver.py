"""Drive a view of induction heads and compare what it shows with Python's models."""

import json
import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.watching.repeats import ObservedRepeats, observe_repeats
from tests.chromium.live.scripts import STORED

ROUNDING = 2e-3  # two float32 passes, summed in another order
UNKNOWN = "moon sword <img src=x onerror=alert(1)>"
FACTS = """root => ({
  words: [...root.querySelectorAll(".g2h-word")].map((one) => one.firstChild.textContent),
  bits: [...root.querySelectorAll(".g2h-word[data-bits]")].map(({ dataset }) =>
    Number(dataset.bits)),
  weights: [...root.querySelectorAll(".g2h-word")].map(({ dataset }) => Number(dataset.weight)),
  kinds: [...root.querySelectorAll(".g2h-word")].map(({ dataset }) => dataset.kind),
  told: [...root.querySelectorAll(".g2h-word small")].map((one) => one.textContent.trim()),
  rows: [...root.querySelectorAll(".g2h-row")].map(({ dataset }) =>
    [dataset.piece, Number(dataset.prob), "actual" in dataset]),
  means: [...root.querySelectorAll(".g2h-means tbody tr")].map(({ dataset }) =>
    [Number(dataset.first), Number(dataset.repeat), Number(dataset.right)]),
  counts: [...root.querySelectorAll(".g2h-means thead th")].map((one) => one.textContent),
  off: root.querySelectorAll(".g2h-cell.g2h-off").length,
  maps: root.querySelectorAll(".g2h-map svg").length,
  data: {...root.dataset},
})"""
# A page that has shown the stored answer alone names no question.
SETTLED = """([root, asked, isKept]) => !root.hasAttribute("data-stale")
  && root.dataset.state !== "reading"
  && (root.dataset.question ?? (isKept ? asked : "")) === asked"""


@dataclass
class Side:
    """The view on the page."""

    page: Page
    root: Locator
    traits: dict

    def __post_init__(self):
        self.field = self.root.locator("textarea")
        self.picture = self.root.get_by_role("listbox")
        self.models = [shipped(one["name"]) for one in self.traits["live"]]

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name, exact=True)

    def settle(self, text: str, model: int = 0, off: tuple = ()) -> None:
        """Wait for the answer to a question."""
        asked = json.dumps([text, model, list(map(list, off))], separators=(",", ":"))
        is_kept = (text, model, off) == (self.traits["recorded"]["text"], 0, ())
        node = self.root.element_handle()
        self.page.wait_for_function(SETTLED, arg=[node, asked, is_kept])

    def check(self, text: str, model: int = 0, off: tuple = ()) -> ObservedRepeats:
        """Every number is Python's, for the head and the word that are selected."""
        self.settle(text, model, off)
        one = self.models[model]
        wanted = observe_repeats(one.model, text, one.source, off=off)
        base = observe_repeats(one.model, text, one.source) if off else wanted
        found = self.root.evaluate(FACTS)
        assert found["words"] == ["start", *wanted.tokens[1:]]
        close = {"rtol": 0, "atol": 10 * ROUNDING}
        np.testing.assert_allclose(found["bits"], wanted.bits.tolist(), **close)
        data = found["data"]
        layer, head, word = (int(data[name]) for name in ("layer", "head", "word"))
        row = wanted.weights[layer, head, word].tolist()
        np.testing.assert_allclose(found["weights"], row, rtol=0, atol=ROUNDING)
        for told, weight in zip(found["told"], row, strict=True):
            assert abs(float(told or 0) - weight) < (0.0051 + ROUNDING if told else 0.0501)
        self.check_next(wanted, word, found["rows"])
        means = [mean_bits(one) for one in ([base, wanted] if off else [wanted])]
        np.testing.assert_allclose(found["means"], means, **close)
        assert found["off"] == len(off)
        assert found["maps"] == 4 * len(one.model.layers)
        self.check_sentence(wanted, row, (layer, head, word))
        return wanted

    def check_next(self, wanted: ObservedRepeats, word: int, rows: list) -> None:
        top = [wanted.vocabulary[number] for number in wanted.likeliest[word].tolist()]
        probs = dict(zip(top, wanted.probs[word].tolist(), strict=True))
        actual = wanted.tokens[word + 1] if word + 1 < len(wanted.tokens) else None
        assert len(rows) == len(top) + (actual is not None and actual not in probs)
        assert rows[0][0] in top[:2]
        for piece, prob, is_actual in rows:
            assert is_actual == (piece == actual)
            exact = probs.get(piece) or 2 ** -wanted.bits[word].item()
            assert abs(prob - exact) < ROUNDING

    def check_sentence(self, wanted: ObservedRepeats, row: list, at: tuple) -> None:
        layer, head, word = at
        said = self.root.locator(".g2h-live").inner_text()
        assert f"head {layer + 1}.{head + 1} gives {max(row):.2f} of its attention" in said or (
            abs(float(re.search(r"gives ([\d.]+)", said)[1]) - max(row)) < 0.0051
        )
        if word:
            assert f"“{wanted.tokens[word]}”" in said


def mean_bits(seen: ObservedRepeats) -> list[float]:
    """Means over first occurrences and repeats, and how many of the latter are predicted."""
    tokens, bits = seen.tokens, seen.bits.tolist()
    words, found = tokens[1:], {"first": [], "repeat": []}
    pairs = list(pairwise(words))
    for at, word in enumerate(words):
        if word not in words[:at]:
            found["first"].append(at)
        elif at and pairs[at - 1] in pairs[: at - 1]:
            found["repeat"].append(at)
    best = [seen.vocabulary[number] for number in seen.likeliest[:, 0].tolist()]
    right = sum(best[at] == words[at] for at in found["repeat"])
    means = [float(np.mean([bits[at] for at in some])) if some else 0.0 for some in found.values()]
    return [*means, right]


def drive_induction(page: Page, root: Locator, traits: dict) -> None:
    """Every word, head, switch and button; texts of every kind."""
    view, text = Side(page, root, traits), traits["recorded"]["text"]
    expect(root).to_have_attribute("data-state", "recorded")
    expect(root.locator(".g2h-state")).to_contain_text(STORED)
    view.check(text)
    drive_words(view, text)
    drive_heads(view, text)
    drive_models(view, text)
    drive_texts(view)


def drive_words(view: Side, text: str) -> None:
    """Each word can be selected by click and by key; pointing at one gives its numbers."""
    words = view.root.locator(".g2h-word")
    last = len(text.split())
    for at in (3, last):
        words.nth(at).click()
        view.check(text)
        expect(words.nth(at)).to_have_attribute("aria-selected", "true")
    for key, at in (("ArrowLeft", last - 1), ("Home", 0), ("ArrowLeft", 0), ("ArrowRight", 1)):
        view.picture.press(key)
        view.check(text)
        chosen = words.nth(at).get_attribute("id")
        expect(view.picture).to_have_attribute("aria-activedescendant", chosen)
    view.picture.press("ArrowDown")
    below = int(view.root.get_attribute("data-word"))
    assert 1 < below <= last
    view.picture.press("ArrowUp")
    expect(view.root).to_have_attribute("data-word", "1")
    words.nth(5).hover()
    expect(view.root.locator(".g2h-pointed")).to_contain_text(f"{text.split()[4]}, word 5: ")


def drive_heads(view: Side, text: str) -> None:
    """Each map selects its head; heads and layers are switched off and on."""
    layers, heads = view.traits["sizes"][0]
    names = [(f"layers.{layer}", head) for layer in range(layers) for head in range(heads)]
    for layer, head in ((0, 0), (layers - 1, heads - 1)):
        view.root.get_by_label(f"select head {layer + 1}.{head + 1}", exact=True).click()
        view.check(text)
        expect(view.root).to_have_attribute("data-head", str(head))
    for number, name in ((1, names[0]), (layers, names[-1])):
        box = view.root.get_by_label(f"head {number}.{name[1] + 1} on", exact=True)
        box.uncheck()
        view.check(text, off=(name,))
        box.check()
        view.check(text)
    for layer in range(layers):
        view.button(f"Switch layer {layer + 1} off").click()
        off = tuple(one for one in names if one[0] == f"layers.{layer}")
        view.check(text, off=off)
        expect(view.root.locator(".g2h-means")).to_contain_text(f"layer {layer + 1} off")
        view.button(f"Switch layer {layer + 1} on").click()
        view.check(text)


def drive_models(view: Side, text: str) -> None:
    """Every model; heads that it does not have are not off."""
    which = view.root.locator("select")
    view.root.get_by_label("head 2.1 on", exact=True).uncheck()
    view.check(text, off=(("layers.1", 0),))
    which.select_option("1")
    view.check(text, 1)
    which.select_option("0")
    view.check(text, off=(("layers.1", 0),))
    view.root.get_by_label("head 2.1 on", exact=True).check()
    view.check(text)


def drive_texts(view: Side) -> None:
    """Words are shuffled, drawn and typed; unknown ones get a sentence and stay in the field."""
    text, refusal = view.field.input_value(), view.root.locator(".g2h-refusal")
    for name in ("Shuffle the words", "New words"):
        view.button(name).click()
        other = view.field.input_value()
        view.check(other)
        half = len(other.split()) // 2
        assert other.split()[:half] == other.split()[half:]
        assert other != text
        assert (sorted(other.split()) == sorted(text.split())) == (name != "New words")
    for size in (3, 31):
        view.root.locator("input[type=range]").fill(str(size))
        assert len(set(view.field.input_value().split())) == size
        view.check(view.field.input_value())
    for typed, said in (
        (UNKNOWN, "The model does not know “sword”, “<img”, “src=x”"),
        ("moon " * 64, "Too long: 64 words (maximum 63)."),
        ("  ", "The field is empty"),
    ):
        view.field.fill(typed)
        expect(refusal).to_contain_text(said)
        expect(view.field).to_have_value(typed)
        expect(view.root).to_have_attribute("data-stale", "")
    assert view.root.locator("img").count() == 0
    view.field.fill("moon LAMP moon lamp Emma")
    view.settle("moon LAMP moon lamp Emma")
    expect(refusal).to_be_hidden()
    assert view.root.evaluate(FACTS)["kinds"] == [
        "start",
        "first",
        "first",
        "other",
        "repeat",
        "first",
    ]
    view.field.fill("moon")
    view.settle("moon")
    expect(view.root.locator(".g2h-means tbody")).to_contain_text("–")
    expect(view.button("Shuffle the words")).to_be_disabled()
