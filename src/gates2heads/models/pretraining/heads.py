"""Heads: small output layers on a pre-trained model, one for each kind of task.

The input of each is vectors (B, L, D): the last layer's output, or a `LayerMix` of all layers.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, choice, floats, fraction, natural

READS = ("first", "last", "mean")


@accepts(vectors=floats("B L D", empty=False), read=choice(READS), mask=boolean_mask("B L"))
def summarise(vectors: Tensor, read: str = "first", *, mask: Tensor | None = None) -> Tensor:
    """One vector for a whole sequence.

    Args:
        vectors: (B, L, D) float.
        read: "first" is [CLS], Devlin et al. 2019, section 4.1; "last" is the last real token,
            the only one that depends on all tokens in a causal model, Radford et al. 2018, section
            3.2; "mean" is the mean of the real tokens.
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


@accepts(width=natural, classes=natural(least=2), read=choice(READS), dropout=fraction)
class SentenceHead(nn.Module):
    """Classify a sequence.

    Source: Devlin et al. 2019, section 4.1, with the hidden layer of its code, which is initialised
    from the model's own: `head.hidden.load_state_dict(model.pooler.state_dict())`.

    Args:
        width: D.
        classes: the number of classes.
        read: "first", "last" or "mean"; see `summarise`.
        dropout: the fraction of the hidden layer that is set to zero during training.
    """

    def __init__(self, width: int, classes: int, *, read: str = "first", dropout: float = 0.1):
        super().__init__()
        self.width, self.read, self.dropout = width, read, dropout
        self.hidden = nn.Linear(width, width)
        self.readout = nn.Linear(width, classes)

    @accepts(vectors=floats("B L width"), mask=boolean_mask("B L"))
    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """From vectors (B, L, D) under mask (B, L) to logits (B, classes)."""
        hidden = torch.tanh(self.hidden(summarise(vectors, self.read, mask=mask)))
        return self.readout(F.dropout(hidden, self.dropout, self.training))


@accepts(width=natural, classes=natural(least=2), dropout=fraction)
class TokenHead(nn.Module):
    """Label each token: named entities, slots, parts of speech.

    Source: Devlin et al. 2019, section 5.3.

    Args:
        width: D.
        classes: the number of labels.
        dropout: the fraction of the vectors that is set to zero during training.
    """

    def __init__(self, width: int, classes: int, *, dropout: float = 0.1):
        super().__init__()
        self.width, self.dropout = width, dropout
        self.readout = nn.Linear(width, classes)

    @accepts(vectors=floats("B L width"))
    def forward(self, vectors: Tensor) -> Tensor:
        """From vectors (B, L, D) to logits (B, L, classes), one row per token."""
        return self.readout(F.dropout(vectors, self.dropout, self.training))
