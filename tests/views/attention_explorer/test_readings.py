"""What several readers made of one text: the page's pure functions, by hand."""

import math

import pytest
import torch

from tests.javascript import LIBRARY, run_javascript

MODULES = {"readings": LIBRARY / "views/attention_explorer/readings.js"}


def test_a_text_is_cut_where_it_agrees_with_another():
    pairs = [
        ("1974-02-14", "1974-02-14"),
        ("1979-02-1", "1974-02-14"),
        ("", "1"),
        ("12é😀", "12e😀"),
    ]
    told = run_javascript("return given.map(([a, b]) => readings.compared(a, b));", MODULES, pairs)
    assert told == [
        [{"text": "1974-02-14", "isSame": True}],
        [
            {"text": "197", "isSame": True},
            {"text": "9", "isSame": False},
            {"text": "-02-1", "isSame": True},
        ],
        [],
        [
            {"text": "12", "isSame": True},
            {"text": "é", "isSame": False},
            {"text": "😀", "isSame": True},
        ],
    ]


def test_from_scores_to_weights_in_numbers():
    scores = [math.log(1), math.log(2), math.log(3)]
    weights = torch.tensor(scores).softmax(-1).tolist()
    with_scores, without = run_javascript(
        "return [readings.softmaxRows(given.weights, given.scores),"
        " readings.softmaxRows(given.weights, null)];",
        MODULES,
        {"weights": weights, "scores": scores},
    )
    assert [row["place"] for row in with_scores] == [2, 1, 0]
    assert [row["exp"] for row in with_scores] == pytest.approx([1, 2 / 3, 1 / 3])
    assert [row["score"] for row in with_scores] == pytest.approx(scores[::-1])
    assert [row["exp"] for row in without] == pytest.approx([1, 2 / 3, 1 / 3])
    assert [row["score"] for row in without] == [None] * 3


def test_what_is_not_named_is_one_sum():
    rows = [{"place": n, "weight": w, "exp": 2 * w} for n, w in enumerate([0.5, 0.3, 0.15, 0.05])]
    told = run_javascript(
        "return [readings.headAndRest(given, 2), readings.headAndRest(given, 4)];", MODULES, rows
    )
    assert [row["place"] for row in told[0]["head"]] == [0, 1]
    assert told[0]["rest"] == {
        "count": 2,
        "weight": pytest.approx(0.2),
        "exp": pytest.approx(0.4),
    }
    assert told[1]["rest"] is None


def test_a_step_is_told_in_words():
    told = run_javascript(
        "const map = { shape: [1, 3], data: Float32Array.from(given.weights) };"
        "const base = { source: given.source, target: given.target };"
        "return [readings.stepInWords({ ...base, weights: map }, 0, 'dot'),"
        " readings.stepInWords({ ...base, weights: null }, 0, 'one vector')];",
        MODULES,
        {"weights": [0.9, 0.08, 0.02], "source": ["1", " ", "<eos>"], "target": ["-"]},
    )
    weights = "the largest weights are on “1” (0.90) and a space (0.08)"
    assert told[0] == f"Step 1 outputs “-”; {weights}."
    assert told[1] == (
        "Step 1 outputs “-”; the decoder of “one vector” sees only one context vector."
    )
