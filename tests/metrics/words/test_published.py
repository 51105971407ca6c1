"""Files of word vectors: written by gensim, by hand, and damaged."""

import pytest
import torch
from gensim.models import KeyedVectors

from gates2heads.metrics.words.published import LONGEST, read_vectors

WORDS = ["the", "naïve", "猫", "10"]
VECTORS = torch.tensor([[1.0, 2, -3], [0.5, 0, 7], [-1, 1e-3, 2], [5, 5, 11]])


@pytest.fixture
def of_gensim():
    vectors = KeyedVectors(vector_size=3)
    vectors.add_vectors(WORDS, VECTORS.numpy())
    return vectors


@pytest.mark.parametrize("header", [True, False])
def test_files_of_gensim_are_read(tmp_path, of_gensim, header):
    path = tmp_path / "vectors.txt"
    of_gensim.save_word2vec_format(path, write_header=header, sort_attr=None)
    ours = read_vectors(path)
    assert ours.words == WORDS
    for word in WORDS:
        theirs = of_gensim.most_similar(word, topn=3)
        found = ours.nearest(word, 3)
        assert [one for one, _ in found] == [one for one, _ in theirs]
        assert [cosine for _, cosine in found] == pytest.approx([c for _, c in theirs], abs=1e-6)


def test_words_with_blanks_repeated_words_and_the_limit(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 0\r\nat name 0 1\na 7 7\nb 3 4 \nlast 1 1\n", encoding="utf-8", newline="")
    vectors = read_vectors(path, most=3)
    assert vectors.words == ["a", "at name", "b"]
    assert torch.allclose(vectors.unit, torch.tensor([[1.0, 0], [0, 1], [0.6, 0.8]]))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no vectors"),
        ("2 3\n", "has no vectors"),
        ("a 1 2\nb 1\n", "line 2 must be a word and 2 finite numbers, got 'b 1"),
        ("a 1 2\nb 1 two\n", "line 2"),
        ("a 1 2\nb 1 nan\n", "line 2"),
        ("a\n", "line 1"),
        ("\n", "line 1"),
        ("3 0\na\n", "line 2"),
        (f"a 1\n{'x' * (LONGEST + 2)} 1\n", "line 2"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, text, told):
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        read_vectors(path)


def test_a_binary_or_missing_file_is_refused(tmp_path):
    (tmp_path / "vectors.bin").write_bytes(bytes(range(256)) * 9)
    with pytest.raises(ValueError, match="line 1"):
        read_vectors(tmp_path / "vectors.bin")
    with pytest.raises(FileNotFoundError, match="which is not there"):
        read_vectors(tmp_path / "nothing.txt")
