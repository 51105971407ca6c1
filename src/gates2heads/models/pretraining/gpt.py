"""GPT: a decoder without a source. Every position attends to the preceding tokens."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, flag, floats, instance, natural, tokens
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.masks import key_mask
from gates2heads.layers.norms import LayerNorm
from gates2heads.models.pretraining.stack import STD, TokenStack, check_length


class GPTState(NamedTuple):
    """The state of a sequence; every tensor has the batch first."""

    past: tuple[KeyValues, ...]  # one per layer, (B, H, t, K)


@accepts(vocabulary_size=natural, norm_first=flag)
class GPT(TokenStack):
    """A language model with causal self-attention: its only output is the next token.

    Source: Radford et al. 2018 (GPT), section 3.1, with `norm_first=False`; Radford et al. 2019
    (GPT-2), section 2.3, with `norm_first=True`: the norms are before each sublayer, one more is at
    the end, and the initial weights that add to the residual path are smaller by a factor √(2 ·
    num_layers). Departs from both in small sizes and in the exact GELU.

    Args:
        vocabulary_size: V.
        norm_first: True is pre-norm, False post-norm.
        **sizes: the others of a `TokenStack`.
    """

    def __init__(self, vocabulary_size: int, *, norm_first: bool = True, **sizes):
        super().__init__(vocabulary_size, norm_first=norm_first, **sizes)
        self.norm = LayerNorm(self.d_model) if norm_first else nn.Identity()
        self.draw_weights(adding=STD / math.sqrt(2 * len(self.layers)) if norm_first else STD)

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=boolean_mask("B L"))
    def states(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """The hidden states of all layers, beginning with the embeddings.

        Args:
            tokens: (B, L) long.
            mask: (B, L) bool, True = a real token. Padding at the end needs none: no real token can
                attend to it.

        Returns:
            (num_layers + 1, B, L, D); no position depends on a later one. The final norm is applied
            to the last of the states.
        """
        return torch.stack(self._layer_states(tokens, mask))

    def _layer_states(self, tokens: Tensor, mask: Tensor | None) -> list[Tensor]:
        """The states one by one, each (B, L, D)."""
        states = [self._embed(tokens, 0)]
        for layer in self.layers:
            states.append(layer(states[-1], mask=key_mask(mask), causal=True))
        return [*states[:-1], self.norm(states[-1])]

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=boolean_mask("B L"))
    def encode(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """The hidden states of the last layer: (B, L, D); see `states`."""
        return self._layer_states(tokens, mask)[-1]

    @accepts(vectors=floats("B L d_model"))
    def readout(self, vectors: Tensor) -> Tensor:
        """Next-token logits (B, L, V), from vectors (B, L, D).

        The matrix of the output projection is the embedding matrix.
        """
        return F.linear(vectors, self.token_table.weight)

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=boolean_mask("B L"))
    def forward(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Logits (B, L, V): row t predicts `tokens[:, t + 1]`; see `states`."""
        return self.readout(self.encode(tokens, mask=mask))

    @accepts(batch_size=natural, prompt=tokens("B P", below="vocabulary_size"))
    def start(self, batch_size: int = 1, *, prompt: Tensor | None = None) -> GPTState:
        """The state before the first step.

        Args:
            batch_size: B, the number of sequences generated in parallel.
            prompt: (B, P) long, the tokens before the first token that `step` receives; no padding.

        Raises:
            ValueError: the prompt does not have batch_size rows, or is too long.
        """
        if prompt is not None:
            if len(prompt) != batch_size:
                raise ValueError(f"prompt must have {batch_size} rows, got {len(prompt)}")
            return GPTState(self._extend(prompt, (None,) * len(self.layers))[1])
        attention = self.layers[0].self_attn
        shape = (batch_size, attention.num_heads, 0, self.d_model // attention.num_heads)
        nothing = KeyValues(*(self.token_table.weight.new_zeros(shape) for _ in range(2)))
        return GPTState((nothing,) * len(self.layers))

    @accepts(
        state=instance(GPTState, "from `start` or `step`"),
        last_tokens=tokens("B", below="vocabulary_size"),
    )
    def step(self, state: GPTState, last_tokens: Tensor):
        """Process last_tokens (B,); return log_probs (B, V) and the next state."""
        if len(state.past) != len(self.layers):
            raise ValueError(
                f"state must hold a past for each of {len(self.layers)} layers, got "
                f"{len(state.past)}"
            )
        if len(last_tokens) != len(state.past[0].keys):
            raise ValueError(
                f"last_tokens must have shape ({len(state.past[0].keys)},), one token per "
                f"sequence, got {tuple(last_tokens.shape)}"
            )
        vectors, past = self._extend(last_tokens[:, None], state.past)  # (B, 1, D)
        return self.readout(vectors)[:, 0].log_softmax(dim=-1), GPTState(past)

    def _embed(self, tokens: Tensor, start: int) -> Tensor:
        """Vectors (B, L, D) of tokens (B, L), whose positions begin at `start`."""
        check_length("tokens", tokens, self.max_length, start=start)
        vectors = self.positions(self.token_table(tokens), start=start)
        return F.dropout(vectors, self.dropout, self.training)

    def _extend(self, tokens: Tensor, past: tuple[KeyValues | None, ...]):
        """Process tokens (B, L) after the past: vectors of the last layer (B, L, D), and past."""
        vectors = self._embed(tokens, 0 if past[0] is None else past[0].keys.shape[2])
        extended = []
        for layer, before in zip(self.layers, past, strict=True):
            vectors, after = layer.step(vectors, before)
            extended.append(after)
        return self.norm(vectors), tuple(extended)
