"""Plain recurrent networks: the state is a squashed sum of the input and the state before."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.layers.record import note
from gates2heads.layers.unroll import Cell, Unrolled, Weights

NONLINEARITIES = {"tanh": torch.tanh, "relu": torch.relu}


def rnn_step(projected: Tensor, hidden: Tensor, weight_hh: Tensor, *, nonlinearity: str = "tanh"):
    """Advance a plain recurrent network by one time step: h' = φ(W x + b + U h).

    Source: Elman 1990. Departs from it in the choice of φ, which may be a rectifier.

    Args:
        projected: (B, U) what the input says, W x + b.
        hidden: (B, U) the state before the step.
        weight_hh: (U, U) what the state says.
        nonlinearity: "tanh" or "relu".

    Returns:
        hidden (B, U) after the step.
    """
    summed = torch.addmm(projected, hidden, weight_hh.t())
    return NONLINEARITIES[nonlinearity](summed).type_as(hidden)  # also under autocast


class RNNCell(Cell):
    """One step of a plain recurrent network; see `rnn_step`.

    Parameters are named and laid out as in `torch.nn.RNNCell`, so `load_state_dict` takes its
    weights.

    Args:
        input_size: width of the input.
        hidden_size: width U of the state.
        nonlinearity: "tanh" or "relu".
    """

    def __init__(self, input_size: int, hidden_size: int, nonlinearity: str = "tanh"):
        super().__init__(input_size, hidden_size)
        self.nonlinearity = _checked(nonlinearity)

    def forward(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """Read inputs (B, input_size) and hidden (B, U); return the next hidden (B, U).

        Raises:
            TypeError, ValueError: a width, a batch size or a dtype does not fit.
        """
        self._check(inputs, hidden=hidden)
        projected = F.linear(inputs, self.weight_ih, self.bias_ih + self.bias_hh)  # (B, U)
        hidden = rnn_step(projected, hidden, self.weight_hh, nonlinearity=self.nonlinearity)
        note(self, hidden=hidden[:, None])  # (B, 1, U): one time step
        return hidden


class RNN(Unrolled):
    """A plain recurrent network along a sequence, in layers and directions; see `rnn_step`.

    Parameters are named and laid out as in `torch.nn.RNN(batch_first=True)`, so `load_state_dict`
    takes its weights. Notes `hidden_l0`, … (B, S, U) when somebody records.

    Args:
        input_size: width D of the input.
        hidden_size: width U of each state.
        num_layers: layer l reads what layer l − 1 wrote.
        nonlinearity: "tanh" or "relu".
        bidirectional: a second set of units reads from the end; both states are concatenated.
        dropout: how much of what a layer wrote is hidden from the next one while training.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bidirectional: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__(input_size, hidden_size, num_layers, bidirectional, dropout)
        self.nonlinearity = _checked(nonlinearity)

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
            TypeError, ValueError: a width, a dtype, the mask or the initial state does not fit, or
                there is no time step.
        """
        states, (final,) = self._unroll(inputs, mask, {"initial": initial})
        return states, final

    def _project(self, inputs: Tensor, weights: Weights) -> Tensor:
        return F.linear(inputs, weights.weight_ih, weights.bias_ih + weights.bias_hh)

    def _step(self, projected: Tensor, state: tuple, weights: Weights):
        hidden = rnn_step(projected, *state, weights.weight_hh, nonlinearity=self.nonlinearity)
        return (hidden,), {"hidden": hidden}


def _checked(nonlinearity: str) -> str:
    if nonlinearity not in list(NONLINEARITIES):
        raise ValueError(f"nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
    return nonlinearity
