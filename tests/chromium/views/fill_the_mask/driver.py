"""Drive a view of gaps and compare every number that it shows with Python's models."""

import json
from dataclasses import dataclass, field

import numpy as np
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.tokens.bilingual import MASK, split_bilingual, write_bilingual
from gates2heads.models.pretraining.bert import BERT
from gates2heads.watching.filling import find_names, observe_gaps, observe_line
from tests.chromium.live.scripts import STORED
from tests.chromium.views.fill_the_mask import samples as fill_samples

ROUNDING = 2e-3  # two float32 passes, summed in another order
TOP = 5
OLD = ("", "法" * 41)  # texts without an answer
OWN = "In 法国, Marie pays with the Euro"
MASKED = "The [MASK] is the currency of [MASK]."
FACTS = """root => {
  const text = (node) => node.querySelector("bdi").textContent;
  const shares = (node, name) => [...node.querySelectorAll(name)]
    .map((one) => [text(one), Number(one.dataset.share)]);
  return {
    words: [...root.querySelectorAll(".g2h-word")].map(text),
    hidden: [...root.querySelectorAll(".g2h-word")].flatMap((one, place) =>
      one.ariaPressed === "true" ? [place] : []),
    names: [...root.querySelectorAll(".g2h-wholes bdi")].map((one) => one.textContent),
    answers: [...root.querySelectorAll(".g2h-answer")].map((one) => ({
      name: one.dataset.model,
      filled: shares(one, ".g2h-filled"),
      same: [...one.querySelectorAll(".g2h-filled")].map((node) => node.matches(".g2h-same")),
      written: shares(one, ".g2h-written"),
      read: one.querySelector(".g2h-read")?.textContent,
    })),
    tables: [...root.querySelectorAll(".g2h-shares")].map((table) =>
      [...table.querySelectorAll("tr")].map((row) =>
        [text(row), Number(row.querySelector("td").dataset.value), row.matches(".g2h-was")])),
  };
}"""
SETTLED = """([root, asked]) => root.dataset.state === "done" && !root.hasAttribute("data-stale")
  && root.dataset.question === asked"""


@dataclass
class Filler:
    """The view on the page, and what was asked of it."""

    page: Page
    root: Locator
    traits: dict
    text: str
    hidden: list = field(default_factory=list)
    gap: int = 0

    def __post_init__(self):
        self.field = self.root.locator("input[type=text]")
        self.state = self.root.locator(".g2h-state")

    def models(self) -> dict:
        """The models behind the page by name, their tokenizer, and the names they know."""
        names = [model["name"] for model in self.traits["live"]]
        if names[0].startswith("pretrained_"):
            found = [shipped(name) for name in names]
            told = dict(zip(self.traits["names"], [one.model for one in found], strict=True))
            return told, found[0].source, found[0].card["names"]
        return fill_samples.models(), fill_samples.tokenizer(), fill_samples.NAMES

    @property
    def masked(self) -> list:
        """Positions that were clicked, and those at which [MASK] was typed."""
        tokens = split_bilingual(self.text)
        return [at for at, token in enumerate(tokens) if at in self.hidden or token == MASK]

    def settle(self) -> None:
        """Wait for the answer to what was asked."""
        asked = json.dumps([self.text, self.hidden], separators=(",", ":"), ensure_ascii=False)
        self.page.wait_for_function(SETTLED, arg=[self.root.element_handle(), asked])

    def check(self) -> dict:
        """Every word, name and share of the view is Python's."""
        told = self.root.evaluate(FACTS)
        models, tokenizer, names = self.models()
        tokens = split_bilingual(self.text)
        hidden = self.masked
        assert (told["words"], told["hidden"]) == (tokens, hidden)
        spans = find_names(tokens, names)
        assert told["names"] == [write_bilingual(tokens[start:end]) for start, end in spans]
        assert [one["name"] for one in told["answers"]] == list(models)
        seen = []
        for answer, model in zip(told["answers"], models.values(), strict=True):
            if isinstance(model, BERT) and hidden:
                seen.append(observe_gaps(model, self.text, hidden, tokenizer))
                same_gaps(answer, seen[-1])
            elif not isinstance(model, BERT):
                first = hidden[0] if hidden else len(tokens)
                same_line(answer, observe_line(model, self.text, first, tokenizer))
        assert len(told["tables"]) == len(seen)
        for table, one in zip(told["tables"], seen, strict=True):
            same_table(table, one, min(self.gap, len(hidden) - 1))
        return told

    def answered(self) -> dict:
        self.settle()
        return self.check()


def same_gaps(answer, seen):
    best = seen.log_probs.exp().max(dim=-1).values
    np.testing.assert_allclose(
        [share for _, share in answer["filled"]], best, rtol=0, atol=ROUNDING
    )
    for (token, share), place, row in zip(
        answer["filled"], seen.hidden, seen.log_probs.exp(), strict=True
    ):
        assert abs(row[seen.vocabulary.index(token)] - share) < ROUNDING
        same = answer["same"][seen.hidden.index(place)]
        assert same == (token == seen.tokens[place] != MASK)


def same_line(answer, seen):
    assert answer["read"] == write_bilingual(seen.tokens)
    assert [token for token, _ in answer["written"]] == seen.written
    wanted = seen.log_probs.exp()[: len(seen.written)]
    found = [share for _, share in answer["written"]]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=ROUNDING)


def same_table(table, seen, gap):
    row, was = seen.log_probs[gap].exp(), seen.tokens[seen.hidden[gap]]
    shares = [share for _, share, _ in table]
    np.testing.assert_allclose(shares[:TOP], row.topk(TOP).values, rtol=0, atol=ROUNDING)
    for token, share, is_was in table:
        assert abs(row[seen.vocabulary.index(token)] - share) < ROUNDING
        assert is_was == (token == was != MASK)
    assert any(is_was for *_, is_was in table) == (was in seen.vocabulary and was != MASK)


def drive_fill(page: Page, root: Locator, traits: dict) -> None:
    """Every example, word, name and gap; what is typed, and what cannot be read."""
    view = Filler(page, root, traits, traits["text"], list(traits["hidden"]))
    expect(root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    view.check()
    for place in reversed(range(len(traits["examples"]))):
        root.locator(".g2h-chips .g2h-chip").nth(place).click()
        view.text, view.hidden = traits["examples"][place], list(traits["gaps"][place])
        view.answered()
    assert root.locator(".g2h-answers b, .g2h-answers i:not([aria-hidden])").count() == 0
    drive_gaps(view)
    drive_names(view)
    drive_texts(view)


def drive_gaps(view: Filler) -> None:
    """Each word is masked and unmasked; a filled-in token that is clicked shows its rivals."""
    for place in range(0, len(split_bilingual(view.text)), 3):
        view.root.locator(".g2h-word").nth(place).click()
        view.hidden = sorted({place} ^ set(view.hidden))
        view.answered()
        expect(view.root.locator(".g2h-word").nth(place)).to_be_focused()
    for gap in range(len(view.hidden)):
        view.root.locator(".g2h-answer").first.locator(".g2h-filled").nth(gap).click()
        view.gap = gap
        view.check()
    view.root.get_by_role("button", name="Unmask all").click()
    view.hidden = []
    view.answered()


def drive_names(view: Filler) -> None:
    """A whole name at a click, and back."""
    names = view.models()[2]
    for at, (start, end) in enumerate(find_names(split_bilingual(view.text), names)):
        button = view.root.locator(f".g2h-wholes [data-place='{at}']")
        for pressed in ("true", "false"):
            button.click()
            view.hidden = sorted(set(view.hidden) ^ set(range(start, end)))
            view.answered()
            expect(button).to_have_attribute("aria-pressed", pressed)


def drive_texts(view: Filler) -> None:
    """What is typed is read, a gap goes with its word; unknown words are named; no text is told."""
    view.root.locator(".g2h-word").nth(1).click()
    view.hidden = [1]
    before = view.answered()["words"]
    refusal = view.root.locator(".g2h-refusal")
    for text, sentence in zip(
        OLD, ("The field is empty: type a sentence", "41 words and punctuation marks"), strict=True
    ):
        view.field.fill(text)
        expect(refusal).to_contain_text(sentence)
        assert view.field.input_value() == text
        assert view.root.evaluate(FACTS)["words"] == before
        expect(view.root.locator(".g2h-answers")).to_have_css("opacity", "0.45")
    texts = (
        " ".join([*before[:2], "x"]),
        "<img src=x onerror=alert(1)>",
        "שלום 👩‍👧 é",
        OWN,
        MASKED,
    )
    for text in texts:
        tokens = split_bilingual(text)
        if tokens[1] != before[1]:
            names = find_names(tokens, view.models()[2]) if MASK not in tokens else []
            view.hidden = list(range(*names[-1])) if names else []
        view.text = text
        view.field.fill(text)
        told = view.answered()
        expect(refusal).to_be_hidden()
        known = view.models()[1].vocabulary
        strange = any(word not in known for word in tokens if word != MASK)
        assert ("Out of vocabulary" in view.state.inner_text()) == strange
        assert told["hidden"] == view.masked
    assert len(view.masked) == 2
