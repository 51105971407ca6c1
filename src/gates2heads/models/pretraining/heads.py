"""Heads: small readouts that make a pre-trained model answer one kind of question.

Each reads vectors (B, L, D): what the last layer wrote, or a `LayerMix` of all layers.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, count, floats, mask, share

READS = ("first", "last", "mean")


@accepts(vectors=floats("B L D", empty=False), read=choice(READS), mask=mask("B L"))
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
        ValueError: a row has no real token.
    """
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


@accepts(width=count, classes=count(least=2), read=choice(READS), dropout=share)
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
        self.width, self.read, self.dropout = width, read, dropout
        self.hidden = nn.Linear(width, width)
        self.readout = nn.Linear(width, classes)

    @accepts(vectors=floats("B L width"), mask=mask("B L"))
    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Read vectors (B, L, D) under mask (B, L): logits (B, classes)."""
        hidden = torch.tanh(self.hidden(summarise(vectors, self.read, mask=mask)))
        return self.readout(F.dropout(hidden, self.dropout, self.training))


@accepts(width=count, classes=count(least=2), read=choice(READS), dropout=share)
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
        self.width, self.read, self.dropout = width, read, dropout
        self.readout = nn.Linear(4 * width, classes)

    @accepts(
        first=floats("B L width"),
        second=floats("B M width"),
        first_mask=mask("B L"),
        second_mask=mask("B M"),
    )
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
        """
        one = summarise(first, self.read, mask=first_mask)
        two = summarise(second, self.read, mask=second_mask)
        both = torch.cat([one, two, (one - two).abs(), one * two], dim=-1)  # (B, 4D)
        return self.readout(F.dropout(both, self.dropout, self.training))


@accepts(width=count, classes=count(least=2), dropout=share)
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
        self.width, self.dropout = width, dropout
        self.readout = nn.Linear(width, classes)

    @accepts(vectors=floats("B L width"))
    def forward(self, vectors: Tensor) -> Tensor:
        """Read vectors (B, L, D): logits (B, L, classes), one row a token."""
        return self.readout(F.dropout(vectors, self.dropout, self.training))
