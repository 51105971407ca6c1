"""The blind comparison without a browser: what travels, what is refused, and the words in Node."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traitlets import TraitError

from gates2heads.metrics.judgements import agreement, sign_test
from gates2heads.views import BlindComparison, BlindPair
from tests.javascript import LIBRARY, run_javascript

PAIR = BlindPair("Ein Hund.", "A dog.", "A dog.", "The dog.", "first")
MODULES = {"it": LIBRARY / "views/blind_comparison/judging.js"}
LABELS = ("first", "second", "tie")


def view(count=3, **options):
    return BlindComparison([PAIR] * count, systems=["old", "new"], metric="chrF", **options)


def test_the_page_gets_the_pairs_with_a_side_for_each():
    one = view(40)
    assert json.loads(json.dumps(one.pairs))[0].items() >= {"first": "A dog."}.items()
    sides = [pair["swapped"] for pair in one.pairs]
    assert 10 < sum(sides) < 30
    assert sides == [pair["swapped"] for pair in view(40).pairs]
    assert sides != [pair["swapped"] for pair in view(40, seed=1).pairs]
    assert one.choices == [""] * 40
    assert repr(one) == "BlindComparison(old, new, 40 pairs)"


def test_choices_and_the_place_stay_within_what_there_is():
    one = view()
    one.choices = ["A", "tie", "B"]
    one.at = 3  # the result
    with pytest.raises(TraitError, match="at must"):
        one.at = 4
    with pytest.raises(TraitError, match="3 pairs"):
        one.choices = ["A"]
    with pytest.raises(TraitError, match="'C'"):
        one.choices = ["A", "C", "B"]
    one.set_state({"at": 99})
    assert one.at == 3


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"systems": ["old"]}, "systems"),
        ({"systems": ["old", "old"]}, "systems"),
    ],
)
def test_bad_arguments_are_named(change, names):
    usual = {"pairs": [PAIR], "systems": ["old", "new"], "metric": "chrF"}
    with pytest.raises((TypeError, ValueError), match=names):
        BlindComparison(**(usual | change))


def test_a_pair_without_words_or_with_another_preference_is_refused():
    with pytest.raises(ValueError, match="'both'"):
        BlindPair("Ein Hund.", "A dog.", "A dog.", "The dog.", "both")


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1))
def test_the_page_computes_what_the_library_computes(labels):
    first, second = zip(*labels, strict=True)
    wins, losses = first.count("first"), first.count("second")
    body = "return [it.signTest(given.wins, given.losses), it.agreement(given.one, given.other)]"
    data = {"wins": wins, "losses": losses, "one": first, "other": second}
    p, told = run_javascript(body, MODULES, data)
    assert p == pytest.approx(sign_test(wins, losses))
    ours = agreement(first, second)
    assert told["kappa"] == pytest.approx(ours.kappa)
    assert told["same"] / told["items"] == pytest.approx(ours.observed)


def test_a_choice_is_of_the_system_that_stood_on_its_side():
    body = "return given.map(([choice, swapped]) => it.preferred(choice, { swapped }))"
    cases = [["A", False], ["B", False], ["A", True], ["B", True], ["tie", True]]
    assert run_javascript(body, MODULES, cases) == ["first", "second", "second", "first", "tie"]


def test_the_result_is_told_in_sentences():
    body = """const pairs = given.metric.map((metric) => ({ metric, swapped: true }));
    return it.inWords(it.outcome(pairs, given.choices), ["old", "new"], "chrF");"""
    data = {"metric": ["first"] * 9 + ["tie"], "choices": ["B"] * 9 + ["tie"]}
    chosen, test, agreed = run_javascript(body, MODULES, data)
    assert chosen == (
        "You preferred old 9 times and new 0 times; you found the two equally good once."
    )
    assert "9 preferences, without ties: p = 0.004, significant" in test
    assert test.endswith("must win at least 8.")
    both = "Both you and chrF preferred a system in"
    assert agreed == f"{both} 9 of 10 pairs, the same one 9 times: κ = 1.00."
    data = {"metric": ["first"] * 3, "choices": ["A", "tie", "B"]}
    _, test, agreed = run_javascript(body, MODULES, data)
    assert "p = 1.00, not significant" in test
    assert "no result can be significant" in test
    assert agreed == f"{both} 2 of 3 pairs, the same one once: κ = 0.00."
    _, test, agreed = run_javascript(body, MODULES, {"metric": ["tie"], "choices": ["tie"]})
    assert test == "Without a preference there is nothing to test."
    assert agreed == "In no pair did you and chrF both prefer a system, so there is no κ."


def test_ties_are_no_disagreement_with_a_metric_that_always_prefers_a_system():
    body = """const pairs = given.metric.map((metric) => ({ metric, swapped: false }));
    return it.outcome(pairs, given.choices);"""
    metric = ["first", "second"] * 5
    choices = ["A", "B"] * 2 + ["A"] + ["tie"] * 5
    found = run_javascript(body, MODULES, {"metric": metric, "choices": choices})
    assert (found["ties"], found["items"], found["same"], found["kappa"]) == (5, 5, 5, 1)
    assert agreement(found["reader"], metric).kappa < 0.5  # with ties as a label of its own
