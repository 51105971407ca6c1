"""Score functions: how well a key matches a query."""

import math

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, flag, floats, natural, positive


@accepts(query_size=natural, key_size=natural, scaled=flag)
class DotScore(nn.Module):
    """Score a key by its inner product with the query: e = qᵀk, over √K if `scaled`.

    Source: Luong et al. 2015, eq. 8 (dot); Vaswani et al. 2017, eq. 1 (scaled).

    Args:
        query_size, key_size: the widths, which must be equal: K.
        scaled: divide by √K, so that the scores' variance does not grow with the width.
    """

    def __init__(self, query_size: int, key_size: int, *, scaled: bool = False):
        super().__init__()
        if query_size != key_size:
            raise ValueError(
                f"a dot product needs query_size = key_size, got {query_size} and {key_size}"
            )
        self.query_size = self.key_size = key_size
        self.scale = 1 / math.sqrt(key_size) if scaled else 1.0

    def project_keys(self, keys: Tensor) -> Tensor:
        """The part computed once for all queries: here nothing, keys (B, S, K) unchanged."""
        return keys

    @accepts(query=floats("B T query_size"), projected=floats("B S key_size"))
    def forward(self, query: Tensor, projected: Tensor) -> Tensor:
        """Score query (B, T, K) against projected keys (B, S, K): (B, T, S)."""
        return query @ projected.transpose(1, 2) * self.scale


@accepts(query_size=natural, key_size=natural)
class ScaledDotScore(DotScore):
    """Score by the inner product over √K: e = qᵀk / √K.

    Source: Vaswani et al. 2017, eq. 1.
    """

    def __init__(self, query_size: int, key_size: int):
        super().__init__(query_size, key_size, scaled=True)


@accepts(query_size=natural, key_size=natural)
class GeneralScore(nn.Module):
    """Score by a learned bilinear form: e = qᵀ W k.

    Source: Luong et al. 2015, eq. 8 (general). Query and key may have different widths. W starts
    as the identity (where the widths differ, as a part of it), so that training begins at the dot
    product; a small random W gives nearly equal scores, and learning starts slowly.
    """

    def __init__(self, query_size: int, key_size: int):
        super().__init__()
        self.query_size, self.key_size = query_size, key_size
        self.bilinear = nn.Linear(key_size, query_size, bias=False)
        nn.init.eye_(self.bilinear.weight)

    def project_keys(self, keys: Tensor) -> Tensor:
        """W k for all keys (B, S, K): (B, S, query_size)."""
        return self.bilinear(keys)

    @accepts(query=floats("B T query_size"), projected=floats("B S query_size"))
    def forward(self, query: Tensor, projected: Tensor) -> Tensor:
        """Score query (B, T, Q) against projected keys (B, S, Q): (B, T, S)."""
        return query @ projected.transpose(1, 2)


@accepts(query_size=natural, key_size=natural, hidden_size=natural)
class AdditiveScore(nn.Module):
    """Score by a network with one hidden layer: e = vᵀ tanh(W_q q + W_k k).

    Source: Bahdanau et al. 2015, appendix A.1.2. Departs from it in nothing.

    Args:
        query_size, key_size: the widths, which may differ.
        hidden_size: width of the hidden layer; the query's width if not given.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int | None = None):
        super().__init__()
        hidden_size = query_size if hidden_size is None else hidden_size
        self.query_size, self.key_size = query_size, key_size
        self.query_layer = nn.Linear(query_size, hidden_size, bias=False)
        self.key_layer = nn.Linear(key_size, hidden_size, bias=False)
        self.vector = nn.Linear(hidden_size, 1, bias=False)

    def project_keys(self, keys: Tensor) -> Tensor:
        """W_k k for all keys (B, S, K): (B, S, hidden_size)."""
        return self.key_layer(keys)

    @accepts(query=floats("B T query_size"), projected=floats("B S vector.in_features"))
    def forward(self, query: Tensor, projected: Tensor) -> Tensor:
        """Score query (B, T, Q) against projected keys (B, S, hidden_size): (B, T, S)."""
        pairs = self.query_layer(query)[:, :, None] + projected[:, None]  # (B, T, S, hidden_size)
        return self.vector(torch.tanh(pairs)).squeeze(-1)


class ConcatScore(AdditiveScore):
    """Score the concatenation of query and key: e = vᵀ tanh(W [q; k]).

    Source: Luong et al. 2015, eq. 8 (concat). One matrix W over [q; k] is two matrices side by
    side, W [q; k] = W_q q + W_k k: the additive score under another name.
    """

    @property
    def weight(self) -> Tensor:
        """The single matrix W = [W_q, W_k] (hidden_size, query_size + key_size)."""
        return torch.cat([self.query_layer.weight, self.key_layer.weight], dim=1)


@accepts(size=natural, bandwidth=positive)
class GaussianScore(nn.Module):
    """Score by distance: e = −‖q − k‖² / (2σ²). Softmax of it is a Gaussian kernel.

    Source: Nadaraya 1964, Watson 1964: with this score, attention is kernel regression.

    Args:
        size: the width of query and key.
        bandwidth: σ, in the units of the keys; if small, only the nearest keys get weight.
    """

    def __init__(self, size: int, bandwidth: float = 1.0):
        super().__init__()
        self.query_size = self.key_size = size
        self.bandwidth = bandwidth

    def project_keys(self, keys: Tensor) -> Tensor:
        """Keys (B, S, K), unchanged."""
        return keys

    @accepts(query=floats("B T query_size"), projected=floats("B S key_size"))
    def forward(self, query: Tensor, projected: Tensor) -> Tensor:
        """Score query (B, T, K) against keys (B, S, K): (B, T, S)."""
        squares = (query[:, :, None] - projected[:, None]).square().sum(-1)  # (B, T, S)
        return -squares / (2 * self.bandwidth**2)


SCORES = {
    "additive": AdditiveScore,
    "dot": DotScore,
    "scaled dot": ScaledDotScore,
    "general": GeneralScore,
    "concat": ConcatScore,
}
