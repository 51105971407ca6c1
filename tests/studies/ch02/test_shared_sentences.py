"""The study of shared sentences: its counts by hand, and what is stored fits together."""

import pytest

from gates2heads.book.studies import read_study, results_of
from studies.ch02.shared_sentences import METHODS, NEAREST, STUDY, run, shared_counts
from tests.needs import needs_data

TEXT = [["a", "cat", "and", "a", "dog"], ["a", "dog", "chewing"], ["chewing", "a", "dog", "dog"]]


def test_counts_by_hand():
    assert shared_counts(TEXT, "chewing") == {"sentences": 2, "with_cat": 0, "with_dog": 2}
    assert shared_counts(TEXT, "cat") == {"sentences": 1, "with_cat": 1, "with_dog": 1}
    assert shared_counts(TEXT, "fish") == {"sentences": 0, "with_cat": 0, "with_dog": 0}


def test_the_stored_neighbours_are_those_of_the_table():
    (stored,) = results_of(read_study(STUDY.name), "descriptions")
    table = read_study("ch02/differences")
    for method in METHODS:
        assert (
            stored["nearest_to_cat"][method] == results_of(table, method)[0]["nearest_to_cat"][:5]
        )
        assert len(stored["nearest_to_cat"][method]) == NEAREST
    shared = stored["shared"]
    assert shared["cat"]["with_dog"] == shared["dog"]["with_cat"]
    for word, one in shared.items():
        most = min(one["sentences"], shared["cat"]["sentences"])
        assert 0 <= one["with_cat"] <= most, word


@needs_data
@pytest.mark.slow
def test_what_is_stored_is_counted_again():
    (stored,) = results_of(read_study(STUDY.name), "descriptions")
    assert run("descriptions", 0) == stored
