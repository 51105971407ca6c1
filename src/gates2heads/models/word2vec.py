"""Word2vec: a word is known by the company it keeps. Two models, three ways to say how well."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.data.checks import check_choice, check_count, check_number
from gates2heads.data.windows import Windows, check_counts
from gates2heads.layers.checks import check_dtypes, check_mask, check_tokens, check_width
from gates2heads.models.checks import check_row
from gates2heads.models.huffman import HuffmanTree

ARCHITECTURES = ("skip-gram", "cbow")


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
        check_row("target", target, len(hidden), self.vectors.num_embeddings)
        return F.nll_loss(self.log_probs(hidden), target, reduction="none")


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


OUTPUTS = {
    "softmax": FullSoftmax,
    "negative-sampling": NegativeSampling,
    "hierarchical-softmax": HierarchicalSoftmax,
}


class Word2Vec(nn.Module):
    """Skip-gram or continuous bag of words, with one of three outputs.

    Skip-gram guesses each word of the window from the center: h = v_c. CBOW guesses the center
    from the mean of the window: h = v̄_o.

    Source: Mikolov et al. 2013, "Efficient Estimation", section 3; and "Distributed
    Representations", sections 2.1 and 2.2. Departs from them in nothing.

    Args:
        counts: (V,), how often each token number occurs.
        vector_size: width D.
        architecture: `skip-gram` or `cbow`.
        output: `softmax`, `negative-sampling` or `hierarchical-softmax`.
        **choices: of the output, such as `negatives`.

    Raises:
        TypeError, ValueError: an unknown architecture or output, or what the output refuses.
    """

    def __init__(
        self,
        counts: Tensor,
        vector_size: int = 100,
        *,
        architecture: str = "skip-gram",
        output: str = "negative-sampling",
        **choices,
    ):
        super().__init__()
        check_counts(counts)
        check_count("vector_size", vector_size)
        check_choice("architecture", architecture, ARCHITECTURES)
        check_choice("output", output, OUTPUTS)
        self.architecture = architecture
        self.vectors = nn.Embedding(len(counts), vector_size)
        nn.init.uniform_(self.vectors.weight, -0.5 / vector_size, 0.5 / vector_size)
        self.output = OUTPUTS[output](counts, vector_size, **choices)
        self.register_buffer("counts", counts.float())

    def predictions(self, batch: Windows) -> tuple[Tensor, Tensor]:
        """What a batch asks: hidden (N, D), and the word (N,) that each row must predict.

        Skip-gram: one row for each word of each window, N = number of True in the mask. CBOW: one
        row for each window that is not empty.

        Raises:
            TypeError, ValueError: it is no `Windows`, or a token number, mask or shape is wrong.
        """
        if not isinstance(batch, Windows):
            raise TypeError(f"batch must be Windows, got {type(batch).__name__}")
        check_tokens("context", batch.context, self.vectors.num_embeddings)
        check_row("center", batch.center, len(batch.context), self.vectors.num_embeddings)
        check_mask(batch.mask, batch.context.shape)
        if batch.mask.shape != batch.context.shape:
            raise ValueError(
                f"mask must have the shape of context, {tuple(batch.context.shape)}, got "
                f"{tuple(batch.mask.shape)}"
            )
        if self.architecture == "skip-gram":
            row, column = batch.mask.nonzero(as_tuple=True)
            return self.vectors(batch.center[row]), batch.context[row, column]
        size = batch.mask.sum(1, keepdim=True)  # (B, 1)
        rows = size[:, 0] > 0
        share = batch.mask.to(self.vectors.weight.dtype)[rows] / size[rows]
        mean = (self.vectors(batch.context[rows]) * share[:, :, None]).sum(1)
        return mean, batch.center[rows]

    def forward(self, batch: Windows) -> Tensor:
        """The mean loss of all predictions of a batch, in nats; a scalar.

        Raises:
            TypeError, ValueError: a token number, mask or shape is wrong, or no window holds a
                word.
        """
        hidden, target = self.predictions(batch)
        if not len(target):
            raise ValueError("batch holds no window with a word in it")
        return self.output(hidden, target).mean()


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
    raised = counts.double().pow(float(power))
    raised = raised.where(counts > 0, torch.zeros_like(raised))
    return (raised / raised.sum()).float()
