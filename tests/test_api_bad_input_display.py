"""The walk of `nonsense.py` through what the reader sees: figures, widgets, prose, exercises."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.display import content, source, theme
from gates2heads.display.charts import bars, curve_panels, curves
from gates2heads.display.diagrams import Diagram
from gates2heads.display.engine.describe import describe_model, describe_tokenizer
from gates2heads.display.engine.export import export_model, pack
from gates2heads.display.engine.rebuild import rebuild
from gates2heads.display.heatmaps import alignment_grid, heatmap
from gates2heads.display.widgets import Alignment, AlignmentExplorer, FrameViewer
from gates2heads.display.widgets.predict import Guess, Predict, Question, predict
from gates2heads.display.widgets.view import View
from gates2heads.exercises import attention_answers as exercises
from gates2heads.exercises import attention_further as further
from gates2heads.exercises.comparison import difference, same
from gates2heads.exercises.looking import SampledLoss, looking_model, year_first
from gates2heads.exercises.readers_code import is_stub
from gates2heads.exercises.verdict import check
from gates2heads.layers.attention.scores import DotScore
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.training.checkpoints import shipped_weights
from tests.nonsense import COUNTS, FLAGS, HUGE, LISTS, THINGS, floats, through, walk

BAD_PLACES = [None, "a", [], math.nan, math.inf]
TEMPLATES = ["{a}", "{value:q}", "{value:{value}}", "{value.real}", "{value[0]}", "{value!z}"]
TEMPLATES += ["{value:999999999d}", "{value:.99999f}"]
CELLS = [object(), [], math.nan, math.inf, HUGE**99, floats(2), 2j]
SHIPPED = shipped_weights("looking_before")
SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
FIGURE = Figure((1, 1))
FIGURE.add_subplot().plot([1, 3, 2])
ENDS = [*THINGS, 3, [], [1], [2, 1], [1, 1], [0, math.nan], ["a", "b"], [None, 1], [0, 1e300]]
LABELS = [*THINGS[::2], None, 3, "", " ", [], "a\0", "\ud800", r"$\frac$", r"$^^$"]
TITLES = [object(), None, 3, [], "a\0", "\ud800", r"$\frac$"]
FORMATS = [object(), None, 3, [], "nonsense", ".x%", "}", ".99999f", "999999999d"]
NUMBERS = [*THINGS, None, "12", [["a"]], [[None]], [[1], [2, 3]], [[math.nan]], [[math.inf]]]
NUMBERS += [[[1e300]], 2j, [[2j]], floats(2, 3, 5), torch.zeros(0), [[HUGE**9]]]
NUMBERS += [torch.zeros(3, 5, device="meta"), np.array([["a"]]), np.zeros((2, 2), dtype="M8[s]")]
NAMES = [*LISTS, "ab", b"ab", [3], [None]]
AXES = {"xlabel": "step", "ylabel": "loss (nats)"}
WRONG_AXES = dict.fromkeys(AXES, LABELS)
MATRIX = {**AXES, "value_label": "weight", "limits": (0, 1), "annotate": ".2f"}
WRONG_MATRIX = {**WRONG_AXES, "value_label": LABELS, "limits": ENDS, "annotate": FORMATS}
PAIR = ([1.0, 2.0], [3.0, 5.0])
PAIRS = [*THINGS, None, 3, (), ([1],), ([1], [2], [3]), ([1], [2, 3]), ([1, math.nan], [2, 3])]
PAIRS += [("a", "b"), ([[1]], [[2]]), ([None], [1]), (1, 2)]
LINES = {
    "points": ["b"],
    "bands": {"a": PAIR},
    "verticals": {"90 %": 1.5},
    "horizontals": {"chance": 2.0},
    "log": "xy",
    "xlim": (0.5, 3),
    "ylim": (0.5, 7),
}
PLACES = [object(), "nonsense", 3, [], {"a": None}, {"a": math.nan}, {3: 1}, {"a": [1, 2]}]
WRONG_LINES = {
    "points": [*NAMES, "b", ["c"]],
    "bands": [object(), "nonsense", 3, {"c": PAIR}, {3: PAIR}, {"a": ([1], [2])}]
    + [{"a": pair} for pair in PAIRS],
    "verticals": [*PLACES[:3], *PLACES[4:], {"a": 0}],
    "horizontals": [*PLACES[:3], *PLACES[4:], {"a": -1}],
    "log": [*THINGS, None, 3, "z", "yx", ["x"]],
    "xlim": [*ENDS, (0, 1)],
    "ylim": [*ENDS, (-1, 1)],
}
SERIES = [*THINGS[:2], None, 3, [], {}, {3: PAIR}, {"a\0": PAIR}, *({"a": pair} for pair in PAIRS)]
HEIGHTS = {"GRU": {"short": 0.9, "long": 0.5}, "attention": {"short": 1.0, "long": 0.98}}
GROUPS = [*THINGS, None, 3, [], {}, {"a": {}}, {"a": {"k": None}}, {"a": {"k": [1, 2]}}]
GROUPS += [{3: {"k": 1}}, {"a": {3: 1}}, {"a": {"k": math.nan}}, {"a": {"k": 1}, "b": {"l": 1}}]
TOKENS = [*NAMES, "", [], [3], ["a", None]]
ALIGNMENT = Alignment(["a", "b"], ["x"], [[0.5, 0.5]])
ALIGNMENTS = [*THINGS, None, 3, [], {}, {3: [ALIGNMENT]}, {"a": []}, {"a": [3]}, {"a": None}]
ALIGNMENTS += [{"a": ALIGNMENT}, {"a": "a"}, {"a": [ALIGNMENT], "b": [ALIGNMENT] * 2}]
POSITIONS = [*THINGS, None, -1, 9, 2.5, math.nan, HUGE, "0", [0], True]
VIEW = AlignmentExplorer({"dot": [ALIGNMENT]})
PICTURES = [*NAMES, SVG, [], [SVG, 3], [None], ["<p>"]]
OPTIONS = [("a", "It is.", True), ("b", "It is not.", False)]
WRONG_OPTIONS = [*LISTS, "ab", [], [3], OPTIONS[:1], OPTIONS[:1] * 2, [OPTIONS[1]] * 2]
WRONG_OPTIONS += [[*OPTIONS, None], [*OPTIONS, ("c", "d", 3)], [("", "d", True), OPTIONS[1]]]
SAID = {"alt": "a line", "title": "Predict first"}
WRONG_SAID = {"alt": [object(), None, 3, "\udc80"], "title": [object(), None, 3, []]}
RESULTS = [object(), 3, " ", [], ["ab"], [["a"]], [["a"], ["b", "c"]], [["a"], None]]
WORDS = [object(), None, 3, [], "", " ", "a\n\nb"]
DAYS = dates("test", 7)
TEXTS = [pair.text for pair in DAYS], [pair.iso for pair in DAYS]
SIDES = [CharacterTokenizer.from_texts(texts) for texts in TEXTS]
SMALL = Transformer(
    11,
    11,
    d_model=4,
    nhead=2,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=4,
    rotary=True,
)
PACKED = [object(), "nonsense", 3, [], {"a": 3}, {"a": floats(2).half()}, {3: floats(2)}]
PACKED += [{"a": torch.zeros(2, 3, dtype=torch.int8)}]


class Told(list):
    """Stands in for what IPython displays."""

    def __call__(self, data, metadata=None, raw=False):
        self.append(data)


@pytest.fixture(autouse=True)
def told(monkeypatch):
    outputs = Told()
    for place in (source, theme):
        monkeypatch.setattr(place, "display", outputs)
    return outputs


def drawing():
    """A diagram of two boxes."""
    diagram = Diagram()
    for place, name in enumerate("ab"):
        diagram.box(name, name, at=(place, 0))
    return diagram


def answered(checker, **given):
    """An entry for a check, which refuses nothing: it answers every reader with a verdict."""
    return through(checker, lambda **arguments: repr(checker(**arguments))), given, {}


ENTRIES = {
    "curves": (
        curves,
        {"series": {"a": PAIR, "b": PAIR}, **AXES, "title": "", **LINES},
        {"series": SERIES, **WRONG_AXES, "title": TITLES, **WRONG_LINES},
    ),
    "curve_panels": (
        curve_panels,
        {"panels": {"one": {"a": PAIR, "b": PAIR}}, **AXES, **LINES},
        {"panels": [*SERIES[:6], *({"t": series} for series in SERIES)], **WRONG_AXES}
        | WRONG_LINES,
    ),
    "bars": (
        bars,
        {"groups": HEIGHTS, **AXES, "errors": HEIGHTS, "value_format": ".1%", "ylim": (0, 1)}
        | {"title": ""},
        {
            "groups": GROUPS,
            **WRONG_AXES,
            "errors": [*GROUPS[:3], *GROUPS[4:6], *GROUPS[7:], {"GRU": {"short": -1, "long": 1}}],
            "value_format": FORMATS,
            "ylim": ENDS,
            "title": TITLES,
        },
    ),
    "heatmap": (
        heatmap,
        {"values": floats(2, 3), "rows": ["a", "b"], "columns": list("xyz"), **MATRIX, "title": ""},
        {
            "values": NUMBERS,
            "rows": [x for x in TOKENS if x is not None],
            "columns": [x for x in TOKENS if x is not None],
            **WRONG_MATRIX,
            "title": TITLES,
        },
    ),
    "alignment_grid": (
        alignment_grid,
        {"panels": [("one", floats(2, 3), None, list("x y"))], **MATRIX, "across": 2},
        {
            "panels": [*LISTS, "abcd", [], [3], ["abcd"], [("a", floats(2, 3))]]
            + [[("a", values, None, None)] for values in NUMBERS]
            + [[(title, [[1]], None, None)] for title in TITLES],
            **WRONG_MATRIX,
            "across": COUNTS,
        },
    ),
    "themed_svg": (
        theme.themed_svg,
        {"figure": FIGURE, "alt": "a line"},
        {"figure": [*THINGS, None, 3, SVG], "alt": [object(), None, 3, []]},
    ),
    "card_png": (theme.card_png, {"figure": FIGURE}, {"figure": [*THINGS, None, 3, SVG]}),
    "show": (
        theme.show,
        {"figure": FIGURE, "alt": "a line", "caption": "It rises.", "number": "5.3"},
        {"figure": [*THINGS, None, 3, SVG], "alt": WORDS, "caption": WORDS}
        | {"number": [object(), None, 5.3, [], "5", "5.3.1"]},
    ),
    "figure_content": (
        content.figure_content,
        {"figure": FIGURE},
        {"figure": [*THINGS, None, 3, SVG]},
    ),
    "prose": (
        through(source.prose, lambda template, value: source.prose(template, value=value)),
        {"template": "{value:.1%}", "value": 0.5},
        {
            "template": [object(), None, 3, [], "", "{", *TEMPLATES],
            "value": [object(), None, [], math.nan, math.inf, HUGE**99, floats(2), 2j, "word"],
        },
    ),
    "show_source": (
        through(source.show_source, lambda **given: source.show_source(*given.values())),
        {"objects": floats},
        {"objects": [*THINGS, None, 3, len, int.__add__, math]},
    ),
    "table": (
        source.table,
        {"rows": [["<eos>", 0.5], ["b", 1]], "columns": {"word": "", "share": ".1%"}},
        {
            "rows": [*LISTS, "ab", [], [3], [[1]], ["ab"], *([["a", cell]] for cell in CELLS)],
            "columns": [*LISTS, "ab", [], {}, {"a": ""}, {3: "", "b": ""}]
            + [{"a": "", "b": form} for form in FORMATS]
            + [{"a": "", "b": "d"}],
        },
    ),
    "Alignment": (
        Alignment,
        {"source": ["a", "b"], "target": ["x"], "weights": [[0.5, 0.5]]},
        {"source": TOKENS, "target": TOKENS, "weights": [*NUMBERS, [[0.5, 0.6]], [[2, -1]]]},
    ),
    "AlignmentExplorer": (
        AlignmentExplorer,
        {"alignments": {"dot": [ALIGNMENT]}, "titles": ["one"]}
        | {"sentence": 0, "score": 0, "step": 0},
        {"alignments": ALIGNMENTS, "titles": [*NAMES[:2], *NAMES[3:], ["a", "b"], []]}
        | dict.fromkeys(("sentence", "score", "step"), POSITIONS),
    ),
    "FrameViewer": (
        FrameViewer,
        {"frames": [SVG], "labels": ["one"], "title": "frames", "interval_ms": 60, "index": 0}
        | {"alts": ["a dot"]},
        {
            "frames": PICTURES,
            "alts": [*NAMES[:2], *NAMES[3:], ["a", "b"], []],
            "labels": [*NAMES[:2], *NAMES[3:], ["a", "b"], []],
            "title": [object(), None, 3, []],
            "interval_ms": COUNTS,
            "index": POSITIONS,
        },
    ),
    "Diagram.box": (
        through(Diagram.box, lambda **given: drawing().box(**given)),
        {"name": "c", "text": "C", "at": (2, 0), "shape": "(B, S)", "kind": "box"}
        | {"colour": "blue"},
        {
            "name": [object(), None, 3, "", " ", "a"],
            "text": [object(), None, 3, "", " "],
            "at": [*ENDS[:6], (1, math.nan), (1, HUGE**99), (None, 1)],
            "shape": [object(), None, 3],
            "kind": [object(), None, 3, "square"],
            "colour": [object(), None, 3, "beige"],
        },
    ),
    "Diagram.arrow": (
        through(Diagram.arrow, lambda **given: drawing().arrow(**given)),
        {"start": "a", "end": "b", "label": "", "shape": "", "route": "", "shift": 0},
        {key: [object(), None, 3, [], "z"] for key in ("start", "end")}
        | {key: [object(), None, 3] for key in ("label", "shape")}
        | {"route": [object(), None, 3, "up"], "shift": [object(), None, "0", 2, HUGE**99]},
    ),
    "Diagram.group": (
        through(
            Diagram.group, lambda title, names, colour: drawing().group(title, names, colour=colour)
        ),
        {"title": "both", "names": "a", "colour": "blue"},
        {
            "title": [object(), None, 3, "", " "],
            "names": [object(), None, 3, [], "z"],
            "colour": [object(), None, 3, "beige"],
        },
    ),
    "Question": (
        Question,
        {"text": "Which?", "options": OPTIONS},
        {"text": [object(), None, 3, [], "", " "], "options": WRONG_OPTIONS},
    ),
    "Guess": (
        Guess,
        {"text": "How many?", "answer": 3, "low": 1, "high": 5, "step": 1, "reason": "So."}
        | {"unit": "%", "within": 0.5},
        {name: [object(), None, 3, [], "", " "] for name in ("text", "reason")}
        | {
            name: [*POSITIONS[:4], math.nan, HUGE**99, "0", [0], True]
            for name in ("answer", "low", "high", "step", "within")
        }
        | {"answer": [0, 6], "step": [0, 7], "unit": [object(), None, 3]},
    ),
    "Predict": (
        Predict,
        {"questions": [Question("Which?", OPTIONS)], "result": "It is a.", **SAID},
        {"questions": [*LISTS, [], [3]], "result": RESULTS, **WRONG_SAID},
    ),
    "predict": (
        predict,
        {"question": "Which?", "options": OPTIONS, "result": SVG, **SAID},
        {"question": [object(), None, 3, "", " "], "options": WRONG_OPTIONS, "result": RESULTS}
        | WRONG_SAID,
    ),
    "View.set_state": (
        through(View.set_state, partial(VIEW.set_state)),
        {"sync_data": {"step": 0}},
        {"sync_data": [*THINGS[:2], None, 3, [], *({"step": place} for place in BAD_PLACES)]},
    ),
    "check_fault": answered(exercises.check_fault, letter="d"),
    "check_same": answered(exercises.check_same, names=("additive", "concat")),
    "check_gradient": answered(exercises.check_gradient, numbers=[-0.5, -7.0, 7.5]),
    "difference": (
        partial(difference, wanted=floats(2, 3), tolerance=1e-5),
        {"answer": floats(2, 3)},
        {},
    ),
    "same": (partial(same, wanted="b", tolerance=1e-5), {"answer": "b"}, {}),
    "is_stub": (is_stub, {"answer": len}, {}),
    "check_left_out": answered(
        further.check_left_out, model=3, source=3, target=3, locale="es", reported=0.5
    ),
    "exact_match_on": (
        further.exact_match_on,
        {
            "model": exercises.faulty_model(*(len(side.vocabulary) for side in SIDES)),
            "source": CharacterTokenizer.from_texts(p.text for p in dates("test", 300, seed=55)),
            "target": SIDES[1],
            "locales": ["en"],
        },
        {
            "model": [*THINGS, None],
            "source": [*THINGS, None],
            "target": [*THINGS, None],
            "locales": [*LISTS, "en", [], [3]],
        },
    ),
    "FaultyAttention": (
        exercises.FaultyAttention,
        {"score": DotScore(3, 3)},
        {"score": [*THINGS, None, 3]},
    ),
    "describe_model": (describe_model, {"model": SMALL}, {"model": [*THINGS, None, 3]}),
    "describe_tokenizer": (
        describe_tokenizer,
        {"tokenizer": SIDES[0]},
        {"tokenizer": [*THINGS, None, 3]},
    ),
    "rebuild": (
        through(rebuild, lambda path: path is SHIPPED or rebuild(path)),
        {"path": SHIPPED},
        {"path": [object(), None, 3, [], "nonsense", ".", __file__]},
    ),
    "pack": (pack, {"packed": {"a": floats(2, 3)}}, {"packed": PACKED}),
    "export_model": (
        export_model,
        {
            "model": SMALL,
            "name": "small",
            "source": SIDES[0],
            "target": SIDES[1],
            "decoding": {"width": 1},
            "card": {"seed": 3},
            "tensors": SMALL.state_dict(),
            "small": False,
        },
        {
            "model": [*THINGS, None, 3],
            "name": [object(), None, 3, []],
            "source": [*THINGS, 3],
            "target": [*THINGS, 3],
            "decoding": [object(), "nonsense", 3],
            "card": [object(), "nonsense", 3, {"a": {1}}],
            "tensors": PACKED,
            "small": FLAGS,
        },
    ),
    "faulty_model": (
        exercises.faulty_model,
        {"source_size": 11, "target_size": 7},
        dict.fromkeys(("source_size", "target_size"), COUNTS),
    ),
    "looking_model": (
        looking_model,
        {"way": "predictive", "source_size": 11, "target_size": 7, "window": 3},
        {"way": [*THINGS, None, 3, []]}
        | dict.fromkeys(("source_size", "target_size", "window"), COUNTS),
    ),
    "year_first": (year_first, {"pair": DAYS[0]}, {"pair": [*THINGS, None, 3, ("a", "b")]}),
    "SampledLoss": (
        SampledLoss,
        {"baseline": True, "reinforce": False},
        {"baseline": FLAGS, "reinforce": FLAGS},
    ),
    "check": (check, {"title": "Exercise 0"}, {"title": [object(), None, 3, []]}),
}
SAME = {  # what a refusal names instead
    "source_size": ["vocabulary_size"],
    "target_size": ["vocabulary_size"],
    "locales": ["size"],
    "value": ["template"],
    "series": ["x", "y"],
    "panels": ["series", "x", "values", "title"],
    "groups": ["series"],
    "objects": ["show_source"],
    "question": ["text"],
    "model": ["engine"],
    "tokenizer": ["engine"],
    "source": ["engine"],
    "target": ["engine"],
    "packed": ["a"],
    "path": ["safetensors"],
    "tensors": ["a"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
