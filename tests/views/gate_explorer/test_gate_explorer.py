"""The gate explorer without a browser: its payload, its bounds, its pictures, its task in Node."""

import json
import math
import random

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.data.corpora.python.source import KNOWN, UNKNOWN, known_characters
from gates2heads.layers.recurrent import clamp_gates
from gates2heads.views import FoundUnit, GateExplorer
from gates2heads.watching.gates import ObservedGates, observe_gates
from tests.browser.engine.in_node import entry_of
from tests.javascript import LIBRARY, run_javascript

MODEL = Exported("small", "{}", b"\x00\x01")
T, U, V = 3, 5, 7
TEXT, WORDS = "abc", [*"abcdefg"]


def recorded(**change) -> ObservedGates:
    names = ("forget", "input", "candidate", "cell", "output", "hidden")
    tables = {name: torch.rand(T, U) for name in names} | {"cell": 4 * torch.randn(T, U)}
    log_probs = torch.randn(T + 1, V).log_softmax(-1)
    return ObservedGates(list(TEXT), tables, log_probs, torch.ones(T), WORDS)._replace(**change)


def explorer(**change) -> GateExplorer:
    given = {"models": {"LSTM": MODEL, "GRU": MODEL}, "examples": [TEXT, "x"]}
    return GateExplorer(**given | {"recorded": recorded()} | change)


def test_payload_holds_every_number_in_two_bytes():
    seen = recorded()
    view = explorer(recorded=seen, unit=2, place=1, quantity="hidden")
    told = view.recorded
    assert (told["tokens"], told["vocabulary"], told["units"]) == (list(TEXT), WORDS, U)
    tables = {**seen.quantities, "logProbs": seen.log_probs}
    assert [name for name, _ in told["scales"]] == list(tables)
    found, at = np.frombuffer(view.numbers, "<i2") / 32767, 0
    for name, scale in told["scales"]:
        table = tables[name].numpy().ravel()
        np.testing.assert_allclose(
            found[at : at + table.size] * scale, table, rtol=0, atol=0.51 * scale / 32767
        )
        at += table.size
    assert at == found.size
    assert (view.text, view.gates, view.alone) == (TEXT, {}, False)
    assert (view.model, view.unit, view.place, view.quantity) == (0, 2, 1, "hidden")
    assert view.labels == view.examples == [TEXT, "x"]


def test_the_page_reads_the_recorded_numbers_as_they_were():
    seen = recorded()
    view = explorer(recorded=seen)
    found = gates_js(
        """const bytes = Uint8Array.from(given.bytes);
        const view = new DataView(bytes.buffer);
        const { quantities, logProbs, ...run } = gates.decoded(given.told, view);
        const tables = Object.entries(quantities).map(([name, data]) => [name, [...data]]);
        return { ...run, quantities: Object.fromEntries(tables), logProbs: [...logProbs] };""",
        {"told": view.recorded, "bytes": list(view.numbers)},
    )
    assert found["text"] == TEXT
    assert found["ids"] == [0, 1, 2]
    for name, table in seen.quantities.items():
        np.testing.assert_allclose(found["quantities"][name], table.flatten(), rtol=0, atol=5e-4)
    np.testing.assert_allclose(found["logProbs"], seen.log_probs.flatten(), rtol=0, atol=5e-4)


def test_units_that_were_found_are_told_by_the_place_of_their_model():
    view = explorer(found=[FoundUnit("GRU", 4, "quotes", "0.9"), FoundUnit("LSTM", 0, "x")])
    assert view.found == [
        {"model": 1, "unit": 4, "name": "quotes", "told": "0.9"},
        {"model": 0, "unit": 0, "name": "x", "told": ""},
    ]
    assert repr(view) == "GateExplorer(LSTM, GRU, 2 examples)"


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ({"unit": U}, "unit must"),
    ],
)
def test_a_place_out_of_bounds_is_told_and_moved_where_a_browser_sends_it(place, sentence):
    with pytest.raises(ValueError, match=sentence):
        explorer(**place)
    view = explorer()
    view.set_state(place)
    ((name, value),) = place.items()
    assert getattr(view, name) == max(value - 1, 0)


def test_what_is_held_must_be_gates_at_values_from_0_to_1():
    view = explorer()
    view.gates = {"forget": 0, "update": 0.5}
    with pytest.raises(ValueError, match=r"gates must"):
        view.gates = {"cell": 0}
    with pytest.raises(ValueError, match=r"gates\['forget'\] must"):
        view.gates = {"forget": 2}
    with pytest.raises(ValueError, match="model must"):
        view.model = 2


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"labels": ["a"]}, ValueError, "labels must"),
        ({"found": [FoundUnit("RNN", 0, "x")]}, ValueError, r"found\[0\].model must"),
        ({"found": [FoundUnit("GRU", U, "x")]}, ValueError, r"found\[0\].unit must"),
        ({"recorded": 3}, TypeError, "recorded must"),
        ({"examples": ["x"]}, ValueError, "recorded must"),
        (
            {"recorded": recorded(quantities={"cell": torch.zeros(T, U), "input": torch.ones(T)})},
            ValueError,
            r"recorded.quantities\['input'\] must",
        ),
        (
            {"recorded": recorded(log_probs=torch.zeros(T, V))},
            ValueError,
            r"recorded.log_probs must",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    with pytest.raises(error, match=message):
        explorer(**change)


# ---- the pictures and sentences, in Node


def gates_js(body, given=None):
    return run_javascript(body, {"gates": LIBRARY / "views/kit/gates.js"}, given)


def test_bars_steps_and_shades_by_hand():
    found = gates_js("""
      const cell = [1, -2, 0.5, -5, 0, 0.04];
      const run = { tokens: ["a", "b", "c"], units: 2, quantities: { cell } };
      return [gates.bars([1, 0, 0.5], 1, false), gates.bars([2, -1, 4], 2, true),
        gates.steps([1, 0.5], 1, false), gates.steps([2, -1], 2, true),
        gates.shades(run, "cell", 2)];
    """)
    assert found[0] == {"above": "M0 0h1v1h-1zM2 0.5h1v0.5h-1z", "below": ""}
    # A bar that is too long ends at the edge.
    assert found[1] == {"above": "M0 0h1v0.5h-1zM2 0h1v0.5h-1z", "below": "M1 0.5h1v0.25h-1z"}
    assert found[2] == "M0 0H1V0.5H2"
    assert found[3] == "M0 0H1V0.75H2"
    # Unit 0: 1 of 2 is the fifth of ten levels, 0.5 rounds to the third; unit 1: −2 is the last,
    # and so is −5, which is more than a shade can tell; 0.04 rounds to none.
    assert found[4] == [
        {"opacity": 0.3, "above": "M1 0h1v1h-1z", "below": ""},
        {"opacity": 0.5, "above": "M0 0h1v1h-1z", "below": ""},
        {"opacity": 1, "above": "", "below": "M0 1h2v1h-2z"},
    ]


def test_every_value_has_one_bar_as_high_as_it_is():
    draw = random.Random(0)
    cases = [[draw.uniform(-3, 3) for _ in range(draw.randint(1, 30))] for _ in range(200)]
    for values, paths in zip(
        cases, gates_js("return given.map((one) => gates.bars(one, 3, true));", cases), strict=True
    ):
        bars = {
            float(bar.split()[0]): float(bar.split("v")[1].split("h")[0]) * side
            for name, side in (("above", 1), ("below", -1))
            for bar in paths[name].split("M")[1:]
        }
        for place, value in enumerate(values):
            assert bars.get(place, 0) == pytest.approx(value / 6, abs=2.1e-3)


def test_bits_means_and_the_likeliest_by_hand():
    # Two characters, three tokens: 1/2, 1/4, 1/4, then 1/8, 3/4, 1/8, then thirds.
    rows = [[1 / 2, 1 / 4, 1 / 4], [1 / 8, 3 / 4, 1 / 8], [1 / 3, 1 / 3, 1 / 3]]
    run = {"ids": [1, 0], "vocabulary": ["x", "y", "z"]}
    run["logProbs"] = [math.log(share) for row in rows for share in row]
    found = gates_js(
        """const bits = gates.bitsOf(given);
        return [bits, gates.meanOf(bits), gates.likeliest(given, 1, 2),
          gates.probability(given, 0, 2)];""",
        run,
    )
    assert found[0] == pytest.approx([2, 3])
    assert found[1] == pytest.approx(2.5)
    assert [(one["token"], round(one["share"], 6)) for one in found[2]] == [
        ("y", 0.75),
        ("x", 0.125),
    ]
    assert found[3] == pytest.approx(0.25)


def test_sentences_by_hand():
    base = {"ids": [0, 1], "vocabulary": ["a", "\n"], "tokens": ["a", "\n"]}
    halves, worse = [math.log(0.5)] * 6, [math.log(0.5)] * 2 + [math.log(0.75), math.log(0.25)] * 2
    # One character half a bit dearer, the other half a bit cheaper.
    turned = [math.log(2**-1.5)] * 2 + [math.log(2**-0.5)] * 4
    found = gates_js(
        """const [base, same, now, turned] = given;
        return [gates.changeInWords(base, same), gates.changeInWords(base, now),
          gates.changeInWords(base, turned),
          gates.heldInWords({ forget: 0, output: 0.25 }, true, 7),
          gates.heldInWords({ update: 1 }, false, 7),
          ["\\n", " ", "<eos>", "(", "\\u0007"].map(gates.seen),
          gates.told(-0.001), gates.told(-1.5)];""",
        [{**base, "logProbs": one} for one in (halves, halves, worse, turned)],
    )
    assert found == [
        "1.00 bits per character, the same as without the clamp.",
        "1.50 bits per character, 0.50 more than without the clamp. "
        "Largest increase in bits: “⏎” (character 2) +1.0.",
        "1.00 bits per character, on average the same as without the clamp. "
        "Largest increase in bits: “a” (character 1) +0.5.",
        "forget gate at 0 and output gate at 0.25, in unit 7 alone",
        "update gate at 1, in all units",
        ["⏎", "␣", "end", "(", "␇"],
        "0.00",
        "−1.50",
    ]


def test_the_page_reads_a_text_in_the_library_s_characters():
    draw = random.Random(0)
    signs = [*"ab( \n\t\r~", "\r\n", "\x00", "\x7f", "é", "猫", "👩‍👧", UNKNOWN, "<pad>", "\u2028"]
    texts = ["".join(draw.choices(signs, k=draw.randint(0, 20))) for _ in range(500)]
    found = run_javascript(
        """const index = new Map([...given.known].map((one) => [one, 0]));
        return given.texts.map((text) => characters.knownCharacters(text, { index }));""",
        {"characters": LIBRARY / "browser" / "live" / "characters.js"},
        {"texts": texts, "known": KNOWN + UNKNOWN},
    )
    assert ["".join(one) for one in found] == [known_characters(text) for text in texts]


# ---- the task, in Node

TASK = {
    "engine": LIBRARY / "browser" / "engine" / "engine.js",
    "task": LIBRARY / "browser" / "live" / "tasks" / "gates.js",
}
RUN = """
  const loaded = engine.engine.loadModel(given.entry);
  const run = (payload) => {
    const steps = task.readGates(loaded, payload);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };
  const lists = (tables) => Object.fromEntries(
    Object.entries(tables).map(([name, data]) => [name, [...data]]));
  const plain = (one) => one.refused ? one
    : { ...one, logProbs: [...one.logProbs], quantities: lists(one.quantities) };
  return given.payloads.map((payload) => plain(run(payload)));
"""
CODE = 'def f(a):\n    return {"x": [a, (1, 2)]}  # (done\n'
HELD = {
    "gates_lstm": [("forget", 0.0, [55]), ("output", 0.5, None), ("input", 1.0, [0, 95])],
    "gates_gru": [("update", 1.0, None), ("reset", 0.0, [3, 7]), ("update", 0.25, [1])],
}


@pytest.fixture(scope="module", params=HELD)
def answers(request):
    """A network, and what the task says of it: free, under each clamp alone, and refused."""
    clamps = [
        [{"gate": gate, "value": value, "units": units}]
        for gate, value, units in HELD[request.param]
    ]
    payloads = [{"text": CODE}, *({"text": CODE, "clamps": some} for some in clamps)]
    payloads.append({"text": "a" * 401})
    given = {"entry": entry_of(live_model(request.param)), "payloads": payloads}
    return request.param, run_javascript(RUN, TASK, given)


def check(found, seen):
    assert found["tokens"] == seen.tokens
    assert found["vocabulary"] == seen.vocabulary
    assert found["quantities"].keys() == seen.quantities.keys()
    for name, table in seen.quantities.items():
        np.testing.assert_allclose(
            found["quantities"][name], table.flatten(), rtol=1e-4, atol=1e-4, err_msg=name
        )
    np.testing.assert_allclose(found["logProbs"], seen.log_probs.flatten(), rtol=1e-4, atol=1e-3)


def test_the_task_sees_what_the_library_sees_free_and_held(answers):
    name, found = answers
    one = shipped(name)
    check(found[0], observe_gates(one.model, CODE, one.source))
    for held, (gate, value, units) in zip(found[1:], HELD[name], strict=False):
        with clamp_gates(one.model.recurrent, {gate: value}, units=units):
            check(held, observe_gates(one.model, CODE, one.source))
        assert held["logProbs"] != found[0]["logProbs"]


def test_what_is_too_long_is_refused_in_a_sentence(answers):
    assert answers[1][-1] == {"refused": "Too long: 401 characters (maximum 400)."}


def test_the_saved_state_is_small():
    one = shipped("gates_lstm")
    text = CODE + "x = 1\n"
    view = GateExplorer(
        {"LSTM": live_model("gates_lstm")}, [text], observe_gates(one.model, text, one.source)
    )
    state = {name: value for name, value in view.get_state().items() if name != "numbers"}
    assert len(json.dumps(state)) + len(view.numbers) * 4 / 3 < 300_000
