"""Huffman trees: frequent words are near the root, rare words far from it."""

from heapq import heapify, heappop, heappush

import torch
from torch import Tensor

from gates2heads.accepts import accepts, counts, natural

LEFT, RIGHT = 1, -1


@accepts(counts=counts("V"))
class HuffmanTree:
    """The binary tree over V words whose expected path is the shortest.

    The two nodes with the smallest counts are joined under a new one, until one node is left. A
    tree over V words has V − 1 inner nodes; the root has the last number, V − 2.

    Source: Huffman 1952; used for words by Mikolov et al. 2013, "Distributed Representations",
    section 2.1.

    Args:
        counts: (V,), how often each word occurs.

    Raises:
        ValueError: there are fewer than two words.
    """

    def __init__(self, counts: Tensor):
        self.size = len(counts)
        if self.size < 2:
            raise ValueError(f"counts must be of at least two words, got {self.size}")
        self._parent = [0] * (2 * self.size - 1)  # leaves 0 to V − 1, then the inner nodes
        self._turn = [0] * (2 * self.size - 1)  # the branch from the parent to the node
        heap = [(count, leaf) for leaf, count in enumerate(counts.tolist())]
        heapify(heap)
        for node in range(self.size, 2 * self.size - 1):
            (light, left), (heavier, right) = heappop(heap), heappop(heap)
            self._parent[left] = self._parent[right] = node
            self._turn[left], self._turn[right] = LEFT, RIGHT
            heappush(heap, (light + heavier, node))

    def __len__(self) -> int:
        return self.size

    def path(self, word: int) -> list[tuple[int, int]]:
        """The path from the root to a word: (inner node, turn) at each step, turn +1 = left."""
        natural(least=0, most=self.size - 1).check("word", word)
        steps, node = [], word
        while node != 2 * self.size - 2:
            turn, node = self._turn[node], self._parent[node]
            steps.append((node - self.size, turn))
        return steps[::-1]

    def code_lengths(self) -> Tensor:
        """(V,) long: the length of each word's path."""
        return torch.tensor([len(self.path(word)) for word in range(self.size)])

    @accepts(counts=counts("size"))
    def expected_length(self, counts: Tensor) -> float:
        """The average length of a path, when words occur as `counts` (V,) says."""
        return float((counts.double() * self.code_lengths()).sum() / counts.double().sum())

    def tables(self) -> tuple[Tensor, Tensor]:
        """All paths as two tensors.

        Returns:
            nodes (V, L) long and turns (V, L): +1 left, −1 right, 0 after the end of a path; L is
            the longest path.
        """
        paths = [self.path(word) for word in range(self.size)]
        shape = self.size, max(map(len, paths))
        nodes, turns = torch.zeros(shape, dtype=torch.long), torch.zeros(shape)
        for word, path in enumerate(paths):
            way = torch.tensor(path)  # (length, 2)
            nodes[word, : len(path)], turns[word, : len(path)] = way[:, 0], way[:, 1].float()
        return nodes, turns
