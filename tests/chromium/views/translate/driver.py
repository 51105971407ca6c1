"""Drive a Translate view and compare what it writes and where it looked with Python's model."""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
from playwright.sync_api import Locator, Page, expect

from gates2heads.decoding.lengths import Power
from gates2heads.decoding.translation import Aligned, align_heads
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

ROUNDING = 2e-3  # two float32 passes, summed in another order
OWN = "Eine Katze schläft auf dem Sofa."
SHOWN = re.compile(r"\bg2h-shown\b")


@cache
def python_writes(text: str, width: int, model: str = "translator") -> Aligned:
    """What a model of the library writes for a text, and where it looked."""
    trained = load(shipped_weights(model))
    rule = Power(trained.card["recipe"]["decoding"]["length_power"])
    search = {"width": width, "length_rule": rule} if width > 1 else {}
    return align_heads(trained.model, text, trained.source, trained.target, max_length=80, **search)


def python_text(text: str) -> str:
    """What the library's model writes for a text, greedily, as a text."""
    words = load(shipped_weights("translator")).target
    return words.decode(words.vocabulary.encode(python_writes(text, 1).target))


def words_of(pieces: list[str]) -> list[tuple[str, slice]]:
    """Words of pieces that are whole characters, with the pieces of each."""
    words = []
    for place, piece in enumerate(pieces):
        before = words[-1][0] if words else ""
        if piece == "<eos>":
            words.append(("end", slice(place, place + 1)))
        elif before[-1:].isalnum() and piece[0].isalnum():
            words[-1] = (before + piece, slice(words[-1][1].start, place + 1))
        else:
            words.append((piece.removeprefix(" "), slice(place, place + 1)))
    return words


def word_map(there: Aligned, layer: int | None, head: int | None) -> np.ndarray:
    """Weights between words: summed over what was read, averaged over what was written."""
    weights = there.weights.numpy()
    weights = weights[layer] if layer is not None else weights.mean(0)
    weights = weights[head] if head is not None else weights.mean(0)
    source = [part for _, part in words_of(there.source)]
    target = [part for _, part in words_of(there.target)]
    return np.array([[weights[t, s].sum(1).mean() for s in source] for t in target])


@dataclass
class Translator:
    """The view on the page."""

    page: Page
    root: Locator
    model: str = "translator"

    def __post_init__(self):
        self.input = self.root.locator("textarea")
        self.examples = self.root.locator(".g2h-example")
        self.width = self.root.locator("input[type=range]")
        self.looks = self.root.locator("select")
        self.state = self.root.locator(".g2h-state")
        self.live = self.root.locator(".g2h-live")

    def settled(self, text: str, state: str = "done") -> None:
        """Wait until the answer to a text is there."""
        expect(self.root).to_have_attribute("data-shown", text)
        expect(self.root).to_have_attribute("data-state", state)

    def words(self, side: str) -> list[str]:
        return self.root.locator(f"[data-side={side}] .g2h-word bdi").all_inner_texts()

    def word(self, side: str, place: int) -> Locator:
        return self.root.locator(f"[data-side={side}] .g2h-word").nth(place)

    def weights(self, side: str) -> np.ndarray:
        nodes = self.root.locator(f"[data-side={side}] .g2h-word").all()
        return np.array([float(node.get_attribute("data-weight")) for node in nodes])

    def check(self, text: str, width: int = 1) -> Aligned:
        """Compare both sides' words with Python's."""
        there = python_writes(text, width, self.model)
        assert self.words("source") == [word for word, _ in words_of(there.source)]
        assert self.words("target") == [word for word, _ in words_of(there.target)]
        return there

    def check_looks(self, there: Aligned, layer: int | None = -1, head: int | None = None) -> None:
        """Point at every word of both sides and compare the shades and the sentence."""
        weights = word_map(there, layer, head)
        for side, other, rows in (
            ("target", "source", weights),
            ("source", "target", weights.T),
        ):
            names = self.words(other)
            for place in sorted({0, len(rows) // 2, len(rows) - 1}):
                self.word(side, place).hover()
                expect(self.word(side, place)).to_have_class(SHOWN)
                np.testing.assert_allclose(self.weights(other), rows[place], 0, ROUNDING)
                said = self.live.inner_text()
                said_word, said_weight = (
                    said.split(" most to “")[-1].split(" attention from “")[-1].split("”")[:2]
                )
                most = rows[place].max()
                assert abs(float(said_weight.split(")")[0].strip(" (")) - most) < 0.005 + ROUNDING
                near = {
                    name
                    for name, weight in zip(names, rows[place], strict=True)
                    if most - weight < 2 * ROUNDING
                }
                assert said_word in near


def opened(open_page, site: str, **options) -> Translator:
    """Open the page of the `live` fixture and wait for its recorded example."""
    page = open_page(site, "index.html", **options)
    root = page.locator(".g2h-translate")
    expect(root).to_have_attribute("data-state", "recorded")
    return Translator(page, root)


def asked(view: Translator, text: str) -> None:
    """Type a text and wait for its answer."""
    view.input.fill(text)
    view.settled(text)


def drive_translate(page: Page, root: Locator, traits: dict) -> None:
    """The recorded example, every other one, a text of one's own, beams, links and keys."""
    view = Translator(page, root, traits["live"][0]["name"])
    root.scroll_into_view_if_needed()
    texts = [text for _, text, *_ in traits["examples"]]
    view.settled(texts[0], "recorded")
    view.check_looks(view.check(texts[0]))
    stored = {one["text"] for one in traits["recorded"]}
    for place, text in enumerate(texts):
        view.examples.nth(place).click()
        view.settled(text, "recorded" if text in stored else "done")
        there = view.check(text)
        expect(view.examples.nth(place)).to_have_attribute("aria-pressed", "true")
        assert root.locator(".g2h-watch").inner_text() == traits["examples"][place][2]
    view.check_looks(there)
    drive_typing(view)
    drive_beam(view, texts[1], "recorded" if texts[1] in stored else "done")
    drive_choice(view, texts[1])
    drive_keys(view)


def drive_typing(view: Translator) -> None:
    """What is typed key by key is what is read in the end."""
    text = OWN
    view.input.fill("")
    expect(view.root).to_have_attribute("data-state", "empty")
    view.input.press_sequentially(text, delay=15)
    view.settled(text)
    view.check(text)
    expect(view.root.locator(".g2h-example[aria-pressed=true]")).to_have_count(0)


def drive_beam(view: Translator, text: str, greedy: str) -> None:
    """Search with beams and greedily; `greedy` is the state once its answer is there."""
    for width in (5, 10, 1):
        view.width.fill(str(width))
        view.input.fill(text)
        expect(view.width).to_have_attribute(
            "aria-valuetext", "greedy search" if width == 1 else f"beam search, width {width}"
        )
        expect(view.root).to_have_attribute("data-width", str(width))
        view.settled(text, greedy if width == 1 else "done")
        there = view.check(text, width)
        view.check_looks(there)


def drive_choice(view: Translator, text: str) -> None:
    """Every layer and head that can be chosen draws its own weights."""
    there = view.check(text)
    labels = view.looks.locator("option").all_inner_texts()
    assert labels[:2] == ["last layer, mean of its 4 heads", "all layers and heads, mean"]
    for label in labels[1:]:
        view.looks.select_option(label=label)
        layer, _, head = label.removeprefix("layer ").partition(", ")
        layer = None if label.startswith("all") else int(layer) - 1
        head = int(head.removeprefix("head ")) - 1 if head.startswith("head") else None
        view.check_looks(there, layer, head)
    view.looks.select_option(index=0)


def drive_keys(view: Translator) -> None:
    """Each side is one stop of the tab key; arrows walk along it and across."""
    view.input.focus()
    view.word("source", 0).focus()
    page = view.page
    last = len(view.words("target")) - 1
    for key, side, place in [
        ("ArrowRight", "source", 1),
        ("ArrowDown", "target", 1),
        ("End", "target", last),
        ("ArrowRight", "target", last),
        ("Home", "target", 0),
        ("ArrowUp", "source", 0),
        ("ArrowLeft", "source", 0),
    ]:
        page.keyboard.press(key)
        expect(view.word(side, place)).to_be_focused()
        assert f"“{view.words(side)[place]}”" in view.live.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(view.word("source", 1)).to_have_attribute("aria-pressed", "true")
    view.input.focus()
    expect(view.word("source", 1)).to_have_class(SHOWN)
