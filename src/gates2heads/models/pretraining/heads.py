"""Heads: small readouts that make a pre-trained model answer one kind of question.

Each reads vectors (B, L, D): what the last layer wrote, or a `LayerMix` of all layers.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.checks.tensors import check_dtypes, check_mask, check_width
from gates2heads.checks.values import check_choice, check_count, check_share

READS = ("first", "last", "mean")


def summarise(vectors: Tensor, read: str = "first", *, mask: Tensor | None = None) -> Tensor:
    """One vector for a whole sequence.

    Args:
        vectors: (B, L, D) float.
        read: "first" is [CLS], Devlin et al. 2019, section 4.1; "last" is the last real token,
            which alone has seen all in a model that looks back, Radford et al. 2018, section 3.2;
            "mean" is the mean of the real tokens.
        mask: (B, L) bool, True = a real token.

    Returns:
        (B, D).

    Raises:
        TypeError, ValueError: the vectors, the name or the mask do not fit, or a row has no real
            token.
    """
    check_width("vectors", vectors, None, dims=3)
    if not vectors.is_floating_point():
        raise TypeError(f"vectors must hold floating-point numbers, got {vectors.dtype}")
    if not vectors.shape[1]:
        raise ValueError(f"vectors must have a token, got shape {tuple(vectors.shape)}")
    check_choice("read", read, READS)
    check_mask(mask, vectors.shape[:2], like=vectors)
    if read == "first":
        return vectors[:, 0]
    if mask is None:
        return vectors[:, -1] if read == "last" else vectors.mean(dim=1)
    mask = mask.expand(vectors.shape[:2])
    if not mask.any(dim=1).all():
        raise ValueError("mask leaves a row without a real token, so there is nothing to read")
    if read == "mean":
        kept = vectors.masked_fill(~mask[..., None], 0.0)
        return kept.sum(dim=1) / mask.sum(dim=1, keepdim=True)
    places = torch.arange(mask.shape[1], device=mask.device)
    last = places.expand(mask.shape).masked_fill(~mask, -1).amax(dim=1)  # (B,)
    return vectors[torch.arange(len(vectors), device=mask.device), last]


class SentenceHead(nn.Module):
    """To which class a sequence belongs.

    Source: Devlin et al. 2019, section 4.1, with the hidden layer of its code, which begins as
    the model's own: `head.hidden.load_state_dict(model.pooler.state_dict())`.

    Args:
        width: D.
        classes: how many classes.
        read: "first", "last" or "mean"; see `summarise`.
        dropout: how much of the hidden layer is set to zero while training.
    """

    def __init__(self, width: int, classes: int, *, read: str = "first", dropout: float = 0.1):
        super().__init__()
        check_count("width", width)
        check_count("classes", classes, least=2)
        check_share("dropout", dropout)
        check_choice("read", read, READS)
        self.width, self.read, self.dropout = width, read, dropout
        self.hidden = nn.Linear(width, width)
        self.readout = nn.Linear(width, classes)

    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Read vectors (B, L, D) under mask (B, L): logits (B, classes).

        Raises:
            TypeError, ValueError: the vectors or the mask do not fit.
        """
        check_width("vectors", vectors, self.width, dims=3)
        check_dtypes(self, vectors=vectors)
        hidden = torch.tanh(self.hidden(summarise(vectors, self.read, mask=mask)))
        return self.readout(F.dropout(hidden, self.dropout, self.training))


class PairHead(nn.Module):
    """In which relation two texts stand that were read one by one.

    Source: Conneau et al. 2017, section 3.1: a linear readout of [u; v; |u − v|; u ⊙ v]. It serves
    models that cannot tell two texts apart in one sequence, such as ELMo. For BERT, the paper's way
    is a `SentenceHead` on what `join(premise, hypothesis)` becomes: there, attention compares the
    two word by word.

    Args:
        width: D.
        classes: how many relations; three in inference: follows, contradicts, neither.
        read: "first", "last" or "mean"; see `summarise`.
        dropout: how much of what the readout reads is set to zero while training.
    """

    def __init__(self, width: int, classes: int, *, read: str = "mean", dropout: float = 0.1):
        super().__init__()
        check_count("width", width)
        check_count("classes", classes, least=2)
        check_share("dropout", dropout)
        check_choice("read", read, READS)
        self.width, self.read, self.dropout = width, read, dropout
        self.readout = nn.Linear(4 * width, classes)

    def forward(
        self,
        first: Tensor,
        second: Tensor,
        *,
        first_mask: Tensor | None = None,
        second_mask: Tensor | None = None,
    ) -> Tensor:
        """Compare first (B, L, D) and second (B, M, D), under masks (B, L) and (B, M).

        Returns:
            logits (B, classes).

        Raises:
            TypeError, ValueError: a text or a mask does not fit, or the batches differ.
        """
        for name, vectors in (("first", first), ("second", second)):
            check_width(name, vectors, self.width, dims=3)
            check_dtypes(self, **{name: vectors})
        if len(first) != len(second):
            raise ValueError(
                f"first and second must agree in batch, got {len(first)} and {len(second)} rows"
            )
        one = summarise(first, self.read, mask=first_mask)
        two = summarise(second, self.read, mask=second_mask)
        both = torch.cat([one, two, (one - two).abs(), one * two], dim=-1)  # (B, 4D)
        return self.readout(F.dropout(both, self.dropout, self.training))


class TokenHead(nn.Module):
    """Which label each token has: names, slots, parts of speech.

    Source: Devlin et al. 2019, section 5.3.

    Args:
        width: D.
        classes: how many labels.
        dropout: how much of the vectors is set to zero while training.
    """

    def __init__(self, width: int, classes: int, *, dropout: float = 0.1):
        super().__init__()
        check_count("width", width)
        check_count("classes", classes, least=2)
        check_share("dropout", dropout)
        self.width, self.dropout = width, dropout
        self.readout = nn.Linear(width, classes)

    def forward(self, vectors: Tensor) -> Tensor:
        """Read vectors (B, L, D): logits (B, L, classes), one row a token.

        Raises:
            TypeError, ValueError: the vectors do not fit.
        """
        check_width("vectors", vectors, self.width, dims=3)
        check_dtypes(self, vectors=vectors)
        return self.readout(F.dropout(vectors, self.dropout, self.training))
