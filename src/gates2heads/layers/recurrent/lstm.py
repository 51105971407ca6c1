"""Long short-term memory: a memory cell, a hidden state, and three gates."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, boolean_mask, floats
from gates2heads.layers.record import note
from gates2heads.layers.recurrent.clamping import Clamp, clamp_of, unclamped
from gates2heads.layers.recurrent.unroll import Cell, Unrolled, Weights


def lstm_step(
    projected: Tensor, hidden: Tensor, cell: Tensor, weight_hh: Tensor, *, clamp: Clamp = unclamped
):
    """Advance a long short-term memory by one time step.

    Source: Hochreiter & Schmidhuber 1997 with the forget gate of Gers et al. 2000, without
    peepholes: C' = F ⊙ C + I ⊙ tanh(candidate), H' = O ⊙ tanh(C'). F ≈ 1 and I ≈ 0 carry the
    cell unchanged.

    Args:
        projected: (B, 4U) the part of the input and the biases in the input gate, forget gate,
            candidate and output gate, in this order.
        hidden: (B, U) the hidden state before the step.
        cell: (B, U) the cell before the step.
        weight_hh: (4U, U) the weights of the hidden state in the same four.
        clamp: a function applied to each gate before it is used; see `clamp_gates`.

    Returns:
        hidden (B, U), cell (B, U), and a dict of the gates, each (B, U): `input`,
        `forget`, `candidate`, `output`.
    """
    units = hidden.shape[-1]
    summed = torch.addmm(projected, hidden, weight_hh.t())  # (B, 4U)
    # Neighbours go through one sigmoid: fewer, larger operations.
    first, candidate, output = summed.split([2 * units, units, units], dim=-1)
    taken, forget = torch.sigmoid(first).chunk(2, dim=-1)
    candidate, output = torch.tanh(candidate), torch.sigmoid(output)
    taken, forget, output = clamp("input", taken), clamp("forget", forget), clamp("output", output)
    cell = torch.addcmul(forget * cell, taken, candidate)
    hidden = output * torch.tanh(cell)
    gates = {"input": taken, "forget": forget, "candidate": candidate, "output": output}
    return hidden, cell, gates


class LSTMCell(Cell):
    """One step of a long short-term memory; see `lstm_step`.

    Parameters are named and laid out as in `torch.nn.LSTMCell` (rows: input gate, forget gate,
    candidate, output gate), so `load_state_dict` takes its weights.

    Args:
        input_size: width of the input.
        hidden_size: width U of hidden state and cell.
    """

    blocks = 4
    gates = ("input", "forget", "output")

    @accepts(
        inputs=floats("B input_size"),
        hidden=floats("B hidden_size"),
        cell=floats("B hidden_size"),
    )
    def forward(self, inputs: Tensor, hidden: Tensor, cell: Tensor):
        """Process inputs (B, input_size), hidden (B, U), cell (B, U); return the next two."""
        projected = F.linear(inputs, self.weight_ih, self.bias_ih + self.bias_hh)  # (B, 4U)
        hidden, cell, gates = lstm_step(
            projected, hidden, cell, self.weight_hh, clamp=clamp_of(self)
        )
        seen = {**gates, "cell": cell, "hidden": hidden}
        note(self, **{name: tensor[:, None] for name, tensor in seen.items()})  # (B, 1, U)
        return hidden, cell


class LSTM(Unrolled):
    """Long short-term memory along a sequence, in layers and directions; see `lstm_step`.

    Parameters are named and laid out as in `torch.nn.LSTM(batch_first=True)`, so
    `load_state_dict` takes its weights. Records `input_l0`, `forget_l0`, `candidate_l0`,
    `output_l0`, `cell_l0`, `hidden_l0`, … (B, S, U) inside a `record` block.

    Args:
        input_size: width D of the input.
        hidden_size: width U of hidden state and cell.
        num_layers: layer l receives the output of layer l − 1.
        bidirectional: a second set of units processes the sequence in reverse; both states are
            concatenated.
        dropout: the fraction of each layer's output that is set to zero during training.
    """

    blocks = 4
    gates = ("input", "forget", "output")

    @accepts(inputs=floats("B S input_size"), mask=boolean_mask("B S"))
    def forward(
        self,
        inputs: Tensor,
        *,
        mask: Tensor | None = None,
        initial: tuple[Tensor, Tensor] | None = None,
    ):
        """Run along the time axis.

        Args:
            inputs: (B, S, D) float.
            mask: (B, S) bool, True = a real token; at other positions the state is carried on.
            initial: hidden and cell, each (num_layers · directions, B, U); zeros if not given.

        Returns:
            states (B, S, directions · U), and the final (hidden, cell) of each layer and
            direction, each (num_layers · directions, B, U), the forward one before the backward.

        Raises:
            TypeError, ValueError: the initial state does not fit, or there is no time step.
        """
        if initial is None:
            initial = (None, None)
        elif not isinstance(initial, tuple) or len(initial) != 2:
            raise TypeError(f"initial must be a pair (hidden, cell), got {type(initial).__name__}")
        hidden, cell = initial
        return self._unroll(inputs, mask, {"initial hidden": hidden, "initial cell": cell})

    def _project(self, inputs: Tensor, weights: Weights) -> Tensor:
        return F.linear(inputs, weights.weight_ih, weights.bias_ih + weights.bias_hh)

    def _step(self, projected: Tensor, state: tuple, weights: Weights, clamp: Clamp):
        hidden, cell, gates = lstm_step(projected, *state, weights.weight_hh, clamp=clamp)
        return (hidden, cell), {**gates, "cell": cell, "hidden": hidden}
