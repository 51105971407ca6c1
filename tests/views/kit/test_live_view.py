"""A view's model without a browser: name, hash, and the answer over the channel."""

import hashlib
import json
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.browser.engine.export import Exported
from gates2heads.browser.live import models
from gates2heads.browser.live.models import LIVE, engine_source, key, live_files, live_model
from gates2heads.views.kit import live_view
from gates2heads.views.kit.live_view import LiveView, labels_of, packed_shares
from tests.javascript import LIBRARY, run_javascript

SHARES = {"shares": LIBRARY / "views/kit/shares.js"}


class Small(LiveView):
    """A view with a channel that the test reads."""

    def __init__(self, model, **traits):
        super().__init__(model, **traits)
        self.sent = []

    def send(self, content, buffers=None):
        """Keep what would go to the browser."""
        self.sent.append((content, [bytes(part) for part in buffers or []]))

    def ask(self, content):
        """Hand on what a browser would send."""
        self._handle_custom_msg(content, [])


def model(data: bytes = b"\x01\x02\x03") -> Exported:
    return Exported("small", '{"name":"small"}', data)


def test_the_state_holds_name_hash_and_size_but_no_weight():
    view = Small(model())
    whole = model().sha256
    named = {"name": "small", "hash": whole[:8], "sha256": whole, "bytes": 16 + 3}
    assert view.live == [named]
    assert "\x01\x02\x03" not in json.dumps(view.get_state(["live"]))


@given(st.binary(min_size=1, max_size=50), st.integers(1, 60))
def test_the_parts_put_together_are_the_model(data, part):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_view, "PART", part)
        view = Small(model(data))
        view.ask({"ask": key(model(data))})
    contents = [content for content, _ in view.sent]
    assert b"".join(buffer for _, buffers in view.sent for buffer in buffers) == data
    assert [content["part"] for content in contents] == list(range(len(contents)))
    assert {content["parts"] for content in contents} == {-(-len(data) // part)}
    assert {content["model"] for content in contents} == {key(model(data))}
    assert contents[0]["header"] == '{"name":"small"}'
    assert contents[0]["sha256"] == model(data).sha256


def test_another_model_is_not_sent():
    view = Small(model())
    view.ask({"ask": "other-00000000"})
    assert view.sent == [
        (
            {
                "model": "other-00000000",
                "error": f"Python has {key(model())}, not other-00000000.",
            },
            [],
        )
    ]


@pytest.mark.parametrize("content", [{}, {"kind": "anywidget-command"}, {"asked": "x"}, [], "x"])
def test_other_messages_are_left_to_others(content):
    view = Small(model())
    view._answer(view, content, [])
    assert view.sent == []


@pytest.mark.parametrize("wrong", [None, "translator", torch.nn.Linear(2, 3)])
def test_what_is_no_exported_model_is_refused(wrong):
    with pytest.raises(TypeError, match=r"models\[0\] must"):
        LiveView(wrong)
    with pytest.raises(ValueError, match="models must"):
        LiveView()


def test_the_engine_is_sent_to_who_asks():
    view = Small(model())
    view.ask({"ask": "engine"})
    assert b"".join(part for _, parts in view.sent for part in parts).decode() == engine_source()
    assert view.sent[0][0] == {"model": "engine", "part": 0, "parts": len(view.sent)}


def test_the_text_for_the_worker_imports_nothing_and_is_named_by_what_it_is():
    source = engine_source()
    assert not re.search(r"^\s*(import|export)\b", source, re.M)
    assert source.startswith('(() => {\n"use strict";')
    name, text = next(iter(live_files().items()))
    assert name == f"engine-{hashlib.sha256(source.encode()).hexdigest()}.js"
    start, end = text.index("] = ") + 4, text.rindex(";")
    assert json.loads(text[start:end]) == {"source": source}
    assert "<" not in text  # so that it may stand inside a page


@pytest.mark.slow
@pytest.mark.parametrize("name", LIVE)
def test_the_same_weights_make_the_same_file(name):
    first = live_model(name)
    models._live_model.cache_clear()
    again = live_model(name)
    assert first is not again
    assert (first.script(), first.sha256) == (again.script(), again.sha256)
    assert key(first) == f"{name}-{first.sha256[:8]}"


def test_a_model_that_is_not_shipped_is_refused():
    with pytest.raises(ValueError, match="name must"):
        live_model("nobody")


def test_shares_arrive_array_after_array_to_two_bytes():
    draw = np.random.default_rng(0)
    shapes = [[1], [3, 2], [2, 4, 5], [1, 1, 7]]
    arrays = [draw.random(shape).astype("f4") for shape in shapes]
    arrays[0][0], arrays[1][0, 0] = 0.0, 1.0
    packed = b"".join(map(packed_shares, arrays))
    body = """
        const bytes = new DataView(Uint8Array.from(given.packed).buffer);
        return given.shapes.map(shares.sharesFrom(bytes)).map(({ data }) => [...data]);
    """
    arrived = run_javascript(body, SHARES, {"packed": list(packed), "shapes": shapes})
    for array, found in zip(arrays, arrived, strict=True):
        assert np.abs(array.ravel() - found).max() <= 0.5 / 65535 + 1e-7
    assert (arrived[0], arrived[1][0]) == ([0], 1)


def test_labels_stand_for_their_examples_or_the_texts_for_themselves():
    assert labels_of(["a", "b"], None) == ["a", "b"]
    assert labels_of(["a", "b"], ["first", "second"]) == ["first", "second"]
    with pytest.raises(ValueError, match="labels must"):
        labels_of(["a", "b"], ["first"])
