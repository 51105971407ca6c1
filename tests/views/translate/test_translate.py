"""The Translate view without a browser: its payload, its bounds, its messages."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported
from gates2heads.views import Example, Translate
from tests.javascript import LIBRARY, run_javascript

MODEL = Exported("small", "{}", b"\x00\x01")
EXAMPLES = [Example("dog", "Ein Hund", "Look."), ("cat", "Eine Katze")]
SHAPE = (2, 3, 4, 5)  # layers, heads, target, source


def recorded(shape=SHAPE, target=("a", "b", "c", "<eos>")) -> SimpleNamespace:
    weights = np.linspace(0, 1, np.prod(shape)).reshape(shape)
    return SimpleNamespace(source=[" s"] * 5, target=list(target), weights=weights)


def negative() -> SimpleNamespace:
    one = recorded()
    one.weights = one.weights - 1
    return one


def test_payload_holds_every_weight_in_reading_order():
    view = Translate(MODEL, EXAMPLES, recorded())
    assert view.recorded == [
        {
            "text": "Ein Hund",
            "source": [" s"] * 5,
            "target": ["a", "b", "c", "<eos>"],
            "finished": True,
            "shape": [2, 3, 4, 5],
        }
    ]
    sent = np.frombuffer(view.weights, "<u2") / 65535
    np.testing.assert_allclose(sent, np.linspace(0, 1, 120), rtol=0, atol=1e-5)


def test_an_english_sentence_may_have_its_german_stored():
    view = Translate(MODEL, EXAMPLES, recorded(), pairs=[("A dog", "Ein Hund")])
    assert view.pairs == [["A dog", "Ein Hund"]]
    assert Translate(MODEL, EXAMPLES, recorded()).pairs == []


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("A cat", "Eine Katze"), r"pairs\[0\] must end in the text of a recorded example"),
        (("A dog",), r"pairs\[0\]"),
        (("A dog", "Ein Hund", "Un chien"), r"pairs\[0\] must be two texts"),
    ],
)
def test_a_pair_needs_two_texts_and_a_recorded_german(pair, message):
    with pytest.raises(ValueError, match=message):
        Translate(MODEL, EXAMPLES, recorded(), pairs=[pair])


def test_each_example_may_have_its_output_and_the_page_reads_them_one_by_one():
    other = recorded((1, 2, 2, 5), target="ab")
    view = Translate(MODEL, EXAMPLES, [recorded(), other])
    assert [one["text"] for one in view.recorded] == ["Ein Hund", "Eine Katze"]
    assert [one["finished"] for one in view.recorded] == [True, False]
    body = """
      const weights = new DataView(Uint8Array.from(given.weights).buffer);
      const model = { get: (name) => ({ ...given, weights })[name] };
      return translate.recordedOf(model).map(({ text, weights: { shape, data } }) => (
        { text, shape, data: [...data] }));
    """
    given = {"recorded": view.recorded, "weights": list(view.weights)}
    first, second = run_javascript(body, VIEW, given)
    assert (second["text"], second["shape"]) == ("Eine Katze", [1, 2, 2, 5])
    np.testing.assert_allclose(first["data"], np.linspace(0, 1, 120), rtol=0, atol=1e-5)
    np.testing.assert_allclose(second["data"], np.linspace(0, 1, 20), rtol=0, atol=1e-5)


def test_tensors_are_taken_and_an_end_that_never_came_is_told():
    there = recorded(target="abcd")
    there.weights = torch.tensor(there.weights, requires_grad=True)
    view = Translate(MODEL, EXAMPLES, there)
    assert view.recorded[0]["finished"] is False
    assert len(view.weights) == 2 * 120


def test_examples_travel_as_lists_of_four():
    view = Translate(MODEL, EXAMPLES, recorded(), about="six weights")
    assert view.examples == [["dog", "Ein Hund", "Look.", ""], ["cat", "Eine Katze", "", ""]]
    assert (view.text, view.about, view.width) == ("Ein Hund", "six weights", 1)


def test_repr_holds_no_address():
    assert repr(Translate(MODEL, EXAMPLES, recorded())) == "Translate(small, 2 examples)"


@pytest.mark.parametrize("width", [0, 11, -3])
def test_a_width_out_of_bounds_is_told(width):
    with pytest.raises(ValueError, match="width must"):
        Translate(MODEL, EXAMPLES, recorded(), width=width)
    view = Translate(MODEL, EXAMPLES, recorded())
    with pytest.raises(ValueError, match="width must"):
        view.width = width


def test_a_width_from_the_browser_is_moved_into_bounds():
    view = Translate(MODEL, EXAMPLES, recorded())
    view.set_state({"width": 40, "text": "x"})
    assert (view.width, view.text) == (10, "x")
    view.set_state({"width": -1})
    assert view.width == 1


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"examples": [("a", "b"), ("c", " ")]}, ValueError, r"examples\[1\] must"),
        ({"recorded": 3}, TypeError, "recorded must"),
        ({"recorded": []}, ValueError, "recorded must"),
        ({"recorded": [recorded()] * 3}, ValueError, "recorded must"),
        ({"recorded": [recorded(), 3]}, TypeError, r"recorded\[1\] must"),
        ({"recorded": negative()}, ValueError, "weights must"),
        (
            {"recorded": recorded((3, 4, 5))},
            ValueError,
            r"recorded.weights must",
        ),
        (
            {"recorded": recorded((2, 3, 5, 4))},
            ValueError,
            r"recorded.weights must",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    given = {"model": MODEL, "examples": EXAMPLES, "recorded": recorded()} | change
    with pytest.raises(error, match=message):
        Translate(**given)


# ---- what the view works out by itself, in Node

VIEW = {
    "translate": LIBRARY / "views/translate/view.js",
    "sentences": LIBRARY / "views/translate/sentences.js",
}


def test_the_strongest_are_named_largest_first_and_none_that_is_small():
    weights = [[0.1, 0.6, 0.2, 0.06, 0.04], [0.01, 0.02], [0.5, 0.49, 0.01]]
    assert run_javascript("return given.map(sentences.strongest);", VIEW, weights) == [
        *([1, 2, 0], [1], [0, 1])
    ]


def test_the_last_layers_mean_is_offered_first_and_every_head_once():
    choices = run_javascript("return translate.lookChoices([2, 3]);", VIEW)
    assert choices[0] == {"label": "last layer, mean of its 3 heads", "layer": 1, "head": None}
    heads = [(one["layer"], one["head"]) for one in choices if one["head"] is not None]
    assert sorted(heads) == [(layer, head) for layer in range(2) for head in range(3)]
    assert len({one["label"] for one in choices}) == len(choices)


def test_remarks_tell_of_bare_bytes_and_of_an_end_that_never_came():
    results = [
        {"source": [" Ein", "<eos>"], "target": [" A", "<eos>"], "finished": True},
        {
            "source": [" ", "<0xE2>", "<0x98>", "<0x83>", "<eos>"],
            "target": [" A", " b", " c"],
            "finished": False,
        },
    ]
    plain, odd = run_javascript("return given.map(translate.remarks);", VIEW, results)
    assert plain == []
    assert odd == [
        "The vocabulary has no token for “☃”, so the model reads single bytes and has to guess.",
        "The output was cut off after 3 tokens, without an end-of-sequence token.",
    ]


def test_remarks_tell_of_a_question_and_of_an_output_that_repeats_itself():
    end = {"source": [" Ein", "<eos>"], "finished": True}
    results = [
        {**end, "text": "Wer ist das?", "target": [" A", " man", ".", "<eos>"]},
        {**end, "text": "Ein", "target": [" A", " dog", " dog", " dog", ".", "<eos>"]},
        {**end, "text": "Ein", "target": [" a", " dog", ",", " A", " dog", ",", " a", " dog"]},
        {**end, "text": "Wer ist Ein", "target": [" A", " dog", " and", " a", " dog"]},
    ]
    question = "The training captions contain almost no questions: expect nonsense."
    again = (
        "The output repeats itself, which often happens when a model reads a sentence unlike its "
        "training data."
    )
    assert run_javascript("return given.map(translate.remarks);", VIEW, results) == [
        [question],
        [again],
        [again],
        [],
    ]


def test_several_sentences_are_told_from_abbreviations_and_dates():
    several = [
        "Ein Hund läuft. Ein Mann sitzt.",
        "Ein Hund läuft. ein Mann sitzt.",
        "Wer ist das? Ein Mann.",
        "Er ruft: „Komm!“ „Ja.“",
        "Zwei Kinder spielen.  Sie lachen",
    ]
    single = [
        "Ein Hund läuft.",
        "Ein Hund läuft. ",
        "Dr. Müller trinkt z. B. Tee.",
        "Prof. Schmidt kommt am 3. Mai.",
        "Ein Mann bzw. eine Frau … sitzt.",
        "Ein Hund ... läuft",
        "?!… –.,;:",
        "",
    ]
    body = "return given.map(translate.holdsSentences);"
    assert run_javascript(body, VIEW, several) == [True] * len(several)
    assert run_javascript(body, VIEW, single) == [False] * len(single)


def test_a_remark_tells_what_becomes_of_several_sentences():
    result = {"source": [" Ein", "<eos>"], "target": [" A", "<eos>"], "finished": True}
    result["text"] = "Ein Hund läuft. Ein Mann sitzt."
    assert run_javascript("return translate.remarks(given);", VIEW, result) == [
        "The model was trained on single captions: it usually merges several sentences into one "
        "and loses part of their content."
    ]


def test_a_remark_tells_of_a_negation_and_of_a_large_number_word():
    result = {"source": [" Ein", "<eos>"], "target": [" A", "<eos>"], "finished": True}
    result["text"] = "Zwölf Männer tragen keine Hüte."
    assert run_javascript("return translate.remarks(given);", VIEW, result) == [
        "The model mistranslates most negations.",
        "The model gets most number words above nine wrong.",
    ]
