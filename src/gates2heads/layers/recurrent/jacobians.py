"""Jacobians of recurrent layers: of each step, and of many steps together."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, instance, natural
from gates2heads.layers.recurrent.lstm import LSTM
from gates2heads.layers.recurrent.unroll import Unrolled


@accepts(layer=instance(Unrolled), inputs=floats("S D", empty=False))
def step_jacobians(layer: Unrolled, inputs: Tensor) -> Tensor:
    """Differentiate the state after each step of a sequence by the state before it.

    The state of an LSTM is its hidden state concatenated with its cell, so N = 2U; else N = U.

    Args:
        layer: an RNN, GRU or LSTM with one layer and one direction.
        inputs: (S, D) float, one sequence.

    Returns:
        (S, N, N): entry t, i, j is the derivative of entry i of the state after step t by entry j
        of the state before it.

    Raises:
        ValueError: the layer has more layers or directions.
    """
    _check_layer(layer)
    size = layer.hidden_size * (1 + isinstance(layer, LSTM))
    with torch.no_grad():
        states = [inputs.new_zeros(1, size)]
        for vector in inputs[:-1]:
            states.append(_step(layer, vector[None], states[-1]))
    # N copies of each state, of which copy i gives row i: one backward pass finds all rows.
    before = torch.cat(states).repeat_interleave(size, 0).requires_grad_()  # (S · N, N)
    with torch.enable_grad():
        after = _step(layer, inputs.repeat_interleave(size, 0), before)
        rows = after.view(-1, size, size).diagonal(dim1=1, dim2=2).sum()
        (jacobians,) = torch.autograd.grad(rows, before)
    return jacobians.view(-1, size, size)


@accepts(jacobians=floats("S N N", empty=False), units=natural)
def influence(jacobians: Tensor, units: int) -> Tensor:
    """Measure ‖∂h_T/∂(state t)‖ for every distance T − t, by the product of the steps between.

    The norm is the spectral one: the largest factor by which a small change of the state can grow
    until the last hidden state.

    Args:
        jacobians: (S, N, N), as `step_jacobians` gives them.
        units: U, how many of the N entries are the hidden state; they come first.

    Returns:
        (S + 1,) in double precision; entry k is the norm at distance k.

    Raises:
        ValueError: they contain values that are not finite, or fewer entries than units.
    """
    if not jacobians.isfinite().all():
        raise ValueError("jacobians must be finite, got one that is not")
    if units > jacobians.shape[1]:
        raise ValueError(f"units must be at most {jacobians.shape[1]}, as wide, got {units}")
    product = torch.eye(jacobians.shape[1], dtype=torch.double, device=jacobians.device)[:units]
    norms = [torch.linalg.matrix_norm(product, 2)]
    for jacobian in jacobians.detach().double().flip(0):
        product = product @ jacobian  # (U, N): ∂h_T/∂(state t), one step farther back
        norms.append(torch.linalg.matrix_norm(product, 2))
    return torch.stack(norms)


def _step(layer: Unrolled, vectors: Tensor, states: Tensor) -> Tensor:
    """One step of each sequence: vectors (B, D), states (B, N) -> next states (B, N)."""
    initial = tuple(states[None].split(layer.hidden_size, dim=-1))  # each (1, B, U)
    _, final = layer(vectors[:, None], initial=initial if isinstance(layer, LSTM) else initial[0])
    return (torch.cat(final, dim=-1) if isinstance(layer, LSTM) else final)[0]


def _check_layer(layer: Unrolled) -> None:
    if layer.num_layers != 1 or layer.bidirectional:
        ways = 1 + layer.bidirectional
        raise ValueError(
            f"layer must have one layer and one direction, got {layer.num_layers} and {ways}"
        )
