"""Unroll a step along time, in layers and directions: the base of all recurrent layers."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import Call, accepts, boolean_mask, flag, floats, fraction, natural
from gates2heads.layers.record import is_recorded, note
from gates2heads.layers.recurrent.clamping import Clamp, clamp_of

STATE = floats("states batch hidden_size")


class Weights(NamedTuple):
    """The parameters of one layer in one direction; G blocks of U rows, one block per gate."""

    weight_ih: Tensor  # (G · U, input width)
    weight_hh: Tensor  # (G · U, U)
    bias_ih: Tensor  # (G · U,)
    bias_hh: Tensor  # (G · U,)


@accepts(input_size=natural, hidden_size=natural)
class Cell(nn.Module):
    """Parameters of one recurrent step, named and laid out as in `torch.nn`.

    Args:
        input_size: width of the input.
        hidden_size: width U of the state.
    """

    blocks = 1  # how many blocks of U rows each weight matrix has
    gates: tuple[str, ...] = ()  # by the names under which they are recorded

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = self.blocks * hidden_size
        self.weight_ih = nn.Parameter(torch.empty(rows, input_size))
        self.weight_hh = nn.Parameter(torch.empty(rows, hidden_size))
        self.bias_ih = nn.Parameter(torch.empty(rows))
        self.bias_hh = nn.Parameter(torch.empty(rows))
        reset_uniform(self, hidden_size)


@accepts(
    input_size=natural,
    hidden_size=natural,
    num_layers=natural,
    bidirectional=flag,
    dropout=fraction,
)
class Unrolled(nn.Module):
    """A recurrent step along a sequence, in one or more layers, one or two directions.

    A subclass defines one step, in `_step`, and which biases belong to the input, in `_project`.
    Parameters are named and laid out as in `torch.nn` with `batch_first=True`, so `load_state_dict`
    takes its weights.

    Args:
        input_size: width D of the input.
        hidden_size: width U of each state.
        num_layers: layer l receives the output of layer l − 1.
        bidirectional: a second set of units processes the sequence in reverse; both states are
            concatenated.
        dropout: the fraction of each layer's output that is set to zero during training.
    """

    blocks = 1
    gates: tuple[str, ...] = ()

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.num_layers, self.bidirectional = num_layers, bidirectional
        self.dropout = dropout
        rows = self.blocks * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * (1 + bidirectional)
            shapes = Weights((rows, width), (rows, hidden_size), (rows,), (rows,))
            for suffix in self._suffixes(layer):
                for name, shape in shapes._asdict().items():
                    self.register_parameter(name + suffix, nn.Parameter(torch.empty(shape)))
        reset_uniform(self, hidden_size)

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: 1 + self.bidirectional]

    def _project(self, inputs: Tensor, weights: Weights) -> Tensor:
        """Project the inputs (B, S, D) for all time steps together: (B, S, G · U)."""
        return F.linear(inputs, weights.weight_ih, weights.bias_ih)

    def _step(self, projected: Tensor, state: tuple, weights: Weights, clamp: Clamp):
        """One step from projected (B, G · U) and the state's tensors, each (B, U).

        `clamp` is applied to each gate before it is used.

        Returns:
            the next state, hidden first, and the values to record: a dict of tensors (B, U).
        """
        raise NotImplementedError(f"{type(self).__name__} must say what one step does")

    def _unroll(self, inputs: Tensor, mask: Tensor | None, initial: dict[str, Tensor | None]):
        """Run all layers; `initial` maps each tensor of the state to its start or to None.

        Returns:
            states (B, S, directions · U), and for each tensor of the state the final one
            (num_layers · directions, B, U).
        """
        if not inputs.shape[1]:
            raise ValueError(f"inputs must have a time step, got shape {tuple(inputs.shape)}")
        shape = (self.num_layers * (1 + self.bidirectional), len(inputs), self.hidden_size)
        call = Call({"self": self, "states": shape[0], "batch": shape[1]})
        for name, start in initial.items():
            if start is not None:
                STATE.check(name, start, call)
        zeros = inputs.new_zeros(shape)
        starts = zip(
            *(zeros if start is None else start for start in initial.values()), strict=True
        )
        finals = []
        for layer in range(self.num_layers):
            outputs = []
            for suffix in self._suffixes(layer):
                states, final = self._run(inputs, mask, next(starts), suffix)
                outputs.append(states)
                finals.append(final)
            inputs = torch.cat(outputs, dim=-1)  # (B, S, directions · U)
            if layer + 1 < self.num_layers:
                inputs = F.dropout(inputs, self.dropout, self.training)
        return inputs, tuple(torch.stack(final) for final in zip(*finals, strict=True))

    def _run(self, inputs: Tensor, mask: Tensor | None, state: tuple, suffix: str):
        """One layer in one direction: states (B, S, U) in the order of the input, and the last."""
        weights = Weights(*(getattr(self, name + suffix) for name in Weights._fields))
        # The input's product needs no state, so it is computed for all time steps together.
        projected = self._project(inputs, weights).unbind(1)  # S times (B, G · U)
        real = None if mask is None else mask.expand(inputs.shape[:2])[..., None].unbind(1)
        order = -1 if suffix.endswith("reverse") else 1
        states, notes, clamp = [], [], clamp_of(self, suffix)
        for step in range(len(projected))[::order]:
            new, seen = self._step(projected[step], state, weights, clamp)
            if real is not None:  # padding carries the state on
                new = tuple(
                    torch.where(real[step], after, before)
                    for after, before in zip(new, state, strict=True)
                )
            state = new
            states.append(state[0])
            if is_recorded(self):
                notes.append(seen)
        if notes:
            note(
                self,
                **{
                    name + suffix: torch.stack([seen[name] for seen in notes[::order]], dim=1)
                    for name in notes[0]
                },
            )  # each (B, S, U)
        return torch.stack(states[::order], dim=1), state


class UnrolledHidden(Unrolled):
    """A layer whose whole state is its hidden state, as in RNN and GRU; arguments as `Unrolled`."""

    @accepts(inputs=floats("B S input_size"), mask=boolean_mask("B S"))
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
            TypeError, ValueError: the initial state does not fit, or there is no time step.
        """
        states, (final,) = self._unroll(inputs, mask, {"initial": initial})
        return states, final


def reset_uniform(module: nn.Module, hidden_size: int) -> None:
    """Sample every parameter from U(−1/√U, 1/√U), as `torch.nn` does for recurrent layers."""
    bound = 1 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -bound, bound)
