"""Recurrent layers by name, and their state with the batch first, as a search needs it."""

from torch import Tensor

from gates2heads.accepts import accepts, choice
from gates2heads.layers.recurrent import GRU, LSTM, RNN
from gates2heads.layers.recurrent.unroll import Unrolled

CELLS = {"rnn": RNN, "gru": GRU, "lstm": LSTM}
Carried = tuple[Tensor, ...]  # hidden, and the cell of an LSTM; each (B, num_layers, U)


@accepts(cell=choice(CELLS))
def recurrent_layer(
    cell: str, input_size: int, hidden_size: int, num_layers: int = 1, **options
) -> Unrolled:
    """The layer of that name, see `CELLS`; the other arguments are the layer's."""
    return CELLS[cell](input_size, hidden_size, num_layers, **options)


def carried_parts(layer: Unrolled) -> int:
    """The number of tensors in the state of the layer: 2 for an LSTM, otherwise 1."""
    return 2 if isinstance(layer, LSTM) else 1


def blank(layer: Unrolled, batch_size: int) -> Carried:
    """The initial state of the layer: zeros."""
    like = next(layer.parameters())
    shape = (batch_size, layer.num_layers * (1 + layer.bidirectional), layer.hidden_size)
    return tuple(like.new_zeros(shape) for _ in range(carried_parts(layer)))


def run(layer: Unrolled, inputs: Tensor, carried: Carried, *, mask: Tensor | None = None):
    """Process inputs (B, T, D) from the given state.

    Returns:
        states (B, T, U) of the last layer, and the final state.
    """
    # (B, num_layers, U) -> (num_layers, B, U), the order of torch.nn
    initial = tuple(tensor.transpose(0, 1) for tensor in carried)
    several = isinstance(layer, LSTM)
    states, final = layer(inputs, mask=mask, initial=initial if several else initial[0])
    final = final if several else (final,)
    return states, tuple(tensor.transpose(0, 1) for tensor in final)
