"""Plain recurrent networks: the state is a nonlinear function of input and previous state."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, choice, flag, floats, fraction, natural
from gates2heads.layers.record import note
from gates2heads.layers.recurrent.clamping import Clamp
from gates2heads.layers.recurrent.unroll import Cell, UnrolledHidden, Weights

NONLINEARITIES = {"tanh": torch.tanh, "relu": torch.relu}


def rnn_step(projected: Tensor, hidden: Tensor, weight_hh: Tensor, *, nonlinearity: str = "tanh"):
    """Advance a plain recurrent network by one time step: h' = φ(W x + b + U h).

    Source: Elman 1990. Departs from it in the choice of φ, which may be a rectifier.

    Args:
        projected: (B, U) the part of the input, W x + b.
        hidden: (B, U) the state before the step.
        weight_hh: (U, U) the weights of the state.
        nonlinearity: "tanh" or "relu".

    Returns:
        hidden (B, U) after the step.
    """
    summed = torch.addmm(projected, hidden, weight_hh.t())
    return NONLINEARITIES[nonlinearity](summed).type_as(hidden)  # also under autocast


@accepts(input_size=natural, hidden_size=natural, nonlinearity=choice(NONLINEARITIES))
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
        self.nonlinearity = nonlinearity

    @accepts(inputs=floats("B input_size"), hidden=floats("B hidden_size"))
    def forward(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """Process inputs (B, input_size) and hidden (B, U); return the next hidden (B, U)."""
        projected = F.linear(inputs, self.weight_ih, self.bias_ih + self.bias_hh)  # (B, U)
        hidden = rnn_step(projected, hidden, self.weight_hh, nonlinearity=self.nonlinearity)
        note(self, hidden=hidden[:, None])  # (B, 1, U): one time step
        return hidden


@accepts(
    input_size=natural,
    hidden_size=natural,
    num_layers=natural,
    nonlinearity=choice(NONLINEARITIES),
    bidirectional=flag,
    dropout=fraction,
)
class RNN(UnrolledHidden):
    """A plain recurrent network along a sequence, in layers and directions; see `rnn_step`.

    Parameters are named and laid out as in `torch.nn.RNN(batch_first=True)`, so `load_state_dict`
    takes its weights. Records `hidden_l0`, … (B, S, U) inside a `record` block.

    Args:
        input_size: width D of the input.
        hidden_size: width U of each state.
        num_layers: layer l receives the output of layer l − 1.
        nonlinearity: "tanh" or "relu".
        bidirectional: a second set of units processes the sequence in reverse; both states are
            concatenated.
        dropout: the fraction of each layer's output that is set to zero during training.
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
        self.nonlinearity = nonlinearity

    def _project(self, inputs: Tensor, weights: Weights) -> Tensor:
        return F.linear(inputs, weights.weight_ih, weights.bias_ih + weights.bias_hh)

    def _step(self, projected: Tensor, state: tuple, weights: Weights, clamp: Clamp):
        hidden = rnn_step(projected, *state, weights.weight_hh, nonlinearity=self.nonlinearity)
        return (hidden,), {"hidden": hidden}
