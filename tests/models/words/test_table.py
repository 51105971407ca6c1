"""A table of word vectors: its words, and the way to a file and back."""

import pytest
import torch

from gates2heads.browser.engine.rebuild import rebuild, shipped
from gates2heads.models.words.table import WordTable
from gates2heads.training.cards import save_model

WORDS = ["a", "b", "c"]
COUNTS = torch.tensor([5, 3, 2])


def test_it_holds_what_it_was_given():
    vectors = torch.randn(3, 7)
    table = WordTable.of(WORDS, COUNTS, vectors)
    assert torch.equal(table.vectors.weight, vectors)
    assert table.compared().words == WORDS
    assert table.counts.tolist() == [5, 3, 2]
    assert list(table.state_dict()) == ["vectors.weight"]


def test_words_and_counts_must_be_as_many():
    with pytest.raises(ValueError, match="words must"):
        WordTable(WORDS, COUNTS[:2], 7)
    with pytest.raises(ValueError, match="2 of them distinct"):
        WordTable(["a", "b", "a"], COUNTS, 7)


def test_it_comes_back_from_a_file(tmp_path):
    table = WordTable.of(WORDS, COUNTS, torch.randn(3, 7))
    save_model(tmp_path / "t.safetensors", table)
    again = rebuild(tmp_path / "t.safetensors")
    assert again.source is again.target is None
    assert again.model.words == WORDS
    assert torch.equal(again.model.vectors.weight, table.vectors.weight)


@pytest.mark.parametrize("name", ["words_skip_gram", "words_cbow", "words_glove"])
def test_the_shipped_tables_have_one_vocabulary_and_name_their_command(name):
    one, first = shipped(name), shipped("words_skip_gram")
    assert one.model.words == first.model.words
    assert torch.equal(one.model.counts, first.model.counts)
    assert len(one.model.words) == 11_308
    assert one.model.counts.diff().max() <= 0
    assert one.card["command"] == "python -m studies.ch02.word_vectors --ship"
    assert one.card["judged"]["men"] > 0.4
