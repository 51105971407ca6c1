"""The view of gaps without a browser: its payload, its sentences, its task in Node."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported, export_model
from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.bilingual import BilingualTokenizer, split_bilingual
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.views import FillTheMask, MaskExample
from gates2heads.watching.filling import find_names, observe_gaps, observe_line
from tests.browser.engine.in_node import entry_of
from tests.browser.engine.models.test_engine_models import stirred
from tests.javascript import LIBRARY, run_javascript

MODEL = Exported("small", "{}", b"\x00\x01")
EXAMPLES = [MaskExample("a b c", [2, 1], "letters"), MaskExample("d", [])]
VOCABULARY = ["a", "b", "c", "d", "e", "f", "[MASK]"]


def shares(*rows):
    return torch.tensor(rows).log()


def recorded(**change):
    rows = shares([0.1, 0.3, 0.1, 0.2, 0.1, 0.1, 0.1], [0.4, 0.1, 0.01, 0.19, 0.1, 0.1, 0.1])
    gaps = {"tokens": ["a", "b", "c"], "hidden": [1, 2], "log_probs": rows}
    gaps = SimpleNamespace(**gaps | {"vocabulary": VOCABULARY} | change)
    line = SimpleNamespace(
        tokens=["a"], written=["d"], log_probs=shares([0.5, 0.25])[0], finished=True
    )
    return [gaps, line]


def view(**change):
    given = {"models": {"BERT": MODEL, "GPT": MODEL}, "examples": EXAMPLES, "recorded": recorded()}
    return FillTheMask(**given | change)


def test_payload_holds_what_a_live_answer_would():
    made = view(spans=[(1, 3)])
    assert (made.text, made.hidden, made.gap) == ("a b c", [1, 2], 0)
    assert (made.examples, made.gaps, made.labels) == (
        ["a b c", "d"],
        [[1, 2], []],
        ["letters", "d"],
    )
    gaps, line = made.recorded
    told = {"tokens": ["a", "b", "c"], "known": [True] * 3, "names": [[1, 3]]}
    assert {key: gaps[key] for key in told} == {key: line[key] for key in told} == told
    first, second = gaps["gaps"]
    assert (first["place"], second["place"]) == (1, 2)
    assert [one["token"] for one in first["best"]] == ["b", "d", "a", "c", "e"]
    assert [one["share"] for one in first["best"]] == pytest.approx([0.3, 0.2, 0.1, 0.1, 0.1])
    assert (first["was"], second["was"]) == (pytest.approx(0.3), pytest.approx(0.01))
    assert line["written"] == [{"token": "d", "share": pytest.approx(0.5)}]
    assert line["finished"] is True
    assert repr(made) == "FillTheMask(BERT, GPT, 2 examples)"


def test_what_no_model_saw_has_no_share():
    gaps = view(recorded=recorded(vocabulary=[*"axcdef", "[MASK]"])).recorded[0]
    assert gaps["known"] == [True, False, True]
    assert gaps["gaps"][0]["was"] is None


def test_positions_out_of_bounds_are_told():
    made = view()
    with pytest.raises(ValueError, match="gap must"):
        made.gap = -1
    with pytest.raises(ValueError, match="hidden must"):
        made.hidden = [-1]
    made.set_state({"gap": -3})
    assert made.gap == 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"recorded": recorded()[:1]}, ValueError, "recorded must"),
        ({"recorded": recorded(hidden=[0])}, ValueError, "recorded must"),
        ({"recorded": recorded(log_probs=shares([1.0]))}, ValueError, r"have shape \(2, 7\)"),
        ({"recorded": [recorded()[0], 3]}, TypeError, r"recorded\[1\] must"),
        ({"spans": [(0, 4)]}, ValueError, "each position of spans must"),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    with pytest.raises(error, match=message):
        view(**change)


# ---- words and positions, in Node

FILLS = {"fills": LIBRARY / "views/fill_the_mask/fills.js"}


def test_places_are_toggled_alone_and_as_names():
    found = run_javascript(
        """return [
          fills.toggled([1, 4], 2), fills.toggled([1, 4], 4),
          fills.toggledName([1, 4], [3, 6]), fills.toggledName([1, 3, 4, 5], [3, 6]),
          fills.maskedOf([9, 2, 2, 0], ["a", "b", "c", "[MASK]"]),
          fills.runsOf([1, 2, 4].map((place) => ({ place }))),
          [0.5, 0.0994, 0.0003, 0].map(fills.percent),
        ];""",
        FILLS,
    )
    runs = [[{"place": 1}, {"place": 2}], [{"place": 4}]]
    parts = ["50 %", "9.9 %", "< 0.1 %", "0.0 %"]
    assert found == [[1, 2, 4], [1], [1, 3, 4, 5], [1], [0, 2, 3], runs, parts]


def test_a_gap_goes_with_its_word():
    found = run_javascript(
        """const before = ["In", "Bern", "Franc"];
        return [
          fills.unchanged([0, 2], before, ["In", "Ulm", "Franc", "."]),
          fills.unchanged([0, 2], before, ["In", "Old", "Bern", "Franc"]),
          fills.unchanged([1, 2], before, ["In", "Bern"]),
        ];""",
        FILLS,
    )
    assert found == [[0, 2], [0], [1]]


def test_a_new_sentence_opens_with_its_last_name_masked_unless_a_mask_was_typed():
    found = run_javascript(
        """const tokens = ["In", "Bern", "Swiss", "Franc"];
        return [
          fills.opening(tokens, [[1, 2], [2, 4]]), fills.opening(tokens, []),
          fills.opening(["In", "Bern", "[MASK]"], [[1, 2]]),
        ];""",
        FILLS,
    )
    assert found == [[2, 3], [], []]


def test_what_the_models_say_in_words():
    names = ["BERT", "GPT", "ERNIE"]
    results = view().recorded
    nothing = {**results[0], "gaps": []}
    told = run_javascript(
        "return fills.toldInWords(given.names, given.results);",
        FILLS,
        {"names": names, "results": [*results, nothing]},
    )
    assert told == (
        "BERT fills in “b a” instead of “b c”; GPT continues: “d”; ERNIE has no mask to fill in."
    )
    line = [{"token": token, "share": 0.5} for token in ("Kenyan", "Shilling", ".")]
    for finished, end in ((True, "Shilling”."), (False, "Shilling.” ….")):
        given = [{"written": line, "finished": finished}]
        told = run_javascript("return fills.toldInWords(['GPT'], given);", FILLS, given)
        assert told == f"GPT continues: “Kenyan {end}"


# ---- the task, in Node, on random models

TASK = {
    "engine": LIBRARY / "browser" / "engine" / "engine.js",
    "fill": LIBRARY / "browser" / "live" / "tasks" / "fill.js",
}
RUN = """
  const run = (steps) => {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };
  return given.map(({ entry, payload }) =>
    run(fill.fillText(engine.engine.loadModel(entry, { verify: false }), payload)));
"""
WORDS = ["In", "Bern", "Franc", "Swiss", "瑞", "士", "法", "郎", ",", ".", "。", "Côte", "d’Or"]
NAMES = ["Swiss Franc", "瑞士", "瑞士法郎", "Bern", "Côte d’Or"]


def drawn(number):
    """A random model, sentence and gaps."""
    draw = random.Random(number)
    torch.manual_seed(number)
    tokenizer = BilingualTokenizer.from_texts([" ".join(draw.sample(WORDS, 9))])
    size, heads = Markers.of(tokenizer.vocabulary).size, draw.choice([1, 2])
    sizes = {"d_model": heads * draw.choice([2, 3, 5]), "nhead": heads, "max_length": 41}
    sizes["num_layers"] = draw.choice([1, 2])
    kind = draw.choice([BERT, GPT])
    text = draw.choice(["", " "]).join(
        [draw.choice(WORDS) + " " for _ in range(draw.randint(1, 11))]
    )
    places = range(len(split_bilingual(text)))
    hidden = draw.sample(places, draw.randint(1, len(places)))
    return stirred(kind(size, **sizes)), tokenizer, text, hidden


@pytest.mark.parametrize("count", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_the_task_says_what_the_library_says(count):
    cases = [drawn(number) for number in range(count)]
    given = [
        {
            "entry": entry_of(
                export_model(model, name="one", source=tokenizer, card={"names": NAMES})
            ),
            "payload": {"text": text, "hidden": hidden},
        }
        for model, tokenizer, text, hidden in cases
    ]
    for (model, tokenizer, text, hidden), found in zip(
        cases, run_javascript(RUN, TASK, given), strict=True
    ):
        assert found["tokens"] == split_bilingual(text)
        assert found["known"] == [token in tokenizer.vocabulary for token in found["tokens"]]
        assert found["names"] == [list(span) for span in find_names(found["tokens"], NAMES)]
        if isinstance(model, BERT):
            same_gaps(found, observe_gaps(model, text, hidden, tokenizer))
        else:
            same_line(found, observe_line(model, text, min(hidden), tokenizer))


def same_gaps(found, seen):
    assert [gap["place"] for gap in found["gaps"]] == seen.hidden
    for gap, row in zip(found["gaps"], seen.log_probs.exp(), strict=True):
        told = {one["token"]: one["share"] for one in gap["best"]}
        wanted = [row[seen.vocabulary.index(token)] for token in told]
        np.testing.assert_allclose(list(told.values()), wanted, rtol=0, atol=1e-5)
        np.testing.assert_allclose(
            list(told.values()), row.topk(len(told)).values, rtol=0, atol=1e-5
        )
        was = seen.tokens[gap["place"]]
        if was in seen.vocabulary and was != "[MASK]":
            assert gap["was"] == pytest.approx(float(row[seen.vocabulary.index(was)]), abs=1e-5)
        else:
            assert gap["was"] is None


def same_line(found, seen):
    assert [one["token"] for one in found["written"]] == seen.written
    assert found["finished"] == seen.finished
    wanted = seen.log_probs.exp()[: len(seen.written)]
    np.testing.assert_allclose(
        [one["share"] for one in found["written"]], wanted, rtol=0, atol=1e-5
    )


def test_without_gaps_nothing_is_filled_and_the_whole_is_continued():
    cases = [drawn(number) for number in range(12)]
    given = [
        {
            "entry": entry_of(export_model(model, name="one", source=tokenizer)),
            "payload": {"text": text, "hidden": [99]},
        }
        for model, tokenizer, text, _ in cases
    ]
    answers = run_javascript(RUN, TASK, given)
    for (model, tokenizer, text, _), found in zip(cases, answers, strict=True):
        if isinstance(model, BERT):
            assert found["gaps"] == []
        else:
            length = len(split_bilingual(text))
            same_line(found, observe_line(model, text, length, tokenizer))


def test_a_typed_mask_is_a_mask():
    model, tokenizer = next(
        (model, tokenizer)
        for model, tokenizer, _, _ in map(drawn, range(12))
        if isinstance(model, BERT)
    )
    entry = entry_of(export_model(model, name="one", source=tokenizer))
    text = "In [MASK], Swiss Franc[MASK]."
    payload = {"text": text, "hidden": [3]}
    (found,) = run_javascript(RUN, TASK, [{"entry": entry, "payload": payload}])
    assert split_bilingual(text) == ["In", "[MASK]", ",", "Swiss", "Franc", "[MASK]", "."]
    assert found["tokens"] == split_bilingual(text)
    same_gaps(found, observe_gaps(model, text, [1, 3, 5], tokenizer))
    told = run_javascript("return fills.toldInWords(['BERT'], given);", FILLS, [found])
    assert "instead of “Swiss”" in told or "as typed" in told
    assert "[MASK]" not in told.replace(found["gaps"][0]["best"][0]["token"], "")


def test_what_is_too_long_is_refused_in_a_sentence():
    model, tokenizer, _, _ = drawn(0)
    entry = entry_of(export_model(model, name="one", source=tokenizer))
    (found,) = run_javascript(RUN, TASK, [{"entry": entry, "payload": {"text": "法" * 41}}])
    sentence = "Too long: 41 words and punctuation marks (maximum 40)."
    assert found == {"refused": sentence}
