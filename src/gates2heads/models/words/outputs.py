"""Three ways to say how well a model of words guessed: all words, a tree of them, or a few."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.checks.models import check_row
from gates2heads.checks.tensors import check_device, check_dtypes, check_tokens, check_width
from gates2heads.checks.values import check_count, check_number
from gates2heads.data.batches.windows import check_counts
from gates2heads.models.words.huffman import HuffmanTree


class FullSoftmax(nn.Module):
    """P(o | h) = exp(u_o · h) / Σ_w exp(u_w · h): every step costs O(V).

    Source: Mikolov et al. 2013, "Distributed Representations", equation 2.

    Args:
        counts: (V,); only its length matters here.
        vector_size: width D.
    """

    def __init__(self, counts: Tensor, vector_size: int):
        super().__init__()
        check_counts(counts)
        check_count("vector_size", vector_size)
        self.vectors = nn.Embedding(len(counts), vector_size)
        nn.init.zeros_(self.vectors.weight)

    def log_probs(self, hidden: Tensor) -> Tensor:
        """Log-probability of every word, (N, V) in nats, given hidden (N, D)."""
        _check_hidden(self, hidden)
        return (hidden @ self.vectors.weight.T).log_softmax(dim=-1)

    def forward(self, hidden: Tensor, target: Tensor) -> Tensor:
        """−log P(target | hidden) in nats, (N,), for hidden (N, D) and target (N,) long."""
        _check_hidden(self, hidden)
        check_device(hidden, target=target)
        check_row("target", target, len(hidden), self.vectors.num_embeddings)
        return F.nll_loss(self.log_probs(hidden), target.long(), reduction="none")


class HierarchicalSoftmax(nn.Module):
    """P(w | h) = Π σ(±u_n · h) over the inner nodes n on the way to w, + where it turns left.

    Since σ(x) + σ(−x) = 1 at every node, the leaves sum to 1 without a normalising sum. A step
    costs O(log V) on average.

    Source: Morin and Bengio 2005; with a Huffman tree, Mikolov et al. 2013, equation 3.

    Args:
        counts: (V,), how often each word occurs; they shape the tree.
        vector_size: width D.
    """

    def __init__(self, counts: Tensor, vector_size: int):
        super().__init__()
        self.tree = HuffmanTree(counts)
        check_count("vector_size", vector_size)
        self.vectors = nn.Embedding(len(counts) - 1, vector_size)  # one vector an inner node
        nn.init.zeros_(self.vectors.weight)
        nodes, turns = self.tree.tables()
        self.register_buffer("nodes", nodes)  # (V, L)
        self.register_buffer("turns", turns)  # (V, L): +1 left, −1 right, 0 past the end

    def log_probs(self, hidden: Tensor) -> Tensor:
        """Log-probability of every word, (N, V) in nats, given hidden (N, D); for small V."""
        _check_hidden(self, hidden)
        scores = (hidden @ self.vectors.weight.T)[:, self.nodes]  # (N, V, L)
        return (F.logsigmoid(scores * self.turns) * self.turns.abs()).sum(-1)

    def forward(self, hidden: Tensor, target: Tensor) -> Tensor:
        """−log P(target | hidden) in nats, (N,), for hidden (N, D) and target (N,) long."""
        _check_hidden(self, hidden)
        check_device(hidden, target=target)
        check_row("target", target, len(hidden), len(self.nodes))
        turns = self.turns[target]  # (N, L)
        scores = (self.vectors(self.nodes[target]) @ hidden[:, :, None])[:, :, 0]  # (N, L)
        return -(F.logsigmoid(scores * turns) * turns.abs()).sum(-1)


class NegativeSampling(nn.Module):
    """Tell the word that was there from K words that were drawn: a step costs O(K).

    −log σ(u_o · h) − Σ_k log σ(−u_k · h), with u_k drawn in proportion to count^(3/4).

    Source: Mikolov et al. 2013, "Distributed Representations", equation 4. Departs from it in
    nothing; a drawn word may happen to be the right one.

    Args:
        counts: (V,), how often each word occurs.
        vector_size: width D.
        negatives: K, drawn words for each right one.
        power: of the counts; 1 draws words as they occur, 0 draws all alike.
    """

    def __init__(
        self, counts: Tensor, vector_size: int, *, negatives: int = 5, power: float = 0.75
    ):
        super().__init__()
        check_counts(counts)
        check_count("vector_size", vector_size)
        check_count("negatives", negatives)
        self.negatives = negatives
        self.vectors = nn.Embedding(len(counts), vector_size)
        nn.init.zeros_(self.vectors.weight)
        self.register_buffer("noise", noise_distribution(counts, power=power))  # (V,)

    def forward(self, hidden: Tensor, target: Tensor, noise: Tensor | None = None) -> Tensor:
        """The loss in nats, (N,), for hidden (N, D) and target (N,) long.

        Args:
            hidden: (N, D).
            target: (N,) long.
            noise: (N, K) long; drawn if not given.
        """
        _check_hidden(self, hidden)
        check_device(hidden, target=target, noise=noise)
        check_row("target", target, len(hidden), self.vectors.num_embeddings)
        if noise is None:
            drawn = torch.multinomial(self.noise, self.negatives * len(target), replacement=True)
            noise = drawn.view(len(target), self.negatives)
        check_tokens("noise", noise, self.vectors.num_embeddings)
        if len(noise) != len(target):
            raise ValueError(f"noise must have {len(target)} rows like target, got {len(noise)}")
        words = torch.cat([target[:, None], noise], dim=1)  # (N, 1 + K)
        scores = (self.vectors(words) @ hidden[:, :, None])[:, :, 0]
        return F.softplus(-scores[:, 0]) + F.softplus(scores[:, 1:]).sum(-1)


def _check_hidden(output: nn.Module, hidden: Tensor) -> None:
    check_width("hidden", hidden, output.vectors.embedding_dim)
    check_dtypes(output, hidden=hidden)


def noise_distribution(counts: Tensor, *, power: float = 0.75) -> Tensor:
    """From which negative samples are drawn: counts^power, divided by their sum; (V,).

    Raises:
        TypeError, ValueError: counts are none, or power is no finite number of at least 0.
    """
    check_counts(counts)
    check_number("power", power, least=0)
    # As logarithms: the power of a large count may be larger than the largest number.
    logs = counts.double().log()
    scores = float(power) * (logs - logs.max())
    return scores.masked_fill(counts == 0, -torch.inf).softmax(dim=0).float()


OUTPUTS = {
    "softmax": FullSoftmax,
    "negative-sampling": NegativeSampling,
    "hierarchical-softmax": HierarchicalSoftmax,
}
