"""Windows: who stands near whom, by hand and against a slow double loop."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.windows import (
    cut_blocks,
    join_sentences,
    keep_probabilities,
    subsample,
    windows,
)

sentence_lists = st.lists(st.lists(st.integers(3, 29), min_size=1, max_size=11), min_size=1)


def slow_pairs(sentences, window):
    """All (center, neighbour), each sentence alone."""
    return Counter(
        (sentence[i], sentence[j])
        for sentence in sentences
        for i in range(len(sentence))
        for j in range(max(0, i - window), min(len(sentence), i + window + 1))
        if i != j
    )


def pairs_of(blocks):
    row, center, column = blocks.band.nonzero(as_tuple=True)
    found = zip(
        blocks.center[row, center].tolist(), blocks.context[row, column].tolist(), strict=True
    )
    return Counter(found)


def test_join_by_hand():
    text = join_sentences([[5, 7], [3], [7, 7]])
    assert text.tokens.tolist() == [5, 7, 3, 7, 7]
    assert text.sentence.tolist() == [0, 0, 1, 2, 2]


def test_blocks_by_hand():
    # "the man hit his son": the five words are 11 to 15, windows of two words, one block of five.
    blocks = cut_blocks(join_sentences([[11, 12, 13, 14, 15]]), width=5, window=2)
    assert blocks.center.tolist() == [[11, 12, 13, 14, 15]]
    hit = blocks.band[0, 2]
    assert blocks.context[0, hit].tolist() == [11, 12, 14, 15]
    assert blocks.context[0, blocks.band[0, 0]].tolist() == [12, 13]


def test_a_small_numpy_number_cuts_as_its_own_number():
    text = join_sentences([[11, 12, 13, 14, 15]])
    small, whole = (cut_blocks(text, width=kind(3), window=kind(2)) for kind in (np.uint8, int))
    assert all(torch.equal(a, b) for a, b in zip(small, whole, strict=True))


@given(sentence_lists, st.integers(1, 7), st.integers(1, 5))
def test_blocks_hold_every_pair_once(sentences, width, window):
    blocks = cut_blocks(join_sentences(sentences), width=width, window=window)
    assert pairs_of(blocks) == slow_pairs(sentences, window)


@given(sentence_lists, st.integers(1, 5), st.integers(1, 7), st.integers(0, 97))
def test_windows_hold_every_center_once(sentences, window, batch_size, seed):
    text = join_sentences(sentences)
    whole = list(windows(text, window=window, batch_size=batch_size))
    found = Counter()
    for batch in whole:
        row, column = batch.mask.nonzero(as_tuple=True)
        assert batch.mask.any(1).all()
        assert len(batch.center) <= batch_size
        found.update(
            zip(batch.center[row].tolist(), batch.context[row, column].tolist(), strict=True)
        )
    assert found == slow_pairs(sentences, window)
    drawn = list(windows(text, window=window, batch_size=batch_size, seed=seed))
    centers = [Counter(c for b in kind for c in b.center.tolist()) for kind in (whole, drawn)]
    assert centers[0] == centers[1]
    assert sum(int(b.mask.sum()) for b in drawn) <= sum(int(b.mask.sum()) for b in whole)


def test_the_reach_is_drawn_evenly():
    text = join_sentences([[3] * 9973])
    band = cut_blocks(text, width=7, window=3, generator=torch.Generator().manual_seed(5)).band
    place = torch.arange(7 + 6) - 3
    distance = (place - torch.arange(7)[:, None]).abs().expand_as(band)
    # A word at distance d is seen by the reaches d, …, 3 of the three: shares 1, 2/3, 1/3.
    for steps, share in ((1, 1), (2, 2 / 3), (3, 1 / 3)):
        seen = band[distance == steps].sum() / (2 * 9973)
        assert math.isclose(seen, share, abs_tol=0.02)


def test_keep_probabilities_by_hand():
    # t = 0.04; shares 0.64, 0.16, 0.04, 0.16, 0: ratios t/f 1/16, 1/4, 1, 1/4.
    # sqrt(1/16) + 1/16 = 0.3125, sqrt(1/4) + 1/4 = 0.75, 1 + 1 is cut to 1.
    keep = keep_probabilities(torch.tensor([64, 16, 4, 16, 0]), 0.04)
    assert keep.tolist() == [0.3125, 0.75, 1, 0.75, 1]


def test_keep_probabilities_of_shares_are_those_of_counts():
    counts = torch.tensor([64, 16, 4, 16, 0])
    assert keep_probabilities(counts / 100, 0.04).tolist() == [0.3125, 0.75, 1, 0.75, 1]
    assert keep_probabilities(counts / 4096, 0.04).tolist() == [0.3125, 0.75, 1, 0.75, 1]


@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16, torch.double])
def test_keep_probabilities_in_another_precision(dtype):
    counts = torch.tensor([49_152, 16_384, 4096, 16_384, 0])  # together more than half can hold
    keep = keep_probabilities(counts.to(dtype), 0.04)
    torch.testing.assert_close(keep, keep_probabilities(counts, 0.04).to(keep.dtype))


def test_keep_probabilities_agree_with_gensim():
    models = pytest.importorskip("gensim.models", reason="needs gensim")
    words = [["a"] * 97 + ["b"] * 31 + ["c"] * 5 + ["d"]]
    theirs = models.Word2Vec(min_count=1, sample=0.05, vector_size=2, workers=1)
    theirs.build_vocab(words)
    ours = keep_probabilities(torch.tensor([97, 31, 5, 1]), 0.05)
    for word, share in zip("abcd", ours.tolist(), strict=True):
        assert abs(theirs.wv.get_vecattr(word, "sample_int") / 2**32 - share) < 1e-6


def test_subsample_keeps_the_stated_share_and_the_sentences():
    text = join_sentences([[3, 4]] * 9973)
    keep = torch.tensor([1, 1, 1, 0.3, 1])
    thin = subsample(text, keep, generator=torch.Generator().manual_seed(7))
    assert (thin.tokens == 4).sum() == 9973
    assert abs((thin.tokens == 3).sum() / 9973 - 0.3) < 0.02
    assert (thin.sentence.diff() >= 0).all()


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda t: cut_blocks(subsample(t, torch.zeros(9)), width=3, window=2),
            ValueError,
            "text is empty; it must hold at least one token",
        ),
        (lambda t: subsample(t, torch.ones(7)), ValueError, "every token up to 7, got 7"),
        (lambda t: keep_probabilities(torch.zeros(3), 0.1), ValueError, "and not all zero"),
        (lambda t: keep_probabilities(torch.tensor([-1.0, 2]), 0.1), ValueError, "not negative"),
    ],
)
def test_a_mistake_gets_one_sentence(call, error, sentence):
    with pytest.raises(error) as caught:
        call(join_sentences([[3, 5, 7]]))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.half, torch.float, torch.double])
@pytest.mark.parametrize("scale", [1 / 100, 1, 700])
def test_keep_probabilities_are_those_of_the_shares(scale, dtype):
    """Counts, their shares, and counts whose sum half precision cannot hold: all say the same."""
    counts = torch.tensor([64.0, 16, 4, 16, 0], dtype=torch.double)
    found = keep_probabilities((counts * scale).to(dtype), 0.04)
    tolerance = 2e-3 if dtype == torch.half else 1e-5
    assert found.tolist() == pytest.approx(keep_probabilities(counts, 0.04).tolist(), rel=tolerance)
