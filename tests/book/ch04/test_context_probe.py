"""What the context vector contains: class means, their plane and two classifiers, by hand."""

import pytest
import torch

from gates2heads.book.ch04.context_probe import (
    class_means,
    class_plane,
    contexts,
    date_labels,
    linear_share,
    nearest_mean_share,
)
from gates2heads.data.batches.pairs import collate
from gates2heads.data.corpora.dates import DatePair
from gates2heads.models.translation.seq2seq import EncoderDecoder

VECTORS = torch.tensor([[0.0, 0.0, 1.0], [0.0, 2.0, -1.0], [8.0, 0.0, 1.0], [8.0, 2.0, -1.0]])
LABELS = ["a", "a", "b", "b"]


def test_the_context_is_the_last_state_of_each_direction():
    torch.manual_seed(0)
    model = EncoderDecoder(7, 5, score=None, embedding_size=3, hidden_size=4)
    batch = collate([([3, 4, 5, 2], [3, 2]), ([6, 2], [4, 2])])
    found = contexts(model, batch)
    alone = contexts(model, collate([([6, 2], [4, 2])]))
    assert found.shape == (2, 4)
    torch.testing.assert_close(found[1], alone[0])
    assert not found.requires_grad


def test_means_and_their_plane_by_hand():
    names, means = class_means(VECTORS, LABELS)
    assert names == ["a", "b"]
    torch.testing.assert_close(means, torch.tensor([[0.0, 1.0, 0.0], [8.0, 1.0, 0.0]]))
    plane = class_plane(VECTORS, LABELS)
    torch.testing.assert_close(plane[0], torch.tensor([1.0, 0.0, 0.0]))


def test_the_plane_does_not_depend_on_signs():
    torch.manual_seed(0)
    vectors, labels = torch.randn(40, 5), [str(n % 4) for n in range(40)]
    torch.testing.assert_close(class_plane(vectors, labels), class_plane(-vectors, labels))


def test_the_nearest_mean_by_hand():
    new = torch.tensor([[1.0, 0.0, 0.0], [7.0, 0.0, 0.0], [1.0, 5.0, 0.0]])
    assert nearest_mean_share(VECTORS, LABELS, new, ["a", "b", "b"]) == pytest.approx(2 / 3)


def test_a_linear_classifier_finds_what_means_do_not():
    torch.manual_seed(0)
    noise, small = 10 * torch.randn(200), torch.tensor([0.5, -0.5]).repeat(100)
    vectors = torch.stack([noise, small], dim=1)
    labels = ["a", "b"] * 100
    halves = vectors[:100], labels[:100], vectors[100:], labels[100:]
    assert linear_share(*halves) == 1
    assert nearest_mean_share(*halves) < 0.9


def test_unequal_numbers_of_labels_are_refused():
    with pytest.raises(ValueError, match="zip"):
        nearest_mean_share(VECTORS, LABELS, VECTORS, LABELS[:2])


def test_a_date_has_four_labels():
    pair = DatePair("4. Februar 1974", "1974-02-04", "de", "long")
    assert [label for (label,) in date_labels([pair]).values()] == ["7", "2", "4", "de"]
