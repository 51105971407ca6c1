"""The view of answers without a browser: its payload, its sentences, its task in Node."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported, export_model
from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.bilingual import BilingualTokenizer, split_bilingual, write_bilingual
from gates2heads.models.pretraining.answers import AnswerHead, AnswerLogits, best_answers
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.models.pretraining.heads import TokenHead
from gates2heads.views import FindTheAnswer, PassageExample
from gates2heads.watching.answers import observe_answer
from tests.browser.engine.in_node import entry_of
from tests.browser.engine.models.test_engine_models import stirred
from tests.javascript import LIBRARY, run_javascript

MODEL = Exported("small", "{}", b"\x00\x01")
EXAMPLES = [PassageExample("a", "b c", "letters"), PassageExample("d", "e")]
LONGEST_ANSWER = 16


def recorded(**change):
    told = {"tokens": ["b", "c"], "strange": ["c"]}
    logits = {"first": torch.tensor([0.5, 2.0, 1.0]), "last": torch.tensor([0.25, 1.0, -1.0])}
    return [SimpleNamespace(**told | logits | change)]


def view(**change):
    given = {"models": {"BERT": MODEL}, "examples": EXAMPLES, "recorded": recorded()}
    return FindTheAnswer(**given | change)


def test_payload_holds_what_a_live_answer_would():
    made = view()
    assert (made.question, made.text, made.threshold) == ("a", "b c", 0)
    assert (made.questions, made.examples, made.labels) == (
        ["a", "d"],
        ["b c", "e"],
        ["letters", "d"],
    )
    assert made.recorded == [
        {
            "tokens": ["b", "c"],
            "strange": ["c"],
            "first": [0.5, 2.0, 1.0],
            "last": [0.25, 1.0, -1.0],
        }
    ]
    assert repr(made) == "FindTheAnswer(BERT, 2 examples)"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"recorded": []}, ValueError, "recorded must"),
        ({"recorded": [3]}, TypeError, r"recorded\[0\] must"),
        (
            {"recorded": recorded(last=torch.zeros(2))},
            ValueError,
            r"recorded\[0\].last must",
        ),
        ({"examples": [PassageExample("a", 3)]}, TypeError, r"examples\[0\].passage must"),
        (
            {"models": {"a": MODEL, "b": MODEL}, "recorded": recorded() + recorded(tokens=["d"])},
            ValueError,
            r"recorded\[1\] must",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    with pytest.raises(error, match=message):
        view(**change)


# ---- spans and sentences, in Node

ANSWERS = {"answers": LIBRARY / "views/find_the_answer/answers.js"}


def answer_of(tokens, first, last, threshold=0):
    return run_javascript(
        "return answers.answerOf(given.result, given.threshold);",
        ANSWERS,
        {"result": {"tokens": tokens, "first": first, "last": last}, "threshold": threshold},
    )


def test_the_best_span_by_hand():
    """Begin 2 + end 3 exceeds every other span, and 0.75, "no answer", by 2.25."""
    found = answer_of(["b", "c"], [0.5, 2, 1], [0.25, 1, -1])
    assert found["spans"] == [
        {"first": 0, "last": 0, "score": 3, "text": "b"},
        {"first": 0, "last": 1, "score": 1, "text": "b c"},
    ]
    assert (found["none"], found["isFound"]) == (0.75, True)
    assert answer_of(["b", "c"], [0.5, 2, 1], [0.25, 1, -1], 2.25)["isFound"] is False
    assert answer_of(["b", "c"], [0.5, 2, 1], [0.25, 1, -1], 2.2)["isFound"] is True


def test_no_span_is_longer_than_in_training():
    tokens = ["b"] * 20
    first, last = [0, 9, *[0] * 19], [0, *[0] * 19, 9]
    found = answer_of(tokens, first, last)
    lengths = [span["last"] - span["first"] + 1 for span in found["spans"]]
    assert max(lengths) <= LONGEST_ANSWER


def test_what_the_models_say_in_words():
    told = run_javascript(
        """return [
          answers.toldInWords(["A", "B"],
            [{ spans: [{ text: "b c" }], isFound: true }, { spans: [{}], isFound: false }]),
          [0, -0.04, -12.34, 3].map(answers.signed),
          answers.shares([0, Math.log(3)]).map((share) => share.toFixed(6)),
        ];""",
        ANSWERS,
    )
    assert told == [
        "A: “b c”; B: no answer.",
        ["0.0", "0.0", "−12.3", "3.0"],
        ["0.250000", "0.750000"],
    ]


# ---- the task, in Node, on random models

TASK = {
    "engine": LIBRARY / "browser" / "engine" / "engine.js",
    "answer": LIBRARY / "browser" / "live" / "tasks" / "answer.js",
    **ANSWERS,
}
RUN = """
  const run = (steps) => {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };
  return given.map(({ entry, payload, threshold }) => {
    const model = engine.engine.loadModel(entry, { verify: false });
    const found = run(answer.findAnswer(model, payload));
    return found.refused ? found : { ...found, ...answers.answerOf(found, threshold) };
  });
"""
WORDS = ["In", "Bern", "Franc", "Swiss", "瑞", "士", "法", "郎", ",", ".", "。", "Côte", "d’Or"]


def drawn(number):
    """A random model, its tokenizer, a question, a passage and a threshold."""
    draw = random.Random(number)
    torch.manual_seed(number)
    tokenizer = BilingualTokenizer.from_texts([" ".join(draw.sample(WORDS, 9))])
    size, heads = Markers.of(tokenizer.vocabulary).size, draw.choice([1, 2])
    width = heads * draw.choice([2, 3, 5])
    sizes = {"d_model": width, "nhead": heads, "max_length": 41, "num_layers": draw.choice([1, 2])}
    model = stirred(FineTuned(BERT(size, **sizes), AnswerHead(width)))
    texts = [
        draw.choice(["", " "]).join([draw.choice(WORDS) + " " for _ in range(draw.randint(1, n))])
        for n in (7, 23)
    ]
    return model, tokenizer, *texts, draw.choice([0, -3, 2])


@pytest.mark.parametrize("count", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_the_task_says_what_the_library_says(count):
    cases = [drawn(number) for number in range(count)]
    given = [
        {
            "entry": entry_of(export_model(model, name="one", source=tokenizer)),
            "payload": {"question": question, "text": passage},
            "threshold": threshold,
        }
        for model, tokenizer, question, passage, threshold in cases
    ]
    kinds = set()
    for (model, tokenizer, question, passage, threshold), found in zip(
        cases, run_javascript(RUN, TASK, given), strict=True
    ):
        assert found["tokens"] == split_bilingual(passage)
        same_answer(found, observe_answer(model, question, passage, tokenizer), threshold)
        kinds.add(found["isFound"])
    assert kinds == {True, False}


def same_answer(found, seen, threshold=0):
    """What the page says is what the library's search finds, but for ties in rounded sums."""
    assert found["strange"] == seen.strange
    for part in ("first", "last"):
        np.testing.assert_allclose(found[part], getattr(seen, part), rtol=0, atol=1e-4)
    logits = AnswerLogits(seen.first[None], seen.last[None])
    options = {"max_length": LONGEST_ANSWER, "null": 0}
    best = best_answers(logits, **options, threshold=threshold)
    span = found["spans"][0]
    assert span["score"] == pytest.approx(best.score.item(), abs=2e-4)
    assert span["text"] == write_bilingual(seen.tokens[span["first"] : span["last"] + 1])
    none = (seen.first[0] + seen.last[0]).item()
    assert found["none"] == pytest.approx(none, abs=2e-4)
    if abs(best.score.item() - none - threshold) > 1e-3:
        assert found["isFound"] == best.found.item()


def test_what_is_too_long_is_refused_in_a_sentence():
    model, tokenizer, *_ = drawn(0)
    entry = entry_of(export_model(model, name="one", source=tokenizer))
    payload = {"question": "法" * 9, "text": "法" * 30}
    (found,) = run_javascript(RUN, TASK, [{"entry": entry, "payload": payload, "threshold": 0}])
    sentence = "Too long: 39 words and punctuation marks in question and passage (maximum 38)."
    assert found == {"refused": sentence}


def test_only_answers_are_extracted_in_the_page():
    encoder = BERT(7, d_model=4, nhead=2, num_layers=1, max_length=3)
    with pytest.raises(TypeError, match="model must"):
        export_model(FineTuned(encoder, TokenHead(4, 3)), name="one")
