"""Attention: average the values, each weighted by how well its key matches the query."""

from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, flag, floats, module
from gates2heads.layers.masks import masked_softmax
from gates2heads.layers.record import note


@accepts(score=module)
class Attention(nn.Module):
    """Turn scores into weights and average the values with them.

    Source: Bahdanau et al. 2015, eq. 5–6. Departs from it in accepting any score function, and in
    excluding padding. Records `scores` and `weights` (B, T, S) inside a `record` block.

    Args:
        score: one of the score modules of `scores`.
    """

    def __init__(self, score: nn.Module):
        super().__init__()
        self.score = score

    @accepts(keys=floats("B S score.key_size"))
    def project_keys(self, keys: Tensor) -> Tensor:
        """The part of the score that is computed once for all queries, from keys (B, S, K)."""
        return self.score.project_keys(keys)

    @accepts(
        query=floats("B T score.query_size"),
        keys=floats("B S K"),
        values=floats("B S D"),
        mask=boolean_mask("B T S"),
        projected=flag,
    )
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        *,
        mask: Tensor | None = None,
        projected: bool = False,
    ):
        """Attend from each query to all keys.

        Args:
            query: (B, T, Q) float.
            keys: (B, S, K) float, or what `project_keys` made of them if `projected`.
            values: (B, S, D) float.
            mask: bool, broadcastable to (B, T, S); True = may attend.
            projected: the keys went through `project_keys` already.

        Returns:
            context (B, T, D), and weights (B, T, S) whose rows sum to 1.
        """
        keys = keys if projected else self.project_keys(keys)
        context, weights = self.attend(query, keys, values, mask=mask)
        note(self, weights=weights)
        return context, weights

    def attend(self, query: Tensor, keys: Tensor, values: Tensor, *, mask: Tensor | None = None):
        """Score the keys, apply the softmax, average the values.

        Args:
            query: (B, T, Q) float.
            keys: (B, S, ·) float, as `project_keys` made them.
            values: (B, S, D) float.
            mask: bool, broadcastable to (B, T, S); True = may attend.

        Returns:
            context (B, T, D), and weights (B, T, S) whose rows sum to 1.
        """
        scores = self.score(query, keys)  # (B, T, S)
        weights = masked_softmax(scores, mask=mask)
        note(self, scores=scores)
        return weights @ values, weights
