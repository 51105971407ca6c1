"""Gated recurrent units: a reset gate and an update gate control the state."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, flag, floats, fraction, natural
from gates2heads.layers.record import note
from gates2heads.layers.recurrent.clamping import Clamp, clamp_of, unclamped
from gates2heads.layers.recurrent.unroll import Cell, UnrolledHidden, Weights


def gru_step(
    projected: Tensor,
    hidden: Tensor,
    weight_hh: Tensor,
    bias_hh: Tensor,
    *,
    reset_after: bool = True,
    clamp: Clamp = unclamped,
):
    """Advance a gated recurrent unit by one time step.

    Source: Cho et al. 2014, eq. 5–8; Z ≈ 1 keeps the old state. The paper resets the state
    *before* the matrix product, W x + U (R ⊙ h); cuDNN and `torch.nn.GRU` reset *after* it,
    W x + R ⊙ (U h), so that one product serves both gates and the candidate. The two are
    different functions with the same parameters: weights trained for one do not fit the other.

    Args:
        projected: (B, 3U) the input's part of reset gate, update gate and candidate.
        hidden: (B, U) the state before the step.
        weight_hh: (3U, U) and bias_hh (3U,): the state's part of the same three.
        reset_after: True resets after the product, as in libraries; False before, as the paper.
        clamp: a function applied to each gate before it is used; see `clamp_gates`.

    Returns:
        hidden (B, U) after the step, and a dict of the gates, each (B, U): `reset`,
        `update`, `candidate`.
    """
    units = hidden.shape[-1]
    if reset_after:
        carried = torch.addmm(bias_hh, hidden, weight_hh.t())  # (B, 3U)
        gates = torch.sigmoid(projected[:, : 2 * units] + carried[:, : 2 * units])
        reset, update = gates.chunk(2, dim=-1)
        reset, update = clamp("reset", reset), clamp("update", update)
        candidate = torch.tanh(projected[:, 2 * units :] + reset * carried[:, 2 * units :])
    else:
        to_gates, to_candidate = (projected + bias_hh).split([2 * units, units], dim=-1)
        weight_gates, weight_candidate = weight_hh.split([2 * units, units])
        gates = torch.sigmoid(torch.addmm(to_gates, hidden, weight_gates.t()))
        reset, update = gates.chunk(2, dim=-1)
        reset, update = clamp("reset", reset), clamp("update", update)
        candidate = torch.tanh(torch.addmm(to_candidate, reset * hidden, weight_candidate.t()))
    # Under autocast the products are in half precision; the state keeps its own dtype.
    hidden = torch.lerp(candidate.type_as(hidden), hidden, update.type_as(hidden))
    return hidden, {"reset": reset, "update": update, "candidate": candidate}


@accepts(input_size=natural, hidden_size=natural, reset_after=flag)
class GRUCell(Cell):
    """One step of a gated recurrent unit.

    Source: Cho et al. 2014, eq. 5–8; see `gru_step`. Parameters are named and laid out as in
    `torch.nn.GRUCell` (rows: reset, update, candidate), so `load_state_dict` takes its weights.

    Args:
        input_size: width of the input.
        hidden_size: width U of the state.
        reset_after: True resets after the product, as in libraries; False before, as the paper.
    """

    blocks = 3
    gates = ("reset", "update")

    def __init__(self, input_size: int, hidden_size: int, reset_after: bool = True):
        super().__init__(input_size, hidden_size)
        self.reset_after = reset_after

    @accepts(inputs=floats("B input_size"), hidden=floats("B hidden_size"))
    def forward(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """Process inputs (B, input_size) and hidden (B, U); return the next hidden (B, U)."""
        projected = F.linear(inputs, self.weight_ih, self.bias_ih)  # (B, 3U)
        own = {"reset_after": self.reset_after, "clamp": clamp_of(self)}
        hidden, gates = gru_step(projected, hidden, self.weight_hh, self.bias_hh, **own)
        # Each (B, 1, U): one time step
        note(self, hidden=hidden[:, None], **{name: gate[:, None] for name, gate in gates.items()})
        return hidden


@accepts(input_size=natural, context_size=natural, hidden_size=natural, reset_after=flag)
class ContextGRUCell(GRUCell):
    """One step of a gated recurrent unit whose two gates and candidate also receive a context.

    Source: Bahdanau et al. 2015, appendix A.1.1: R = σ(W_r y + U_r s + C_r c), Z = σ(W_z y +
    U_z s + C_z c), candidate tanh(W y + U (R ⊙ s) + C c). One matrix over [y; c] is two matrices
    side by side, [W, C] [y; c] = W y + C c, so this is a GRU whose input is the concatenation.
    Departs from the paper in the meaning of Z, which here keeps the old state; there it selects the
    new one.

    Args:
        input_size: width of the token vector y.
        context_size: width of the context c.
        hidden_size: width U of the state.
        reset_after: False resets before the product, as in the paper; True as in libraries.
    """

    def __init__(
        self, input_size: int, context_size: int, hidden_size: int, reset_after: bool = False
    ):
        super().__init__(input_size + context_size, hidden_size, reset_after)
        self.token_size, self.context_size = input_size, context_size

    @accepts(
        inputs=floats("B token_size"),
        context=floats("B context_size"),
        hidden=floats("B hidden_size"),
    )
    def forward(self, inputs: Tensor, context: Tensor, hidden: Tensor) -> Tensor:
        """Process inputs (B, input_size), context (B, context_size), hidden (B, U): next hidden."""
        return super().forward(torch.cat([inputs, context], dim=-1), hidden)


@accepts(
    input_size=natural,
    hidden_size=natural,
    num_layers=natural,
    bidirectional=flag,
    dropout=fraction,
    reset_after=flag,
)
class GRU(UnrolledHidden):
    """Gated recurrent units along a sequence, in one or more layers, one or two directions.

    Source: Cho et al. 2014, eq. 5–8; see `gru_step`. Parameters are named and laid out as in
    `torch.nn.GRU(batch_first=True)`, so `load_state_dict` takes its weights. Records `reset_l0`,
    `update_l0`, `candidate_l0`, `hidden_l0`, … (B, S, U) inside a `record` block.

    Args:
        input_size: width D of the input.
        hidden_size: width U of each state.
        num_layers: layer l receives the output of layer l − 1.
        bidirectional: a second set of units processes the sequence in reverse; both states are
            concatenated.
        dropout: the fraction of each layer's output that is set to zero during training.
        reset_after: True resets after the product, as in libraries; False before, as the paper.
    """

    blocks = 3
    gates = ("reset", "update")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        reset_after: bool = True,
    ):
        super().__init__(input_size, hidden_size, num_layers, bidirectional, dropout)
        self.reset_after = reset_after

    def _step(self, projected: Tensor, state: tuple, weights: Weights, clamp: Clamp):
        own = {"reset_after": self.reset_after, "clamp": clamp}
        hidden, gates = gru_step(projected, *state, weights.weight_hh, weights.bias_hh, **own)
        return (hidden,), {**gates, "hidden": hidden}
