"""The largest few of many numbers, without looking closely at all of them."""

import torch
from torch import Tensor

BLOCK = 64  # neighbours of which only the largest is looked at first
MANY = 4096  # numbers; measured: for fewer, `topk` alone is as fast


def top(numbers: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row of numbers (R, V), and where they stand, (R, count) each.

    To find the largest number of each block is much faster than to sort. At most `count` blocks
    hold the `count` largest numbers: those whose own largest are greatest. A block that is left
    out has `count` others before it, each with a number at least as large as all of its own.
    """
    size = numbers.shape[1]
    blocks = size // BLOCK
    if size < MANY or blocks < count:
        return numbers.topk(count, dim=1)
    largest = numbers[:, : blocks * BLOCK].unflatten(1, (blocks, BLOCK)).amax(dim=2)
    firsts = largest.topk(count, dim=1).indices[..., None] * BLOCK  # (R, count, 1)
    device = numbers.device
    places = (firsts + torch.arange(BLOCK, device=device)).flatten(1)
    rest = torch.arange(blocks * BLOCK, size, device=device).expand(len(numbers), -1)
    places = torch.cat([places, rest], dim=1)  # those after the last whole block are looked at too
    values, found = numbers.gather(1, places).topk(count, dim=1)
    return values, places.gather(1, found)
