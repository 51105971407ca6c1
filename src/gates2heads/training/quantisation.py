"""Quantisation: one byte per parameter, a quarter of the size in float32."""

from collections.abc import Mapping

import torch
from torch import Tensor

from gates2heads.accepts import accepts, mapping
from gates2heads.accepts.shown import shown

SCALE = "/scale"  # the suffix of a matrix's name for the scales of its rows
LARGEST = 127  # of a signed byte; −128 is not used, so that signs are treated alike


@accepts(tensors=mapping("names to tensors"))
def quantise(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert each matrix to integers from −127 to 127, with one scale for each row.

    A row w becomes round(w / s) with s = max |w| / 127, which changes no parameter by more than s /
    2. Vectors, such as biases and the gains of norms, are few and not quantised.

    Source: Dettmers et al. 2022, "LLM.int8()", section 2.1, absmax quantisation; one scale for
    each row as in its section 2.2.

    Args:
        tensors: weights by name.

    Returns:
        for each matrix of shape (R, …) an int8 tensor under its name and the scales (R,) float32
        under its name with "/scale"; the others unchanged.

    Raises:
        ValueError: a weight is not finite, or a name ends like a scale's.
    """
    packed = {}
    for name, tensor in tensors.items():
        if name.endswith(SCALE):
            raise ValueError(
                f"tensors must not hold a name that ends with {SCALE}, got {shown(name)}"
            )
        if tensor.dim() < 2 or not tensor.is_floating_point() or not tensor.numel():
            packed[name] = tensor
            continue
        rows = tensor.float().flatten(1)  # (R, ·)
        if not rows.isfinite().all():
            raise ValueError(f"{name} must be finite in float32 to be quantised")
        scale = rows.abs().amax(dim=1) / LARGEST
        whole = (rows / scale.clamp_min(torch.finfo(torch.float32).tiny)[:, None]).round()
        packed[name] = whole.to(torch.int8).view(tensor.shape)
        packed[name + SCALE] = scale
    return packed


@accepts(packed=mapping("names to tensors"))
def dequantise(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert the result of `quantise` into float32; other tensors are unchanged.

    Raises:
        ValueError: scales without their matrix, or of another number than its rows.
    """
    tensors = {name: tensor for name, tensor in packed.items() if not name.endswith(SCALE)}
    for name in packed.keys() - tensors.keys():
        scale, matrix = packed[name], name.removesuffix(SCALE)
        whole = tensors.get(matrix)
        fits = whole is not None and whole.dtype == torch.int8 and whole.dim() > 1
        if not fits or scale.shape != whole.shape[:1] or not scale.is_floating_point():
            raise ValueError(
                f"{name} must have a matrix of int8 rows beside it, one for each scale"
            )
        rows = whole.float().flatten(1) * scale.float()[:, None]
        tensors[matrix] = rows.view(whole.shape)
    return tensors


def check_named(tensors: Mapping[str, Tensor], argument: str) -> None:
    """Reject anything but a mapping from names to tensors, of any shape.

    Raises:
        TypeError: with a message that names the argument.
    """
    if not isinstance(tensors, Mapping):
        raise TypeError(f"{argument} must map names to tensors, got {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"{argument} must have names that are strings, got {shown(name)}")
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{argument} must hold tensors, got {shown(tensor)} for {shown(name)}")
