"""Attention: average the values, each weighted by how well its key matches the query."""

from torch import Tensor, nn

from gates2heads.checks.shown import shown
from gates2heads.checks.tensors import check_dtypes, check_width
from gates2heads.layers.masks import masked_softmax
from gates2heads.layers.record import note


class Attention(nn.Module):
    """Turn scores into weights and average the values with them.

    Source: Bahdanau et al. 2015, eq. 5–6. Departs from it in taking any score function, and in
    leaving padding out. Notes `weights` (B, T, S) when somebody records.

    Args:
        score: one of the score modules above.
    """

    def __init__(self, score: nn.Module):
        super().__init__()
        if not isinstance(score, nn.Module) or not hasattr(score, "query_size"):
            raise TypeError(f"score must be a score module, got {shown(score)}")
        self.score = score

    def project_keys(self, keys: Tensor) -> Tensor:
        """What the score can compute once for all queries, from keys (B, S, K)."""
        check_width("keys", keys, self.score.key_size, dims=3)
        check_dtypes(self, keys=keys)
        return self.score.project_keys(keys)

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

        Raises:
            TypeError, ValueError: widths, lengths or dtypes differ, the mask is not bool or does
                not fit.
        """
        check_width("query", query, self.score.query_size, dims=3)
        check_width("keys", keys, None if projected else self.score.key_size, dims=3)
        check_width("values", values, None, dims=3)
        check_dtypes(self, query=query, keys=keys, values=values)
        if keys.shape[:2] != values.shape[:2] or len(query) != len(keys):
            raise ValueError(
                "query, keys and values must agree in batch, keys and values also in length; got "
                f"{tuple(query.shape)}, {tuple(keys.shape)} and {tuple(values.shape)}"
            )
        scores = self.score(query, keys if projected else self.project_keys(keys))  # (B, T, S)
        weights = masked_softmax(scores, mask=mask)
        note(self, weights=weights)
        return weights @ values, weights


def check_attention(attention: Attention, hidden_size: int) -> None:
    """Refuse what does not attend from the decoder's states to the encoder's, both U wide.

    Raises:
        TypeError: it is no attention layer.
        ValueError: it reads queries or keys of another width.
    """
    if not isinstance(attention, Attention):
        raise TypeError(f"attention must be an attention layer, got {shown(attention)}")
    sizes = (attention.score.query_size, attention.score.key_size)
    if sizes != (hidden_size, hidden_size):
        raise ValueError(
            f"attention must read queries and keys of hidden_size {hidden_size}, got {sizes}"
        )
