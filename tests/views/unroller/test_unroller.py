"""The unroller without a browser: its payload, its bounds, and its sentences in Node."""

import json
import math
import random

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.data.corpora.dates import dates
from gates2heads.views import ShowMe, Unroller
from gates2heads.watching.forced_tokens import Line, ObservedForcing, observe_forcing
from tests.javascript import LIBRARY, run_javascript

MODEL = Exported("small", "{}", b"\x00\x01")
U = 5
WORDS = ["<pad>", "<bos>", "<eos>", *"01-"]
V = len(WORDS)
UNROLLED = {"unrolled": LIBRARY / "views/unroller/unrolled.js"}
UNLIKE = {"unlike": LIBRARY / "browser/live/unlike_dates.js"}


def line(text) -> Line:
    tokens = [*text, "<eos>"]
    log_probs = (3 * torch.randn(len(tokens), V)).log_softmax(-1)
    return Line(tokens, torch.rand(len(tokens), U) * 2 - 1, log_probs)


def recorded(**change) -> ObservedForcing:
    source = [*"abc", "<eos>"]
    lines = {"free": line("01-"), "held": line("0-"), "taught": line("01-")}
    seen = ObservedForcing(source, torch.randn(4, U), torch.randn(U), WORDS, **lines)
    return seen._replace(**change)


def unroller(**change) -> Unroller:
    given = {"models": {"one": MODEL, "two": MODEL}, "examples": ["abc", "x"], "held": {1: "-"}}
    return Unroller(**given | {"recorded": recorded()} | change)


def test_the_page_reads_the_recorded_numbers_as_they_were():
    seen = recorded()
    view = unroller(recorded=seen, step=3)
    found = run_javascript(
        """const view = new DataView(Uint8Array.from(given.bytes).buffer);
        const run = unrolled.decodedForcing(given.told, view);
        const plain = ({ tokens, hidden, logProbs }) => ({
          tokens, hidden: [...hidden.data], logProbs: [...logProbs.data] });
        const { source, vocabulary } = run;
        return { source, vocabulary, states: [...run.states.data], summary: [...run.summary],
          free: plain(run.free), held: plain(run.held), taught: plain(run.taught) };""",
        UNROLLED,
        {"told": view.recorded, "bytes": list(view.numbers)},
    )
    assert (found["source"], found["vocabulary"]) == (seen.source, WORDS)
    np.testing.assert_allclose(found["states"], seen.states.flatten(), rtol=0, atol=1e-3)
    np.testing.assert_allclose(found["summary"], seen.summary, rtol=0, atol=1e-3)
    for name in ("free", "held", "taught"):
        one = getattr(seen, name)
        assert found[name]["tokens"] == one.tokens
        np.testing.assert_allclose(found[name]["hidden"], one.hidden.flatten(), atol=1e-3)
        np.testing.assert_allclose(found[name]["logProbs"], one.log_probs.flatten(), atol=1e-3)
    assert (view.text, view.held, view.taught, view.step) == ("abc", {"1": "-"}, "", 3)
    assert repr(view) == "Unroller(one, two, 2 examples)"


def test_what_is_held_must_be_tokens_of_the_target():
    view = unroller()
    view.held = {"0": "<eos>", "7": "1"}
    for wrong in ({"0": "9"}, {"-1": "0"}, {"x": "0"}, {"0": "<bos>"}):
        with pytest.raises(ValueError, match="held must"):
            view.held = wrong
    with pytest.raises(ValueError, match="model must"):
        view.model = 2


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"labels": ["a"]}, ValueError, "labels must"),
        ({"held": {1: "0"}}, ValueError, "recorded must"),
        ({"taught": "10"}, ValueError, "recorded must"),
        (
            {"recorded": recorded(states=torch.zeros(3, U))},
            ValueError,
            r"recorded.states must",
        ),
        (
            {"recorded": recorded(summary=torch.zeros(7))},
            ValueError,
            r"recorded.summary must",
        ),
        ({"recorded": recorded(free=3)}, TypeError, "recorded.free must"),
        (
            {"recorded": recorded(free=line("9"))},
            ValueError,
            "recorded.free.tokens must",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    with pytest.raises(error, match=message):
        unroller(**change)


# ---- the sentences and numbers, in Node


def told(tokens, shares, hidden=()):
    """A line as a live answer has it; shares (T, V)."""
    data = [math.log(share) if share else -99.0 for row in shares for share in row]
    table = {"shape": [len(tokens), 2], "data": [number for row in hidden for number in row]}
    return {
        "tokens": tokens,
        "hidden": table,
        "logProbs": {"shape": [len(tokens), 3], "data": data},
    }


ARRAYS = """
  const arrays = (one) => ({ ...one,
    hidden: { ...one.hidden, data: Float32Array.from(one.hidden.data) },
    logProbs: { ...one.logProbs, data: Float32Array.from(one.logProbs.data) } });
  const { free, held, taught } = given;
  const lines = { free: arrays(free), held: arrays(held), taught: arrays(taught) };
  const run = { ...given, summary: [1, 2], ...lines };
"""


def test_numbers_and_sentences_by_hand():
    half = [[0.5, 0.25, 0.25]] * 2
    run = {
        "source": ["a", "<eos>"],
        "vocabulary": ["<eos>", "0", "1"],
        "free": told(["0", "<eos>"], half, [[0, 0], [1, 1]]),
        "held": told(["1", "0"], [[0.25, 0.5, 0.25], [0, 0, 1]], [[3, 4], [1, 1]]),
        "taught": told(["0", "<eos>"], [[0.5, 0.25, 0.25], [0.5, 0.5, 0]]),
    }
    found = run_javascript(
        ARRAYS
        + """return [unrolled.surprises(run), unrolled.apart(run.free, run.held),
          unrolled.driftOf(run, 0), unrolled.driftOf(run, -1), unrolled.stepsOf(run),
          ...[{ 0: "1" }, {}, { 5: "1" }].map((held) => unrolled.heldInWords(run, held)),
          unrolled.taughtInWords(run), [0, 1, 2, 3].map((step) => unrolled.stepInWords(run, step)),
          unrolled.likeliestAt(run, ["free", "held"], 1, 2), unrolled.textOf(run.free),
          [[2], [2, 4], [3, 4, 5], [0, 1], [1, 2, 9]].map(unrolled.stepsInWords)];""",
        UNROLLED,
        run,
    )
    # −ln ¼ and −ln ½; of the states √((9 + 16)/2) and 0.
    assert found[0] == pytest.approx([math.log(4), math.log(2)])
    assert found[1] == pytest.approx([math.sqrt(12.5), 0])
    assert (found[2], found[3]) == ([1], [0, 1])
    assert found[4] == {"read": 2, "write": 2}
    assert found[5] == (
        "Clamped: “1” at step 1. After it, the output differs from greedy decoding in one "
        "character, at step 2."
    )
    assert found[6] == found[7] == "No character is clamped."
    mean = (math.log(4) + math.log(2)) / 2
    assert found[8] == (
        f"Teacher forcing: cross-entropy {mean:.3f} nats per character; the model’s prediction is "
        "wrong at one step."
    )
    assert found[9][0].startswith("Encoder step 1: the input is “a”.")
    assert found[9][1].endswith("form the context vector, with 2 components.")
    assert found[9][2].startswith("Decoder step 1: the previous token is the start token in gree")
    assert found[9][3] == (
        "Decoder step 2: the previous token is “0” in greedy decoding, “1” in the clamped row, "
        "“0” under teacher forcing."
    )
    assert [(one["token"], one["shares"]) for one in found[10]] == [
        ("1", [pytest.approx(0.25), pytest.approx(1)]),
        ("<eos>", [pytest.approx(0.5), pytest.approx(0)]),
    ]
    assert found[11] == "0"
    assert found[12] == ["3", "3 and 5", "4 to 6", "1 and 2", "2, 3 and 10"]


def test_a_simple_view_tells_one_line():
    run = {
        "source": ["a", "<eos>"],
        "vocabulary": ["<eos>", "0", "1"],
        "free": told(["0", "<eos>"], [[1, 0, 0]] * 2, [[0, 0]] * 2),
        "taught": told(["0", "<eos>"], [[1, 0, 0]] * 2, [[0, 0]] * 2),
        "held": told(["0"] * 5, [[1, 0, 0]] * 5, [[0, 0]] * 5),
    }
    found = run_javascript(
        ARRAYS
        + """return [unrolled.stepsOf(run), unrolled.stepsOf(run, ["free"]),
          ...[2, 3].map((step) => unrolled.stepInWords(run, step, ["free"]))];""",
        UNROLLED,
        run,
    )
    assert found[:2] == [{"read": 2, "write": 5}, {"read": 2, "write": 2}]
    assert found[2] == (
        "Decoder step 1: the input is the start token and the context vector; the output is “0”."
    )
    assert found[3].startswith("Decoder step 2: the input is “0” and the context vector;")
    view = unroller(simple=True, show_me=[ShowMe("The end", "It ends.", {"step": 3})])
    assert (view.simple, unroller().simple) == (True, False)
    assert view.show_me[0]["state"] == {"step": 3}


@pytest.mark.parametrize(
    ("text", "output", "sentence"),
    [
        ("5. Mai 2033", "2033-05-05", ""),
        ("2 سبتمبر ١٩٦٤", "1964-09-02", ""),
        ("18\u200f/06\u200f/1998", "1998-06-18", ""),
        ("1948年7月15日", "1948-07-15", ""),
        ("29 February 2000", "2000-02-29", ""),
        ("31 February 2999", "1992-02-31", "the year 2999 is not between 1900 and 2100"),
        ("4 July 1776", "1976-07-04", "the year 1776 is not between"),
        ("4 July 76", "1976-07-04", "every year has four digits"),
        ("hello", "2000-01-01", "every year has four digits"),
        ("4 July 19760", "1976-07-04", "every year has four digits"),
        ("5. Mai 2033 16 may 2046", "2046-05-16", "every input is a single date"),
        ("12/25/2020/3", "2012-02-25", "every input is a single date"),
        ("45 May 2033", "2033-05-05", "neither a day nor a month"),
        ("31 February 2020", "2020-02-31", "The output is not a date of the calendar."),
        ("29 February 2001", "2001-02-29", "The output is not a date of the calendar."),
        ("5. Mai 2033", "20337-05-0", "The output is not a date of the calendar."),
        ("2056/11/10", "2056-11-10", ""),
        ("5/6/2021", "2051-02-26", "slashes occur only in Japanese dates, such as 1974/02/04"),
        ("04/02/1974", "2047-09-20", "slashes occur only in Japanese dates"),
        ("2021/5/6", "2021-05-06", "slashes occur only in Japanese dates"),
        ("12-25-2020", "2012-02-25", "The output has another year than the input."),
    ],
)
def test_what_is_unlike_the_training_data_gets_a_warning(text, output, sentence):
    found = run_javascript("return unlike.warningOf(...given);", UNLIKE, [text, output])
    assert sentence in found if sentence else found == ""


def test_a_list_without_digits_gets_a_warning():
    lists = ["aaaa", "Mar 3, 1974 | 4 juin 2001", "٣"]
    told = run_javascript("return given.map(unlike.warningOfList);", UNLIKE, lists)
    assert [one == "" for one in told] == [False, True, True]


def test_no_date_of_the_data_gets_a_warning():
    pairs = [[pair.text, pair.iso] for split in ("train", "test") for pair in dates(split, 3000)]
    warned = run_javascript(
        "return given.filter(([text, iso]) => unlike.warningOf(text, iso));", UNLIKE, pairs
    )
    assert warned == []


def test_drift_is_every_later_difference():
    draw = random.Random(0)
    cases = []
    for _ in range(200):
        free, held = ("".join(draw.choices("01", k=draw.randint(1, 8))) for _ in range(2))
        cases.append([free, held, draw.randint(-1, 8)])
    found = run_javascript(
        """const line = (text) => ({ tokens: [...text] });
        return given.map(([free, held, first]) =>
          unrolled.driftOf({ free: line(free), held: line(held) }, first));""",
        UNROLLED,
        cases,
    )
    for (free, held, first), steps in zip(cases, found, strict=True):
        long = max(len(free), len(held))
        one, other = free.ljust(long), held.ljust(long)
        assert steps == [step for step in range(first + 1, long) if one[step] != other[step]]


def test_the_saved_state_is_small():
    one = shipped("forced_teacher")
    text = "Wednesday, September 30, 1998"
    seen = observe_forcing(one.model, text, one.source, one.target)
    view = Unroller({"teacher": live_model("forced_teacher")}, [text], seen)
    state = {name: value for name, value in view.get_state().items() if name != "numbers"}
    assert len(json.dumps(state)) + len(view.numbers) * 4 / 3 < 150_000


def test_a_typed_russian_date_gets_the_space_of_the_data():
    typed = ["10 сентября 2066 г.", "2066\u00a0г.", "2066\u202fг.", "Mar 3, 1974"]
    told = run_javascript("return given.map(unlike.asInTraining);", UNLIKE, typed)
    assert told == ["10 сентября 2066\u202fг.", "2066\u202fг.", "2066\u202fг.", "Mar 3, 1974"]
