"""A table of word vectors: its words, and the way to a file and back."""

import pytest
import torch

from gates2heads.display.engine.rebuild import rebuild, shipped
from gates2heads.models.words.table import WordTable
from gates2heads.training.checkpoints import save_weights

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
    with pytest.raises(ValueError, match="words must be distinct and as many as counts, got 3"):
        WordTable(WORDS, COUNTS[:2], 7)
    with pytest.raises(ValueError, match="2 of them distinct"):
        WordTable(["a", "b", "a"], COUNTS, 7)


def test_it_comes_back_from_a_file_with_its_card(tmp_path):
    table = WordTable.of(WORDS, COUNTS, torch.randn(3, 7))
    card = {"words": WORDS, "counts": COUNTS.tolist()}
    save_weights(tmp_path / "t.safetensors", table, card=card)
    again = rebuild(tmp_path / "t.safetensors")
    assert again.source is again.target is None
    assert again.model.words == WORDS
    assert torch.equal(again.model.vectors.weight, table.vectors.weight)
    for wrong in ({"words": 3}, {"counts": [1]}, {"words": ["a", "b", "b"]}):
        save_weights(tmp_path / "x.safetensors", table, card=card | wrong)
        with pytest.raises(ValueError, match="cannot be rebuilt, its card is no model's"):
            rebuild(tmp_path / "x.safetensors")


@pytest.mark.parametrize("name", ["words_skip_gram", "words_cbow", "words_glove"])
def test_the_shipped_tables_have_one_vocabulary_and_name_their_command(name):
    one, first = shipped(name), shipped("words_skip_gram")
    assert one.card["words"] == first.card["words"]
    assert one.card["counts"] == first.card["counts"]
    assert len(one.model.words) == 3272
    assert one.card["counts"] == sorted(one.card["counts"], reverse=True)
    assert one.card["command"] == "python benchmarks/word_vectors.py --ship"
    assert one.card["judged"]["men"] > 0.4
