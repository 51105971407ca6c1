"""The view of a scaling law: the page's arithmetic beside the library's, words, wrong arguments."""

import random

import pytest

from gates2heads.metrics.scaling_laws import ScalingLaw
from gates2heads.views import ScaledRun, ScalingExplorer, ShowMe
from tests.javascript import LIBRARY, run_javascript

MODULES = {
    "law": LIBRARY / "views/scaling_explorer/law.js",
    "charts": LIBRARY / "views/scaling_explorer/charts.js",
}
LAW = ScalingLaw(1.2, 60.0, 0.3, 300.0, 0.3)
RUNS = [ScaledRun("one", 1e5, 1e6, 7.0), ScaledRun("two", 1e6, 4e6, 5.0, "predicted")]


def in_node(body, given=None):
    return run_javascript(body, MODULES, given)


def test_the_page_computes_what_the_library_does():
    draw = random.Random(13)
    asked = []
    for _ in range(300):
        law = ScalingLaw(
            draw.uniform(0, 3),
            draw.uniform(1, 1000),
            draw.uniform(0.05, 1),
            draw.uniform(1, 1000),
            draw.uniform(0.05, 1),
        )
        asked.append([law._asdict(), 10 ** draw.uniform(10, 25), 10 ** draw.uniform(4, 11)])
    told = in_node("return given.map((one) => law.answerOf(...one));", asked)
    for (terms, compute, parameters), found in zip(asked, told, strict=True):
        law = ScalingLaw(**terms)
        size, tokens = law.optimum(compute)
        read = compute / 6 / parameters
        best = found.pop("best")
        assert found == pytest.approx({"tokens": read, "loss": law.loss(parameters, read)})
        assert best == pytest.approx(
            {"parameters": size, "tokens": tokens, "loss": law.loss(size, tokens)}
        )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (88_400, "88,000"),
        (999_999, "1 million"),
        (2_149_000, "2.1 million"),
        (13_400_000, "13 million"),
        (7.0e10, "70 billion"),
        (1.5e13, "15 trillion"),
        (6.4, "6.4"),
    ],
)
def test_counts_in_words(value, words):
    assert in_node("return law.countInWords(given);", value) == words


def test_powers_in_words():
    assert in_node("return given.map(law.powerInWords);", [2.512e13, 9.96e9, 1]) == [
        "2.5 × 10¹³",
        "1.0 × 10¹⁰",
        "1.0 × 10⁰",
    ]


def test_the_answer_in_words():
    said = in_node(
        "const said = (size) => law.answerInWords(law.answerOf(given, 1e13, size), size);"
        "return [...said(4e6), said(law.optimumOf(given, 1e13).parameters)[1]];",
        LAW._asdict(),
    )
    size, tokens = LAW.optimum(1e13)
    assert f"with {size / 1e6:.2g} million parameters that reads" in said[0] or size < 1e6
    assert f"{LAW.loss(size, tokens):.2f} nats per token" in said[0]
    more = LAW.loss(4e6, 1e13 / 24e6) - LAW.loss(size, tokens)
    assert said[1].endswith(f": {more:.2f} more.")
    assert "more" not in said[2]


@pytest.mark.parametrize(
    ("compute", "parameters", "words"),
    [
        (1e13, 1e6, ""),
        (2.4e14, 1e6, "The budget is 10 times that of the largest run: this is an extrapolation."),
        (
            1e13,
            3e6,
            "The model is 3 times as large as the largest in this chart: this is an extrapolation.",
        ),
    ],
)
def test_it_says_where_it_extrapolates(compute, parameters, words):
    runs = ScalingExplorer(RUNS, LAW).runs
    told = in_node("return law.warningOf(...given);", [runs, compute, parameters])
    assert told == words


@pytest.mark.parametrize("ends", [(3.1, 7.2), (4.9, 5.6), (0.5, 12), (2.0, 2.6)])
def test_an_axis_has_two_to_six_round_losses(ends):
    ticks = in_node("return charts.lossTicks(...given);", list(ends))
    assert 2 <= len(ticks) <= 6
    assert all(ends[0] <= one <= ends[1] for one in ticks)
    assert all(one % 0.25 == 0 for one in ticks)


def test_runs_near_a_budget():
    runs = ScalingExplorer(RUNS, LAW).runs
    told = in_node("return [6e11, 7e11, 9e11].map((c) => charts.near(given, c).length);", runs)
    assert told == [1, 1, 0]


def test_it_opens_at_the_best_size_for_the_largest_run():
    view = ScalingExplorer(RUNS, LAW)
    assert 10**view.compute == pytest.approx(2.4e13, rel=0.03)
    assert 10**view.parameters == pytest.approx(LAW.optimum(2.4e13)[0], rel=0.03)
    assert view.runs[0]["compute"] == 6e11


def test_positions_beyond_the_sliders():
    view = ScalingExplorer(RUNS, LAW)
    low, high = view.bounds["compute"]
    with pytest.raises(ValueError, match="compute"):
        view.compute = high + 1
    view.set_state({"compute": high + 1, "parameters": -3})
    assert (view.compute, view.parameters) == (high, view.bounds["parameters"][0])
    assert low < high


@pytest.mark.parametrize(
    ("change", "error", "named"),
    [
        ({"runs": [ScaledRun("", 1, 1, 1)]}, ValueError, r"runs\[0\].name"),
        ({"runs": [ScaledRun("a", 0, 1, 1)]}, ValueError, r"runs\[0\].parameters"),
        ({"runs": [ScaledRun("a", 1, 1, "x")]}, TypeError, r"runs\[0\].loss"),
        ({"runs": [ScaledRun("a", 1, 1, 1, "mine")]}, ValueError, r"runs\[0\].role"),
        ({"compute": 1e40, "parameters": 1e6}, ValueError, "compute"),
        ({"parameters": 1e30}, ValueError, "parameters"),
        ({"show_me": [ShowMe("a", "b", {"compute": "large"})]}, TypeError, "show_me"),
    ],
)
def test_wrong_arguments(change, error, named):
    with pytest.raises(error, match=named):
        ScalingExplorer(**{"runs": RUNS, "law": LAW, **change})
