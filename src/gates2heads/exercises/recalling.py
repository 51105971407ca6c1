"""Chapter 6, the scale of the scores: a task that can only be solved by finding an equal."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from gates2heads.checks.tensors import check_module_filled, check_tokens, check_width
from gates2heads.checks.values import check_choice, check_count, check_seed
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.masks import masked_softmax
from gates2heads.training.losses import cross_entropy

NAMES, PAIRS, VALUE = 32, 8, 32  # different symbols; pairs in a sequence; width of a value


class Recaller(nn.Module):
    """One layer of attention whose queries and keys have K numbers; the values are 32 wide.

    Source: the comparison of Vaswani et al. 2017, section 3.2.1, after Britz et al. 2017, in small.

    Args:
        score: a name of `SCORES`: "dot", "scaled dot" or "additive", say.
        size: width K of queries and keys, and of the additive score's hidden layer.

    Raises:
        ValueError: there is no such score, or the size is below 1.
    """

    def __init__(self, score: str, size: int):
        super().__init__()
        check_choice("score", score, SCORES)
        check_count("size", size)
        self.names, self.values = nn.Embedding(NAMES, size), nn.Embedding(NAMES, VALUE)
        self.query, self.key = nn.Linear(size, size, bias=False), nn.Linear(size, size, bias=False)
        for layer in (self.query, self.key):  # a variance of 1 in, a variance of 1 out
            nn.init.xavier_normal_(layer.weight)
        self.score = SCORES[score](size, size)
        self.readout = nn.Linear(VALUE, NAMES)

    def forward(self, pairs: Tensor) -> Tensor:
        """Read pairs (B, 2, S), names above values; give logits (B, S, 32) over the value.

        A place may not look at itself, so it must find the other place with its name.

        Raises:
            TypeError, ValueError: they are no such pairs.
        """
        _check_pairs(pairs)
        names, values = pairs.unbind(1)
        vectors = self.names(names)  # (B, S, K)
        scores = self.score(self.query(vectors), self.score.project_keys(self.key(vectors)))
        others = ~torch.eye(names.shape[1], dtype=torch.bool, device=pairs.device)
        weights = masked_softmax(scores, mask=others)  # (B, S, S)
        return self.readout(weights @ self.values(values))


def twins(count: int, *, seed: int = 0) -> Iterator[Tensor]:
    """Draw batches (B, 2, 16) without end: 8 pairs of a name and a value, each twice, shuffled.

    Args:
        count: B, sequences in a batch.
        seed: of the draws.
    """
    check_count("count", count)
    check_seed("seed", seed)
    draw = torch.Generator().manual_seed(int(seed))  # may be NumPy's
    while True:
        order = torch.rand(count, NAMES, generator=draw).argsort(1)
        names = order[:, :PAIRS].repeat(1, 2)
        values = torch.randint(NAMES, (count, PAIRS), generator=draw).repeat(1, 2)
        places = torch.rand(count, 2 * PAIRS, generator=draw).argsort(1)
        yield torch.stack([names.gather(1, places), values.gather(1, places)], 1)


def recall_loss(model: nn.Module, pairs: Tensor) -> Tensor:
    """Mean surprise at the value of each place, in nats; a blind guess costs ln 32 = 3.47.

    Args:
        model: from pairs (B, 2, S) to logits (B, S, 32).
        pairs: names above values, as `twins` draws them.

    Raises:
        TypeError, ValueError: the model is no module, or the pairs are none.
    """
    check_module_filled("model", model)
    _check_pairs(pairs)
    return cross_entropy(model(pairs), pairs[:, 1])


def _check_pairs(pairs: Tensor) -> None:
    """Refuse what is no (B, 2, S) of names and values."""
    check_width("pairs", pairs, None, dims=3)
    if pairs.shape[1] != 2:
        raise ValueError(f"pairs must have shape (B, 2, S), got {tuple(pairs.shape)}")
    check_tokens("pairs", pairs.flatten(1), NAMES)
