"""Local attention: score only the positions in a window, and nothing outside it."""

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, flag, floats, module, natural, whole
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.masks import masked_softmax
from gates2heads.layers.record import note


@accepts(score=module, window=natural, predictive=flag)
class LocalAttention(Attention):
    """Attend within D positions of a centre p that moves along the source.

    Source: Luong et al. 2015, section 3.2. Monotonic (local-m): p_t = t. Predictive (local-p):
    p_t = S · σ(vᵀ tanh(W q)), eq. 9, and the weights are multiplied by a Gaussian around p_t with
    σ = D/2, eq. 10, after which they no longer sum to 1. Departs from the paper in counting
    positions from 0, and in that a monotonic centre stops at the last source position instead of
    leaving the sentence. Records `weights` (B, T, S) and `centre` (B, T) inside a `record` block.

    Args:
        score: one of the score modules of `attention`.
        window: D, in tokens: 2D + 1 positions are scored, whatever the source length.
        predictive: the model predicts the centre (local-p); otherwise it advances step by step.
    """

    def __init__(self, score: nn.Module, window: int, *, predictive: bool = False):
        super().__init__(score)
        self.window, self.predictive = window, predictive
        if predictive:
            self.place = nn.Sequential(
                nn.Linear(score.query_size, score.query_size, bias=False),
                nn.Tanh(),
                nn.Linear(score.query_size, 1, bias=False),
            )

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
        start: int | Tensor = 0,
    ):
        """Attend from each query to the keys near its centre.

        Args:
            query: (B, T, Q) float.
            keys: (B, S, K) float, or what `project_keys` made of them if `projected`.
            values: (B, S, D) float.
            mask: bool, broadcastable to (B, T, S); True = may attend. The length of a source is
                given by its last allowed position.
            projected: the keys went through `project_keys` already.
            start: the step t of the first query, one number or (B,); a decoder with one query at a
                time increments it. Used by monotonic attention only.

        Returns:
            context (B, T, D), and weights (B, T, S), zero outside the window.

        Raises:
            TypeError, ValueError: `start` is not a step, or not one for each sequence.
        """
        if not self.predictive:
            _check_start(start, len(query))
        allowed = torch.ones(*query.shape[:2], keys.shape[1], dtype=torch.bool, device=query.device)
        allowed = allowed if mask is None else allowed & mask  # (B, T, S)
        keys = keys if projected else self.project_keys(keys)
        centre = self._centre(query, allowed, start)  # (B, T)
        context, weights = self.attend_near(centre, query, keys, values, allowed)
        note(self, weights=weights, centre=centre)
        return context, weights

    def attend_near(
        self, centre: Tensor, query: Tensor, keys: Tensor, values: Tensor, allowed: Tensor
    ):
        """Score, apply the softmax and average, within the window only.

        Args:
            centre: (B, T), the centre of each query's window, in positions.
            query: (B, T, Q) float.
            keys: (B, S, ·) float, as `project_keys` made them.
            values: (B, S, D) float.
            allowed: (B, T, S) bool, True = may attend.

        Returns:
            context (B, T, D), and weights (B, T, S), zero outside the window.
        """
        places, inside = self._places(centre, keys.shape[1])  # (B, T, W), W = 2D + 1
        scores = self.score(
            query.flatten(0, 1)[:, None],  # (B, T, Q) -> (B · T, 1, Q): a window for each query
            _take(keys, places).flatten(0, 1),  # (B · T, W, K)
        ).view(places.shape)
        weights = masked_softmax(scores, mask=inside & allowed.gather(2, places))
        if self.predictive:
            distance = places - centre[..., None]
            weights = weights * torch.exp(-2 * (distance / self.window).square())  # σ = D/2
        context = weights[:, :, None] @ _take(values, places)  # (B, T, 1, D)
        full = torch.zeros_like(allowed, dtype=weights.dtype).scatter_add(2, places, weights)
        return context[:, :, 0], full

    def _centre(self, query: Tensor, allowed: Tensor, start: int | Tensor) -> Tensor:
        """The centre of each query's window (B, T, Q), in positions: (B, T)."""
        count = torch.arange(1, allowed.shape[2] + 1, device=query.device)
        lengths = (allowed * count).amax(dim=-1)  # (B, T)
        if self.predictive:
            return lengths * self.place(query).squeeze(-1).sigmoid()
        steps = torch.arange(allowed.shape[1], device=query.device)
        begin = torch.as_tensor(start, device=query.device).reshape(-1, 1)  # (B or 1, 1)
        return torch.minimum(begin + steps, (lengths - 1).clamp_min(0)).to(query.dtype)

    def _places(self, centre: Tensor, size: int):
        """The positions of each window (B, T, W), and which of them are in window and source."""
        width = torch.arange(2 * self.window + 1, device=centre.device)
        places = (centre.detach()[..., None] - self.window).ceil().long() + width
        near = (places - centre.detach()[..., None]).abs() <= self.window
        return places.clamp(0, size - 1), near & (places >= 0) & (places < size)


def _take(vectors: Tensor, places: Tensor) -> Tensor:
    """Gather from vectors (B, S, D) the positions (B, T, W): (B, T, W, D)."""
    rows = torch.arange(len(vectors), device=vectors.device)[:, None, None]
    return vectors[rows, places]


def _check_start(start: int | Tensor, batch: int) -> None:
    """Reject an invalid first step: it is a whole number, or one for each sequence, (B,)."""
    kind = whole(str(batch)) if isinstance(start, Tensor) else natural(least=0)
    kind.check("start", start)
