"""Chapter 4, what the context vector of an encoder contains."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, floats, instance, listed, module, strings
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.corpora.dates import DatePair

LABELS = strings
RIDGE = 0.1  # keeps the least squares of `linear_share` solvable; small beside the vectors


@accepts(model=module, batch=instance(Batch, "as `collate` makes"))
def contexts(model: nn.Module, batch: Batch) -> Tensor:
    """The context vectors (B, U) of an encoder–decoder for the sources of a batch."""
    with torch.no_grad():
        return model.encoder(batch.source, mask=batch.source_mask)[1]


@accepts(vectors=floats("N U"), labels=LABELS)
def class_means(vectors: Tensor, labels: Sequence[str]) -> tuple[list[str], Tensor]:
    """The labels that occur, sorted, and the mean vector of each: (C, U)."""
    names = sorted(set(labels))
    index = torch.tensor([names.index(label) for label in labels])
    return names, torch.stack([vectors[index == n].mean(0) for n in range(len(names))])


@accepts(vectors=floats("N U"), labels=LABELS)
def class_plane(vectors: Tensor, labels: Sequence[str]) -> Tensor:
    """The two principal components of the class means, as rows (2, U).

    The largest component of each is positive, so that the picture is the same on every machine.

    Args:
        vectors, labels: (N, U) and N labels, of at least three classes.
    """
    _, means = class_means(vectors, labels)
    axes = torch.linalg.svd(means - means.mean(0), full_matrices=False)[2][:2]
    largest = axes.gather(1, axes.abs().argmax(1, keepdim=True))
    return axes * largest.sign()


@accepts(vectors=floats("N U"), labels=LABELS, new_vectors=floats("M U"), new_labels=LABELS)
def nearest_mean_share(
    vectors: Tensor, labels: Sequence[str], new_vectors: Tensor, new_labels: Sequence[str]
) -> float:
    """The share of new vectors whose nearest class mean has their own label.

    Args:
        vectors, labels: (N, U) and N labels, from which the means are computed.
        new_vectors, new_labels: (M, U) and M labels, which are classified.
    """
    names, means = class_means(vectors, labels)
    return _share(names, -torch.cdist(new_vectors, means), new_labels)


@accepts(vectors=floats("N U"), labels=LABELS, new_vectors=floats("M U"), new_labels=LABELS)
def linear_share(
    vectors: Tensor, labels: Sequence[str], new_vectors: Tensor, new_labels: Sequence[str]
) -> float:
    """The share of new vectors that a linear classifier, fitted by least squares, labels correctly.

    Args:
        vectors, labels: (N, U) and N labels, to which the classifier is fitted.
        new_vectors, new_labels: (M, U) and M labels, which are classified.
    """
    names = sorted(set(labels))
    wanted = torch.tensor([[label == name for name in names] for label in labels]).double()
    fitted, new = (_with_one(some, vectors) for some in (vectors, new_vectors))
    square = fitted.T @ fitted + RIDGE * torch.eye(fitted.shape[1], dtype=torch.double)
    return _share(names, new @ torch.linalg.solve(square, fitted.T @ wanted), new_labels)


@accepts(pairs=listed("dates", kind=instance(DatePair), least=1))
def date_labels(pairs: Sequence[DatePair]) -> dict[str, list[str]]:
    """What dates can be classified by: property → a label for each date."""
    return {
        "tens digit of the year": [pair.iso[2] for pair in pairs],
        "month": [str(int(pair.iso[5:7])) for pair in pairs],
        "day": [str(int(pair.iso[8:])) for pair in pairs],
        "language of the source": [pair.locale for pair in pairs],
    }


def _with_one(some: Tensor, vectors: Tensor) -> Tensor:
    """Standardised vectors with a column of ones for the bias: (N, U + 1)."""
    scaled = (some - vectors.mean(0)).double() / vectors.std().double()
    return torch.cat([scaled, torch.ones(len(scaled), 1, dtype=torch.double)], dim=1)


def _share(names: list[str], scores: Tensor, labels: Sequence[str]) -> float:
    """The share of rows of scores (M, C) whose best class is the label."""
    found = [names[n] for n in scores.argmax(1).tolist()]
    return sum(one == label for one, label in zip(found, labels, strict=True)) / len(found)
