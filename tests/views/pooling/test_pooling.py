"""Attention with knobs: the page's arithmetic beside the library's, wrong arguments."""

import random

import pytest
import torch

from gates2heads.layers.attention.scores import GaussianScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.views.pooling.view import Pooling
from tests.javascript import LIBRARY, run_javascript

KEYS, VALUES = [0.5, 1.5, 4.0], [2.0, -1.0, 3.0]


def by_library(query, keys, values, width, allowed):
    """Weights and context, as the layers of the library give them."""
    attention = Attention(GaussianScore(1, bandwidth=width))
    shape = (1, -1, 1)
    context, weights = attention(
        torch.tensor([query]).reshape(shape),
        torch.tensor(keys).reshape(shape),
        torch.tensor(values).reshape(shape),
        mask=torch.tensor(allowed),
    )
    return weights.flatten(), context.flatten()


def test_the_page_pools_as_the_library_does():
    draw = random.Random(5)
    cases = []
    for _ in range(300):
        size = draw.choice([2, 3, 5, 7, 11])
        cases.append(
            {
                "query": draw.uniform(-3, 3),
                "keys": [draw.uniform(-3, 3) for _ in range(size)],
                "values": [draw.uniform(-3, 3) for _ in range(size)],
                "width": 10 ** draw.uniform(-1, 1),
                "allowed": [draw.random() < 0.7 for _ in range(size)],
            }
        )
    told = run_javascript(
        "return given.map(({ query, keys, values, width, allowed }) =>"
        " pooled.pool(query, keys, values, width, allowed));",
        {"pooled": LIBRARY / "views/pooling/pooled.js"},
        cases,
    )
    for case, found in zip(cases, told, strict=True):
        weights, context = by_library(**case)
        torch.testing.assert_close(
            torch.tensor(found["weights"], dtype=torch.float32), weights, rtol=1e-4, atol=1e-5
        )
        torch.testing.assert_close(
            torch.tensor([found["context"]], dtype=torch.float32), context, rtol=1e-4, atol=1e-5
        )
        if any(case["allowed"]):
            shares = torch.tensor(found["exps"], dtype=torch.float32) / sum(found["exps"])
            torch.testing.assert_close(shares, weights, rtol=1e-4, atol=1e-5)
    assert any(not any(case["allowed"]) for case in cases)


def test_the_state_is_told_in_words():
    told = run_javascript(
        "const say = (query, allowed) => pooled.poolingInWords("
        "pooled.pool(query, given.keys, given.values, 0.5, allowed), allowed);"
        "return [say(0.5, [true, true, true]), say(0.5, [false, false, false])];",
        {"pooled": LIBRARY / "views/pooling/pooled.js"},
        {"keys": KEYS, "values": VALUES},
    )
    assert told[0] == "Slot 1 has weight 0.88, slot 2 has weight 0.12; the context is 1.64."
    assert told[1] == "Every slot is masked: all weights are 0, and so is the context."


def test_the_curve_runs_through_the_context():
    told = run_javascript(
        "const allowed = [true, true, false];"
        "return pooled.contextCurve(given.keys, given.values, 0.7, allowed, [0, 5], 6);",
        {"pooled": LIBRARY / "views/pooling/pooled.js"},
        {"keys": KEYS, "values": VALUES},
    )
    assert [query for query, _ in told] == [0, 1, 2, 3, 4, 5]
    for query, context in told:
        _, wanted = by_library(float(query), KEYS, VALUES, 0.7, [True, True, False])
        assert context == pytest.approx(wanted.item(), abs=1e-5)


def test_what_the_page_gets():
    view = Pooling(KEYS, torch.tensor(VALUES), query=1, width=0.5, title="T", hint="H")
    assert (view.slot_keys, view.slot_values) == (KEYS, VALUES)
    assert view.allowed == [True, True, True]
    assert view.bounds["query"] == pytest.approx([-1.25, 5.75])
    assert repr(view) == "Pooling(3 slots)"


def test_a_page_that_asks_for_too_much_is_moved_into_bounds():
    view = Pooling(KEYS, VALUES, query=1, width=0.5)
    view.set_state({"query": 99.0, "width": 0.0})
    assert view.query == pytest.approx(5.75)
    assert view.width == pytest.approx(0.05 * 1.75)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"keys": [1.0]}, ValueError, "keys and values must be two lists of one length"),
        ({"keys": [1.0], "values": [1.0]}, ValueError, "keys must"),
        ({"keys": [1.0, 1.0, 1.0]}, ValueError, "keys must"),
        ({"keys": [1.0, float("nan"), 2.0]}, ValueError, "keys must"),
        ({"query": 99.0}, ValueError, "query must"),
        ({"allowed": [True]}, ValueError, "allowed must"),
    ],
)
def test_wrong_arguments_get_a_sentence(changes, kind, message):
    given = {"keys": KEYS, "values": VALUES, "query": 1.0, "width": 0.5, **changes}
    with pytest.raises(kind, match=message):
        Pooling(given.pop("keys"), given.pop("values"), **given)
