"""The checks of chapter 9: right answers pass, and each plausible wrong answer gets its reason."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.book.ch09 import exercises
from gates2heads.book.ch09.damage import (
    DAMAGES,
    WORDS,
    can_be_exchanged,
    damaged,
    exchanged_word,
)
from gates2heads.book.ch09.faulty import FAULTS, check_fault, scored
from gates2heads.metrics.bleu import sentence_bleu
from gates2heads.metrics.ngrams import clipped_matches, count_ngrams, most_in_any
from gates2heads.metrics.perplexity import perplexity
from gates2heads.metrics.rouge import common_subsequence

TOKENS = st.lists(st.sampled_from("abc"), max_size=7)


def clipped_by_library(hypothesis, references, n):
    ceiling = most_in_any(count_ngrams(one, n) for one in references)
    return clipped_matches(hypothesis, n, ceiling), max(len(hypothesis) - n + 1, 0)


def permuted_in_loops(counts_a, counts_b, coins, score):
    found = []
    for swapped in [[False] * len(counts_a), *coins.tolist()]:
        first, second = 0, 0
        for coin, one, other in zip(swapped, counts_a, counts_b, strict=True):
            first, second = first + (other if coin else one), second + (one if coin else other)
        found.append(abs(score(first) - score(second)))
    return sum(gap >= found[0] for gap in found) / len(found)


def p_of(test=abs, *, one=1, swap=torch.where):
    """A permutation test: how sizes are compared, what is added, and what a permutation is."""

    def answer(counts_a, counts_b, coins, score):
        heads = coins[..., None]
        first = swap(heads, counts_b, counts_a).sum(1)
        second = swap(heads, counts_a, counts_b).sum(1)
        observed = test(score(counts_a.sum(0)) - score(counts_b.sum(0)))
        gaps = [test(score(x) - score(y)) for x, y in zip(first, second, strict=True)]
        return (sum(gap >= observed for gap in gaps) + one) / (len(gaps) + one)

    return answer


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (exercises.check_perplexity, lambda p, mask: perplexity(p, mask=mask)),
        (exercises.check_clipped, clipped_by_library),
        (exercises.check_common, lambda s, x: len(common_subsequence(s, x))),
        (exercises.check_permutation, permuted_in_loops),
        (exercises.check_permutation, p_of()),
    ],
)
def test_another_way_to_be_right(check, answer):
    verdict = check(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (exercises.check_perplexity, lambda p, mask: math.exp(-p.mean()), "padding positions"),
        (exercises.check_perplexity, lambda p, mask: 2 ** -p[mask].mean().item(), "natural log"),
        (exercises.check_perplexity, lambda p, mask: math.exp(-p[mask].sum()), "expected"),
        (exercises.check_clipped, lambda x, s, n: (len(x), len(x)), "expected"),
        (exercises.check_clipped, lambda x, s, n: len(x), "2 results"),
        (
            exercises.check_clipped,
            lambda x, s, n: (
                sum((Counter(x) & Counter(one)).total() for one in s) if n == 1 else 2,
                len(x) - n + 1,
            ),
            "expected",
        ),
        (exercises.check_common, lambda s, x: sum(w in s for w in x), "expected"),
        (exercises.check_common, lambda s, x: len(set(s) & set(x)), "once each"),
        (exercises.check_common, lambda s, x: s[9], "raised"),
        (exercises.check_permutation, p_of(one=0), "the 1 is missing"),
        (exercises.check_permutation, p_of(float), "two-sided"),
        (exercises.check_permutation, p_of(lambda gap: -gap), "expected"),
        (exercises.check_permutation, p_of(lambda gap: 0), "one coin decides|expected"),
        (
            exercises.check_permutation,
            p_of(swap=lambda heads, yes, no: torch.where(heads, 0, no)),
            "expected",
        ),
        (exercises.check_permutation, lambda a, b, coins, score: coins.sum(), "expected"),
        (exercises.check_permutation, lambda a, b, coins: 1.0, "4 arguments"),
        (exercises.check_permutation, lambda a, b, coins, score: a[coins], "raised"),
    ],
)  # fmt: skip
def test_a_wrong_answer_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert any(word in verdict.message for word in words.split("|")), verdict.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unigram_precision": 1.0}, "at most twice"),
        ({"unigram_precision": 4}, "divide it by"),
        ({"bigram_precision": 2}, "divide it by"),
        ({"unigram_precision": 0.5}, "most often"),
        ({"unigram_precision": 5 / 6}, "Two counts are clipped"),
        ({"unigram_precision": 0.7}, "unigram precision is not right"),
        ({"unigram_precision": "4/6"}, "should be a number"),
        ({"unigram_precision": 83.3}, "Two counts are clipped"),
        ({"unigram_precision": 50}, "most often"),
        ({"bigram_precision": 0.6}, "clip its count"),
        ({"bigram_precision": 33.3}, "five bigrams"),
        ({"bigram_precision": 1 / 3}, "five bigrams"),
        ({"penalty": math.exp(-1 / 6)}, "the shorter one counts"),
        ({"penalty": 0.9}, "answer for penalty is not right"),
        ({"score": 4 / 15}, "root of their product"),
        ({"score": 53.3}, "arithmetic"),
        (
            dict.fromkeys(("unigram_precision", "bigram_precision", "penalty", "score"), ...),
            "not tried yet",
        ),
    ],
)
def test_the_pencil_knows_its_slips(change, words):
    right = {"unigram_precision": 4 / 6, "bigram_precision": 2 / 5, "penalty": 1.0, "score": 0.516}
    verdict = exercises.check_by_hand(**{**right, **change})
    assert not verdict.passed
    assert words in verdict.message


def test_the_pencil_is_right():
    x, s = "a dog a dog a ball", ["a dog plays with a red ball", "the dog has a ball"]
    found = sentence_bleu(x, s, max_ngram_order=2)
    wanted = exercises.WORDS, exercises.PAIRS, exercises.PENALTY, exercises.SCORE
    told = *(p / 100 for p in found.precisions), found.brevity_penalty, found.score / 100
    assert told == pytest.approx(wanted)
    for answer in (wanted, (0.667, 0.4, 1, 51.6), (0.67, 0.4, 1, 0.52), (66.7, 40, 1, 51.6)):
        verdict = exercises.check_by_hand(*answer)
        assert verdict.passed
        assert "(7 words), the penalty would be 0.85" in verdict.message


CHECK = exercises.check_permutation


@pytest.mark.parametrize("mistake", CHECK.mistakes)
def test_every_mistake_of_the_permutation_test_is_named(mistake):
    wrong = CHECK.mistakes[mistake]
    verdict = CHECK(wrong)
    assert not verdict.passed
    assert mistake in verdict.message


def test_the_p_value_by_hand():
    # A matches 3 of 4 and 1 of 2 n-grams, B 1 of 4 and 0 of 2: four permutations
    gaps = [100 * (x - y) / 6 for x, y in ((4, 1), (2, 3), (3, 2), (1, 4))]
    wanted = (sum(abs(gap) >= abs(gaps[0]) for gap in gaps) + 1) / (len(gaps) + 1)
    assert wanted == 3 / 5
    assert exercises.permutation_p(*CHECK.cases()[0].arguments) == wanted


@given(st.integers(0, 99))
def test_the_p_value_does_not_depend_on_the_order_of_the_systems(seed):
    draw = torch.Generator().manual_seed(seed)
    a, b = torch.randint(1, 9, (2, 7, 2), generator=draw)
    coins = torch.rand((13, 7), generator=draw) < 0.5
    p = exercises.permutation_p(a, b, coins, exercises.matched)
    assert p == exercises.permutation_p(b, a, coins, exercises.matched)
    assert p == exercises.permutation_p(a, b, ~coins, exercises.matched)
    assert 1 / 14 <= p <= 1
    assert exercises.permutation_p(a, a, coins, exercises.matched) == 1


@given(TOKENS, st.lists(TOKENS, min_size=1, max_size=1))
def test_with_one_reference_the_faulty_bleu_is_sound(tokens, references):
    x, s = " ".join(tokens), [" ".join(one) for one in references]
    assert scored(x, s, faulty=True) == scored(x, s)
    assert scored(x, s) == pytest.approx(
        sentence_bleu(x, s, max_ngram_order=2, smooth_method="none", effective_order=False).score
    )


def test_with_more_references_it_is_not():
    s = ["the dog runs", "the dog ran", "the cat runs"]
    assert scored("the dog the dog", s) < scored("the dog the dog", s, faulty=True)


def test_the_fault_is_found_and_the_other_letters_get_their_reason():
    assert check_fault("c").passed
    for letter in set(FAULTS) - {"c"}:
        assert not check_fault(letter).passed
    assert "not tried yet" in check_fault(...).message


def test_damages_by_hand():
    text = "A man in blue rides a bike."
    assert damaged(text, "a synonym") == "A guy in blue rides a bike."
    assert damaged(text, "a wrong word") == "A woman in blue rides a bike."
    assert damaged(text, "halves swapped") == "blue rides a bike A man in."
    assert damaged(text, "last three words repeated twice") == (
        "A man in blue rides a bike rides a bike rides a bike."
    )
    assert damaged(text, "last third omitted") == "A man in blue rides."
    assert sorted(damaged(text, "words shuffled")[:-1].split()) == sorted(text[:-1].split())
    assert can_be_exchanged(text)
    assert not can_be_exchanged("A man and a woman.")
    assert not can_be_exchanged("Two dogs.")
    assert exchanged_word("A dog and a boy on the beach.") == "boy"
    assert exchanged_word("Two dogs.") is None


@given(st.lists(st.sampled_from([*WORDS, "a", "red", "runs"]), max_size=11))
def test_one_word_for_another_is_one_word(words):
    text = " ".join(words) + "."
    for damage in list(DAMAGES)[:2]:
        changed = damaged(text, damage)
        pairs = zip(text.split(), changed.split(), strict=True)
        assert sum(a != b for a, b in pairs) == any(word in WORDS for word in words)
