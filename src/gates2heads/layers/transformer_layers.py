"""The two layers of a Transformer: attention and a feed-forward network, each with its residual."""

from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    boolean_mask,
    choice,
    flag,
    floats,
    fraction,
    instance,
    mapping,
    natural,
)
from gates2heads.accepts.shown import shown
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.blocks import ACTIVATIONS, FeedForward, Residual
from gates2heads.layers.norms import NORMS

# Names of torch.nn.TransformerEncoderLayer and TransformerDecoderLayer -> names here
ENCODER_NAMES = {
    "self_attn": "self_attn",
    "linear1": "feed_forward.linear1",
    "linear2": "feed_forward.linear2",
    "norm1": "self_residual.norm",
    "norm2": "feed_forward_residual.norm",
}
DECODER_NAMES = ENCODER_NAMES | {
    "multihead_attn": "cross_attn",
    "norm2": "cross_residual.norm",
    "norm3": "feed_forward_residual.norm",
}


@accepts(weights=mapping("names to tensors"), names=mapping("names to names"))
def rename(weights: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    """Rename the `state_dict()` of a `torch.nn` layer, for `load_state_dict`.

    Example: `layer.load_state_dict(rename(twin.state_dict(), ENCODER_NAMES))`.

    Args:
        weights: from a layer of `torch.nn`.
        names: the first part of a name there -> the first parts here.

    Raises:
        ValueError: a name is not among `names`.
    """
    renamed = {}
    for name, tensor in weights.items():
        first, _, rest = name.partition(".")
        if first not in names:
            raise ValueError(f"weights must be named by {', '.join(names)}, got {shown(name)}")
        renamed[f"{names[first]}.{rest}"] = tensor
    return renamed


SETTINGS = {
    "d_model": natural,
    "nhead": natural,
    "dim_feedforward": natural,
    "dropout": fraction,
    "activation": choice(ACTIVATIONS),
    "norm_first": flag,
    "norm": choice(NORMS),
    "rotary": flag,
}


@accepts(**SETTINGS)
class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each with a residual connection and a norm.

    Source: Vaswani et al. 2017, section 3.1; with `norm_first` Xiong et al. 2020. Departs from
    the former in nothing, from `torch.nn.TransformerEncoderLayer` in the dropout: on the output of
    each sublayer, as in the paper, and not inside attention and feed-forward network. With
    `causal`, it is the layer of a decoder that has no source (GPT).

    Args:
        d_model: width D.
        nhead: number of heads H.
        dim_feedforward: width F.
        dropout: the fraction of each sublayer's output that is set to zero during training.
        activation: "relu", "gelu" or "silu".
        norm_first: True is pre-norm.
        norm: "layer" or "rms".
        rotary: self-attention rotates its queries and keys by their positions; see `rotate`.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        *,
        norm_first: bool = False,
        norm: str = "layer",
        rotary: bool = False,
    ):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, nhead, rotary=rotary)
        self.self_residual = Residual(d_model, dropout, norm_first=norm_first, norm=norm)
        self.feed_forward = FeedForward(d_model, dim_feedforward, activation)
        self.feed_forward_residual = Residual(d_model, dropout, norm_first=norm_first, norm=norm)

    @accepts(
        vectors=floats("B S self_attn.embed_dim"),
        mask=boolean_mask("B self_attn.num_heads S S"),
        causal=flag,
    )
    def forward(
        self, vectors: Tensor, *, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """Transform vectors (B, S, D), all positions in parallel.

        Args:
            vectors: (B, S, D) float.
            mask: bool, broadcastable to (B, H, S, S); True = may attend. See `masks.key_mask`.
            causal: no position attends to a later one.

        Returns:
            (B, S, D).
        """
        vectors = self._self_attention_sublayer(vectors, mask, causal)
        return self._feed_forward_sublayer(vectors)

    def step(self, vectors: Tensor, past: KeyValues | None = None, *, order: Tensor | None = None):
        """Transform T new positions (B, T, D), which attend to the past and to each other causally.

        Args:
            vectors: (B, T, D) float.
            past: from the previous step.
            order: (B,) long, which row of the past each sequence continues; its own if None.

        Returns:
            (B, T, D), and the past with the new positions at its end.
        """
        vectors, past = self._cached_self_attention(vectors, past, order)
        return self._feed_forward_sublayer(vectors), past

    def _self_attention_sublayer(
        self, vectors: Tensor, mask: Tensor | None, causal: bool
    ) -> Tensor:
        x = self.self_residual.before(vectors)
        return self.self_residual.after(vectors, self.self_attn(x, mask=mask, causal=causal))

    def _cached_self_attention(self, vectors: Tensor, past: KeyValues | None, order: Tensor | None):
        read = self.self_residual.before(vectors)
        attended, past = self.self_attn.extend(read, past, order=order)
        return self.self_residual.after(vectors, attended), past

    def _feed_forward_sublayer(self, vectors: Tensor) -> Tensor:
        residual = self.feed_forward_residual
        return residual.after(vectors, self.feed_forward(residual.before(vectors)))


@accepts(**SETTINGS)
class DecoderLayer(EncoderLayer):
    """Causal self-attention, attention to the source, then a feed-forward network.

    Source: Vaswani et al. 2017, section 3.1; with `norm_first` Xiong et al. 2020. Departs from
    them as `EncoderLayer` does. Takes the same arguments.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        *,
        norm_first: bool = False,
        norm: str = "layer",
        rotary: bool = False,
    ):
        super().__init__(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            norm_first=norm_first,
            norm=norm,
            rotary=rotary,
        )
        self.cross_attn = MultiHeadAttention(d_model, nhead)
        self.cross_residual = Residual(d_model, dropout, norm_first=norm_first, norm=norm)

    @accepts(
        vectors=floats("B T self_attn.embed_dim"),
        memory=instance(KeyValues, "as `project` makes"),
        mask=boolean_mask("B self_attn.num_heads T T"),
        memory_mask=boolean_mask("B self_attn.num_heads T S"),
        causal=flag,
    )
    def forward(
        self,
        vectors: Tensor,
        memory: KeyValues,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        causal: bool = True,
    ) -> Tensor:
        """Transform vectors (B, T, D) at all positions in parallel.

        Args:
            vectors: (B, T, D) float.
            memory: the result of `cross_attn.project` for the source (B, S, D).
            mask: bool, broadcastable to (B, H, T, T); True = may attend.
            memory_mask: bool, broadcastable to (B, H, T, S); True = may attend.
            causal: no position attends to a later one.

        Returns:
            (B, T, D).
        """
        vectors = self._self_attention_sublayer(vectors, mask, causal)
        vectors = self._cross_attention_sublayer(vectors, memory, memory_mask)
        return self._feed_forward_sublayer(vectors)

    def step(
        self,
        vectors: Tensor,
        past: KeyValues | None,
        memory: KeyValues,
        *,
        memory_mask: Tensor | None = None,
        order: Tensor | None = None,
        readers: int = 1,
    ):
        """Transform T new positions (B, T, D), which attend to the past and the source.

        Args:
            vectors: (B, T, D) float.
            past: from the previous step.
            memory: the result of `cross_attn.project` for the source (B/k, S, D).
            memory_mask: bool, broadcastable to (B/k, H, T, S); True = may attend.
            order: (B,) long, which row of the past each sequence continues; its own if None.
            readers: k, how many consecutive sequences share the same source.

        Returns:
            (B, T, D), and the past with the new positions at its end.
        """
        vectors, past = self._cached_self_attention(vectors, past, order)
        vectors = self._cross_attention_sublayer(vectors, memory, memory_mask, readers)
        return self._feed_forward_sublayer(vectors), past

    def _cross_attention_sublayer(
        self, vectors: Tensor, memory: KeyValues, mask: Tensor | None, readers: int = 1
    ) -> Tensor:
        read = self.cross_residual.before(vectors)
        seen = self.cross_attn.attend(read, memory, mask=mask, readers=readers)
        return self.cross_residual.after(vectors, seen)
