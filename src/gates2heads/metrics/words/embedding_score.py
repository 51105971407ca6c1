"""Similarity of two sentences by the vectors of their tokens, as in BERTScore.

Each token is matched with the most similar token of the other sentence, by the cosine of their
vectors. The mean over the hypothesis is a precision, the mean over the reference a recall.

Source: Zhang et al. 2020, BERTScore, section 3, without the weights by inverse document frequency
and without rescaling. BERTScore takes its vectors from a pre-trained encoder; here the caller
provides them.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats

__all__ = ["EmbeddingScore", "embedding_score"]


class EmbeddingScore(NamedTuple):
    """Means of cosines: precision, recall and their harmonic mean, each from -1 to 1."""

    precision: float
    recall: float
    f_measure: float


@accepts(hypothesis=floats("N D", empty=False), reference=floats("M D", empty=False))
def embedding_score(hypothesis: Tensor, reference: Tensor) -> EmbeddingScore:
    """Match each token with the most similar one of the other sentence.

    Args:
        hypothesis: vectors of its tokens (N, D).
        reference: vectors of its tokens (M, D).
    Returns:
        precision: the mean over the hypothesis of each token's largest cosine; recall: the same
        over the reference; and their harmonic mean, 0 if the two add up to 0 or less.
    """
    first, second = (
        torch.nn.functional.normalize(one.double(), dim=1) for one in (hypothesis, reference)
    )
    cosines = first @ second.T  # (N, M)
    precision = cosines.max(dim=1).values.mean().item()
    recall = cosines.max(dim=0).values.mean().item()
    both = precision + recall
    return EmbeddingScore(precision, recall, 2 * precision * recall / both if both > 0 else 0.0)
