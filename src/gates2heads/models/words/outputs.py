"""Output layers of word models: full softmax, hierarchical softmax, negative sampling."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, counts, floats, natural, number, tokens
from gates2heads.models.words.huffman import HuffmanTree

HIDDEN = floats("N vectors.embedding_dim")


@accepts(counts=counts("V"), vector_size=natural)
class FullSoftmax(nn.Module):
    """P(o | h) = exp(u_o · h) / Σ_w exp(u_w · h): every step costs O(V).

    Source: Mikolov et al. 2013, "Distributed Representations", equation 2.

    Args:
        counts: (V,); only its length matters here.
        vector_size: width D.
    """

    def __init__(self, counts: Tensor, vector_size: int):
        super().__init__()
        self.vectors = nn.Embedding(len(counts), vector_size)
        nn.init.zeros_(self.vectors.weight)

    @accepts(hidden=HIDDEN)
    def log_probs(self, hidden: Tensor) -> Tensor:
        """Log-probability of every word, (N, V) in nats, given hidden (N, D)."""
        return (hidden @ self.vectors.weight.T).log_softmax(dim=-1)

    @accepts(hidden=HIDDEN, target=tokens("N", below="vectors.num_embeddings"))
    def forward(self, hidden: Tensor, target: Tensor) -> Tensor:
        """−log P(target | hidden) in nats, (N,), for hidden (N, D) and target (N,) long."""
        return F.nll_loss(self.log_probs(hidden), target.long(), reduction="none")


@accepts(counts=counts("V"), vector_size=natural)
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
        self.vectors = nn.Embedding(len(counts) - 1, vector_size)  # one vector an inner node
        nn.init.zeros_(self.vectors.weight)
        nodes, turns = self.tree.tables()
        self.register_buffer("nodes", nodes)  # (V, L)
        self.register_buffer("turns", turns)  # (V, L): +1 left, −1 right, 0 past the end

    @accepts(hidden=HIDDEN)
    def log_probs(self, hidden: Tensor) -> Tensor:
        """Log-probability of every word, (N, V) in nats, given hidden (N, D); for small V."""
        scores = (hidden @ self.vectors.weight.T)[:, self.nodes]  # (N, V, L)
        return (F.logsigmoid(scores * self.turns) * self.turns.abs()).sum(-1)

    @accepts(hidden=HIDDEN, target=tokens("N", below="tree.size"))
    def forward(self, hidden: Tensor, target: Tensor) -> Tensor:
        """−log P(target | hidden) in nats, (N,), for hidden (N, D) and target (N,) long."""
        turns = self.turns[target]  # (N, L)
        scores = (self.vectors(self.nodes[target]) @ hidden[:, :, None])[:, :, 0]  # (N, L)
        return -(F.logsigmoid(scores * turns) * turns.abs()).sum(-1)


@accepts(counts=counts("V"), vector_size=natural, negatives=natural, power=number(least=0))
class NegativeSampling(nn.Module):
    """Distinguish the observed word from K sampled words: a step costs O(K).

    −log σ(u_o · h) − Σ_k log σ(−u_{n_k} · h); the word n_k is sampled in proportion to count^(3/4).

    Source: Mikolov et al. 2013, "Distributed Representations", equation 4. Departs from it in
    nothing; a sampled word may be the observed one.

    Args:
        counts: (V,), how often each word occurs.
        vector_size: width D.
        negatives: K, sampled words for each observed one.
        power: of the counts; 1 samples words by their frequency, 0 uniformly.
    """

    def __init__(
        self, counts: Tensor, vector_size: int, *, negatives: int = 5, power: float = 0.75
    ):
        super().__init__()
        self.negatives = negatives
        self.vectors = nn.Embedding(len(counts), vector_size)
        nn.init.zeros_(self.vectors.weight)
        self.register_buffer("noise", noise_distribution(counts, power=power))  # (V,)

    @accepts(
        hidden=HIDDEN,
        target=tokens("N", below="vectors.num_embeddings"),
        noise=tokens("N K", below="vectors.num_embeddings"),
    )
    def forward(self, hidden: Tensor, target: Tensor, noise: Tensor | None = None) -> Tensor:
        """The loss in nats, (N,), for hidden (N, D) and target (N,) long.

        Args:
            hidden: (N, D).
            target: (N,) long.
            noise: (N, K) long; sampled if not given.
        """
        if noise is None:
            drawn = torch.multinomial(self.noise, self.negatives * len(target), replacement=True)
            noise = drawn.view(len(target), self.negatives)
        words = torch.cat([target[:, None], noise], dim=1)  # (N, 1 + K)
        scores = (self.vectors(words) @ hidden[:, :, None])[:, :, 0]
        return F.softplus(-scores[:, 0]) + F.softplus(scores[:, 1:]).sum(-1)


@accepts(counts=counts("V"), power=number(least=0))
def noise_distribution(counts: Tensor, *, power: float = 0.75) -> Tensor:
    """The distribution of negative samples: counts^power, divided by their sum; (V,)."""
    # As logarithms: the power of a large count may be larger than the largest number.
    logs = counts.double().log()
    scores = float(power) * (logs - logs.max())
    return scores.masked_fill(counts == 0, -torch.inf).softmax(dim=0).float()


OUTPUTS = {
    "softmax": FullSoftmax,
    "negative-sampling": NegativeSampling,
    "hierarchical-softmax": HierarchicalSoftmax,
}
