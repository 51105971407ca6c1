"""The largest few of many numbers, without sorting all of them."""

import torch
from torch import Tensor

BLOCK = 64  # adjacent numbers of which only the largest is examined first
MANY = 4096  # numbers; measured: for fewer, `topk` alone is as fast


def top(numbers: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row of numbers (R, V), and their indices, (R, count) each.

    To find the largest number of each block is much faster than to sort. At most `count` blocks
    contain the `count` largest numbers: those with the largest maxima. For a block that is left
    out, `count` other blocks each contain a number at least as large as all of its own.
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
    places = torch.cat([places, rest], dim=1)  # those after the last whole block are included
    values, found = numbers.gather(1, places).topk(count, dim=1)
    return values, places.gather(1, found)
