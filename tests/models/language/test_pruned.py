"""Pruned n-grams: the whole model where nothing is pruned, by hand, what must hold, bad input."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.ngram import KneserNey, MaximumLikelihood
from gates2heads.models.language.pruned import PrunedKneserNey, PrunedMaximumLikelihood

EOS, A, B, C = Vocabulary.eos, 3, 4, 5
V = 11
TEXTS = st.lists(
    st.lists(st.integers(3, V - 1), min_size=1, max_size=7).map(lambda text: [*text, EOS]),
    min_size=1,
    max_size=13,
)
CONTEXTS = st.lists(st.integers(3, V - 1), max_size=3)


@given(TEXTS, CONTEXTS, st.integers(1, 3))
def test_nothing_pruned_is_the_whole_model(texts, context, order):
    whole = KneserNey(texts, V, order)
    kept = PrunedKneserNey.of(whole, least=1)
    torch.testing.assert_close(kept.probs(context), whole.probs(context))
    counted = MaximumLikelihood(texts, V, order)
    torch.testing.assert_close(kept.counts_alone().probs(context), counted.probs(context))


@given(TEXTS, CONTEXTS, st.integers(1, 3), st.integers(1, 4))
def test_probabilities_sum_to_1_whatever_is_pruned(texts, context, order, least):
    model = PrunedKneserNey.of(KneserNey(texts, V, order), least=least)
    probs = model.probs(context)
    assert probs.sum().item() == pytest.approx(1)
    assert (probs >= 0).all()
    assert probs[[Vocabulary.pad, Vocabulary.bos]].tolist() == [0, 0]
    assert model.counts_alone().probs(context).sum().item() == pytest.approx(1, abs=1e-9) or not (
        model.counts_alone().probs(context).any()
    )


def test_a_pruned_pair_by_hand():
    # After A: B twice, C once; with least = 2, C is dropped and its whole share backs off.
    model = PrunedKneserNey.of(KneserNey([[A, B], [A, B], [A, C]], 6, 2, discount=0.5), least=2)
    # Nothing came after two different tokens, so the shorter table is empty: 1/4 each.
    kept = (2 - 0.5) / 3
    wanted = [0, 0, (1 - kept) / 4, (1 - kept) / 4, kept + (1 - kept) / 4, (1 - kept) / 4]
    torch.testing.assert_close(model.probs([A]), torch.tensor(wanted, dtype=torch.double))
    alone = model.counts_alone()
    assert alone.probs([A]).tolist() == [0, 0, 0, 0, 1, 0]
    assert alone.probs([C]).tolist() == [0] * 6
    assert isinstance(alone, PrunedMaximumLikelihood)


def test_what_was_never_counted_has_no_probability():
    model = MaximumLikelihood([[A, B, EOS], [A, C, EOS]], 6, 2)
    found = model.log_probs(torch.tensor([[A, B, EOS], [B, A, EOS]]))
    assert found[0].tolist() == pytest.approx([0, -math.log(2), 0])
    assert found[1].tolist() == [-math.inf] * 3


def test_a_weights_file_holds_all_of_it(tmp_path):
    from gates2heads.training.cards import rebuild, save_model

    model = PrunedKneserNey.of(KneserNey([[A, B, A, B, EOS], [A, C, EOS]], 7, 3))
    save_model(tmp_path / "x.safetensors", model)
    again = rebuild(tmp_path / "x.safetensors").model
    torch.testing.assert_close(again.probs([A, B]), model.probs([A, B]))


def made(**change):
    model = PrunedKneserNey.of(KneserNey([[A, B, EOS], [A, B, EOS]], 7, 2), least=1)
    return PrunedKneserNey(**model.settings | change)


@pytest.mark.parametrize(
    ("name", "change", "error", "message"),
    [
        ("counts_1", None, TypeError, "tensors must"),
        ("counts_1", torch.zeros(3, 1), TypeError, "tensors must"),
        ("totals_0", torch.tensor([0.5]), ValueError, "totals_0 must"),
        ("totals_1", torch.ones(7), ValueError, "the tensors of contexts of 1 tokens must fit"),
        ("counts_1", torch.zeros(3), ValueError, "counts_1 must"),
        ("followers_1", torch.full((3,), 9.0), ValueError, "tensors: .* below vocabulary_size, 7"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(name, change, error, message):
    tensors = dict(made().named_buffers()) | {name: change}
    with pytest.raises(error, match=message):
        made(tensors=tensors)


def test_bad_arguments_get_one_sentence():
    with pytest.raises(TypeError, match="tensors must"):
        made(tensors=3)
    with pytest.raises(TypeError, match="discounts must"):
        made(discounts=[["a", 0.5, 0.5]])
    with pytest.raises(ValueError, match=r"discounts must"):
        made(discounts=[[0.5, 0.5]])
