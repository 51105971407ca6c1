"""Several Transformers of one shape that are computed together, as one model with a leading axis.

A small Transformer leaves a GPU waiting for the next kernel: most of a training step is spent on
starting kernels. A team of M models starts no more kernels than one model does, and each kernel
computes all M of them. The members share nothing; each has its own parameters, its own dropout
masks and its own gradient norm.

A member is the `Transformer` of the library in the form in which the translators are trained:
pre-norm with layer normalisation, ReLU, all tables tied, sinusoidal and rotary positions.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.layers.positions import sinusoids
from gates2heads.models.transformer.transformer import Transformer

FORM = {
    "norm_first": True,
    "norm": "layer",
    "activation": "relu",
    "tie": "all",
    "positions": "sinusoidal",
    "rotary": True,
}
HEAD = ("target_table", "readout_bias")  # are kept in single precision in every pass
LONGEST = 256  # positions whose encodings are computed in advance
Pair = tuple[Tensor, Tensor]


class Team(nn.Module):
    """M Transformers of one shape.

    Args:
        vocabulary: V, the number of tokens of both sides.
        states: the parameters of each member, as its `state_dict()` gives them.
        precision: of everything but the tables, the output layer and the stored parameters.
        sizes: d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward, dropout.
    """

    def __init__(
        self,
        vocabulary: int,
        states: Sequence[Mapping[str, Tensor]],
        *,
        precision: torch.dtype = torch.float32,
        **sizes,
    ):
        super().__init__()
        self.vocabulary, self.sizes, self.precision = vocabulary, sizes, precision
        names = [name for name in states[0] if name not in HEAD]
        self.shapes = {name: states[0][name].shape for name in (*HEAD, *names)}
        # One tensor for all parameters: the optimiser, the norm and the mean are one kernel each.
        rows = [torch.cat([one[name].flatten() for name in self.shapes]) for one in states]
        self.flat = nn.Parameter(torch.stack(rows).float())  # (M, P)
        width = sizes["d_model"] // sizes["nhead"]
        angles = torch.arange(LONGEST, dtype=torch.float64)[:, None] * 10000.0 ** (
            -torch.arange(0, width, 2, dtype=torch.float64) / width
        )
        both = torch.cat([angles, angles], dim=1)  # (L, width)
        self.register_buffer("cosines", both.cos().to(precision), persistent=False)
        self.register_buffer("sines", both.sin().to(precision), persistent=False)
        waves = sinusoids(torch.arange(LONGEST, dtype=torch.float64), sizes["d_model"])
        self.register_buffer("waves", waves.to(precision), persistent=False)
        self._known: dict[str, Tensor] | None = None

    @classmethod
    def drawn(cls, vocabulary: int, seeds: Sequence[int], *, precision=torch.float32, **sizes):
        """A team of randomly initialised models, one for each seed."""
        states = []
        for seed in seeds:
            torch.manual_seed(seed)
            states.append(_single(vocabulary, sizes).state_dict())
        return cls(vocabulary, states, precision=precision, **sizes)

    @property
    def members(self) -> int:
        """M."""
        return len(self.flat)

    def member(self, number: int) -> dict[str, Tensor]:
        """The parameters of one member, as `Transformer.load_state_dict` takes them."""
        parts = self.flat.detach()[number].split([math.prod(s) for s in self.shapes.values()])
        named = zip(self.shapes.items(), parts, strict=True)
        return {name: part.view(shape).float().cpu().clone() for (name, shape), part in named}

    def single(self, number: int) -> Transformer:
        """One member as a model of the library, in evaluation mode."""
        model = _single(self.vocabulary, self.sizes)
        model.load_state_dict(self.member(number))
        return model.eval()

    def parameters_now(self) -> dict[str, Tensor]:
        """All parameters by name, (M, …) each; those of the layers in the team's precision."""
        if self._known is not None:
            return self._known
        counts = [math.prod(shape) for shape in self.shapes.values()]
        head, body = self.flat.split([sum(counts[:2]), sum(counts[2:])], dim=1)
        parts = (*head.split(counts[:2], dim=1), *body.to(self.precision).split(counts[2:], dim=1))
        named = zip(self.shapes.items(), parts, strict=True)
        return {name: part.unflatten(1, shape) for (name, shape), part in named}

    def fixed(self) -> "Team":
        """Keep the parameters by name from now on, for a search that changes none of them."""
        with torch.no_grad():
            made = self.parameters_now()
            self._known = {name: tensor.contiguous() for name, tensor in made.items()}
        return self.eval()

    # One pass over whole sequences ------------------------------------------------------------

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Teacher forcing.

        Args:
            source: (M, B, S) token numbers, 0 is padding; (1, B, S) for the same in all members.
            target_in: (M, B, T), or (1, B, T).

        Returns:
            logits (M, B, T, V) in single precision.
        """
        named = self.parameters_now()
        memory, mask = self._encode(named, source)
        x = self._embed(named, target_in)
        for depth in range(self.sizes["num_decoder_layers"]):
            layer = _Layer(named, f"decoder_layers.{depth}.")
            x = self._after(x, self._self_attention(layer, x, causal=True))
            keys = self._project(layer, memory)
            x = self._after(x, self._cross_attention(layer, x, keys, mask))
            x = self._after(x, layer.feed_forward(x))
        return self._readout(named, x)

    def _encode(self, named, source: Tensor) -> Pair:
        """Vectors (M, B, S, D), and which of their positions are real, (M · B, 1, 1, S)."""
        source = source.expand(self.members, -1, -1)
        mask = (source != 0).flatten(0, 1)[:, None, None]
        x = self._embed(named, source)
        for depth in range(self.sizes["num_encoder_layers"]):
            layer = _Layer(named, f"encoder_layers.{depth}.")
            x = self._after(x, self._self_attention(layer, x, mask=mask))
            x = self._after(x, layer.feed_forward(x))
        return _norm(x, named["encoder_norm.weight"], named["encoder_norm.bias"]), mask

    def _embed(self, named, tokens: Tensor, start: int = 0) -> Tensor:
        """Scaled embeddings of tokens (M or 1, B, L) plus their positional encodings."""
        tokens, table = tokens.expand(self.members, -1, -1), named["target_table"]
        firsts = torch.arange(self.members, device=tokens.device) * self.vocabulary
        rows = F.embedding(tokens + firsts[:, None, None], table.flatten(0, 1))
        x = (rows * math.sqrt(self.sizes["d_model"])).to(self.precision)
        x = x + self.waves[start : start + tokens.shape[2]]
        return F.dropout(x, self.sizes["dropout"], self.training)

    def _after(self, x: Tensor, added: Tensor) -> Tensor:
        return x + F.dropout(added, self.sizes["dropout"], self.training)

    def _readout(self, named, x: Tensor) -> Tensor:
        x = _norm(x, named["decoder_norm.weight"], named["decoder_norm.bias"]).float()
        return _linear(x, named["target_table"], named["readout_bias"])

    def _self_attention(self, layer, x: Tensor, *, mask=None, causal: bool = False) -> Tensor:
        queries, keys, values = self._triple(layer, x)
        seen = F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask, is_causal=causal
        )
        return layer.linear(_joined(seen, x), "self_attn.out_proj.")

    def _triple(self, layer, x: Tensor, start: int = 0):
        """Rotated queries and keys, and values, (M · B, H, L, K) each."""
        projected = layer.linear(layer.norm(x, "self_residual."), "self_attn.in_proj_")
        split = self._heads(projected, 3)  # (M · B, 3 H, L, K)
        turned, values = split.split([2 * self.sizes["nhead"], self.sizes["nhead"]], dim=1)
        end = start + x.shape[2]
        left, right = turned.chunk(2, dim=-1)
        turned = turned * self.cosines[start:end] + (
            torch.cat([-right, left], dim=-1) * self.sines[start:end]
        )
        return *turned.chunk(2, dim=1), values

    def _heads(self, x: Tensor, parts: int) -> Tensor:
        """(M, B, L, parts · D) -> (M · B, parts · H, L, K)."""
        return x.flatten(0, 1).unflatten(-1, (parts * self.sizes["nhead"], -1)).transpose(1, 2)

    def _project(self, layer, memory: Tensor) -> Pair:
        """What the cross-attention reads of the encoder's output: keys and values."""
        both = layer.linear(memory, "cross_attn.in_proj_", rows=(1, 3))
        return self._heads(both, 2).chunk(2, dim=1)

    def _cross_attention(self, layer, x: Tensor, keys: Pair, mask: Tensor) -> Tensor:
        queries = layer.linear(layer.norm(x, "cross_residual."), "cross_attn.in_proj_", rows=(0, 1))
        seen = F.scaled_dot_product_attention(self._heads(queries, 1), *keys, attn_mask=mask)
        return layer.linear(_joined(seen, x), "cross_attn.out_proj.")

    # Token by token, as the searches of the library ask -----------------------------------------

    @torch.no_grad()
    def start(self, source: Tensor) -> "TeamState":
        """Read source (B, S), 0 is padding, and return the state before the first token."""
        named = self.parameters_now()
        vectors, mask = self._encode(named, source[None])
        layers = range(self.sizes["num_decoder_layers"])
        memory = [self._project(_Layer(named, f"decoder_layers.{i}."), vectors) for i in layers]
        split = [tuple(self._apart(part) for part in pair) for pair in memory]
        empty = [tuple(part[:, :, :, :0] for part in pair) for pair in split]
        return TeamState(empty, split, self._apart(mask))

    def _apart(self, x: Tensor) -> Tensor:
        """(M · B, …) -> (M, B, …)."""
        return x.unflatten(0, (self.members, -1))

    @torch.no_grad()
    def step(self, state: "TeamState", last_tokens: Tensor):
        """Log-probabilities (B, V) of the mean of the members' distributions, and the next state.

        Args:
            state: from `start` or `step`.
            last_tokens: (B,), the newest token of each sequence.
        """
        named, width = self.parameters_now(), state.readers
        start, past = state.past[0][0].shape[3], []
        x = self._embed(named, last_tokens[None, :, None], start)  # (M, B, 1, D)
        mask = state.mask.flatten(0, 1)
        for depth, (before, memory) in enumerate(zip(state.past, state.memory, strict=True)):
            layer = _Layer(named, f"decoder_layers.{depth}.")
            queries, *new = self._triple(layer, x, start)
            pairs = zip(before, new, strict=True)
            grown = tuple(_append(old, self._apart(one), state.order) for old, one in pairs)
            seen = F.scaled_dot_product_attention(queries, *(part.flatten(0, 1) for part in grown))
            x = x + layer.linear(_joined(seen, x), "self_attn.out_proj.")
            # The sequences that share a source are queries side by side.
            beside = x.view(self.members, -1, width, x.shape[3])
            keys = tuple(part.flatten(0, 1) for part in memory)
            x = x + self._cross_attention(layer, beside, keys, mask).view_as(x)
            x = x + layer.feed_forward(x)
            past.append(grown)
        log_p = self._readout(named, x)[:, :, 0].log_softmax(dim=-1)  # (M, B, V)
        mean = log_p[0] if self.members == 1 else log_p.logsumexp(dim=0) - math.log(self.members)
        return mean, state._replace(past=past, order=None)


class TeamState(NamedTuple):
    """What a team keeps between the steps, (M, B, …) each; see `TransformerState`."""

    past: list[Pair]  # (M, ·, H, t, K), not yet in order
    memory: list[Pair]  # (M, B/k, H, S, K)
    mask: Tensor  # (M, B/k, 1, 1, S)
    order: Tensor | None = None  # (B,) which row of the past each sequence continues
    readers: int = 1  # k, how many sequences in a row have the same source

    def select_rows(self, rows: Tensor) -> "TeamState":
        """The state whose sequence i is sequence `rows[i]` of this one, (R,) long."""
        order = rows if self.order is None else self.order[rows]
        if not len(rows):
            return self._replace(order=order)
        sources, counts = (rows // self.readers).unique_consecutive(return_counts=True)
        readers = 1
        if bool((counts == counts[0]).all()):
            readers = len(rows) // len(sources)
        else:
            sources = rows // self.readers
        if torch.equal(sources, torch.arange(self.mask.shape[1], device=rows.device)):
            return self._replace(order=order, readers=readers)
        memory = [tuple(part[:, sources] for part in pair) for pair in self.memory]
        return TeamState(self.past, memory, self.mask[:, sources], order, readers)


class _Layer:
    """The parameters of one layer, by the rest of their names."""

    def __init__(self, named: Mapping[str, Tensor], prefix: str):
        self.named, self.prefix = named, prefix

    def linear(self, x: Tensor, name: str, rows: tuple[int, int] | None = None) -> Tensor:
        """An affine map; `rows` are those of the query (0), the key (1) and the value (2)."""
        weight, bias = (self.named[f"{self.prefix}{name}{part}"] for part in ("weight", "bias"))
        if rows is not None:
            part = slice(*(row * x.shape[-1] for row in rows))
            weight, bias = weight[:, part], bias[:, part]
        return _linear(x, weight, bias)

    def norm(self, x: Tensor, name: str) -> Tensor:
        """Layer normalisation before a sublayer."""
        return _norm(x, *(self.named[f"{self.prefix}{name}norm.{p}"] for p in ("weight", "bias")))

    def feed_forward(self, x: Tensor) -> Tensor:
        """The feed-forward sublayer without its residual connection."""
        hidden = self.linear(self.norm(x, "feed_forward_residual."), "feed_forward.linear1.")
        return self.linear(hidden.relu(), "feed_forward.linear2.")


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Map x (M, B, L, D) by weight (M, O, D), bias (M, O): (M, B, L, O)."""
    mapped = torch.baddbmm(bias[:, None], x.flatten(1, 2), weight.transpose(1, 2))
    return mapped.unflatten(1, x.shape[1:3])


def _norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Normalise x (M, B, L, D); weight and bias are (M, D)."""
    weight, bias = weight[:, None, None], bias[:, None, None]
    return torch.addcmul(bias, F.layer_norm(x, x.shape[-1:]), weight)


def _joined(heads: Tensor, like: Tensor) -> Tensor:
    """(M · B, H, L, K) -> (M, B, L, D) as `like` is."""
    return heads.transpose(1, 2).reshape(like.shape)


def _append(past: Tensor, new: Tensor, order: Tensor | None) -> Tensor:
    past = past if order is None else past.index_select(1, order)
    return torch.cat([past, new], dim=3)


def _single(vocabulary: int, sizes: Mapping) -> Transformer:
    return Transformer(vocabulary, vocabulary, **FORM, **sizes)
