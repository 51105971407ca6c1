"""The checks of chapter 9: right answers pass, and each plausible wrong answer gets its reason."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.book.ch09 import exercises
from gates2heads.book.ch09.damage import DAMAGES, WORDS, can_be_exchanged, damaged
from gates2heads.book.ch09.faulty import FAULTS, check_fault, scored
from gates2heads.metrics.bleu import sentence_bleu
from gates2heads.metrics.ngrams import clipped_matches, count_ngrams, most_in_any
from gates2heads.metrics.perplexity import perplexity
from gates2heads.metrics.rouge import common_subsequence
from gates2heads.metrics.significance import paired_bootstrap

TOKENS = st.lists(st.sampled_from("abc"), max_size=7)


def clipped_by_library(hypothesis, references, n):
    ceiling = most_in_any(count_ngrams(one, n) for one in references)
    return clipped_matches(hypothesis, n, ceiling), max(len(hypothesis) - n + 1, 0)


def wins_in_loops(counts_a, counts_b, draws, score):
    wins = 0
    for some in draws.tolist():
        sums = [sum(counts[n] for n in some) for counts in (counts_a, counts_b)]
        wins += score(sums[0]) > score(sums[1])
    return wins / len(draws)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (exercises.check_perplexity, lambda p, mask: perplexity(p, mask=mask)),
        (exercises.check_clipped, clipped_by_library),
        (exercises.check_common, lambda s, x: len(common_subsequence(s, x))),
        (exercises.check_wins, wins_in_loops),
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
        (
            exercises.check_wins,
            lambda a, b, draws, score: float(score(a.sum(0)) > score(b.sum(0))),
            "expected",
        ),
        (
            exercises.check_wins,
            lambda a, b, draws, score: sum(
                bool(score(a[some].sum(0)) > score(b[draws[0]].sum(0))) for some in draws
            ) / len(draws),
            "expected",
        ),
        (exercises.check_wins, lambda a, b, draws, score: 3, "expected|number"),
    ],
)  # fmt: skip
def test_a_wrong_answer_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert any(word in verdict.message for word in words.split("|")), verdict.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"words_found": 1.0}, "at most twice"),
        ({"words_found": 0.5}, "most often"),
        ({"words_found": 5 / 6}, "Two counts are clipped"),
        ({"words_found": 0.7}, "answer for words is not right"),
        ({"words_found": "4/6"}, "should be a number"),
        ({"pairs_found": 0.6}, "clip its count"),
        ({"pairs_found": 1 / 3}, "five bigrams"),
        ({"penalty": math.exp(-1 / 6)}, "the shorter one counts"),
        ({"penalty": 0.9}, "answer for penalty is not right"),
        ({"score": 4 / 15}, "root of their product"),
        ({"score": 53.3}, "arithmetic"),
        (dict.fromkeys(("words_found", "pairs_found", "penalty", "score"), ...), "not tried yet"),
    ],
)
def test_the_pencil_knows_its_slips(change, words):
    right = {"words_found": 4 / 6, "pairs_found": 2 / 5, "penalty": 1.0, "score": 0.516}
    verdict = exercises.check_by_hand(**{**right, **change})
    assert not verdict.passed
    assert words in verdict.message


def test_the_pencil_is_right():
    x, s = "a dog a dog a ball", ["a dog plays with a red ball", "the dog has a ball"]
    found = sentence_bleu(x, s, max_ngram_order=2)
    wanted = exercises.WORDS, exercises.PAIRS, exercises.PENALTY, exercises.SCORE
    told = *(p / 100 for p in found.precisions), found.brevity_penalty, found.score / 100
    assert told == pytest.approx(wanted)
    for answer in (wanted, (0.667, 0.4, 1, 51.6)):
        assert exercises.check_by_hand(*answer).passed


def test_wins_are_those_of_the_library():
    draw = torch.Generator().manual_seed(0)
    a, b = torch.randint(2, 9, (2, 13, 1), generator=draw)
    draws = torch.randint(13, (97, 13), generator=draw)
    share = exercises.share_of_wins(a, b, draws, lambda total: total[0])
    whole = paired_bootstrap(a[:, 0].double(), b[:, 0].double(), resamples=2000, seed=1)
    assert share == pytest.approx(whole.wins_a / 2000, abs=0.15)


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


@given(st.lists(st.sampled_from([*WORDS, "a", "red", "runs"]), max_size=11))
def test_one_word_for_another_is_one_word(words):
    text = " ".join(words) + "."
    for damage in list(DAMAGES)[:2]:
        changed = damaged(text, damage)
        pairs = zip(text.split(), changed.split(), strict=True)
        assert sum(a != b for a, b in pairs) == any(word in WORDS for word in words)
