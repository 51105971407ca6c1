"""The model that the host gives a view, in Node, and which widgets the host can show."""

import base64

import pytest

from gates2heads.browser.host.script import foreign_widgets, host_script
from tests.javascript import LIBRARY, run_javascript

MODULES = {"host": LIBRARY / "browser" / "host" / "model.js"}


def in_node(body, given=None):
    return run_javascript(body, MODULES, given)


def test_listeners_hear_of_changes_and_of_nothing_else():
    heard = in_node("""
      const model = new host.Model({ step: 1, list: [1, { a: 2 }] });
      const heard = [];
      model.on("change:step", (own, value) => heard.push(["step", own === model, value]));
      model.on("change:list", () => heard.push(["list"]));
      model.on("change", () => heard.push(["any"]));
      model.set("step", 1); // as it was
      model.set("list", [1, { a: 2 }]); // another list of the same values
      model.set("step", 2);
      model.set("list", [1, { a: 3 }]);
      model.save_changes();
      model.send({ ask: "anything" });
      return [heard, model.get("step"), model.get("list")];
    """)
    told = [["step", True, 2], ["any"], ["list"], ["any"]]
    assert heard == [told, 2, [1, {"a": 3}]]


def test_a_listener_that_is_taken_away_hears_nothing_more():
    heard = in_node("""
      const model = new host.Model({ step: 0 });
      const heard = [];
      const first = () => { heard.push("first"); model.off("change:step", first); };
      model.on("change:step", first);
      model.on("change:step", () => heard.push("second"));
      model.set("step", 1); // the second hears it, though the first leaves while it is called
      model.set("step", 2);
      model.off("change:step");
      model.off("change:never");
      model.set("step", 3);
      return heard;
    """)
    assert heard == ["first", "second", "second"]


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ([1, 2], [1, 2], True),
        ([1, 2], [1, 2, 3], False),
        ({"a": None}, {"a": None}, True),
        ({"a": 1}, {"b": 1}, False),
        ([], {}, False),
        (None, {}, False),
        ("1", 1, False),
    ],
)
def test_values_are_compared_by_what_they_hold(a, b, same):
    assert in_node("return host.isEqual(given[0], given[1]);", [a, b]) == same
    assert in_node("return host.isEqual(given[1], given[0]);", [a, b]) == same


def test_binary_values_come_back_as_views_of_their_bytes():
    data = base64.b64encode(bytes([0, 7, 255])).decode()
    buffers = [
        {"path": ["weights"], "encoding": "base64", "data": data},
        {"path": ["nested", "0"], "encoding": "base64", "data": data},
    ]
    entry = {"state": {"step": 3, "nested": [None]}, "buffers": buffers}
    told = in_node(
        """
      const { step, weights, nested } = host.restored(given);
      const bytes = (view) => [...new Uint8Array(view.buffer)];
      const kinds = [weights instanceof DataView, nested[0] instanceof DataView];
      return { step, kinds, all: [bytes(weights), bytes(nested[0])], given };
    """,
        entry,
    )
    assert told == {
        "step": 3,
        "kinds": [True, True],
        "all": [[0, 7, 255], [0, 7, 255]],
        "given": entry,
    }


def test_an_unknown_encoding_is_refused():
    entry = {"state": {}, "buffers": [{"path": ["x"], "encoding": "hex", "data": "00"}]}
    body = "try { host.restored(given); } catch (error) { return error.message; }"
    assert in_node(body, entry) == "A saved trait has the unknown encoding hex."


def test_the_host_is_one_script_that_imports_and_exports_nothing():
    text = host_script()
    assert text.startswith("(() => {")
    assert not [line for line in text.splitlines() if line.startswith(("import", "export"))]


def test_widgets_of_other_kinds_are_named():
    state = {
        "state": {
            "1": {"model_module": "anywidget", "model_name": "AnyModel"},
            "2": {"model_module": "@jupyter-widgets/controls", "model_name": "IntSliderModel"},
            "3": {"model_module": "@jupyter-widgets/base", "model_name": "LayoutModel"},
        }
    }
    assert foreign_widgets(state, ["1"]) == []  # a layout that is only referred to is no view
    assert foreign_widgets(state, ["2", "1", "2"]) == ["IntSliderModel"]
    assert foreign_widgets(state, ["4"]) == ["a model that was not saved"]
