"""Averaging: one model from the parameters of several, which is often better than each."""

import os
from collections.abc import Sequence

from torch import Tensor

from gates2heads.accepts import accepts, listed
from gates2heads.accepts.shown import in_line
from gates2heads.training.checkpoints import read_weights


@accepts(paths=listed("weights files", least=1))
def average_weights(paths: Sequence[str | os.PathLike]) -> dict[str, Tensor]:
    """Average the parameters in several files of one model, such as its last checkpoints.

    Source: Vaswani et al. 2017, section 6.1, where the last 5 to 20 checkpoints are averaged.

    Args:
        paths: files of `save_weights`, all for models of the same shape.

    Returns:
        the mean of each tensor, of the shape it has in the files. Values that are not
        floating-point numbers, such as counters, are taken from the last file.

    Raises:
        FileNotFoundError, ValueError: as in `read_weights`, or names, shapes or
            dtypes differ.
    """
    mean, first = {}, None
    for path in paths:
        tensors, _ = read_weights(path)
        shapes = {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}
        first = first or shapes
        if shapes != first:
            raise ValueError(
                f"paths: {in_line(path)} is for another model than {in_line(paths[0])}: weights "
                "differ in shape or dtype"
            )
        for name, tensor in tensors.items():
            if tensor.is_floating_point():
                # In double precision: a sum in half precision would overflow.
                share = tensor.double() / len(paths)
                mean[name] = mean[name] + share if name in mean else share
            else:
                mean[name] = tensor
    return {name: tensor.to(first[name][1]) for name, tensor in mean.items()}
