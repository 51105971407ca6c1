"""Subword vectors: n-grams and hashes as fastText's, means by hand, gradients by autograd."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.browser.engine.rebuild import rebuild, shipped
from gates2heads.data.batches.windows import Windows, join_sentences
from gates2heads.models.words.subword import (
    Subwords,
    SubwordSkipGram,
    character_ngrams,
    fnv_hash,
)
from gates2heads.models.words.subword_table import SubwordTable, SubwordVectors
from gates2heads.models.words.training import train_negative_sampling
from gates2heads.training.cards import save_model

WORDS = ["dog", "dogs", "cat", "zebra", "a"]
COUNTS = torch.tensor([9, 7, 5, 3, 2])
SIZES = {"buckets": 31, "own": 2, "shortest": 3, "longest": 5}


def table(**change):
    torch.manual_seed(1)
    return SubwordTable(WORDS, COUNTS, 7, **SIZES | change)


def by_definition(word, shortest, longest):
    """Every substring of the marked word whose length fits, without the library."""
    marked = "<" + word + ">"
    return sorted(
        marked[i:j]
        for i in range(len(marked))
        for j in range(i, len(marked) + 1)
        if shortest <= j - i <= longest
    )


@given(st.text(max_size=12), st.integers(1, 4), st.integers(0, 3))
def test_the_ngrams_are_all_substrings_that_fit(word, shortest, more):
    found = character_ngrams(word, shortest, shortest + more)
    assert sorted(found) == by_definition(word, shortest, shortest + more)


def test_the_ngrams_of_a_word_by_hand():
    assert character_ngrams("dog", 3, 4) == ["<do", "<dog", "dog", "dog>", "og>"]
    assert character_ngrams("", 3, 5) == []
    with pytest.raises(ValueError, match="shortest must"):
        character_ngrams("dog", 4, 3)


@given(st.text(min_size=1, max_size=12, alphabet=st.characters(codec="utf-8")))
def test_ngrams_and_hashes_are_those_of_gensim(word):
    inner = pytest.importorskip("gensim.models.fasttext_inner", reason="needs gensim")
    theirs = inner.compute_ngrams_bytes(word, 3, 5)
    ours = [ngram.encode() for ngram in character_ngrams(word, 3, 5)]
    assert sorted(theirs) == sorted(ours)
    hashes = [inner.ft_hash_bytes(ngram) for ngram in theirs]
    assert hashes == [fnv_hash(ngram.decode()) for ngram in theirs]


def test_hashes_by_the_published_vectors_of_fnv():
    assert fnv_hash("") == 0x811C9DC5
    assert fnv_hash("a") == 0xE40C292C
    assert fnv_hash("foobar") == 0xBF9CF968


def test_a_word_is_the_mean_of_its_rows():
    made = table()
    weight = made.vectors.weight.detach()
    for number, word in enumerate(WORDS):
        rows = [2 + fnv_hash(ngram) % 31 for ngram in by_definition(word, 3, 5)]
        rows += [number] if number < 2 else []
        torch.testing.assert_close(made.vectors.all_words()[number], weight[rows].mean(0))
    numbers = torch.tensor([[0, 3], [4, 0]])
    torch.testing.assert_close(made.vectors(numbers), made.vectors.all_words()[numbers])


def test_an_unseen_word_is_the_mean_of_its_known_ngrams():
    made = table()
    known, weight = made.compared(), made.vectors.weight.detach()
    assert known.known_pieces("dogz") == ["<do", "<dog", "dog"]  # ogz, gz> are in no word
    rows = [2 + fnv_hash(ngram) % 31 for ngram in ("<do", "<dog", "dog")]
    torch.testing.assert_close(known.vector_of("dogz"), weight[rows].mean(0))
    shares = dict(known.carried_by("dogz"))
    mean = weight[rows].mean(0)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["dog"] == pytest.approx(float(weight[rows[2]] @ mean / (3 * mean @ mean)), 1e-4)
    assert [share for _, share in known.carried_by("dogz")] == sorted(shares.values())[::-1]
    found = known.nearest("dogz", 5)
    assert {word for word, _ in found} == set(WORDS)  # none is left out: it is none of them
    assert known.similarity("dogz", "dogz") == pytest.approx(1)
    assert "qqq" not in known
    for ask in (known.vector_of, known.nearest, known.unit_vector, known.carried_by):
        with pytest.raises(ValueError, match="must share a character n-gram with a known word"):
            ask("qqq")


def test_training_takes_the_steps_of_autograd():
    """The gradient that a batch hands to the table is the one that autograd finds."""
    torch.manual_seed(2)
    model = SubwordSkipGram(WORDS, COUNTS, 7, **SIZES)
    gradient, numbers = torch.randn(6, 7), torch.tensor([0, 1, 1, 4, 3, 0])
    before = model.vectors.weight.detach().clone()
    (wanted,) = torch.autograd.grad((model.vectors(numbers) * gradient).sum(), model.vectors.weight)
    rows = model.input_rows()
    torch.testing.assert_close(rows.look_up(numbers), model.vectors(numbers).detach())
    rows.step(numbers, gradient, 0.5)
    moved = before - model.vectors.weight.detach()
    size = (wanted.square().mean(1) + 1e-6).sqrt()[:, None]  # of the first step of Adagrad
    touched = wanted.abs().sum(1) > 0
    torch.testing.assert_close(moved[touched], (0.5 * wanted / size)[touched])
    assert not moved[~touched].any()


def test_it_learns_which_words_occur_together_and_hands_it_to_unseen_ones():
    sentences = [[0, 2], [2, 0], [1, 2], [2, 1], [3, 4], [4, 3]] * 200
    words = ["barking", "barked", "dog", "flying", "bird"]
    counts = torch.tensor([400, 400, 800, 400, 400])
    torch.manual_seed(0)
    model = SubwordSkipGram(words, counts, 16, buckets=4096)
    history = train_negative_sampling(
        model, join_sentences(sentences), epochs=20, window=1, threshold=10.0, progress=False
    )
    assert history.loss[-1] < 0.8 * history.loss[0]
    known = SubwordVectors(words, model.vectors)
    assert known.similarity("barks", "barked") > known.similarity("barks", "flying") + 0.3
    torch.testing.assert_close(model.word_vectors(), known.table.all_words())
    batch = Windows(torch.tensor([0]), torch.tensor([[2]]), torch.tensor([[True]]))
    assert model(batch).isfinite()


def test_it_comes_back_from_a_file(tmp_path):
    made = table()
    save_model(tmp_path / "t.safetensors", made)
    again = rebuild(tmp_path / "t.safetensors").model
    assert (again.words, again.counts.tolist()) == (WORDS, COUNTS.tolist())
    torch.testing.assert_close(again.vectors.all_words(), made.vectors.all_words())
    assert list(made.state_dict()) == ["vectors.weight"]


def test_words_and_counts_must_be_as_many():
    with pytest.raises(ValueError, match="words must"):
        SubwordTable(WORDS, COUNTS[:2], 7, **SIZES)


def test_a_table_holds_given_rows():
    rows = torch.randn(33, 7)
    made = SubwordTable.of(WORDS, COUNTS, rows, **SIZES)
    assert torch.equal(made.vectors.weight, rows)
    assert isinstance(made.vectors, Subwords)


def test_the_shipped_table_knows_more_words_and_places_unseen_ones():
    one = shipped("words_subword")
    known = one.model.compared()
    assert one.card["command"] == "python -m studies.ch02.subword --ship"
    assert len(known.words) > 8000
    assert one.card["judged"]["men"] > 0.55
    for unseen, right in (
        ("bicycel", "bicycle"),
        ("dogz", "dog"),
        ("snowboardings", "snowboarding"),
    ):
        assert unseen not in known.index
        assert right in {word for word, _ in known.nearest(unseen, 10)}
    # Where the beginning is misspelt, what remains is the end of another word
    assert known.nearest("bycicle", 1)[0][0] == "icicle"
