"""The walk of `nonsense.py` through views of live models, and the models that they show."""

import math
from functools import partial

import numpy as np
import pytest
import torch

from gates2heads.decoding.gates import ObservedGates
from gates2heads.decoding.held import Line, ObservedForcing
from gates2heads.decoding.observation import Observed, ObservedHeads
from gates2heads.decoding.searches import Watched, compare
from gates2heads.decoding.translation import Aligned
from gates2heads.decoding.two_tables import BOS, EOS, START, two_tables
from gates2heads.decoding.two_tables import NAMES as FOUR
from gates2heads.decoding.walk import Cache, Readouts, Stage, Walk
from gates2heads.display import source
from gates2heads.display.engine.export import Exported
from gates2heads.display.engine.rebuild import shipped
from gates2heads.display.live.models import live_model
from gates2heads.display.widgets import (
    AttentionExplorer,
    BeamLaboratory,
    FoundUnit,
    GateExplorer,
    HeadExplorer,
    Judged,
    MetricBench,
    ModelWalk,
    Pooling,
    Translate,
    Unroller,
)
from gates2heads.display.widgets.live_view import LiveView
from tests.nonsense import HUGE, LISTS, THINGS, floats, through, walk

HALVES = torch.full((1, 2), 0.5)
READ = Observed(["a", "b"], ["x"], HALVES, floats(1, 2))
BLIND = Observed(["a", "b"], ["x"], None, None)
TOLD = Aligned(["a", "b"], ["x"], floats(2, 3, 1, 2))
MODEL = Exported("small", "{}", b"\x00\x01")
WORDS = [object(), None, 3, [], "\udc80"]
NAMES = [object(), None, 3, [], {}, math.nan, "nonsense"]
TOKENS = [3, None, object(), "ab", [], [3], [None], ["\ud800"], ["a", "b", "c"]]
NUMBERS = [*THINGS, None, 3, [["a"]], [[None, 1]], HALVES.double() / 0, floats(0, 2), 2j * HALVES]
NUMBERS += [HALVES.to("meta"), HALVES.to_sparse() * math.nan]
STARTS = [object(), None, "a", [], 0.5, -1, math.nan, HUGE]
PLACES = [object(), None, "a", [], math.nan, math.inf]


def changed(good, **wrong):
    """What was recorded, with one part that is wrong."""
    return [good._replace(**{part: value}) for part, values in wrong.items() for value in values]


READINGS = [*THINGS, None, 3, [], {}, {3: READ}, {"a": 3}, {"a": None}, {"\udc80": READ}]
READINGS += [
    {"a": reading}
    for reading in changed(READ, source=TOKENS, target=TOKENS, weights=NUMBERS[:-2])
    + changed(READ, scores=NUMBERS, weights=[floats(1, 2) - 9, HALVES[None], 2 * HALVES])
    + changed(READ, scores=[HALVES.double() * 1e60])
]
RECORDED = [*THINGS, None, 3, []]
RECORDED += changed(TOLD, source=TOKENS, target=TOKENS, weights=[HALVES, *NUMBERS])
RECORDED += changed(
    TOLD, weights=[TOLD.weights * math.nan, TOLD.weights.double() * 1e60, TOLD.weights.to("meta")]
)
SHARES = torch.full((2, 2), 0.5)
GATED = ObservedGates(["a", "b"], {"cell": SHARES}, -floats(3, 3).abs(), SHARES[0], [*"abc"])
GATINGS = [*THINGS, None, 3, []]
GATINGS += changed(GATED, tokens=[*TOKENS, ["b", "a"]], vocabulary=[*TOKENS[:-1], ["a", "c"]])
GATINGS += changed(
    GATED,
    quantities=[3, None, {}, [], {"nonsense": SHARES}, {3: SHARES}]
    + [{"cell": numbers} for numbers in [*NUMBERS, floats(2), floats(3, 2), floats(2, 0)]]
    + [{"cell": SHARES, "input": floats(2, 3)}],
    log_probs=[*NUMBERS, floats(3, 3).abs() + 1, floats(2, 3), HALVES * math.nan],
)
FOUND = [
    FoundUnit(*wrong)
    for wrong in [
        *(("b", 1, "x"), (3, 1, "x"), ("a", 2, "x"), ("a", -1, "x"), ("a", 0.5, "x")),
        *(("a", 1, 3), ("a", 1, "x", None), ("a", "1", "x"), ("a", 1, "\udc80")),
    ]
]
SIDES = [(2, 2), (1, 1), (1, 2)]  # of the three blocks
SEEN = ObservedHeads(["a", "b"], ["x"], -1.0, *(torch.full((2, 3, t, s), 1 / s) for t, s in SIDES))
HEADS = [*THINGS, None, 3, [], TOLD]
HEADS += changed(SEEN, source=TOKENS, target=TOKENS, log_prob=[object(), None, "1", [], math.nan])
HEADS += changed(SEEN, encoder=[*NUMBERS, SEEN.cross], decoder=[*NUMBERS, SEEN.decoder * 2])
HEADS += changed(SEEN, cross=[*NUMBERS, SEEN.cross - 1, SEEN.cross[0], SEEN.cross.to("meta")])
SEARCHED = Watched(
    "ab", ["a", "b"], list(FOUR), compare(two_tables, START, bos=BOS, eos=EOS, max_length=4), 9
)
SEARCHES = [*THINGS, None, 3, [], TOLD]
SEARCHES += changed(SEARCHED, text=[object(), None, 3, "other"], source=TOKENS[:-1])
SEARCHES += changed(SEARCHED, words=[*TOKENS[:3], [3], [None], ["a"]], compared=[None, 3, TOLD])
SEARCHES += changed(SEARCHED, limit=[object(), None, 0, -1, "9", math.nan])
STAGE = Stage("encoder", 1, "self_attn", *(torch.ones(2) for _ in range(3)), floats(3, 2, 2) ** 0)
WALKED = Walk(
    ["a", "b"],
    ["x"],
    -1.0,
    [Stage("encoder", 0, "embedding", None, None, torch.ones(2), None), STAGE],
    Readouts([[["x", "y"]]], -torch.ones(1, 1, 2), torch.zeros(1, 1).long(), -torch.ones(1, 1)),
    Cache((1, 3, 2), 12, [6], [18]),
)
WALKS = [*THINGS, None, 3, [], TOLD]
WALKS += changed(WALKED, source=TOKENS, target=TOKENS, log_prob=[object(), None, "1", [], math.nan])
WALKS += changed(WALKED, readouts=[*THINGS, None, 3, []], cache=[*THINGS, None, 3, []])
WALKS += [
    WALKED._replace(stages=stages)
    for stages in (None, 3, [], [3], *([one] for one in changed(STAGE, after=NUMBERS)))
]
WALKS += [
    WALKED._replace(stages=[one]) for one in changed(STAGE, weights=[HALVES, floats(3, 1, 2)])
]
LINE = Line(["a", "<eos>"], floats(2, 2), -floats(2, 3).abs())
THREE = dict.fromkeys(("free", "held", "taught"), LINE)
UNROLLED = ObservedForcing(["a", "b"], floats(2, 2), floats(2), ["<bos>", "<eos>", "a"], **THREE)
LINES = [*THINGS, None, 3, [], *changed(LINE, tokens=TOKENS, hidden=NUMBERS, log_probs=NUMBERS)]
ROLLS = [*THINGS, None, 3, [], TOLD]
ROLLS += changed(UNROLLED, source=TOKENS, vocabulary=[*TOKENS[:-1], ["a"]], states=NUMBERS)
ROLLS += changed(UNROLLED, summary=[*NUMBERS, floats(3)], free=LINES, held=LINES, taught=LINES)
PAIRS = [*LISTS, "ab", b"ab", [], {}, [3], [None], ["ab"], [("a",)], [("a", 3)], [("a", " ")]]
PAIRS += [[("a", "b", "c", "d")], [("a", "\ud800")], [["a", "b"], None]]
SLOTS = [*THINGS, None, 3, [], [1], [1, 2, 3], ["a", "b"], [1, math.nan], [1, HUGE**99], [None, 1]]
SLOTS += [[[1, 2]], 2j, torch.zeros(2, device="meta"), list(range(13))]
POINTS = [*THINGS, None, [], "1", True, math.nan, math.inf, 99, HUGE**99, [1]]


@pytest.fixture(autouse=True)
def told(monkeypatch):
    monkeypatch.setattr(source, "display", lambda *_, **__: None)


ENTRIES = {
    "symbols": (
        source.symbols,
        {"rows": {r"\alpha": ("a weight", r"T \times S"), "c": ("a context", "")}},
        {
            "rows": [*THINGS[:2], None, 3, [], {}, {"a": "b"}, {"a": ("b",)}]
            + [{symbol: ("b", "")} for symbol in (3, "", "$a$", "\ud800")]
            + [{"a": (meaning, "")} for meaning in (3, " ", "\ud800")]
            + [{"a": ("b", shape)} for shape in (None, "$c$", "\ud800")]
        },
    ),
    "shipped": (shipped, {"name": "dates_none"}, {"name": NAMES}),
    "live_model": (live_model, {"name": "dates_none"}, {"name": NAMES}),
    "LiveView": (
        through(LiveView, lambda models: LiveView(MODEL, models)),
        {"models": MODEL},
        {"models": [*THINGS, None, 3, [MODEL], Exported]},
    ),
    "AttentionExplorer": (
        AttentionExplorer,
        {
            "readings": {"blind": BLIND, "additive": READ},
            "models": [MODEL, MODEL],
            "examples": ["ab"],
            "labels": ["a text"],
            "title": "Dates",
            "label": "Type",
            "hint": "Try",
            "separator": "|",
            "selected": "blind",
        },
        {
            "readings": READINGS,
            "models": [*THINGS, None, 3, [], [MODEL], [MODEL, None], "ab"],
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], ["\ud800"]],
            "labels": [
                *(one for one in LISTS if one is not None),
                "ab",
                b"ab",
                [],
                [3],
                [None],
                ["\ud800"],
                ["a", "b"],
            ],
            **dict.fromkeys(("title", "label", "hint", "separator"), WORDS),
            "selected": [object(), 3, [], "nonsense", math.nan, np.array(["a", "b"])],
        },
    ),
    "HeadExplorer": (
        HeadExplorer,
        {"model": MODEL, "examples": ["ab"], "recorded": SEEN, "written": "x"}
        | {"title": "Heads", "label": "Type", "hint": "Try", "about": "six weights"}
        | {"block": 2, "layer": 1, "token": 0},
        {
            "model": [*THINGS, None, 3, Exported],
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], ["\ud800"]],
            "recorded": HEADS,
            **dict.fromkeys(("written", "title", "label", "hint", "about"), WORDS),
            "block": [*STARTS, 3],
            "layer": [*STARTS, 2],
            "token": [*STARTS, 10_000],
        },
    ),
    "GateExplorer": (
        GateExplorer,
        {"models": {"a": MODEL}, "examples": ["ab"], "recorded": GATED, "labels": ["x"]}
        | {"found": [FoundUnit("a", 1, "x", "y")], "unit": 1, "place": 1, "quantity": "cell"}
        | {"title": "Gates", "label": "Type", "hint": "Try", "about": "six weights"},
        {
            "models": [*THINGS, None, 3, [], {}, {3: MODEL}, {"a": None}, {"\udc80": MODEL}],
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], ["\ud800"], ["ba"]],
            "recorded": GATINGS,
            "labels": [3, object(), 2.5, "ab", [], [3], ["\ud800"], ["a", "b"]],
            "found": [*LISTS, "ab", [3], [None], [("a", 1, "x", "y")], {"a": 1}]
            + [[found] for found in FOUND],
            **dict.fromkeys(("title", "label", "hint", "about"), WORDS),
            "unit": [*STARTS, 2],
            "place": [*STARTS, 10_000],
            "quantity": [object(), None, 3, [], math.nan, "nonsense", "logProbs"],
        },
    ),
    "Unroller": (
        Unroller,
        {"models": {"a": MODEL}, "examples": ["ab"], "recorded": UNROLLED, "labels": ["x"]}
        | {"held": {0: "a"}, "taught": "a", "title": "Unrolled", "label": "Type", "hint": "Try"}
        | {"about": "six weights", "step": 1},
        {
            "models": [*THINGS, None, 3, [], {}, {3: MODEL}, {"a": None}, {"\udc80": MODEL}],
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], ["\ud800"]],
            "recorded": ROLLS,
            "held": [3, "a", [1], {-1: "a"}, {"a": "a"}, {0: 3}, {0: "b"}, {0.5: "a"}],
            "labels": [3, object(), 2.5, "ab", [], [3], ["\ud800"], ["a", "b"]],
            **dict.fromkeys(("title", "label", "hint", "about"), WORDS),
            "taught": [*WORDS, "b"],
            "step": [*STARTS, 10_000],
        },
    ),
    "ModelWalk": (
        ModelWalk,
        {"model": MODEL, "examples": ["ab"], "recorded": WALKED, "written": "x"}
        | {"title": "Walk", "label": "Type", "hint": "Try", "about": "six weights"}
        | {"place": 1, "step": 0, "token": 1},
        {
            "model": [*THINGS, None, 3, Exported],
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], ["\ud800"]],
            "recorded": WALKS,
            **dict.fromkeys(("written", "title", "label", "hint", "about"), WORDS),
            "place": [*STARTS, 2],
            "step": [*STARTS, 10_000],
            "token": [*STARTS, 10_000],
        },
    ),
    "BeamLaboratory": (
        BeamLaboratory,
        {"model": MODEL, "examples": ["ab"], "recorded": SEARCHED}
        | {"title": "Beam", "label": "Type", "hint": "Try", "width": 5, "alpha": 0.75},
        {
            "model": [*THINGS, None, 3, Exported],
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], ["\ud800"]],
            "recorded": SEARCHES,
            **dict.fromkeys(("title", "label", "hint"), WORDS),
            "width": [*THINGS, None, [], "3", 2.5, 0, 11, HUGE, math.nan],
            "alpha": [*THINGS, None, [], "1", -0.1, 2.1, HUGE, math.nan, math.inf],
        },
    ),
    "BeamLaboratory.set_state": (
        through(
            BeamLaboratory.set_state, partial(BeamLaboratory(MODEL, ["ab"], SEARCHED).set_state)
        ),
        {"sync_data": {"width": 40, "text": "x"}},
        {
            "sync_data": [*THINGS[:2], None, 3, []]
            + [{name: place} for name in ("width", "alpha") for place in PLACES[:-1]]
        },
    ),
    "MetricBench": (
        MetricBench,
        {"examples": [Judged("a", "b c", ["b d"])], "tokenize": "13a", "smooth_method": "exp"}
        | {"lowercase": False, "order": 2, "shown": "words", "title": "Bench", "hint": "Type"},
        {
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], [("a", "b", ["c"])]]
            + [[Judged(*three)] for three in ((3, "b", ["c"]), ("a", None, ["c"]))]
            + [[Judged("a", "b", some)] for some in (3, None, [], "c", [3], ["\ud800"], ["c"] * 4)],
            **{
                name: [*THINGS, None, 3, [], "x"] for name in ("tokenize", "smooth_method", "shown")
            },
            "lowercase": [*THINGS, None, 3, "yes", []],
            "order": [*THINGS, None, [], "3", 2.5, 0, 5, HUGE, math.nan],
            **dict.fromkeys(("title", "hint"), WORDS),
        },
    ),
    "MetricBench.set_state": (
        through(
            MetricBench.set_state,
            partial(MetricBench([Judged("a", "b c", ["b d"])]).set_state),
        ),
        {"sync_data": {"shown": 99}},
        {"sync_data": [*THINGS[:2], None, 3, [], {1: 2}] + [{"shown": place} for place in PLACES]},
    ),
    "Pooling": (
        Pooling,
        {"keys": [0.5, 1.5], "values": [2.0, -1.0], "query": 1.0, "width": 0.5}
        | {"allowed": [True, False], "title": "Bell", "hint": "Drag"},
        {
            "keys": [*SLOTS, [1, 1]],
            "values": SLOTS,
            "query": POINTS,
            "width": [*POINTS, 0, -1],
            "allowed": [*THINGS, 3, [], [True], [1, 0], torch.ones(2).bool()],
            **dict.fromkeys(("title", "hint"), WORDS),
        },
    ),
    "Pooling.set_state": (
        through(
            Pooling.set_state,
            partial(Pooling([0.5, 1.5], [2.0, -1.0], query=1.0, width=0.5).set_state),
        ),
        {"sync_data": {"query": 99, "width": 0}},
        {"sync_data": [*THINGS[:2], None, 3, [], {1: 2}] + [{"query": place} for place in PLACES]},
    ),
    "Translate": (
        Translate,
        {"model": MODEL, "examples": [("dog", "Ein Hund"), ("cat", "Eine Katze", "Look.")]}
        | {"recorded": TOLD, "about": "six weights", "width": 3},
        {
            "model": [*THINGS, None, 3, Exported],
            "examples": PAIRS,
            "recorded": RECORDED,
            "about": WORDS,
            "width": [*THINGS, None, [], "3", 2.5, 0, 11, HUGE, math.nan],
        },
    ),
    "Translate.set_state": (
        through(Translate.set_state, partial(Translate(MODEL, [("a", "b")], TOLD).set_state)),
        {"sync_data": {"width": 40, "text": "x"}},
        {"sync_data": [*THINGS[:2], None, 3, [], *({"width": place} for place in PLACES)]},
    ),
}
SAME = {"models": ["model"], "rows": ["symbol", "meaning", "shape"]}  # what a refusal names instead

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
