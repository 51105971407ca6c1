"""How much of a state arrives where: the Jacobian of each step, and of many steps together."""

import torch
from torch import Tensor

from gates2heads.checks.tensors import check_dtypes, check_filled, check_module_filled, check_width
from gates2heads.checks.values import check_count
from gates2heads.layers.recurrent.lstm import LSTM
from gates2heads.layers.recurrent.unroll import Unrolled


def step_jacobians(layer: Unrolled, inputs: Tensor) -> Tensor:
    """Differentiate the state after each step of a text by the state before it.

    The state of an LSTM is its hidden state above its cell, so N = 2U; else N = U.

    Args:
        layer: an RNN, GRU or LSTM with one layer and one direction.
        inputs: (S, D) float, one text.

    Returns:
        (S, N, N): entry t, i, j is the derivative of number i of the state after step t by
        number j of the state before it.

    Raises:
        TypeError, ValueError: the layer is another one, or the inputs do not fit.
    """
    _check_layer(layer)
    check_width("inputs", inputs, layer.input_size)
    check_filled("inputs", inputs)
    check_dtypes(layer, inputs=inputs)
    if not len(inputs):
        raise ValueError(f"inputs must have a time step, got shape {tuple(inputs.shape)}")

    def step(vector: Tensor, state: Tensor) -> Tensor:
        parts = state.view(-1, 1, 1, layer.hidden_size).unbind()  # each (layers, B, U) of 1, 1, U
        initial = tuple(parts) if isinstance(layer, LSTM) else parts[0]
        _, final = layer(vector[None, None], initial=initial)
        return torch.cat(final).flatten() if isinstance(layer, LSTM) else final.flatten()

    with torch.no_grad():
        states = [inputs.new_zeros(layer.hidden_size * (1 + isinstance(layer, LSTM)))]
        for vector in inputs[:-1]:
            states.append(step(vector, states[-1]))
        derive = torch.func.vmap(torch.func.jacrev(step, argnums=1))
        return derive(inputs, torch.stack(states))


def influence(jacobians: Tensor, units: int) -> Tensor:
    """Measure ‖∂h_T/∂(state t)‖ for every distance T − t, by the product of the steps between.

    The norm is the spectral one: by how much a small change of the state may grow on its way to
    the last hidden state, in the direction in which it grows most.

    Args:
        jacobians: (S, N, N), as `step_jacobians` gives them.
        units: U, how many of the N numbers are the hidden state; they come first.

    Returns:
        (S + 1,) in double precision; entry k is the norm at distance k.

    Raises:
        TypeError, ValueError: they are no such Jacobians, or hold what is not finite.
    """
    check_width("jacobians", jacobians, None, dims=3)
    check_filled("jacobians", jacobians)
    if not jacobians.is_floating_point():
        raise TypeError(f"jacobians must hold floating-point numbers, got {jacobians.dtype}")
    if jacobians.shape[1] != jacobians.shape[2] or not jacobians.numel():
        raise ValueError(
            f"jacobians must be a pile (S, N, N) of squares, got {tuple(jacobians.shape)}"
        )
    if not jacobians.isfinite().all():
        raise ValueError("jacobians must be finite, got one that is not")
    check_count("units", units, most=jacobians.shape[1])
    product = torch.eye(jacobians.shape[1], dtype=torch.double, device=jacobians.device)[:units]
    norms = [torch.linalg.matrix_norm(product, 2)]
    for jacobian in jacobians.detach().double().flip(0):
        product = product @ jacobian  # (U, N): ∂h_T/∂(state t), one step farther back
        norms.append(torch.linalg.matrix_norm(product, 2))
    return torch.stack(norms)


def _check_layer(layer: Unrolled) -> None:
    check_module_filled("layer", layer)
    if not isinstance(layer, Unrolled):
        raise TypeError(f"layer must be an RNN, GRU or LSTM, got {type(layer).__name__}")
    if layer.num_layers != 1 or layer.bidirectional:
        ways = 1 + layer.bidirectional
        raise ValueError(
            f"layer must have one layer and one direction, got {layer.num_layers} and {ways}"
        )
