"""The checks of chapter 3: right answers pass, and each plausible wrong answer gets its reason."""

import math

import pytest
import torch

from gates2heads.book.ch03 import exercises
from gates2heads.book.ch03.faulty import (
    FAULTS,
    check_fault,
    date_texts,
    reported_perplexity,
    train_reader,
)
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.swapped_words import SWAPS
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.models.language.ngram import AddK, KneserNey
from gates2heads.watching.next_token import foresee


def test_the_pencil_exercise_is_what_the_library_counts():
    a, dog, cat, runs, sleeps, eos = 3, 4, 5, 6, 7, 2
    texts = [[a, dog, runs, eos], [a, dog, sleeps, eos], [a, cat, sleeps, eos]]
    model = AddK(texts, 8, 2, k=1)
    found = model.log_probs(torch.tensor([[a, cat, runs, eos]]))
    assert found.sum().exp().item() == pytest.approx(exercises.PROBABILITY) == 16 / 3969
    assert (-found.mean()).exp().item() == pytest.approx(exercises.PERPLEXITY)


@pytest.mark.parametrize("answer", [(16 / 3969, 3.97), (0.00403, 63 / 4 / 4)])
def test_the_pencil_may_round(answer):
    assert exercises.check_by_hand(*answer)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((0, 1.0), "without smoothing"),
        ((4 / 9 * 2 / 9 / 7, 3.97), "The last factor is missing"),
        ((4 / 9 * 2 / 9 / 7 / 7, 3.97), "and 1 + 1 = 2"),
        ((4 / 8 * 2 / 8 / 6 * 2 / 6, 3.97), "`<eos>` is the sixth"),
        ((4 / 10 * 2 / 10 / 8 * 2 / 8, 3.97), "`<bos>` is never generated"),
        ((16 / 3969, (3969 / 16) ** (1 / 3)), "take the fourth root"),
        ((16 / 3969, 248.06), "uses the mean per token"),
        ((16 / 3969, math.log2(3.97)), "raise 2 to this power"),
        ((16 / 3969, math.log(3.97)), "raise e to this power"),
        ((16 / 3969, 0.252), "take its inverse"),
        ((0.3, 3.97), "The first answer is not right"),
        (("a", 3.97), "should be a number"),
    ],
)
def test_the_pencil_check_names_the_slip(answer, reason):
    verdict = exercises.check_by_hand(*answer)
    assert not verdict
    assert reason in verdict.message


def test_the_solutions_are_the_librarys():
    texts = [[3, 4, 2], [3, 4, 5, 2], [3, 5, 2]]
    counts = torch.zeros(6)
    counts[[4, 5]] = torch.tensor([2.0, 1.0])
    model = KneserNey(texts, 6, 2, discount=0.75)
    found = exercises.kneser_ney(counts, 0.75, model.tables and _shorter(model))
    torch.testing.assert_close(found.double(), model.probs([3]), atol=1e-6, rtol=1e-6)
    written = exercises.add_k(counts[None, 2:], 0.5)[0]
    torch.testing.assert_close(written.double(), AddK(texts, 6, 2, k=0.5).probs([3])[2:])


def _shorter(model):
    """What the model gives after no context at all."""
    return model._probs(())


@pytest.mark.parametrize("letter", ["b", "c", "d"])
def test_a_wrong_diagnosis_is_contradicted(letter):
    verdict = check_fault(letter)
    assert not verdict
    assert verdict.message.startswith("Exercise 3.6: not yet. Then ")


def test_the_right_diagnosis_passes_and_others_are_told():
    assert check_fault(" (A). ")
    assert "Answer with one of the letters a, b, c, d" in check_fault("e").message
    assert not check_fault(...).tried
    assert set(FAULTS) == {"a", "b", "c", "d"}


@pytest.mark.slow
def test_the_fault_shows_in_large_batches_alone():
    texts = date_texts("test", 60)
    sound, faulty = (
        [
            reported_perplexity(train_reader(faulty=one, steps=60), texts, size)
            for size in (1, 7, 60)
        ]
        for one in (False, True)
    )
    assert max(sound) - min(sound) < 1e-3
    assert faulty[0] > 1.1 * faulty[1] > 1.1 * faulty[2]


def test_the_last_two_words_of_a_pair_are_the_same():
    assert len(SWAPS) == 30
    assert len({one.first for one in SWAPS}) == 30
    for one in SWAPS:
        assert one.first.split()[-2:] == one.second.split()[-2:] or (
            one.first.split()[-1] == one.second.split()[-1] and len(one.first.split()[-1]) > 5
        )


def test_to_the_trigram_the_words_of_a_pair_are_the_same_after_both():
    one = shipped("captions_ngram")
    for pair in SWAPS:
        first, second = (
            foresee(one.model, text, one.source).log_probs for text in (pair.first, pair.second)
        )
        torch.testing.assert_close(first, second)


def test_a_merge_is_the_librarys():
    words = ["in"] * 6 + ["sing"] * 2 + ["singing"] * 5 + ["stand"] * 3
    tokenizer = BPETokenizer.train(words, 265)
    tokens = list("Ġsinging")
    for pair in tokenizer.merges:
        tokens = exercises.merge(tokens, pair)
    assert tokens == ["Ġsinging"]
    assert len(tokenizer.merges) == 6


def _in_text(tokens, pair):
    return " ".join(tokens).replace(" ".join(pair), "".join(pair)).split()


def _first(tokens, pair):
    for at in range(len(tokens) - 1):
        if (tokens[at], tokens[at + 1]) == pair:
            return [*tokens[:at], "".join(pair), *tokens[at + 2 :]]
    return tokens


def _either(tokens, pair):
    return exercises.merge(exercises.merge(tokens, pair), pair[::-1])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_in_text, "the end of a longer token"),
        (_first, "only the first occurrence"),
        (_either, "in either order"),
        (lambda tokens, pair: tokens, "For the tokens of “singing”"),
        (lambda tokens, pair: "".join(tokens), "For the tokens of “singing”"),
    ],
)
def test_the_merge_check_names_the_mistake(answer, reason):
    verdict = exercises.check_merge(answer)
    assert not verdict
    assert reason in verdict.message


def test_the_new_diagnoses():
    shape = exercises.check_add_k(
        lambda counts, k: (counts + k) / (counts.sum(1, keepdim=True) + k * counts.shape[0])
    )
    assert "`counts.shape[0]`, for V" in shape.message
    no_sum = exercises.check_kneser_ney(
        lambda counts, discount, shorter: (
            (counts - discount).clamp(min=0) / counts.sum()
            + discount * (counts > 0) / counts.sum() * shorter
        )
    )
    assert "you forgot `.sum()`" in no_sum.message
