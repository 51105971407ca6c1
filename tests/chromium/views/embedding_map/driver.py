"""Drive an embedding map and compare every number that it shows with Python's vectors."""

import json
import re
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.metrics.words.questions import WordAnswer, ask_words

MODELS = ("words_skip_gram", "words_cbow", "words_glove", "words_subword")
SUBWORD = MODELS.index("words_subword")
FACTS = """root => ({
  lists: [...root.querySelectorAll(".g2h-list")].map((list) =>
    [...list.querySelectorAll(".g2h-word")]
      .map(({ dataset }) => [dataset.word, Number(dataset.value)])),
  shown: [...root.querySelectorAll(".g2h-cosine")].map((node) => node.textContent),
  points: [...root.querySelectorAll(".g2h-point")].map(({ dataset }) =>
    [dataset.word ?? null, Number(dataset.x), Number(dataset.y)]),
  arrows: root.querySelectorAll(".g2h-way").length,
})"""
SETTLED = """([root, asked]) => root.dataset.state === "done" && !root.hasAttribute("data-stale")
  && root.dataset.question === asked"""


@dataclass
class Map:
    """The view on the page, and what was asked of it."""

    page: Page
    root: Locator
    text: str
    count: int
    model: int = 0
    exclude: bool = True

    def __post_init__(self):
        self.field = self.root.locator("input[type=text]")
        self.said = self.root.locator(".g2h-live")
        self.refusal = self.root.locator(".g2h-refusal")

    def python(self) -> WordAnswer:
        """What the library's vectors say."""
        vectors = shipped(MODELS[self.model]).model.compared()
        words = re.sub("[,“”]", " ", self.text.lower()).split()
        return ask_words(vectors, words, count=self.count, exclude=self.exclude)

    def settle(self) -> None:
        """Wait for the answer to what was asked."""
        asked = [self.text, self.model, self.count, self.exclude]
        told = json.dumps(asked, separators=(",", ":"), ensure_ascii=False)
        self.page.wait_for_function(SETTLED, arg=[self.root.element_handle(), told])

    def check(self) -> None:
        """Every number of the view is Python's."""
        facts, ours = self.root.evaluate(FACTS), self.python()
        assert [[word for word, _ in one] for one in facts["lists"]] == [
            [word for word, _ in one] for one in ours.found
        ]
        cosines = [cosine for one in ours.found for _, cosine in one]
        theirs = [cosine for one in facts["lists"] for _, cosine in one]
        np.testing.assert_allclose(theirs, cosines, atol=1e-5)
        assert facts["shown"] == [f"{x:.2f}".replace("-", "−") for x in theirs]
        assert len(facts["points"]) == len(ours.points)
        places = np.array([[x, y] for _, x, y in facts["points"]])
        np.testing.assert_allclose(places, ours.places.numpy(), atol=2e-3)
        assert facts["arrows"] == {1: 0, 2: 1, 3: 2}[len(ours.asked)]
        share = round(100 * sum(ours.shares))
        expect(self.said).to_contain_text(f"The map captures {share} %")
        expect(self.said).to_contain_text(ours.found[0][0][0])

    def answered(self) -> None:
        self.settle()
        self.check()

    def ask(self, text: str) -> None:
        self.text = text
        self.field.fill(text)
        self.answered()


def drive_words(page: Page, root: Locator, traits: dict) -> None:
    """Every example and table, the number of words, the asked words as answers, presses, texts."""
    view = Map(page, root, traits["text"], traits["count"])
    expect(root).to_have_attribute("data-state", "recorded")
    view.check()
    for place, text in reversed(list(enumerate(traits["examples"]))):
        root.locator(".g2h-chip").nth(place).click()
        view.text = text
        view.answered()
    root.locator(".g2h-chip").nth(2).click()
    view.text = traits["examples"][2]
    for model in (1, 2, SUBWORD, 0):
        root.locator("select").select_option(index=model)
        view.model = model
        view.answered()
        box = root.get_by_label("Allow the query words as answers")
        box.check()
        view.exclude = False
        view.answered()
        box.uncheck()
        view.exclude = True
        view.answered()
    for count in (3, 20, 8):
        root.locator("input[type=range]").fill(str(count))
        view.count = count
        view.answered()
        expect(root.locator("output")).to_have_text(str(count))
    view.ask("dog")
    second = root.locator(".g2h-word").nth(1)
    view.text = second.get_attribute("data-word")
    second.click(delay=150)  # as long as a finger is down: the field is left while it is
    view.answered()
    point = root.locator(".g2h-point[data-word]").last
    view.text = point.get_attribute("data-word")
    point.locator("circle").click(force=True)
    view.answered()
    for text in ("Bicycle, CAR", "street", "red blue green", "“dog”"):
        view.ask(text)
    drive_refusals(view)


def drive_refusals(view: Map) -> None:
    """What cannot be answered gets a sentence, and the field keeps it; the next is answered."""
    before = view.root.evaluate(FACTS)
    for text, sentence in (
        ("", "Enter a word."),
        ("   ", "Enter a word."),
        ("one two three four", "Enter one, two or three"),
        ("<img src=x onerror=alert(1)>", "“<img” is not among the 11,308 words"),
        ("שלום", "is not among"),
        ("dogz", "Did you mean “dog”"),
        ("dogz", "select the subword model"),
        ("dog dog", "Enter different words; both are “dog”."),
        ("dog dog dog", "Enter different words; all three are “dog”."),
        ("man woman man", "Enter different words; “man” occurs twice."),
        ("one two three four", "The dimmed result belongs to the previous input."),
        ("x" * 3000, f"“{'x' * 30}…” is not among"),
    ):
        view.field.fill(text)
        expect(view.refusal).to_contain_text(sentence)
        assert view.field.input_value() == text
        assert view.root.evaluate(FACTS) == before
        assert view.root.locator("img").count() == 0
    view.ask("cat")
    expect(view.refusal).to_be_hidden()
    drive_unseen(view)


def drive_unseen(view: Map) -> None:
    """The table of n-grams answers what the others refuse, and says how."""
    view.field.fill("bycicle")
    expect(view.refusal).to_contain_text("select the subword model")
    view.root.locator("select").select_option(index=SUBWORD)
    view.text, view.model = "bycicle", SUBWORD
    view.answered()
    expect(view.refusal).to_be_hidden()
    known = shipped(MODELS[SUBWORD]).model.compared()
    for text in ("bycicle", "dogz", "snowboardings", "man woman boyz"):
        view.ask(text)
        word = text.split()[-1]
        carried = known.carried_by(word)
        of_which = "of which " if len(carried) > 3 else ""
        expect(view.said).to_contain_text(
            f"“{word}” is not in the training vocabulary; its vector is the mean of "
            f"{len(carried)} known character n-grams, {of_which}“{carried[0][0]}”"
        )
    view.field.fill("狗狗狗")
    expect(view.refusal).to_contain_text("shares no character n-gram with any of the 8,147 words")
    view.ask("dog")
    expect(view.said).not_to_contain_text("n-gram")
    view.root.locator("select").select_option(index=0)
    view.model = 0
    view.answered()
