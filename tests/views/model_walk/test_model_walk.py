"""The model walk without a browser: its payload, its bounds, what it refuses."""

import json

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported
from gates2heads.views import ModelWalk
from gates2heads.watching.walk import Cache, Readouts, Stage, Walk

MODEL = Exported("small", "{}", b"\x00\x01")
EXAMPLES = ["Ein Hund", "Eine Katze"]
READ, WRITTEN, H, DEPTHS, TOP = 5, 3, 7, 2, 11


def stage(stack, block, part, seen=None):
    rows = READ if stack == "encoder" else WRITTEN
    sizes = [torch.rand(rows) for _ in range(3)]
    if not block:
        return Stage(stack, 0, part, None, None, sizes[2], None)
    weights = None if seen is None else torch.rand(H, rows, seen).softmax(-1)
    return Stage(stack, block, part, *sizes, weights)


def walked(**change) -> Walk:
    torch.manual_seed(3)
    given = {
        "source": [" s"] * READ,
        "target": ["a", "b", "<eos>"],
        "log_prob": -1.5,
        "stages": [
            stage("encoder", 0, "embedding"),
            stage("encoder", 1, "self_attn", READ),
            stage("encoder", 1, "feed_forward"),
            stage("decoder", 0, "embedding"),
            stage("decoder", 1, "self_attn", WRITTEN),
            stage("decoder", 1, "cross_attn", READ),
            stage("decoder", 1, "feed_forward"),
        ],
        "readouts": Readouts(
            [[["x"] * TOP] * WRITTEN] * DEPTHS,
            -torch.rand(DEPTHS, WRITTEN, TOP),
            torch.arange(DEPTHS * WRITTEN).view(DEPTHS, WRITTEN),
            -torch.rand(DEPTHS, WRITTEN),
        ),
        "cache": Cache((1, H, 2), 140, [28, 56, 84], [168, 364, 588]),
    }
    return Walk(**given | change)


def test_the_payload_holds_every_number_and_every_weight_in_two_bytes():
    seen = walked()
    view = ModelWalk(MODEL, EXAMPLES, seen, "ab", place=3, step=1, token=4)
    told = json.loads(json.dumps(view.recorded))  # what a page gets
    assert (told["text"], told["written"], told["finished"]) == ("Ein Hund", "ab", True)
    assert (told["source"], told["target"]) == (seen.source, seen.target)
    weights = iter(np.frombuffer(view.weights, "<u2") / 65535)
    for mine, known in zip(told["stages"], seen.stages, strict=True):
        assert [mine[name] for name in ("stack", "block", "part")] == list(known[:3])
        for name in ("before", "added", "after"):
            if getattr(known, name) is None:
                assert mine[name] is None
            else:
                np.testing.assert_allclose(mine[name], getattr(known, name), atol=1e-6)
        assert mine["shape"] == (None if known.weights is None else list(known.weights.shape))
        if known.weights is not None:
            found = [next(weights) for _ in range(known.weights.numel())]
            np.testing.assert_allclose(found, known.weights.flatten(), rtol=0, atol=0.51 / 65535)
    assert next(weights, None) is None
    readouts = told["readouts"]
    np.testing.assert_allclose(readouts["logProbs"], seen.readouts.log_probs, atol=1e-6)
    np.testing.assert_allclose(readouts["written"], seen.readouts.written, atol=1e-6)
    assert (readouts["words"], readouts["rank"]) == (seen.readouts.words, [[0, 1, 2], [3, 4, 5]])
    cache = {"source": 140, "target": [28, 56, 84], "without": [168, 364, 588]}
    assert told["cache"] == {"shape": [1, H, 2], **cache}
    assert (view.text, view.place, view.step, view.token) == ("Ein Hund", 3, 1, 4)


def test_an_end_that_never_came_is_told_and_the_repr_holds_no_address():
    view = ModelWalk(MODEL, EXAMPLES, walked(target=["a", "b", "c"]), "abc")
    assert view.recorded["finished"] is False
    assert repr(view) == "ModelWalk(small, 2 examples)"


def test_a_place_out_of_bounds_is_told_and_moved_where_a_browser_sends_it():
    with pytest.raises(ValueError, match="place must"):
        ModelWalk(MODEL, EXAMPLES, walked(), "ab", place=4)
    view = ModelWalk(MODEL, EXAMPLES, walked(), "ab")
    view.set_state({"place": 9, "token": -3})
    assert (view.place, view.token) == (3, 0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"recorded": walked(target=[])},
            ValueError,
            "recorded.target must",
        ),
        (
            {"recorded": walked(cache=3)},
            TypeError,
            "recorded.cache must",
        ),
        (
            {"recorded": walked(source=["a"])},
            ValueError,
            r"recorded.stages, after must have shape \(1,\), got \(5,\)",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    given = {"model": MODEL, "examples": EXAMPLES, "recorded": walked(), "written": "ab"} | change
    with pytest.raises(error, match=message):
        ModelWalk(**given)
