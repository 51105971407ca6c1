"""Agreement of two implementations: the largest difference of outputs and of gradients."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, listed
from gates2heads.accepts.shown import shown


class Difference(NamedTuple):
    """Largest absolute differences."""

    outputs: float
    gradients: float


@accepts(inputs=listed("tensors", kind=floats(), least=1))
def largest_difference(
    ours: Callable[..., Tensor], theirs: Callable[..., Tensor], inputs: Sequence[Tensor]
) -> Difference:
    """Run two functions on the same inputs, forwards and backwards, and compare.

    The gradients are those of the sum of the squared outputs with respect to every input.

    Args:
        ours, theirs: functions of the inputs that return one tensor each, of the same shape.
        inputs: float tensors, which are copied and not changed.
    Returns:
        the largest absolute difference of the outputs, and that of the gradients.
    Raises:
        TypeError: one of the two does not return a tensor.
        ValueError: the outputs differ in shape.
    """
    leaves = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    outputs = [_answer("ours", ours, leaves), _answer("theirs", theirs, leaves)]
    if outputs[0].shape != outputs[1].shape:
        raise ValueError(
            "ours and theirs must return the same shape, got "
            f"{tuple(outputs[0].shape)} and {tuple(outputs[1].shape)}"
        )
    gradients = [torch.autograd.grad(output.square().sum(), leaves) for output in outputs]
    return Difference(
        (outputs[0] - outputs[1]).abs().max().item(),
        max((a - b).abs().max().item() for a, b in zip(*gradients, strict=True)),
    )


def _answer(name: str, function: Callable[..., Tensor], leaves: list[Tensor]) -> Tensor:
    output = function(*leaves)
    if not isinstance(output, Tensor):
        raise TypeError(f"{name} must return a tensor, got {shown(output)}")
    return output
