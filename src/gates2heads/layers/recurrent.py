"""Recurrent layers: a state that is carried along a sequence, and gates that decide what stays."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.layers.checks import check_mask, check_width
from gates2heads.layers.record import is_recorded, note


def gru_step(projected: Tensor, hidden: Tensor, weight_hh: Tensor, bias_hh: Tensor):
    """Advance a gated recurrent unit by one time step.

    Source: Cho et al. 2014, eq. 5–8. Departs from it in the order of one product: the reset gate
    is applied after the matrix product, as in cuDNN and `torch.nn.GRU`; and Z ≈ 1 keeps the old
    state.

    Args:
        projected: (B, 3U) what the input says to the reset gate, update gate and candidate.
        hidden: (B, U) the state before the step.
        weight_hh: (3U, U) and bias_hh (3U,): what the state says to the same three.

    Returns:
        hidden (B, U) after the step, and the gates: reset (B, U), update (B, U).
    """
    carried = torch.addmm(bias_hh, hidden, weight_hh.t())  # (B, 3U)
    units = hidden.shape[-1]
    gates = torch.sigmoid(projected[:, : 2 * units] + carried[:, : 2 * units])
    reset, update = gates.chunk(2, dim=-1)
    candidate = torch.tanh(projected[:, 2 * units :] + reset * carried[:, 2 * units :])
    return torch.lerp(candidate, hidden, update), reset, update


class GRUCell(nn.Module):
    """One step of a gated recurrent unit.

    Source: Cho et al. 2014, eq. 5–8; see `gru_step`. Parameters are named and laid out as in
    `torch.nn.GRUCell` (rows: reset, update, candidate), so `load_state_dict` takes its weights.

    Args:
        input_size: width of the input.
        hidden_size: width U of the state.
    """

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.weight_ih = nn.Parameter(torch.empty(3 * hidden_size, input_size))
        self.weight_hh = nn.Parameter(torch.empty(3 * hidden_size, hidden_size))
        self.bias_ih = nn.Parameter(torch.empty(3 * hidden_size))
        self.bias_hh = nn.Parameter(torch.empty(3 * hidden_size))
        reset_uniform(self, hidden_size)

    def forward(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """Read inputs (B, input_size) and hidden (B, U); return the next hidden (B, U)."""
        check_width("inputs", inputs, self.input_size)
        check_width("hidden", hidden, self.hidden_size)
        projected = F.linear(inputs, self.weight_ih, self.bias_ih)  # (B, 3U)
        hidden, reset, update = gru_step(projected, hidden, self.weight_hh, self.bias_hh)
        note(self, reset=reset[:, None], update=update[:, None])  # (B, 1, U): one time step
        return hidden


class GRU(nn.Module):
    """Gated recurrent units along a sequence, in one or more layers, one or two directions.

    Source: Cho et al. 2014, eq. 5–8; see `gru_step`. Parameters are named and laid out as in
    `torch.nn.GRU(batch_first=True)`, so `load_state_dict` takes its weights.

    Args:
        input_size: width D of the input.
        hidden_size: width U of each state.
        num_layers: layer l reads what layer l − 1 wrote.
        bidirectional: a second set of units reads from the end; both states are concatenated.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bidirectional: bool = False
    ):
        super().__init__()
        if min(input_size, hidden_size, num_layers) < 1:
            raise ValueError(
                "input_size, hidden_size and num_layers must be at least 1, got "
                f"{input_size}, {hidden_size}, {num_layers}"
            )
        self.input_size, self.hidden_size = input_size, hidden_size
        self.num_layers, self.bidirectional = num_layers, bidirectional
        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * (1 + bidirectional)
            for suffix in self._suffixes(layer):
                for name, shape in (
                    ("weight_ih", (3 * hidden_size, width)),
                    ("weight_hh", (3 * hidden_size, hidden_size)),
                    ("bias_ih", (3 * hidden_size,)),
                    ("bias_hh", (3 * hidden_size,)),
                ):
                    self.register_parameter(name + suffix, nn.Parameter(torch.empty(shape)))
        reset_uniform(self, hidden_size)

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: 1 + self.bidirectional]

    def forward(self, inputs: Tensor, *, mask: Tensor | None = None, initial: Tensor | None = None):
        """Run along the time axis.

        Args:
            inputs: (B, S, D) float.
            mask: (B, S) bool, True = a real token; at other positions the state is carried on.
            initial: (num_layers · directions, B, U); zeros if not given.

        Returns:
            states (B, S, directions · U), and the final state of each layer and direction
            (num_layers · directions, B, U), the forward one before the backward one.

        Raises:
            TypeError, ValueError: a width, the mask or the initial state does not fit.
        """
        check_width("inputs", inputs, self.input_size, dims=3)
        check_mask(mask, inputs.shape[:2])
        count = self.num_layers * (1 + self.bidirectional)
        shape = (count, len(inputs), self.hidden_size)
        if initial is None:
            initial = inputs.new_zeros(shape)
        elif initial.shape != shape:
            raise ValueError(f"initial must have shape {shape}, got {tuple(initial.shape)}")
        finals, starts = [], iter(initial)
        for layer in range(self.num_layers):
            outputs = []
            for suffix in self._suffixes(layer):
                states, final = self._run(inputs, mask, next(starts), suffix)
                outputs.append(states)
                finals.append(final)
            inputs = torch.cat(outputs, dim=-1)  # (B, S, directions · U)
        return inputs, torch.stack(finals)

    def _run(self, inputs, mask, hidden, suffix):
        """One layer in one direction: states (B, S, U) in the order of the input, and the last."""
        weight_hh, bias_hh = getattr(self, "weight_hh" + suffix), getattr(self, "bias_hh" + suffix)
        # The input's product needs no state, so it is taken for all time steps at once.
        projected = F.linear(
            inputs, getattr(self, "weight_ih" + suffix), getattr(self, "bias_ih" + suffix)
        )  # (B, S, 3U)
        steps = range(inputs.shape[1])
        backward = suffix.endswith("reverse")
        states, gates = [], []
        real = None if mask is None else mask.expand(inputs.shape[:2]).unbind(1)
        projected = projected.unbind(1)
        for step in reversed(steps) if backward else steps:
            new, reset, update = gru_step(projected[step], hidden, weight_hh, bias_hh)
            hidden = new if real is None else torch.where(real[step][:, None], new, hidden)
            states.append(hidden)
            if is_recorded(self):
                gates.append((reset, update))
        order = -1 if backward else 1
        if gates:
            reset, update = (torch.stack(gate[::order], dim=1) for gate in zip(*gates, strict=True))
            note(self, **{f"reset{suffix}": reset, f"update{suffix}": update})  # (B, S, U)
        return torch.stack(states[::order], dim=1), hidden


def reset_uniform(module: nn.Module, hidden_size: int) -> None:
    """Draw every parameter from U(−1/√U, 1/√U), as `torch.nn` does for recurrent layers."""
    bound = 1 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -bound, bound)
