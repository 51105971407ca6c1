"""Chapter 6, how far a layer reaches: small models that recall the token d positions earlier.

Every model embeds its tokens, lets one layer carry information between positions, and projects to
logits. The models differ in that layer only and, for attention, in the positional encoding.
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    any_seed,
    choice,
    flag,
    floats,
    instance,
    module,
    natural,
    positive,
    tokens,
)
from gates2heads.layers.attention.alibi import ALiBiAttention
from gates2heads.layers.attention.heads import join_heads, scaled_dot, split_heads
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.masks import causal_mask
from gates2heads.layers.positions import LearnedPositions, SinusoidalPositions, rotate
from gates2heads.layers.recurrent import GRU
from gates2heads.training.losses import cross_entropy

SYMBOLS, LENGTH, WIDTH = 16, 48, 64
DEPTH, KERNEL = 4, 3  # of the convolution: it reaches 4 positions to each side
POSITIONS = ("none", "sinusoidal", "learned", "rotary", "concatenated", "concatenated-narrow")
KINDS = ("recurrence", "convolution", *POSITIONS, "alibi")
ALIBI_HEADS = 8  # slopes 1/2, 1/4, …, 1/256


class Convolutions(nn.Module):
    """A stack of convolutions over the positions, each followed by a ReLU."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, KERNEL, padding=KERNEL // 2) for _ in range(DEPTH)
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """(B, L, D) -> (B, L, D)."""
        channels = vectors.transpose(1, 2)  # (B, L, D) -> (B, D, L)
        for layer in self.layers:
            channels = layer(channels).relu()
        return channels.transpose(1, 2)


@accepts(kind=choice(KINDS))
class CopyModel(nn.Module):
    """A model that outputs logits over the tokens at every position.

    Args:
        kind: `recurrence` is one left-to-right GRU and `convolution` a stack of four layers of
            kernel size 3. All others are one layer of self-attention with one head, and the name is
            that of the positional encoding: none, added sinusoids, an added learned table, rotary
            encoding, or sinusoids concatenated to the embeddings. `concatenated` doubles the
            width to 128; `concatenated-narrow` concatenates 32 and 32 dimensions and stays at 64.
            `alibi` has eight heads, since its slopes differ from head to head, and is causal.
    """

    def __init__(self, kind: str):
        super().__init__()
        wide = 2 * WIDTH if kind == "concatenated" else WIDTH
        half = WIDTH // 2
        self.embedding = nn.Embedding(SYMBOLS, half if kind == "concatenated-narrow" else WIDTH)
        self.places = {
            "sinusoidal": lambda: SinusoidalPositions(WIDTH),
            "learned": lambda: LearnedPositions(LENGTH, WIDTH),
            "concatenated": lambda: SinusoidalPositions(WIDTH, "concatenate"),
            "concatenated-narrow": lambda: SinusoidalPositions(half, "concatenate"),
        }.get(kind, nn.Identity)()
        self.mixer = {
            "recurrence": lambda: GRU(WIDTH, WIDTH),
            "convolution": Convolutions,
            "alibi": lambda: ALiBiAttention(WIDTH, ALIBI_HEADS),
        }.get(kind, lambda: MultiHeadAttention(wide, 1, rotary=kind == "rotary"))()
        self.readout = nn.Linear(wide, SYMBOLS)

    @accepts(tokens=tokens("B S", below=SYMBOLS))
    def forward(self, tokens: Tensor) -> Tensor:
        """Read tokens (B, L); return logits (B, L, 16)."""
        mixed = self.mixer(self.places(self.embedding(tokens)))  # (B, L, D)
        states = mixed[0] if isinstance(mixed, tuple) else mixed  # a GRU also gives its last state
        return self.readout(states)


@accepts(attention=instance(MultiHeadAttention), scale=positive)
class Interpolated(nn.Module):
    """Rotary self-attention with position interpolation: every position is multiplied by a scale.

    Source: Chen et al. 2023, section 2.3. With a scale of L / L', a sequence of L' positions is
    rotated by no larger angles than one of L positions without it.

    Args:
        attention: a rotary layer, whose parameters are used as they are.
        scale: L / L', at most 1.
    """

    def __init__(self, attention: MultiHeadAttention, scale: float):
        super().__init__()
        self.attention, self.scale = attention, scale

    @accepts(vectors=floats("B L D"), causal=flag)
    def forward(self, vectors: Tensor, *, causal: bool = False) -> Tensor:
        """(B, L, D) -> (B, L, D)."""
        layer = self.attention
        projected = F.linear(vectors, layer.in_proj_weight, layer.in_proj_bias)  # (B, L, 3D)
        queries, keys, values = (
            split_heads(part, layer.num_heads) for part in projected.chunk(3, -1)
        )
        queries, keys = (rotate(part, scale=self.scale) for part in (queries, keys))
        mask = causal_mask(vectors.shape[1], device=vectors.device) if causal else None
        return layer.out_proj(join_heads(scaled_dot(queries, keys, values, mask=mask)[0]))


@accepts(count=natural, length=natural, seed=any_seed)
def sequences(count: int, *, length: int = LENGTH, seed: int = 0) -> Iterator[Tensor]:
    """Yield batches of random tokens (B, L) indefinitely: B = count, L = length."""
    draw = torch.Generator().manual_seed(int(seed))  # may be NumPy's
    while True:
        yield torch.randint(SYMBOLS, (count, length), generator=draw)


@accepts(distance=natural)
class CopyTask:
    """The task: at every position, output the token that appeared `distance` positions earlier.

    Args:
        distance: at least 1. The first positions have no target and are not counted.
    """

    def __init__(self, distance: int):
        self.distance = distance

    @accepts(model=module, tokens=tokens("B L", below=SYMBOLS))
    def loss(self, model: nn.Module, tokens: Tensor) -> Tensor:
        """Mean cross-entropy in nats; uniform probabilities give ln 16 = 2.77.

        Args:
            model: from tokens (B, L) to logits (B, L, 16).
            tokens: (B, L), longer than the distance.

        Raises:
            ValueError: the sequences are not longer than the distance.
        """
        self._check_length(tokens)
        return cross_entropy(model(tokens)[:, self.distance :], tokens[:, : -self.distance])

    @accepts(model=module, tokens=tokens("B L", below=SYMBOLS), since=natural(least=0))
    def right(self, model: nn.Module, tokens: Tensor, *, since: int = 0) -> float:
        """Accuracy: the share of positions, from `since` on, with the correct token on top.

        Raises:
            ValueError: as in `loss`, or no position is left.
        """
        self._check_length(tokens)
        if since >= tokens.shape[1]:
            raise ValueError(f"since must be below {tokens.shape[1]}, got {since}")
        first = max(self.distance, since)
        with torch.no_grad():
            outputs = model(tokens)[:, first:].argmax(-1)
        right = outputs == tokens[:, first - self.distance : tokens.shape[1] - self.distance]
        return right.double().mean().item()

    def _check_length(self, tokens: Tensor) -> None:
        if tokens.shape[1] <= self.distance:
            raise ValueError(
                f"tokens must be longer than the distance {self.distance}, got {tokens.shape[1]}"
            )
