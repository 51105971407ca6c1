"""What systems wrote: kept and read again, the same bytes every time; what the study stored."""

import numpy as np
import pytest

from gates2heads.book.studies import read_study, results_file
from gates2heads.book.written import Written, read_written, store_written
from gates2heads.metrics.bleu import Bleu

ONE = Written(["ein Hund", "«ü»"], np.arange(20).reshape(2, 10))


def test_what_is_stored_is_read_again(tmp_path):
    store_written("ch09/mine", {"a": ONE}, tmp_path)
    before = results_file("ch09/mine", tmp_path, suffix=".json.gz").read_bytes()
    store_written("ch09/mine", {"a": ONE}, tmp_path)
    assert results_file("ch09/mine", tmp_path, suffix=".json.gz").read_bytes() == before
    store_written("ch09/mine", {"b": Written(["x"], np.zeros((1, 10), int))}, tmp_path)
    found = read_written("ch09/mine", tmp_path)
    assert list(found) == ["a", "b"]
    assert found["a"].texts == ONE.texts
    assert (found["a"].bleu == ONE.bleu).all()


def test_what_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="there is none yet"):
        read_written("ch09/mine", tmp_path)
    with pytest.raises(ValueError, match=r"study must"):
        read_written("../x")


def test_the_counts_of_the_study_give_its_scores():
    written = read_written("ch09/systems")
    rows = {row["setting"]: row["result"] for row in read_study("ch09/systems")}
    assert list(written) == list(rows)
    for name, one in written.items():
        assert one.bleu.shape == (len(one.texts), 10) == (1000, 10)
        score = Bleu().from_statistics(one.bleu.sum(axis=0)).score
        assert score == pytest.approx(rows[name]["bleu"], abs=1e-9)
        lengths = Bleu().statistics(one.texts[:50], [[text] for text in one.texts[:50]])[:, 0]
        assert (lengths == one.bleu[:50, 0]).all()
