"""What sub-word vectors are judged by: forms, misspellings, edit distances; what is stored."""

import random

import pytest

from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from studies.ch02 import subword
from studies.ch02.word_forms import EditDistances, families, misspelt
from tests.needs import needs_data


def distance(one: str, other: str) -> int:
    """The optimal string alignment distance, by its recursion."""
    table = {}
    for i in range(len(one) + 1):
        for j in range(len(other) + 1):
            if not i or not j:
                table[i, j] = i + j
                continue
            changed = table[i - 1, j - 1] + (one[i - 1] != other[j - 1])
            table[i, j] = min(changed, table[i - 1, j] + 1, table[i, j - 1] + 1)
            if min(i, j) > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


def test_edit_distances_to_all_words_at_once_are_those_to_each():
    draw = random.Random(3)
    words = ["".join(draw.choices("abc", k=draw.randrange(1, 8))) for _ in range(60)]
    distances = EditDistances(words)
    for _ in range(60):
        word = "".join(draw.choices("abcd", k=draw.randrange(1, 8)))
        assert distances.to_all(word).tolist() == [distance(word, other) for other in words]
        assert distance(word, distances.nearest(word)) == min(distances.to_all(word).tolist())
    assert EditDistances(["cab", "bat", "cat"]).nearest("aat") == "bat"  # the first of two
    assert distances.to_all("ab")[0] == distance("ab", words[0])


def test_two_neighbouring_letters_change_places_and_the_first_stays():
    draw = random.Random(0)
    for word in ("bicycle", "street", "dogs"):
        for _ in range(20):
            wrong = misspelt(word, draw)
            assert wrong != word
            assert sorted(wrong) == sorted(word)
            assert wrong[0] == word[0]
            assert distance(wrong, word) == 1
    assert misspelt("see", draw) == ""


def test_regular_forms_of_one_word_are_a_family():
    words = "run runs running dance danced dancing carry carries carried red bus buses sing s"
    found = families(words.split())
    assert found["runs"] == {"run", "running"}
    assert found["danced"] == {"dance", "dancing"}
    assert found["carries"] == {"carry", "carried"}
    assert found["buses"] == {"bus"}
    assert not found["red"]
    assert not found["sing"]


def test_every_setting_is_stored_with_its_seeds():
    rows = read_study("ch02/subword")
    assert {row["setting"] for row in rows} == set(subword.SETTINGS)
    for setting in ("sub-word, all words", "sub-word, 500 words removed", "skip-gram, all words"):
        assert [row["seed"] for row in rows if row["setting"] == setting] == [0, 1, 2]


@pytest.mark.parametrize("half", subword.HALVES)
def test_ngrams_say_more_of_an_unseen_word_than_chance_and_spelling(half):
    for result in results_of(read_study("ch02/subword"), "sub-word, 500 words removed"):
        judged = result[half]
        ngrams, edits, chance = (judged[way] for way in ("n-grams", "edit distance", "random"))
        for measure in ("lemma_first", "lemma_ten"):
            assert ngrams[measure] > edits[measure] + 0.1
            assert chance[measure] < 0.05
        assert ngrams["rho"] > edits["rho"] > chance["rho"]


def test_a_spelling_checker_finds_misspelt_words_better():
    for result in results_of(read_study("ch02/subword"), "sub-word, all words"):
        judged = result["second"]
        assert judged["edit distance"] > 0.9
        assert judged["n-grams"]["right_first"] < 0.4
        assert judged["n-grams"]["right_first"] > judged["all n-grams"]["right_first"]


@needs_data
def test_removed_words_are_gone_and_misspellings_are_no_words():
    words = set(shipped("words_subword").model.words)
    removed = subword.removed_words()
    assert len(set(removed)) == 500
    assert words.issuperset(removed)
    pairs = subword.misspellings()
    assert len(pairs) == 1000
    assert all(right in words and wrong not in words for wrong, right in pairs)
