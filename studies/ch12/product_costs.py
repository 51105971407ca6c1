"""The time of a product of one matrix with more and more vectors. Section 12.3 shows the results.

    python -m studies.ch12.product_costs --seeds 0 1 2
    python -m studies.ch12.product_costs --table

A matrix of 4,096 × 4,096 numbers in fp16 (34 MB) is multiplied by N vectors in one call, by the
product of FBGEMM, a part of PyTorch on x86 processors. The matrix was rearranged before, in the
order in which the product reads it, and the arithmetic is in float32. `milliseconds` is the
processor time of one thread for each N: the minimum of several measurements. Between two
measurements, 67 MB of other numbers are written, so that little of the matrix remains in the
caches. `reading` is the time to add up as many bytes of float32 numbers, which reads each of them
once.
"""

import time
from collections.abc import Callable

import torch

from gates2heads.book.studies import Study

WIDTH = 4096
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256)
ROUNDS = 9


@torch.no_grad()
def run(setting: str, seed: int) -> dict:
    """Time the products."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    matrix, other = torch.randn(WIDTH, WIDTH), torch.randn(WIDTH, WIDTH)
    as_large = torch.randn(WIDTH, WIDTH // 2)  # as many bytes as the matrix in fp16
    packed = torch.ops.quantized.linear_prepack_fp16(matrix, None)
    multiply = torch.ops.quantized.linear_dynamic_fp16

    def fastest(work: Callable[[], object]) -> float:
        taken = []
        for _ in range(ROUNDS):
            other.add_(1)
            begin = time.process_time()
            work()
            taken.append(time.process_time() - begin)
        return min(taken)

    seconds = []
    for count in COUNTS:
        vectors = torch.randn(count, WIDTH)
        seconds.append(fastest(lambda vectors=vectors: multiply(vectors, packed)))
    return {
        "width": WIDTH,
        "counts": list(COUNTS),
        "milliseconds": [1000 * one for one in seconds],
        "reading": 1000 * fastest(as_large.sum),
    }


if __name__ == "__main__":
    Study("ch12/product_costs", run, ("fp16",)).main()
