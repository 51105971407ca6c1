"""Checks of what a caller passes to a layer: one clear sentence instead of an error from inside."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn


def check_module(name: str, module: nn.Module) -> None:
    """Refuse what is neither a layer nor a model.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"{name} must be a torch.nn.Module, got {type(module).__name__}")


def check_module_filled(name: str, module: nn.Module) -> None:
    """Refuse what is no module, and one on the device "meta", whose weights hold no numbers.

    Raises:
        TypeError, ValueError: with a sentence that names the argument.
    """
    check_module(name, module)
    for weight, parameter in module.named_parameters():
        check_filled(f"{name}'s {weight}", parameter)


def takes(function: Callable, *given: Any, **named: Any) -> bool:
    """Whether something is a function, or a module but not its class, that takes such arguments."""
    if isinstance(function, type) or not callable(function):
        return False
    try:
        signature(getattr(function, "forward", function)).bind(*given, **named)
    except TypeError:
        return False
    except ValueError:  # a function that Python cannot look into
        return True
    return True


def check_dense(name: str, tensor: Tensor) -> None:
    """Refuse a tensor (…) that is no plain array of its numbers: a sparse, nested or quantised one.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if tensor.layout != torch.strided or tensor.is_nested or tensor.is_quantized:
        kind = "a nested one" if tensor.is_nested else tensor.layout
        kind = "a quantised one" if tensor.is_quantized else kind
        raise TypeError(f"{name} must be a dense tensor, got {kind}")


def check_filled(name: str, tensor: Tensor) -> None:
    """Refuse a tensor (…) whose numbers cannot be seen: sparse, nested, or on "meta", without any.

    Raises:
        TypeError, ValueError: with a sentence that names the argument.
    """
    check_dense(name, tensor)
    if tensor.is_meta:
        raise ValueError(f"{name} must hold numbers, got a tensor on meta, which holds none")


def check_device(like: nn.Module | Tensor, **tensors: Tensor | None) -> None:
    """Refuse tensors (…) that lie elsewhere than a module's weights, or than another tensor.

    Raises:
        ValueError: with a sentence that names the tensor and both devices.
    """
    wanted = like if isinstance(like, Tensor) else _weight_of(like)
    place = "what goes with it" if like is wanted else "the layer"
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor) and wanted is not None and tensor.device != wanted.device:
            raise ValueError(
                f"{name} must be on {wanted.device} like {place}, got a tensor on {tensor.device}"
            )


def check_mask(
    mask: Tensor | None,
    shape: tuple[int, ...],
    *,
    name: str = "mask",
    like: Tensor | None = None,
) -> None:
    """Refuse a mask that is not bool, that does not broadcast to `shape`, or lies elsewhere.

    Raises:
        TypeError: the mask is no dense tensor, or its dtype is not bool.
        ValueError: its shape does not broadcast to `shape`, or its device is not that of `like`.
    """
    if mask is None:
        return
    if not isinstance(mask, Tensor):
        raise TypeError(f"{name} must be a bool tensor, got {type(mask).__name__}")
    if mask.dtype != torch.bool:
        raise TypeError(f"{name} must be a bool tensor (True = may attend), got {mask.dtype}")
    check_dense(name, mask)
    if like is not None:
        check_device(like, **{name: mask})
    fits = mask.dim() <= len(shape) and all(
        size in (1, wanted)
        for size, wanted in zip(mask.shape[::-1], tuple(shape)[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"{name} must broadcast to {tuple(shape)}, got a mask of shape {tuple(mask.shape)}"
        )


def check_width(name: str, tensor: Tensor, width: int | None, *, dims: int = 2) -> None:
    """Refuse a tensor whose number of axes or whose last axis is not what the layer reads.

    A width of None allows any.

    Raises:
        TypeError: it is no tensor.
        ValueError: its shape is not (B, …, width).
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}")
    if tensor.dim() != dims or width not in (None, tensor.shape[-1]):
        axes = ", ".join([*"BSTUV"[: dims - 1], "width" if width is None else str(width)])
        raise ValueError(f"{name} must have shape ({axes}), got {tuple(tensor.shape)}")
    check_dense(name, tensor)


def check_floats(name: str, tensor: Tensor) -> None:
    """Refuse a tensor of integers or truths, whatever its shape.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}")


def check_dtypes(module: nn.Module, **tensors: Tensor) -> None:
    """Refuse tensors of another dtype or device than the module's weights, or than each other.

    Under autocast, layers mix precisions on purpose, and then floating point is enough.

    Raises:
        TypeError: a dtype differs, or is no floating-point one; the sentence names the tensor.
        ValueError: a device differs; see `check_device`.
    """
    wanted = _weight_of(module)
    for name, tensor in tensors.items():
        wanted = tensor if wanted is None else wanted
        dtype = wanted.dtype
        check_dense(name, tensor)
        check_floats(name, tensor)
        if tensor.dtype != dtype and not torch.is_autocast_enabled(tensor.device.type):
            raise TypeError(f"{name} must be {dtype} like the layer, got {tensor.dtype}")
        if tensor.device != wanted.device:
            check_device(module if _weight_of(module) is wanted else wanted, **{name: tensor})


def _weight_of(module: nn.Module) -> Tensor | None:
    """The first weight of a module; None where it has none.

    A search asks this of every layer at every step, and `module.parameters()` alone would take a
    twentieth of its time; so the module's own weights are looked up first.
    """
    for parameter in module._parameters.values():
        if parameter is not None:
            return parameter
    for child in module._modules.values():
        if child is not None and (weight := _weight_of(child)) is not None:
            return weight
    return None


def check_tokens(name: str, tokens: Tensor, vocabulary_size: int) -> None:
    """Refuse token numbers that are not a (B, L) integer tensor, empty, or out of range.

    Raises:
        TypeError: it is no dense tensor, or its dtype is not long or int.
        ValueError: its shape is not (B, L), or a number is not in the vocabulary, or it lies on
            the device "meta".
    """
    if not isinstance(tokens, Tensor):
        raise TypeError(f"{name} must be a tensor of token numbers, got {type(tokens).__name__}")
    if tokens.dtype not in (torch.long, torch.int):
        raise TypeError(f"{name} must hold integers (torch.long), got {tokens.dtype}")
    if tokens.dim() != 2 or tokens.numel() == 0:
        raise ValueError(
            f"{name} must have shape (B, L) with at least one token, got {tuple(tokens.shape)}"
        )
    check_filled(name, tokens)
    low, high = int(tokens.min()), int(tokens.max())
    if low < 0 or high >= vocabulary_size:
        wrong = low if low < 0 else high
        raise ValueError(f"{name} must hold numbers 0 to {vocabulary_size - 1}, got {wrong}")
