"""The head explorer without a browser: its payload, its bounds, its messages, its task in Node."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported
from gates2heads.layers.attention.heads_off import heads_off
from gates2heads.views import HeadExplorer
from gates2heads.watching.head_changes import HeadTranslation, ObservedChange, observe_change
from gates2heads.watching.observation import observe_heads
from tests.browser.engine.conftest import exported, trained  # noqa: F401  (fixtures)
from tests.browser.engine.in_node import entry_of
from tests.javascript import LIBRARY, run_javascript

MODEL = Exported("small", "{}", b"\x00\x01")
EXAMPLES = ["Ein Hund", "Eine Katze"]
READ, WRITTEN, LAYERS, H = 5, 3, 2, 7


def weights(*shape):
    return torch.rand(*shape).softmax(-1)


def recorded(**change) -> SimpleNamespace:
    given = {
        "source": [" s"] * READ,
        "target": ["a", "b", "<eos>"],
        "log_prob": -1.5,
        "encoder": weights(LAYERS, H, READ, READ),
        "decoder": weights(LAYERS, H, WRITTEN, WRITTEN),
        "cross": weights(LAYERS, H, WRITTEN, READ),
    }
    return SimpleNamespace(**given | change)


def test_payload_holds_every_weight_in_two_bytes():
    seen = recorded()
    view = HeadExplorer(MODEL, EXAMPLES, seen, "ab", block=2, layer=1, token=1)
    maps = [seen.encoder, seen.decoder, seen.cross]
    assert view.recorded == {
        "written": "ab",
        "source": [" s"] * READ,
        "target": ["a", "b", "<eos>"],
        "logProb": -1.5,
        "finished": True,
        "shapes": [list(map_.shape) for map_ in maps],
    }
    whole = np.concatenate([map_.numpy().ravel() for map_ in maps])
    found = np.frombuffer(view.weights, "<u2") / 65535
    np.testing.assert_allclose(found, whole, rtol=0, atol=0.51 / 65535)
    assert (view.text, view.off, view.order, view.positions) == ("Ein Hund", [], [], True)
    assert (view.block, view.layer, view.token) == (2, 1, 1)


def test_an_end_that_never_came_is_told_and_the_repr_holds_no_address():
    view = HeadExplorer(MODEL, EXAMPLES, recorded(target=["a", "b", "c"]), "abc")
    assert view.recorded["finished"] is False
    assert repr(view) == "HeadExplorer(small, 2 examples)"


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ({"block": 3}, "block must"),
        ({"layer": LAYERS}, "layer must"),
    ],
)
def test_a_place_out_of_bounds_is_told_and_moved_where_a_browser_sends_it(place, sentence):
    with pytest.raises(ValueError, match=sentence):
        HeadExplorer(MODEL, EXAMPLES, recorded(), "ab", **place)
    view = HeadExplorer(MODEL, EXAMPLES, recorded(), "ab")
    view.set_state(place)
    ((name, value),) = place.items()
    assert getattr(view, name) == max(value - 1, 0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"recorded": 3}, TypeError, "recorded must"),
        (
            {"recorded": recorded(source="ab")},
            TypeError,
            "recorded.source must",
        ),
        (
            {"recorded": recorded(cross=weights(LAYERS, H, READ, WRITTEN))},
            ValueError,
            r"recorded.cross must",
        ),
        (
            {"recorded": recorded(decoder=torch.ones(LAYERS, H, WRITTEN, WRITTEN))},
            ValueError,
            "recorded.decoder must",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    given = {"model": MODEL, "examples": EXAMPLES, "recorded": recorded(), "written": "ab"} | change
    with pytest.raises(error, match=message):
        HeadExplorer(**given)


# ---- stored changes

OFF_HERE = [("decoder_layers.1.cross_attn", 6)]


def change(text="Ein Hund", **parts) -> ObservedChange:
    base, now = (HeadTranslation(text, name, recorded()) for name in ("ab", "b a"))
    given = {"off": OFF_HERE, "order": [1, 0], "positions": True, "base": base, "now": now}
    return ObservedChange(
        **given | {"judged": [-1.0, -2.0, -0.1234567], "unshuffled": None} | parts
    )


def test_a_stored_change_holds_what_is_not_recorded_anyway():
    moved = HeadTranslation("Eine Katze", "c", recorded())
    stored = [change(), change("Eine Katze", positions=False, unshuffled=moved)]
    view = HeadExplorer(MODEL, EXAMPLES, recorded(), "ab", stored=stored)
    first, second = view.stored
    assert {name: first[name] for name in ("text", "off", "order", "positions")} == {
        "text": "Ein Hund",
        "off": [["decoder_layers.1.cross_attn", 6]],
        "order": [1, 0],
        "positions": True,
    }
    assert first["judged"] == [-1.0, -2.0, -0.123457]
    assert (first["base"], first["unshuffled"]) == (None, None)  # the first example is recorded
    kept = [first["now"], second["base"], second["now"], second["unshuffled"]]
    assert [one["written"] for one in kept] == ["b a", "ab", "b a", "c"]
    parts = [stored[0].now, stored[1].base, stored[1].now, stored[1].unshuffled]
    maps = [
        getattr(part.seen, block) for part in parts for block in ("encoder", "decoder", "cross")
    ]
    whole = np.concatenate([map_.numpy().ravel() for map_ in maps])
    found = np.frombuffer(view.stored_weights, "<u2") / 65535
    np.testing.assert_allclose(found, whole, rtol=0, atol=0.51 / 65535)


@pytest.mark.parametrize(
    ("stored", "error", "message"),
    [
        (3, TypeError, "^stored must be .*changes"),
        ([{"off": []}], TypeError, r"^stored\[0\] must be .*`observe_change`"),
        (
            [change(), change(judged=[-1.0])],
            ValueError,
            r"^stored\[1\]\.judged must have one number",
        ),
        (
            [change(now=HeadTranslation("Hund Ein", "b a", recorded(cross=weights(2, 3))))],
            ValueError,
            r"^stored\[0\]\.now\.cross must",
        ),
    ],
)
def test_a_wrong_stored_change_gets_one_sentence(stored, error, message):
    with pytest.raises(error, match=message) as caught:
        HeadExplorer(MODEL, EXAMPLES, recorded(), "ab", stored=stored)
    assert "\n" not in str(caught.value)


# ---- the task, in Node

TASK = {
    "engine": LIBRARY / "browser" / "engine" / "engine.js",
    "heads": LIBRARY / "browser" / "live" / "tasks" / "heads.js",
}
RUN = """
  const loaded = engine.engine.loadModel(given.entry);
  const run = (payload) => {
    const steps = heads.showHeads(loaded, payload);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };
  const plain = (one) => one.refused ? one
    : { ...one, blocks: one.blocks.map(({ shape, data }) => ({ shape, data: [...data] })) };
  const base = run({ text: given.payloads[0].text });
  return given.payloads.map((payload) => plain(run({ ...payload, judged: base.tokens })));
"""
TEXT = "Ein kleiner Hund springt durch den tiefen Schnee."
MOVED = "Schnee Hund den tiefen kleiner Ein durch springt."
OFF = [["decoder_layers.2.cross_attn", head] for head in range(4)]


@pytest.fixture(scope="module")
def answers(exported):  # noqa: F811
    off = [{"layer": layer, "head": head} for layer, head in OFF]
    payloads = [
        {"text": TEXT},
        {"text": TEXT, "off": off},
        {"text": MOVED},
        {"text": TEXT, "positions": False},
        {"text": MOVED, "positions": False},
        {"text": " ".join(["Hund"] * 50)},
    ]
    return run_javascript(RUN, TASK, {"entry": entry_of(exported), "payloads": payloads})


def judged_by_python(one, text, tokens):
    """Log-probabilities of some tokens, step by step."""
    found, last = [], one.target.bos
    with torch.no_grad():
        state = one.model.start(torch.tensor([one.source.encode(text)]))
        for token in tokens:
            log_probs, state = one.model.step(state, torch.tensor([last]))
            found.append(log_probs[0, token].item())
            last = token
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("place", "text", "off"), [(0, TEXT, []), (1, TEXT, OFF), (2, MOVED, [])])
def test_the_task_gives_the_library_s_tokens_weights_and_judgement(
    answers,
    trained,  # noqa: F811
    place,
    text,
    off,
):
    found, base = answers[place], answers[0]
    with heads_off(trained.model, off):
        seen = observe_heads(trained.model, text, trained.source, trained.target, max_length=40)
        judged = judged_by_python(trained, text, base["tokens"])
    assert (found["source"], found["target"]) == (seen.source, seen.target)
    assert found["written"] == trained.target.decode(found["tokens"])
    assert found["logProb"] == pytest.approx(seen.log_prob, abs=1e-4)
    np.testing.assert_allclose(found["judged"], judged, rtol=0, atol=1e-4)
    for block, wanted in zip(
        found["blocks"], (seen.encoder, seen.decoder, seen.cross), strict=True
    ):
        assert block["shape"] == list(wanted.shape)
        np.testing.assert_allclose(block["data"], wanted.numpy().ravel(), rtol=0, atol=1e-5)
    assert (place == 0) == (found["written"] == base["written"])


@pytest.mark.slow
def test_without_positions_the_encoder_does_not_notice_the_order(answers):
    typed, moved = answers[3:5]
    assert typed["written"] == moved["written"] != answers[0]["written"]
    assert typed["logProb"] == pytest.approx(moved["logProb"], abs=1e-4)
    places = [typed["source"].index(piece) for piece in moved["source"]]
    shape = moved["blocks"][0]["shape"]
    there, here = (np.array(one["blocks"][0]["data"]).reshape(shape) for one in (typed, moved))
    np.testing.assert_allclose(here, there[:, :, places][..., places], rtol=0, atol=1e-5)


@pytest.mark.slow
def test_a_change_that_python_observes_is_the_task_s(answers, trained):  # noqa: F811
    order = [[*TEXT[:-1].split()].index(word) for word in MOVED[:-1].split()]
    sides = {"source": trained.source, "target": trained.target, "max_length": 40}
    bag = observe_change(trained.model, TEXT, order=order, positions=False, **sides)
    off = observe_change(trained.model, TEXT, off=OFF, **sides)
    assert (bag.now.text, off.unshuffled) == (MOVED, None)
    pairs = [(bag.base, 0), (bag.now, 4), (bag.unshuffled, 3), (off.base, 0), (off.now, 1)]
    for part, place in pairs:
        found = answers[place]
        assert part.written == found["written"]
        assert (part.seen.source, part.seen.target) == (found["source"], found["target"])
        assert part.seen.log_prob == pytest.approx(found["logProb"], abs=1e-4)
        for name, block in zip(("encoder", "decoder", "cross"), found["blocks"], strict=True):
            ours = getattr(part.seen, name).numpy().ravel()
            np.testing.assert_allclose(ours, block["data"], rtol=0, atol=1e-5)
    for one, place in ((bag, 4), (off, 1)):
        np.testing.assert_allclose(one.judged, answers[place]["judged"], rtol=0, atol=1e-4)


@pytest.mark.slow
def test_what_is_too_long_is_refused_in_a_sentence(answers):
    assert answers[5] == {"refused": "Too long: 51 tokens (maximum 40)."}


@pytest.mark.slow
def test_the_saved_state_is_small(exported, trained):  # noqa: F811
    seen = observe_heads(trained.model, TEXT, trained.source, trained.target, max_length=40)
    view = HeadExplorer(exported, [TEXT], seen, "A small dog")
    binary = ("weights", "stored_weights")
    state = {name: value for name, value in view.get_state().items() if name not in binary}
    assert len(json.dumps(state)) + len(view.weights) * 4 / 3 < 300_000
