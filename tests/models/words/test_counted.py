"""Counted vectors: by hand, against slow loops, and against SciPy's singular values."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.linalg import svds

from gates2heads.data.batches.windows import Text, join_sentences
from gates2heads.models.words.counted import ppmi, svd_vectors, tf_idf
from gates2heads.models.words.glove import Cooccurrences, cooccurrences

SIZE = 13
sentence_lists = st.lists(
    st.lists(st.integers(0, SIZE - 1), min_size=2, max_size=11), min_size=1, max_size=7
)


def test_tf_idf_by_hand():
    # Word 0 is in both sentences: log(2/2) = 0. Word 1 occurs twice in the first: 2 log(2/1).
    vectors = tf_idf(join_sentences([[0, 1, 1], [0, 2]]), 4).to_dense()
    two = math.log(2)
    torch.testing.assert_close(vectors, torch.tensor([[0, 0], [2 * two, 0], [0, two], [0, 0]]))


@given(sentence_lists)
def test_tf_idf_agrees_with_a_slow_loop(sentences):
    ours = tf_idf(join_sentences(sentences), SIZE).to_dense()
    slow = torch.zeros(SIZE, len(sentences))
    for place, sentence in enumerate(sentences):
        for word, times in Counter(sentence).items():
            containing = sum(word in other for other in sentences)
            slow[word, place] = times * math.log(len(sentences) / containing)
    torch.testing.assert_close(ours, slow)


def test_ppmi_by_hand():
    # Of 8 counts, p(0,1) = 3/8 and p(0) = p(1) = 1/2: log((3/8) / (1/4)) = log 1.5. The pair
    # (0, 0) has log((1/8) / (1/4)) < 0, which becomes 0.
    row, column = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])
    table = Cooccurrences(row, column, torch.tensor([1.0, 3, 3, 1]))
    expected = torch.tensor([[0, math.log(1.5), 0], [math.log(1.5), 0, 0], [0, 0, 0]])
    torch.testing.assert_close(ppmi(table, 3), expected)


@given(sentence_lists, st.integers(1, 5), st.sampled_from([0.0, 0.75, 1.0]))
def test_ppmi_agrees_with_a_slow_double_loop(sentences, window, power):
    table = cooccurrences(join_sentences(sentences), window=window)
    ours, times = ppmi(table, SIZE, power=power), table.dense(SIZE).double()
    contexts = [float(column.sum()) ** power if column.sum() else 0 for column in times.T]
    for i in range(SIZE):
        for j in range(SIZE):
            slow = 0.0
            if times[i, j] > 0:
                together = float(times[i, j] / times.sum())
                apart = float(times[i].sum() / times.sum()) * contexts[j] / sum(contexts)
                slow = max(0.0, math.log(together / apart))
            assert float(ours[i, j]) == pytest.approx(slow, abs=1e-5)


@given(sentence_lists, st.integers(1, 5))
def test_ppmi_of_a_symmetric_table_is_symmetric(sentences, window):
    vectors = ppmi(cooccurrences(join_sentences(sentences), window=window), SIZE)
    torch.testing.assert_close(vectors, vectors.T)
    assert (vectors >= 0).all()


@pytest.mark.parametrize("power", [0, 0.5, 1])
@pytest.mark.parametrize("sparse", [False, True])
def test_singular_vectors_agree_with_scipy(power, sparse):
    generator = torch.Generator().manual_seed(3)
    matrix = torch.randn(101, 67, generator=generator)
    matrix = matrix @ torch.diag(0.8 ** torch.arange(67)) * 5  # singular values that fall
    matrix[matrix.abs() < 0.1] = 0
    ours = svd_vectors(matrix.to_sparse() if sparse else matrix, 7, power=power)
    left, values, _ = svds(coo_array(matrix.double().numpy()), k=7, random_state=0)
    order = np.argsort(-values)
    theirs = torch.from_numpy(left[:, order] * values[order] ** power).float()
    signs = (ours * theirs).sum(0).sign()
    torch.testing.assert_close(ours * signs, theirs, atol=1e-4, rtol=0)


def test_all_directions_keep_all_products():
    matrix = torch.rand(17, 11, generator=torch.Generator().manual_seed(5))
    vectors = svd_vectors(matrix, 11, power=1)  # M = U Σ Vᵀ, so M Mᵀ = (U Σ)(U Σ)ᵀ
    torch.testing.assert_close(vectors @ vectors.T, matrix @ matrix.T, atol=1e-4, rtol=0)


def test_the_seed_of_the_caller_stays():
    before = torch.get_rng_state()
    matrix = torch.eye(5) * torch.arange(1.0, 6)
    torch.testing.assert_close(svd_vectors(matrix, 2, seed=1).abs(), svd_vectors(matrix, 2).abs())
    assert torch.equal(torch.get_rng_state(), before)


def test_what_does_not_fit_is_refused_with_a_sentence():
    text = join_sentences([[0, 5, 1]])
    nothing = Text(torch.tensor([], dtype=torch.long), torch.tensor([], dtype=torch.long))
    with pytest.raises(ValueError, match="tokens must"):
        tf_idf(text, 5)
    with pytest.raises(ValueError, match="must contain at least one token, got none"):
        tf_idf(nothing, 5)
    table = cooccurrences(text)
    with pytest.raises(ValueError, match="tokens must"):
        ppmi(table, 5)
    with pytest.raises(ValueError, match=r"table.count must"):
        ppmi(table._replace(count=table.count * 0), 7)
    with pytest.raises(ValueError, match=r"vector_size must"):
        svd_vectors(torch.eye(5), 6)
