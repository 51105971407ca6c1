"""The leaderboard: what the page works out, its words, positions, and wrong arguments."""

from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.metrics.bleu import sentence_bleu
from gates2heads.metrics.chrf import sentence_chrf
from gates2heads.metrics.seeds import seed_interval
from gates2heads.views import Contender, Leaderboard
from tests.javascript import LIBRARY, run_javascript

MODULES = {
    "board": LIBRARY / "views/leaderboard/board.js",
    "layout": LIBRARY / "views/leaderboard/board_layout.js",
}
CAPTIONS = [("Ein Hund.", "A dog."), ("Zwei.", "Two of them.")]


def contender(name="GRU", **changes):
    told = {
        "family": "recurrent",
        "attention": False,
        "seeds": [0, 1],
        "scores": {"bleu": [20.0, 22.0], "perplexity": [9.0, 8.0], "parameters": [5e6, 5e6]},
        "texts": [["A dog .", "Two."], ["The dog.", "Both of them."]],
    }
    return Contender(name=name, **{**told, **changes})


ONE = contender(
    "heads",
    family="Transformer",
    attention=True,
    seeds=[0],
    texts=[["A dog.", "Two."]],
    scores={"bleu": [31.0], "perplexity": [6.0], "parameters": [4e6]},
    lengths=[(30, 20, 40), (25.5, 20, 31)],
)
VIEW = Leaderboard([contender(), ONE], CAPTIONS, bins=["short", "long"], title="T", hint="H")


def in_node(body, given=None):
    return run_javascript(body, MODULES, {"entries": VIEW.entries, "more": given})


# ---- what the page works out


def test_means_and_intervals_are_pythons():
    told = in_node(
        "return given.entries.map((one) => board.COLUMNS.map((column) =>"
        " board.standing(one, column)));"
    )
    bleu, chrf, perplexity, _, parameters, cost, decoding = told[0]
    low, high = seed_interval([20.0, 22.0])
    assert bleu == {"mean": 21, "values": [20, 22], "low": low, "high": high}
    assert perplexity["mean"] == mean([9.0, 8.0])
    assert parameters == {"mean": 5, "values": [5, 5], "low": None, "high": None}
    assert (chrf, cost, decoding) == (None, None, None)
    assert told[1][0]["low"] is None


def test_numbers_in_words():
    told = in_node(
        "return [null, { mean: 3.14, low: null }, { mean: 38.94, low: 38, high: 39.6 }]"
        ".map((one) => board.numberInWords(one, 1));"
    )
    assert told == ["–", "3.1", "38.9 ± 0.8"]


def test_filters_and_orders():
    told = in_node(
        "const families = ['recurrent', 'Transformer'];"
        "const through = (family, attention) =>"
        " board.letThrough(given.entries, { family, attention, families });"
        "const order = (column, best) =>"
        " board.inOrder(given.entries, [0, 1], { column, best, search: 0 });"
        "return [through(0, 0), through(1, 0), through(2, 2), through(0, 1),"
        " order(0, true), order(0, false), order(2, true), order(4, true), order(5, true)];"
    )
    assert told == [[0, 1], [0], [], [1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1]]


@given(st.floats(0, 1000), st.floats(0.01, 1000))
def test_round_numbers_lie_inside_and_are_evenly_far(low, width):
    (found,) = run_javascript(
        "return [board.ticks(given[0], given[1])];", MODULES, [low, low + width]
    )
    assert 2 <= len(found) <= 7
    assert low - 1e-6 <= found[0] <= found[-1] <= low + width + 1e-6 * (low + width)
    assert np.diff(found) == pytest.approx(np.diff(found)[0])


def test_round_numbers_of_a_logarithmic_axis():
    assert in_node("return board.ticks(6, 230, { log: true });") == [10, 20, 50, 100, 200]


def test_labels_hide_no_other_where_there_is_room():
    points = [{"x": 200, "y": 100 + 3 * n} for n in range(6)]
    found = in_node(
        "return layout.labelled(given.more, given.more.map((_, n) => `rung ${n}`),"
        " { width: 600, height: 340 });",
        points,
    )
    boxes = []
    for n, one in enumerate(found):
        long = 6.6 * len(f"rung {n}")
        left = one["x"] - {"start": 0, "end": long, "middle": long / 2}[one["anchor"]]
        boxes.append((left, left + long, one["y"] - 7.5, one["y"] + 7.5))
    for n, a in enumerate(boxes):
        for b in boxes[:n]:
            assert min(a[1], b[1]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[2], b[2]) + 1e-9


# Chapter 10's board: name, share of the width, and height of the point in a picture of a phone
CROWDED = [
    ("RNN", 0.66, 201),
    ("LSTM", 0.9, 172),
    ("LSTM with repeated context", 0.94, 126),
    ("GRU", 0.82, 113),
    ("GRU + additive attention", 0.49, 84),
    ("GRU + Luong attention", 0.55, 70),
    ("convolutional model", 0.75, 46),
    ("Transformer", 0.57, 57),
    ("rotary Transformer", 0.57, 45),
    ("Universal Transformer", 0.28, 55),
    ("non-autoregressive model", 0.57, 222),
    ("released translator", 0.65, 23),
]


@pytest.mark.parametrize("width", [290, 320, 350, 400, 600])
def test_labels_of_points_that_are_close_keep_their_order(width):
    points = [{"x": 46 + share * (width - 60), "y": y} for _, share, y in CROWDED]
    found = in_node(
        "return layout.labelled(given.more.points, given.more.names, given.more.size);",
        {
            "points": points,
            "names": [one[0] for one in CROWDED],
            "size": {"width": width, "height": 300},
        },
    )
    close = 0
    for n, (a, point) in enumerate(zip(found, points, strict=True)):
        for b, other in zip(found[:n], points[:n], strict=True):
            across, down = point["x"] - other["x"], point["y"] - other["y"]
            if abs(across) < 40 and abs(down) < 40:
                close += 1
                assert down * (a["y"] - b["y"]) >= 0
    assert close > 3


def test_a_label_that_is_nearer_to_another_point_has_a_line_to_its_own():
    points = [{"x": 200 + 3 * n, "y": 100 + 3 * n} for n in range(6)]
    found = in_node(
        "return layout.labelled(given.more, given.more.map((_, n) => `rung ${n}`),"
        " { width: 600, height: 340 });",
        points,
    )
    assert [one["y"] for one in found] == sorted(one["y"] for one in found)
    lined = [one["leader"] for one in found]
    assert any(lined)
    assert not all(lined)
    alone = in_node(
        "return layout.labelled([{ x: 90, y: 90 }], ['a'], { width: 600, height: 340 });"
    )
    assert alone == [{"x": 103, "y": 90, "anchor": "start", "leader": False}]


def test_an_axis_goes_through_its_values_in_order():
    told = in_node(
        "const one = layout.axis([10, 100], [300, 0], { log: true });"
        "const two = layout.axis([4, 8], [0, 100], { zero: true });"
        "return [[10, 30, 100].map(one.at), [0, 4, 8].map(two.at)];"
    )
    assert 300 > told[0][0] > told[0][1] > told[0][2] > 0
    assert told[0][1] == pytest.approx(
        told[0][0] + (told[0][2] - told[0][0]) * np.log10(3), abs=1e-9
    )
    assert told[1][0] == 0
    assert told[1][2] == pytest.approx(2 * told[1][1])


def test_sentences_have_the_librarys_scores_and_the_best_comes_first():
    rows = in_node(
        "return board.readings(given.entries, [0, 1],"
        " { caption: 1, seed: 1, own: 'Two of you.', reference: 'Two of them.' });"
    )
    texts = {"you": "Two of you.", "GRU": "Both of them."}  # the other has no run with seed 1
    assert {row["name"]: row["text"] for row in rows} == texts
    for row in rows:
        assert row["bleu"] == pytest.approx(sentence_bleu(row["text"], "Two of them.").score)
        assert row["chrf"] == pytest.approx(sentence_chrf(row["text"], "Two of them.").score)
    assert rows[0]["chrf"] > rows[1]["chrf"]
    assert [run["fate"] for run in rows[0]["runs"]] in (
        ["match", "match", "miss", "match"],
        ["miss", "match", "match", "match"],
    )


def test_the_state_in_words():
    told = in_node(
        "const of = (places, column, best) =>"
        " board.boardInWords(given.entries, places, { column, best, search: 0 });"
        "return [of([0, 1], 0, true), of([0], 2, false), of([], 0, true),"
        " board.missingLines(given.entries, [0, 1]), board.missingLines(given.entries, [1])];"
    )
    assert told == [
        "2 models by BLEU (beam of five); best: heads, 31.0, then GRU, 21.0 ± 12.7.",
        "1 model by perplexity; last: GRU, 8.50 ± 6.35.",
        "No ranked model matches these filters. Remove a filter.",
        "No line for GRU: the outputs were not stored.",
        "",
    ]
    two = Leaderboard([contender("a"), contender("b", scores={"bleu": [90.0, 90.5]})], CAPTIONS)
    same = Leaderboard([contender("a"), contender("b", scores={"bleu": [21.0, 24.0]})], CAPTIONS)
    for view, words in (
        (two, "do not overlap"),
        (same, "(the intervals overlap, which alone does not decide the order: see section 10.4)"),
    ):
        body = "return board.boardInWords(given, [0, 1], { column: 0, best: true, search: 0 });"
        assert words in run_javascript(body, MODULES, view.entries)


def test_what_is_said_below_the_caption():
    told = in_node(
        "const of = (own, seed) => board.readingsInWords(board.readings(given.entries, [0, 1],"
        " { caption: 0, seed, own, reference: 'A dog.' }), given.entries, [0, 1], seed);"
        "return [of('A dog.', 0), of('', 1)];"
    )
    assert told[0] == "Yours: BLEU 100.0, chrF 100.0, position 1 of 3 by chrF of this one sentence."
    assert told[1].endswith("No run with seed 1: heads.")
    assert told[1].startswith("Best by chrF of this one sentence: GRU, ")


def test_there_is_no_position_where_every_model_is_filtered_out():
    told = in_node(
        "return [board.readingsInWords(board.readings(given.entries, [],"
        " { caption: 0, seed: 0, own: 'A dog.', reference: 'A dog.' }), given.entries, [], 0)];"
    )
    words = "Yours: BLEU 100.0, chrF 100.0 for this one sentence. No model is left to compare it"
    assert told == [f"{words} with."]


def test_the_decoding_cost_is_that_of_the_chosen_search():
    scores = {"bleu": [20.0], "decoding": [2.0], "decoding_greedy": [0.5]}
    view = Leaderboard([contender(seeds=[0], texts=[["a", "b"]], scores=scores)], CAPTIONS)
    told = run_javascript(
        "return [0, 1].map((search) => [board.standing(given[0], board.COLUMNS[6], search).mean,"
        " board.rankInWords({ column: 6, search }), board.rankInWords({ column: 4, search })]);",
        MODULES,
        view.entries,
    )
    assert told == [
        [2, "rank by decoding cost (beam of five)", "rank by parameters"],
        [0.5, "rank by decoding cost (greedy)", "rank by parameters"],
    ]


# ---- the Python side


def test_it_tells_what_it_is_and_keeps_positions_inside():
    view = Leaderboard([contender(), ONE], CAPTIONS, bins=["short", "long"])
    assert repr(view) == "Leaderboard(2 models, 2 captions)"
    ends = {"family": 2, "attention": 2, "search": 1, "quality": 3, "against": 3}
    ends |= {"column": 6, "picked": 2, "caption": 1, "seed": 1}
    for name, last in ends.items():
        setattr(view, name, last)
        with pytest.raises(ValueError, match=f"{name} must"):
            setattr(view, name, last + 1)
        view.set_state({name: 99})
        assert getattr(view, name) == last
    with pytest.raises(ValueError, match="own must"):
        view.own = "x" * 501


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"name": 3}, TypeError, r"contenders\[0\]\.name must"),
        ({"attention": "yes"}, TypeError, r"contenders\[0\]\.attention must"),
        ({"seeds": []}, ValueError, "seeds must"),
        ({"texts": [["a", "b"]]}, ValueError, "one list per run, 2, got 1"),
        ({"texts": [["a"], ["b"]]}, ValueError, "must have 2 texts per run"),
        ({"scores": {"rouge": [1, 2]}}, ValueError, "must be of bleu"),
        ({"scores": {"bleu": [1]}}, ValueError, r"scores\[bleu\] must"),
        ({"scores": {"bleu": [1, float("nan")]}}, ValueError, "bleu.* must"),
        ({"lengths": [(1, 2, 3)]}, ValueError, "must hold 2 triples"),
        ({"lengths": [(1, 2), (3, 4)]}, ValueError, r"triples \(score, low, high\)"),
        ({"ranked": False}, ValueError, "at least one that is ranked"),
    ],
)
def test_wrong_contenders(changes, kind, words):
    with pytest.raises(kind, match=words):
        Leaderboard([contender(**changes)], CAPTIONS, bins=["short", "long"])


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"captions": [("a", " ")]}, ValueError, "a text and its reference"),
        ({"bins": ["one"]}, ValueError, "bins must"),
    ],
)
def test_wrong_arguments(given, kind, words):
    with pytest.raises(kind, match=words):
        Leaderboard(**{"contenders": [contender()], "captions": CAPTIONS, **given})
