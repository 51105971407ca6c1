"""The beam laboratory without a browser: its payload, its bounds, its messages."""

import json

import pytest

from gates2heads.browser.engine.export import Exported
from gates2heads.decoding.lengths import Power
from gates2heads.views import BeamLaboratory
from gates2heads.watching.searches import Watched, compare
from gates2heads.watching.two_tables import BOS, EOS, NAMES, START, STEPS, two_tables

MODEL = Exported("small", "{}", b"\x00\x01")
EXAMPLES = ["Ein Hund", "Eine Katze"]
WORDS = list(NAMES)


def recorded(text="Ein Hund", width=2, alpha=0.75) -> Watched:
    options = {"bos": BOS, "eos": EOS, "max_length": STEPS, "width": width}
    compared = compare(two_tables, START, **options, length_rule=Power(alpha))
    return Watched(text, [" s", "<eos>"], WORDS, compared, 17)


def laboratory(**options) -> BeamLaboratory:
    return BeamLaboratory(MODEL, EXAMPLES, recorded(), width=2, **options)


def test_the_payload_holds_the_whole_search():
    view, compared = laboratory(), recorded().compared
    told = view.recorded
    assert (told["text"], told["width"], told["alpha"], told["size"]) == ("Ein Hund", 2, 0.75, 4)
    free = told["free"]
    assert [node["token"] for node in free["nodes"]] == [node.token for node in compared.nodes]
    assert [node["piece"] for node in free["nodes"]][:3] == ["", "A", "B"]
    assert free["ranking"][0]["pieces"] == ["A", "C", "B", "<eos>"]
    assert free["ranking"][0]["score"] == pytest.approx(compared.ranking[0].score, abs=1e-4)
    assert free["greedy"]["parts"] == pytest.approx(compared.greedy.parts, abs=1e-4)
    assert (free["scored"], free["steps"], view.limit) == (compared.scored, compared.steps, 17)
    assert (view.text, view.width, view.alpha, view.prefix) == ("Ein Hund", 2, 0.75, [])
    json.dumps(told, allow_nan=False)


def test_numbers_are_rounded_and_the_page_gets_the_tables():
    view = laboratory()
    numbers = [node["log_prob"] for node in view.recorded["free"]["nodes"]]
    assert all(round(number, 4) == number for number in numbers)
    assert view.tables["names"] == WORDS
    assert view.tables["tables"][1][1] == [0.2, 0.4, 0.6, 0.2]
    assert "Zhang et al. 2023" in view.tables["source"]


def test_title_hint_and_label_are_shown_and_repr_holds_no_address():
    view = laboratory(title="Beam", hint="Press.", label="German")
    assert (view.title, view.hint, view.label) == ("Beam", "Press.", "German")
    assert "Click any candidate" in laboratory().hint
    assert repr(view) == "BeamLaboratory(small, 2 examples)"


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("width", 0, "width must"),
        ("alpha", 2.5, "alpha must"),
        ("temperature", 0.0, "temperature must"),
        ("top_k", -1, "top_k must"),
        ("top_p", 1.5, "top_p must"),
        ("seed", -1, "seed must"),
        ("step", -1, "step must"),
    ],
)
def test_what_python_sets_out_of_bounds_is_told(trait, value, message):
    with pytest.raises(ValueError, match=message):
        setattr(laboratory(), trait, value)


def test_what_the_browser_sets_is_moved_inside():
    view = laboratory()
    view.set_state({"width": 12.5, "alpha": -1, "top_p": 0, "seed": 3.7, "text": "Hallo"})
    assert (view.width, view.alpha, view.top_p, view.seed) == (10, 0.0, 0.05, 3)
    assert view.text == "Hallo"
    view.set_state({"prefix": [3, 4], "table": True})
    assert (view.prefix, view.table) == ([3, 4], True)
    with pytest.raises(TypeError, match="sync_data must"):
        view.set_state(3)
    with pytest.raises(TypeError, match="sync_data must"):
        view.set_state({"width": "wide"})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"recorded": recorded("Eine Katze")}, ValueError,
         "recorded must"),
    ],
)  # fmt: skip
def test_nonsense_gets_one_clear_sentence(change, error, message):
    given = {"model": MODEL, "examples": EXAMPLES, "recorded": recorded(), "width": 2}
    with pytest.raises(error, match=message):
        BeamLaboratory(**{**given, **change})
