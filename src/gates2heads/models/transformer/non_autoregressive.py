"""Non-autoregressive models: all tokens are generated in parallel and independently."""

from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, natural, tokens
from gates2heads.data.batches.pairs import Batch
from gates2heads.layers.masks import key_mask
from gates2heads.models.language.neural import TransformerLanguageModel
from gates2heads.models.transformer.transformer import Transformer, check_rows, check_target


class SlotsState(NamedTuple):
    """The distributions of all slots of a sequence, and which slot is next.

    The slots are by far the largest part of the state and never change. So a search that reorders
    its sequences changes only `rows` and copies no slot.
    """

    rows: Tensor  # (B,) long: which of the N rows of slots each sequence uses
    log_probs: Tensor  # (N, T, V), all computed before the first step
    steps: Tensor  # (B,) long: the number of tokens generated so far

    def select_rows(self, rows: Tensor) -> "SlotsState":
        """The state whose sequence i is sequence `rows[i]` of this one, (R,) long."""
        rows = rows.to(self.rows.device)
        return SlotsState(self.rows[rows], self.log_probs, self.steps[rows])


def first_slot(log_probs: Tensor, batch_size: int) -> SlotsState:
    """The state of B sequences before the first step.

    Args:
        log_probs: (B, T, V), or (1, T, V) for sequences that share the same slots.
        batch_size: B.
    """
    rows = torch.arange(batch_size, device=log_probs.device) % len(log_probs)
    return SlotsState(rows, log_probs, torch.zeros_like(rows))


def next_slot(state: SlotsState):
    """The distribution (B, V) in the next slot, and the state after it.

    Raises:
        ValueError: no slot is left.
    """
    step, slots = int(state.steps[0]), state.log_probs.shape[1]
    if step >= slots:
        raise ValueError(f"state must have a slot left, but all {slots} were written")
    return state.log_probs[state.rows, step], state._replace(steps=state.steps + 1)


class NonAutoregressiveLanguageModel(TransformerLanguageModel):
    """The non-autoregressive counterpart of `TransformerLanguageModel`; its inputs are positions.

    p(x) = Π p(x_t | t): given the position, no token depends on another. A sequence ends with its
    first `<eos>`. The searches use it like every other model; since it is non-autoregressive, it
    ignores the last token.

    Source: Gu et al. 2018, section 3, without a source and without fertilities. All `max_length`
    slots attend to each other, and all are computed whatever the length of the sequence, so that
    the length of a target cannot leak.

    Args: those of `TransformerLanguageModel`; `max_length` is the number of slots.
    """

    state_type = SlotsState

    def _slots(self) -> Tensor:
        """Logits (1, max_length, V): the same for every sequence."""
        vectors = self._add_positions(self.table.new_zeros(1, self.max_length, self.d_model))
        for layer in self.layers:
            vectors = layer(vectors)
        return self._readout(vectors)

    def _logits(self, tokens: Tensor) -> Tensor:
        return self._slots()[:, : tokens.shape[1]].expand(len(tokens), -1, -1)

    def _begin(self, batch_size: int) -> SlotsState:
        return first_slot(self._slots().log_softmax(dim=-1), batch_size)

    def _advance(self, state: SlotsState, last_tokens: Tensor):
        return next_slot(state)


@accepts(source_size=natural, target_size=natural, slots=natural)
class NonAutoregressiveTransformer(Transformer):
    """The non-autoregressive counterpart of `Transformer`; the decoder's inputs are positions.

    p(y | x) = Π p(y_t | x, t): given the source, no token depends on another; see
    `NonAutoregressiveLanguageModel`.

    Source: Gu et al. 2018, section 3. Departs from it in the input of the slots, which are
    positions alone instead of copies of source tokens, and in having no fertilities; the target
    ends at the first `<eos>`.

    Args:
        source_size, target_size: the two vocabulary sizes.
        slots: the longest target, in tokens; all slots are computed whatever the target's length.
        options: those of `Transformer`; its `max_length` is that of the source.
    """

    def __init__(self, source_size: int, target_size: int, *, slots: int = 64, **options):
        super().__init__(source_size, target_size, **options)
        if self.max_length < slots:
            raise ValueError(f"slots must be at most max_length, {self.max_length}, got {slots}")
        self.slots = slots

    def _all_slots(self, source: Tensor, mask: Tensor | None, length: int | None = None) -> Tensor:
        """Compute all positions in parallel: logits (B, length, V), or (B, slots, V)."""
        memory = self._memory(self.encode(source, mask=mask))
        vectors = self.target_table.new_zeros(len(source), self.slots, self.d_model)
        layers = zip(self._decoder_stack(), memory, strict=True)
        for depth, (layer, its) in enumerate(layers):
            vectors = self._add_positions(vectors, self.target_positions, depth=depth)
            vectors = layer(vectors, its, memory_mask=key_mask(mask), causal=False)
        return self.readout(vectors[:, :length])  # the output projection is the widest layer

    def start(self, source: Tensor, *, mask: Tensor | None = None) -> SlotsState:
        """Encode source (B, S) under mask (B, S), and compute all slots."""
        return first_slot(self._all_slots(source, mask).log_softmax(dim=-1), len(source))

    @accepts(
        state=instance(SlotsState, "from `start` or `step`"),
        last_tokens=tokens("B", below="target_size"),
    )
    def step(self, state: SlotsState, last_tokens: Tensor):
        """Return the next slot; last_tokens (B,) are checked but have no influence.

        Returns:
            log_probs (B, V) in nats, and the next state.

        Raises:
            ValueError: all slots were used.
        """
        check_rows(last_tokens, len(state.steps))
        return next_slot(state)

    @accepts(batch=instance(Batch, "as `collate` makes"))
    def forward(self, batch: Batch) -> Tensor:
        """All target positions in parallel; of `target_in`, only the shape is used.

        Args:
            batch: B pairs; see `gates2heads.data.batches.pairs.Batch`.

        Returns:
            logits (B, T, V): row t predicts `batch.target_out[:, t]`.
        """
        check_target(self, batch, self.slots)
        return self._all_slots(batch.source, batch.source_mask, batch.target_in.shape[1])
