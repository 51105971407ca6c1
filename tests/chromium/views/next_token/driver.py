"""Drive a next-token view and compare every number that it shows with Python's models."""

import json
import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import torch
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.decoding.sampling import narrow
from gates2heads.decoding.search import greedy
from gates2heads.watching.next_token import Foreseen, foresee
from tests.chromium.live.scripts import STORED

ROUNDING = 2e-3  # two float32 passes, summed in another order
SHOWN = 8
FACTS = """root => ({
  columns: [...root.querySelectorAll(".g2h-panel")].map((panel) => ({
    name: panel.querySelector(".g2h-name").textContent,
    kept: Number(panel.querySelector(".g2h-rest").dataset.kept),
    ahead: [...panel.querySelectorAll(".g2h-token")].map(({ dataset }) =>
      [dataset.token, dataset.prob, dataset.drawn].map(Number)),
  })),
  heads: [...root.querySelectorAll("thead th")].slice(1).map((head) => head.textContent),
  words: [...root.querySelectorAll(".g2h-word")].map((row) => row.querySelector("th").textContent),
  bits: [...root.querySelectorAll(".g2h-word")].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => Number(cell.dataset.value))),
  sums: [...root.querySelectorAll(".g2h-sum td")].map((cell) => Number(cell.dataset.value)),
  ends: [...root.querySelectorAll(".g2h-ending td")].map((cell) => Number(cell.dataset.value)),
  perplexities: [...root.querySelectorAll(".g2h-perplexity td")].map((cell) => cell.textContent),
  wholes: [...root.querySelectorAll(".g2h-whole td")].map((cell) => cell.textContent),
})"""
SETTLED = """([root, asked]) => root.dataset.state === "done" && !root.hasAttribute("data-stale")
  && root.dataset.question === asked"""
WAYS = (
    {"temperature": 0.5},
    {"temperature": 2, "top_k": 5},
    {"top_p": 0.5},
    {"temperature": 1.5, "top_k": 20, "top_p": 0.8},
)


@cache
def model_of(file: str, place: int):
    """The library's model behind a column, and its tokenizer."""
    one = shipped(file)
    counts = hasattr(one.model, "counts_alone") and place == 0
    return (one.model.counts_alone() if counts else one.model), one.source


@dataclass
class Side:
    """The view on the page, and what was asked of it."""

    page: Page
    root: Locator
    traits: dict
    text: str
    way: dict = field(default_factory=dict)
    open_ended: bool = False

    def __post_init__(self):
        self.field = self.root.locator("textarea")
        self.state = self.root.locator(".g2h-state")
        names = ("temperature", "top_k", "top_p")
        self.sliders = dict(zip(names, self.root.locator("input[type=range]").all(), strict=True))

    def facts(self) -> dict:
        return self.root.evaluate(FACTS)

    def settle(self) -> None:
        """Wait for the answer to what was asked."""
        way = {"temperature": 1, "top_k": 0, "top_p": 1} | self.way
        numbers = [int(one) if one == int(one) else one for one in way.values()]
        asked = json.dumps(
            [self.text, *numbers, self.open_ended], separators=(",", ":"), ensure_ascii=False
        )
        self.page.wait_for_function(SETTLED, arg=[self.root.element_handle(), asked])

    def python(self) -> list[Foreseen]:
        """What the library's models make of the text."""
        found = []
        for column in self.traits["columns"]:
            file = self.traits["live"][column["live"]]["name"]
            model, tokenizer = model_of(file, column["place"])
            found.append(foresee(model, self.text, tokenizer))
        return found

    def check(self) -> dict:
        """Every number of the view is Python's."""
        told, wanted = self.facts(), self.python()
        names = [column["name"] for column in self.traits["columns"]]
        assert [column["name"] for column in told["columns"]] == names == told["heads"]
        for column, foreseen in zip(told["columns"], wanted, strict=True):
            self.check_ahead(column, foreseen)
        close = {"rtol": 0, "atol": 10 * ROUNDING}
        totals = [one.bits.sum().item() for one in wanted]
        np.testing.assert_allclose(told["sums"], totals, **close)
        np.testing.assert_allclose(told["ends"], [one.end_bits for one in wanted], **close)
        if told["bits"]:
            np.testing.assert_allclose(np.sum(told["bits"], axis=0), totals, **close)
        for so_far, whole, one in zip(told["perplexities"], told["wholes"], wanted, strict=True):
            check_perplexity(so_far, one.bits.tolist())
            check_perplexity(whole, [*one.bits.tolist(), one.end_bits])
        return told

    def check_ahead(self, column: dict, foreseen: Foreseen) -> None:
        """The likeliest tokens, with their own probability and the one they are drawn with."""
        probs = foreseen.log_probs.exp()
        if probs.sum() == 0:
            assert column["ahead"] == []
            assert column["kept"] == 0
            return
        k, p = self.way.get("top_k", 0), self.way.get("top_p", 1)
        drawn = narrow(
            foreseen.log_probs,
            temperature=self.way.get("temperature", 1),
            top_k=k or None,
            top_p=p if p < 1 else None,
        ).exp()
        best = [one for one in probs.topk(SHOWN).values.tolist() if one > 0]
        np.testing.assert_allclose(
            [own for _, own, _ in column["ahead"]], best, rtol=0, atol=ROUNDING
        )
        for token, own, shown in column["ahead"]:
            assert abs(probs[int(token)].item() - own) < ROUNDING
            # Near the edge of a nucleus, rounding may keep one token more or less.
            assert abs(drawn[int(token)].item() - shown) < (ROUNDING if p == 1 else 0.02)
        kept = int((drawn > 0).sum())
        assert abs(column["kept"] - kept) <= (0 if p == 1 else 1 + kept // 100)

    def answered(self) -> dict:
        """The answer stands there."""
        self.settle()
        return self.check()


def check_perplexity(said: str, bits: list[float]) -> None:
    """The view's perplexity is that of the tokens with these bits."""
    mean = sum(bits) / len(bits) if bits else math.nan
    if math.isnan(mean):
        assert said == "–"
    elif mean == math.inf:
        assert said == "∞"
    else:
        plain = said.replace(" × 10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        assert math.isclose(float(plain), 2**mean, rel_tol=0.03, abs_tol=0.06)


def drive_next_token(page: Page, root: Locator, traits: dict) -> None:
    """Every example, slider, column and draw; tokens that are pressed; texts of every kind."""
    view = Side(page, root, traits, traits["examples"][0])
    expect(root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    view.check()
    for place, text in reversed(list(enumerate(traits["examples"]))):
        root.locator(".g2h-chip").nth(place).click()
        view.text = text
        view.answered()
    assert root.locator(".g2h-panels i, .g2h-panels b, .g2h-surprise b").count() == 0
    drive_sliders(view)
    drive_tokens(view)
    drive_draws(view)
    drive_texts(view)
    if traits["barred"]:
        drive_open_ended(view)


def drive_sliders(view: Side) -> None:
    """Each of the three, alone and together."""
    for way in WAYS:
        whole = {"temperature": 1, "top_k": 0, "top_p": 1} | way
        for name, value in whole.items():
            view.sliders[name].fill(str(value))
        view.way = way
        view.answered()
    for name, value in {"temperature": 1, "top_k": 0, "top_p": 1}.items():
        view.sliders[name].fill(str(value))
    view.way = {}
    view.answered()


def drive_tokens(view: Side) -> None:
    """A token that is pressed is written."""
    for column in range(len(view.traits["columns"])):
        panel = view.root.locator(".g2h-panel").nth(column)
        tokens = panel.locator(".g2h-token:not(:disabled)")
        if not tokens.count():
            continue
        piece = tokens.first.get_attribute("data-piece")
        tokens.first.click()
        view.text = f"{view.text}{piece}".strip()
        expect(view.field).to_have_value(view.text)
        view.answered()


def drive_draws(view: Side) -> None:
    """Every model draws a token, and writes to the end, which the view says."""
    source = view.root.locator("select")
    for place, column in enumerate(view.traits["columns"]):
        view.text = "A man"
        view.field.fill(view.text)
        view.answered()
        source.select_option(index=place)
        view.root.get_by_role("button", name="Sample one token").click()
        expect(view.state).to_contain_text(f"{column['name']} generated: ")
        view.text = view.field.input_value()
        assert view.text.startswith("A man")
        view.answered()
        said = view.state.inner_text()
        view.root.get_by_role("button", name="Sample to the end").click()
        expect(view.state).not_to_have_text(said)
        expect(view.state).to_contain_text(column["name"])
        before, view.text = view.text, view.field.input_value()
        assert view.text.startswith(before)
        view.answered()


def drive_texts(view: Side) -> None:
    """Nothing typed is a text, too; what is too long gets a sentence; signs are only signs."""
    refusal = view.root.locator(".g2h-refusal")
    view.field.fill("a dog " * 61)
    expect(refusal).to_contain_text("Too long: 122 tokens (maximum 60).")
    expect(view.root.locator(".g2h-panels")).to_have_css("opacity", "0.45")
    for text in ("", "<img src=x onerror=alert(1)>", "é 猫👩‍👧 (שלום)", "a dog runs", "Two dogs"):
        view.text = text
        view.field.fill(text)
        view.answered()
        expect(refusal).to_be_hidden()
        said = view.root.inner_text()
        small = view.traits["surprise"] and text[:1].islower()
        assert ("different tokens here" in said) == small, (text, said)
    assert view.root.locator(".g2h-surprise img").count() == 0


def drive_open_ended(view: Side) -> None:
    """Greedy continuations without the barred tokens are those of the library's greedy search."""
    view.text = "A man"
    view.field.fill(view.text)
    view.sliders["top_k"].fill("1")
    view.way = {"top_k": 1}
    view.settle()
    view.root.get_by_label("forbid").check()
    view.open_ended = True
    view.settle()
    barred, source = set(view.traits["barred"]), view.root.locator("select")
    place = len(view.traits["columns"]) - 1
    column = view.traits["columns"][place]
    model, tokenizer = model_of(view.traits["live"][column["live"]]["name"], column["place"])
    words = tokenizer.vocabulary
    numbers = [at for at, piece in enumerate(words.tokens) if piece.strip() in barred]

    def step(state, last_tokens):
        log_probs, state = model.step(state, last_tokens)
        return log_probs.index_fill(1, torch.tensor(numbers), -torch.inf).log_softmax(-1), state

    prefix = tokenizer.encode(view.text, eos=False)
    with torch.no_grad():
        wanted = greedy(step, model.start(1), bos=words.bos, eos=None, max_length=60, prefix=prefix)
    source.select_option(index=place)
    view.root.get_by_role("button", name="Sample to the end").click()
    expect(view.field).to_have_value(tokenizer.decode(wanted.tokens[0].tolist()), timeout=60_000)
