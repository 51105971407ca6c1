"""Comparison of an answer with the correct one: whether they agree, and where not."""

from numbers import Number

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown

SHOWN = 4  # number of displayed entries of a longer answer


def same(answer: object, wanted: object, tolerance: float = 1e-5) -> bool:
    """Whether two answers agree: numbers up to rounding, everything else exactly."""
    return difference(answer, wanted, tolerance) == ""


def difference(answer: object, wanted: object, tolerance: float = 1e-5) -> str:
    """Describe the difference between an answer and the correct one; "" if they agree.

    Args:
        answer: what the reader's function returned.
        wanted: a tensor or a number; anything else is compared by ==.
        tolerance: the absolute and relative tolerance.
    Returns:
        "" or the end of a sentence, such as "expected 5, got 7". Different numbers are never shown
        with the same digits.
    """
    if not isinstance(wanted, Tensor | Number):
        right = type(answer) is type(wanted) and answer == wanted
        return "" if right else f"expected {shown(wanted)}, got {shown(answer)}"
    is_mask = isinstance(wanted, Tensor) and wanted.dtype == torch.bool
    wanted = torch.as_tensor(wanted).detach().double().cpu()
    try:
        given = _real(torch.as_tensor(answer))
    except (TypeError, ValueError, RuntimeError):
        kind = f"a tensor of shape {tuple(wanted.shape)}" if wanted.dim() else "a number"
        return f"expected {kind}, got {shown(answer)}"
    if given.shape != wanted.shape:
        given_shape, wanted_shape = (_shape(one) for one in (given, wanted))
        return f"expected {wanted_shape}, got {given_shape}"
    if torch.allclose(given, wanted, atol=tolerance, rtol=tolerance):
        return _no_mask(torch.as_tensor(answer)) if is_mask else ""
    if given.isnan().any() and not wanted.isnan().any():
        return _holed(given, wanted)
    return _differing_numbers(given, wanted, tolerance)


def _no_mask(answer: Tensor) -> str:
    """The message for a mask of correct zeros and ones that are not False and True."""
    if answer.dtype == torch.bool:
        return ""
    return f"expected True and False, got numbers of {answer.dtype}"


def _real(answer: Tensor) -> Tensor:
    """The numbers of an answer (…), sparse or not; raises if it cannot be compared as numbers."""
    if answer.is_complex():
        raise TypeError("answer must hold real numbers: its imaginary part would be lost")
    return answer.detach().to_dense().double().cpu()


def _shape(tensor: Tensor) -> str:
    return f"a tensor of shape {tuple(tensor.shape)}" if tensor.dim() else "a single number"


def _holed(given: Tensor, wanted: Tensor) -> str:
    """Show the expected values at a NaN: for a matrix, the row."""
    if given.dim() != 2 or len(given) < 2:
        return f"expected {_first(wanted)}, got NaN"
    row = int(given.isnan().any(1).nonzero()[0])
    return f"in row {row}, counted from 0, expected {_first(wanted[row])}, got NaN"


def _differing_numbers(given: Tensor, wanted: Tensor, tolerance: float) -> str:
    """Show the same few numbers of both, with as many digits as needed."""
    apart = ~torch.isclose(given, wanted, atol=tolerance, rtol=tolerance)
    if given.dim() == 2 and len(given) > 1 and apart[:, :SHOWN].any():
        row = int(apart[:, :SHOWN].any(1).nonzero()[0])
        detail = _differing_numbers(given[row], wanted[row], tolerance)
        return f"in row {row}, counted from 0, {detail}"
    place = int(apart.flatten().nonzero()[0])
    if place < SHOWN:
        for digits in range(4, 18):
            yours, right = _first(given, digits), _first(wanted, digits)
            if yours != right:
                return f"expected {right}, got {yours}"
    at = [int(one) for one in torch.unravel_index(torch.tensor(place), given.shape)]
    mine, other = given.flatten()[place].item(), wanted.flatten()[place].item()
    digits = next(n for n in range(4, 18) if f"{mine:.{n}g}" != f"{other:.{n}g}")
    return f"at index {at}, expected {other:.{digits}g}, got {mine:.{digits}g}"


def _first(tensor: Tensor, digits: int = 4) -> str:
    """The first numbers of a tensor, or the one number that it is."""
    numbers = [f"{number:.{digits}g}" for number in tensor.flatten()[:SHOWN].tolist()]
    if tensor.dim() == 0:
        return numbers[0]
    return f"[{', '.join(numbers)}{', …' if tensor.numel() > SHOWN else ''}]"
