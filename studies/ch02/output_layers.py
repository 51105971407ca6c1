"""What a step costs with each of three outputs, as the vocabulary grows. For chapter 2.

    python -m studies.ch02.output_layers
    python -m studies.ch02.output_layers --table

A step: 256 right words, drawn as they occur; their loss, and its gradient down to the 256 hidden
vectors of width 64. Word w of V occurs in proportion to 1 / w, as words of a text nearly do. The
quickest of REPEATS steps counts, on one thread; a longer one was disturbed by other work.
"""

from time import perf_counter

import torch

from gates2heads.book.studies import Study
from gates2heads.models.words.huffman import HuffmanTree
from gates2heads.models.words.outputs import OUTPUTS

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
PAIRS, WIDTH, REPEATS = 256, 64, 30


def run(setting: str, seed: int) -> dict:
    """Time one output at every size of vocabulary."""
    seconds, lengths = [], []
    for size in SIZES:
        counts = 1e6 / torch.arange(1, size + 1)
        torch.manual_seed(seed)
        output = OUTPUTS[setting](counts, WIDTH).requires_grad_(False)
        torch.nn.init.normal_(output.vectors.weight, std=0.1)
        hidden = torch.randn(PAIRS, WIDTH, requires_grad=True)
        target = torch.multinomial(counts, PAIRS, replacement=True)
        best = torch.inf
        for _ in range(REPEATS):
            begin = perf_counter()
            torch.autograd.grad(output(hidden, target).sum(), hidden)
            best = min(best, perf_counter() - begin)
        seconds.append(best / PAIRS)
        if setting == "hierarchical-softmax":
            lengths.append(HuffmanTree(counts).expected_length(counts))
    return {"sizes": list(SIZES), "seconds_a_word": seconds, "expected_turns": lengths}


STUDY = Study("ch02/output_layers", run, tuple(OUTPUTS))

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
