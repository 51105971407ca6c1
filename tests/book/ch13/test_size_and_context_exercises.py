"""The checks of chapter 13: right answers pass, and each plausible wrong answer gets its reason."""

import numpy as np
import pytest
import torch

from gates2heads.book.ch13 import exercises, induction, repeats
from gates2heads.book.ch13.conflict_measures import context_is_true, trust
from gates2heads.book.ch13.conflicts import TOWNS
from gates2heads.layers.attention.heads_off import heads_of
from gates2heads.layers.record import record
from gates2heads.metrics.scaling_laws import FLOPS

CHECK = exercises.check_context_is_true


def over_all_values(wrong, known, n):
    """Values: 0 is the memory's, 1 the context's."""
    prior = torch.tensor([known] + [(1 - known) / (n - 1)] * (n - 1), dtype=torch.double)
    likelihood = torch.full((n,), wrong / (n - 1), dtype=torch.double)
    likelihood[1] = 1 - wrong
    return (prior * likelihood / (prior * likelihood).sum())[1].item()


def as_odds(wrong, known, n):
    if wrong == 0:
        return 1.0
    other = (1 - known) / (n - 1)
    odds = other / (1 - other) * (1 - wrong) * (n - 1) / wrong
    return odds / (1 + odds)


@pytest.mark.parametrize("answer", [over_all_values, as_odds, context_is_true])
def test_right_answers_pass(answer):
    verdict = CHECK(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("words", CHECK.mistakes)
def test_each_known_mistake_is_named(words):
    verdict = CHECK(CHECK.mistakes[words])
    assert not verdict.passed
    assert words in verdict.message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (..., "not tried yet"),
        (lambda wrong, known, n: None, "not tried yet"),
        (lambda wrong, known: 0.5, "3 arguments"),
        (lambda wrong, known, n: known / 0, "ZeroDivisionError"),
        (lambda wrong, known, n: 1 - known, "expected"),
        (lambda wrong, known, n: (1 - wrong) / (1 - wrong + known), "expected"),
    ],
)
def test_other_wrong_answers_get_a_reason(answer, words):
    verdict = CHECK(answer)
    assert not verdict.passed
    assert words in verdict.message


def test_by_hand():
    """Three values: 1/4 · 0.8 for the context's, 1/2 · 0.1 and 1/4 · 0.1 for the others."""
    assert context_is_true(0.2, 0.5, 3) == pytest.approx(0.2 / 0.275)


@pytest.mark.parametrize(("wrong", "n"), [(0.2, 3), (0.5, 7), (0.1, 32)])
def test_memory_and_context_are_equal_where_the_remark_says(wrong, n):
    known = 1 - wrong
    context = context_is_true(wrong, known, n)
    other = (1 - known) / (n - 1)
    of_memory = known * wrong / (n - 1)
    assert context * (of_memory / (other * (1 - wrong))) == pytest.approx(context)


def test_it_is_what_the_section_compares_with():
    for wrong, known in ((0.2, 0.9), (0.5, 0.1), (0.0, 0.99)):
        wanted = context_is_true(wrong, known, len(TOWNS))
        found = trust(wrong, torch.tensor([known], dtype=torch.double))
        assert found.item() == pytest.approx(wanted)


FUNCTIONS = (
    exercises.check_power_law,
    exercises.check_prefix_matching,
    exercises.check_copying_share,
)
MISTAKES = [(check, words, wrong) for check in FUNCTIONS for words, wrong in check.mistakes.items()]


def with_least_squares(x, y):
    columns = torch.stack([torch.ones_like(x), x.log()], dim=1)
    intercept, slope = torch.linalg.lstsq(columns, y.log()[:, None]).solution[:, 0]
    return intercept.exp().item(), -slope.item()


def with_decimal_logarithms(x, y):
    slope, intercept = np.polyfit(np.log10(x.numpy()), np.log10(y.numpy()), 1)
    return 10**intercept, -slope


def with_a_dictionary(weights, tokens):
    latest, found = {}, []
    for i, token in enumerate(tokens.tolist()):
        if token in latest:
            found.append(weights[i, latest[token] + 1].item())
        latest[token] = i
    return sum(found) / len(found)


def in_parallel(weights, tokens):
    earlier = (tokens[:, None] == tokens).tril(-1)
    positions = torch.arange(len(tokens))
    latest = torch.where(earlier, positions, -1).max(dim=1).values
    here = latest >= 0
    return weights[positions[here], latest[here] + 1].mean()


def word_by_word(embedding, ov, output):
    right = [int((output @ (row @ ov)).argmax()) == word for word, row in enumerate(embedding)]
    return sum(right) / len(right)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (exercises.check_power_law, with_least_squares),
        (exercises.check_power_law, with_decimal_logarithms),
        (exercises.check_prefix_matching, with_a_dictionary),
        (exercises.check_prefix_matching, in_parallel),
        (exercises.check_copying_share, word_by_word),
        (
            exercises.check_copying_share,
            lambda e, ov, u: (
                ((e @ ov @ u.T).topk(1).indices[:, 0] == torch.arange(len(e))).float().mean().item()
            ),
        ),
    ],
)
def test_another_way_to_be_right(check, answer):
    verdict = check(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("check", "words", "wrong"), MISTAKES, ids=[one[1] for one in MISTAKES])
def test_each_known_mistake_of_a_function_is_named(check, words, wrong):
    verdict = check(wrong)
    assert not verdict.passed
    assert words in verdict.message


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (exercises.check_power_law, lambda x, y: x.log(), "2 results"),
        (exercises.check_power_law, lambda x: (1.0, 1.0), "2 arguments"),
        (exercises.check_power_law, lambda x, y: (y.mean(), x.mean()), "for factor"),
        (exercises.check_power_law, lambda x, y: (3.0, 0.5), "seven noisy points"),
        (exercises.check_power_law, lambda x, y: (y.log().mean().exp(), 0.5), "expected"),
        (exercises.check_power_law, ..., "not tried yet"),
        (exercises.check_prefix_matching, lambda w, t: w[t], "raised"),
        (exercises.check_prefix_matching, lambda w, t: w.diagonal(-2).mean(), "expected"),
        (
            exercises.check_prefix_matching,
            lambda w, t: torch.stack([w[i, i - 1] for i in range(1, len(t))]).mean(),
            "expected",
        ),
        (exercises.check_prefix_matching, lambda w, t: w[len(t), 0], "raised"),
        (exercises.check_prefix_matching, ..., "not tried yet"),
        (exercises.check_copying_share, lambda e, ov, u: e @ ov @ u.T, "a single number"),
        (exercises.check_copying_share, lambda e, ov, u: 1.0, "expected"),
        (exercises.check_copying_share, lambda e, ov, u: e @ ov @ u, "raised"),
        (exercises.check_copying_share, lambda e, ov, u: print(end=""), "nothing"),
        (exercises.check_copying_share, ..., "not tried yet"),
    ],
)
def test_a_wrong_function_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert words in verdict.message, verdict.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((4e12, 1e6), "left out the factor 6"),
        ((8e12, 1e6), "forward pass alone"),
        ((1.6e13, 1e6), "backward pass alone"),
        ((6e12, 1e6), "there are four"),
        ((3e7, 1e6), "added parameters and tokens"),
        ((2.5e13, 1e6), "operations is not right"),
        ((2.4e13, 16e6), "fewer tokens, not more"),
        ((2.4e13, 4_000_000), "should stay the same"),
        ((2.4e13, 2e6), "Divide by four"),
        ((2.4e13, 3e6), "tokens is not right"),
        ((float("nan"), 1e6), "operations should be a number"),
        ((2.4e13, float("nan")), "tokens should be a number"),
        (("many", 1e6), "operations should be a number"),
        ((2.4e13, True), "tokens should be a number"),
        ((2.4e13, ...), "not tried yet"),
    ],
)
def test_the_budget_is_corrected(given, words):
    verdict = exercises.check_compute(*given)
    assert not verdict.passed
    assert words in verdict.message


def test_the_budget_is_right_in_the_library():
    assert exercises.check_compute(FLOPS * 1e6 * 4e6, 1e6).passed
    assert exercises.check_compute(24 * 10**12, 1_000_000).passed


def test_the_scores_are_those_of_the_section():
    """Head scores of the library, which average over the queries of a repeated passage."""
    torch.manual_seed(0)
    model, found = induction.induction_model(1).eval(), repeats.random_twice(1, 20, 104, seed=0)
    with torch.no_grad(), record(model) as trace:
        model.logits(found.tokens[:, :-1])
    weights = trace["layers.0"]["weights"][0][0].double()
    told = induction.head_scores(model, found)
    row = found.tokens[0, :-1]
    for head, wanted in enumerate(told.prefix_matching):
        assert exercises.prefix_matching(weights[head], row).item() == pytest.approx(wanted)


def test_the_share_is_that_of_the_section():
    torch.manual_seed(0)
    model, first = induction.induction_model(1).eval(), repeats.FIRST_WORD
    with torch.no_grad():
        for head in heads_of(model):
            given = model.token_table.weight, model.ov_matrix(0, head.head), model.output.weight
            embedding, ov, output = (one.double() for one in given)
            share = exercises.copying_share(embedding[first:], ov, output[first:])
            assert share.item() == induction.copying(model, [head]).largest
