"""Scores by the vectors of tokens: by hand, against loops, what it cannot see, wrong arguments."""

import math

import pytest
import torch

from gates2heads.metrics.words.embedding_score import embedding_score


def in_loops(hypothesis, reference):
    """Each token's largest cosine, one pair at a time."""

    def cosine(a, b):
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))

    precision = [max(cosine(a, b) for b in reference) for a in hypothesis]
    recall = [max(cosine(a, b) for a in hypothesis) for b in reference]
    p, r = sum(precision) / len(precision), sum(recall) / len(recall)
    return p, r, 2 * p * r / (p + r) if p + r > 0 else 0.0


def test_by_hand():
    # one token of two is met exactly, the other at 60 degrees
    hypothesis = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    reference = torch.tensor([[1.0, 0.0], [math.sqrt(3) / 2, 0.5]])
    found = embedding_score(hypothesis, reference)
    assert found.precision == pytest.approx((1 + 0.5) / 2)
    assert found.recall == pytest.approx((1 + math.sqrt(3) / 2) / 2)
    assert found.f_measure == pytest.approx(
        2 * found.precision * found.recall / (found.precision + found.recall)
    )


def test_against_loops():
    draw = torch.Generator().manual_seed(0)
    for trial in range(200):
        n, m = torch.randint(1, 9, (2,), generator=draw).tolist()
        hypothesis, reference = (torch.randn(size, 5, generator=draw) for size in (n, m))
        wanted = in_loops(hypothesis.tolist(), reference.tolist())
        assert tuple(embedding_score(hypothesis, reference)) == pytest.approx(wanted), trial


def test_order_and_repetition_change_nothing():
    words = torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
    turned = words[[3, 0, 5, 1, 4, 2, 2, 2]]
    assert tuple(embedding_score(turned, words)) == pytest.approx((1, 1, 1))


def test_opposite_vectors_have_no_mean():
    found = embedding_score(torch.tensor([[1.0]]), torch.tensor([[-1.0]]))
    assert tuple(found) == (-1, -1, 0)
