"""Drive a view of answers and compare every number that it shows with Python's models."""

import json
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.tokens.bilingual import split_bilingual
from gates2heads.models.pretraining.answers import AnswerLogits, best_answers
from gates2heads.watching.answers import observe_answer
from tests.chromium.live.scripts import STORED
from tests.chromium.views.find_the_answer import samples as answer_samples

ROUNDING = 2e-3  # two float32 passes, summed in another order
MOST = 16  # tokens of an answer
NONE = "no answer"
OWN = (
    ("the currency of 法国", "In 法国, Marie pays with the Euro. So."),
    ("<img src=x onerror=alert(1)>", "<script>alert(1)</script> France"),
    ("שלום", "👩‍👧 é [MASK] Franc"),
)
FACTS = """root => [...root.querySelectorAll(".g2h-answer")].map((one) => ({
  name: one.dataset.model,
  isFound: one.dataset.found === "true",
  told: one.querySelector("strong bdi").textContent,
  tokens: [...one.querySelectorAll(".g2h-token bdi")].map((node) => node.textContent),
  first: [...one.querySelectorAll(".g2h-token")].map((node) => Number(node.dataset.first)),
  last: [...one.querySelectorAll(".g2h-token")].map((node) => Number(node.dataset.last)),
  chosen: [...one.querySelectorAll(".g2h-token")].flatMap((node, at) =>
    node.matches(".g2h-in") ? [at] : []),
  rows: [...one.querySelectorAll(".g2h-scores tr")].map((row) =>
    [row.querySelector("bdi").textContent, Number(row.querySelector("td").dataset.value),
      row.matches(".g2h-chosen")]),
}))"""
SETTLED = """([root, asked]) => root.dataset.state === "done" && !root.hasAttribute("data-stale")
  && root.dataset.question === asked"""


@dataclass
class Asker:
    """The view on the page, and what was asked of it."""

    page: Page
    root: Locator
    traits: dict
    question: str
    text: str
    threshold: float = 0

    def __post_init__(self):
        self.asking = self.root.locator("input[type=text]")
        self.field = self.root.locator("textarea")
        self.state = self.root.locator(".g2h-state")
        self.refusal = self.root.locator(".g2h-refusal")

    def models(self) -> tuple:
        """The models behind the page by name, and their tokenizer."""
        names = [model["name"] for model in self.traits["live"]]
        if names[0].startswith("answers_"):
            found = [shipped(name) for name in names]
            told = dict(zip(self.traits["names"], [one.model for one in found], strict=True))
            return told, found[0].source
        return answer_samples.models(), answer_samples.tokenizer()

    def settle(self) -> None:
        """Wait for the answer to what was asked."""
        asked = json.dumps([self.question, self.text], separators=(",", ":"), ensure_ascii=False)
        self.page.wait_for_function(SETTLED, arg=[self.root.element_handle(), asked])

    def check(self) -> None:
        """Every token, bar, span and score of the view is Python's."""
        models, tokenizer = self.models()
        told = self.root.evaluate(FACTS)
        assert [one["name"] for one in told] == list(models)
        for one, model in zip(told, models.values(), strict=True):
            seen = observe_answer(model, self.question, self.text, tokenizer)
            assert one["tokens"][0] == "[CLS]"
            assert len(one["tokens"]) == len(seen.tokens) + 1
            for part in ("first", "last"):
                wanted = getattr(seen, part).softmax(0)
                np.testing.assert_allclose(one[part], wanted, rtol=0, atol=ROUNDING)
            best = best_answers(
                AnswerLogits(seen.first[None], seen.last[None]),
                max_length=MOST,
                null=0,
                threshold=self.threshold,
            )
            none = (seen.first[0] + seen.last[0]).item()
            assert abs(one["rows"][0][1] - best.score.item()) < ROUNDING
            assert one["rows"][-1][0] == NONE
            assert abs(one["rows"][-1][1] - none) < ROUNDING
            assert one["isFound"] == best.found.item()
            assert [is_chosen for *_, is_chosen in one["rows"]].count(True) == 1
            if one["isFound"]:
                span = range(best.first.item(), best.last.item() + 1)
                assert one["chosen"] == list(span)
                assert one["told"] == one["rows"][0][0]
            else:
                assert (one["chosen"], one["told"]) == ([0], NONE)

    def answered(self) -> None:
        self.settle()
        self.check()


def drive_answer(page: Page, root: Locator, traits: dict) -> None:
    """Every example, the threshold; what is typed, and what cannot be read."""
    view = Asker(page, root, traits, traits["question"], traits["text"])
    expect(root).to_have_attribute("data-state", "recorded")
    expect(view.state).to_contain_text(STORED)
    view.check()
    for place in reversed(range(len(traits["examples"]))):
        chip = root.locator(".g2h-chips .g2h-chip").nth(place)
        chip.click()
        view.question, view.text = traits["questions"][place], traits["examples"][place]
        view.answered()
        expect(chip).to_have_attribute("aria-pressed", "true")
    drive_threshold(view)
    drive_typing(view)
    drive_empty(view)


def drive_threshold(view: Asker) -> None:
    """The slider at both ends, and back."""
    view.root.locator("details").evaluate("node => { node.open = true; }")
    slider = view.root.locator("input[type=range]")
    for threshold in (-20, 20, 0):
        slider.fill(str(threshold))
        view.threshold = threshold
        view.check()


def drive_typing(view: Asker) -> None:
    """Question and passage are read as they are typed; words without an entry are named."""
    tokenizer = view.models()[1]
    for question, text in OWN:
        view.question, view.text = question, text
        view.asking.fill(question)
        view.field.fill(text)
        view.answered()
        expect(view.refusal).to_be_hidden()
        words = split_bilingual(f"{question} {text}")
        strange = any(word not in tokenizer.vocabulary for word in words)
        assert ("Out of vocabulary" in view.state.inner_text()) == strange
    assert view.root.locator(".g2h-answers :is(img, script)").count() == 0


def drive_empty(view: Asker) -> None:
    """What cannot be asked is told beside the fields, which keep it; the old answer is dimmed."""
    kept = view.root.evaluate(FACTS)
    for control, text, sentence in (
        (view.asking, " ", "The question is empty: type a question."),
        (view.field, "", "The passage is empty: type some sentences."),
        (view.field, "法" * 90, "in question and passage (maximum"),
    ):
        before = control.input_value()
        control.fill(text)
        expect(view.refusal).to_contain_text(sentence)
        assert control.input_value() == text
        assert view.root.evaluate(FACTS) == kept
        expect(view.root.locator(".g2h-answers")).to_have_css("opacity", "0.45")
        control.fill(before)
        view.answered()
        expect(view.refusal).to_be_hidden()
