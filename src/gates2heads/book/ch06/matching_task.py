"""Chapter 6, the scale of the scores: a task that can only be solved by finding a match."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, choice, module, natural, tokens
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.masks import masked_softmax
from gates2heads.training.losses import cross_entropy

NAMES, PAIRS, VALUE = 32, 8, 32  # vocabulary; pairs in a sequence; width of a value


@accepts(score=choice(SCORES), size=natural)
class MatchingModel(nn.Module):
    """One layer of attention with queries and keys of width K and values of width 32.

    Source: a small version of the comparison of Britz et al. 2017, to which Vaswani et al. 2017,
    section 3.2.1, refer.

    Args:
        score: a name of `SCORES`: "dot", "scaled dot" or "additive", say.
        size: width K of queries and keys, and of the additive score's hidden layer.
    """

    def __init__(self, score: str, size: int):
        super().__init__()
        self.names, self.values = nn.Embedding(NAMES, size), nn.Embedding(NAMES, VALUE)
        self.query, self.key = nn.Linear(size, size, bias=False), nn.Linear(size, size, bias=False)
        for layer in (self.query, self.key):  # a variance of 1 in, a variance of 1 out
            nn.init.xavier_normal_(layer.weight)
        self.score = SCORES[score](size, size)
        self.readout = nn.Linear(VALUE, NAMES)

    @accepts(pairs=tokens("B 2 S", below=NAMES))
    def forward(self, pairs: Tensor) -> Tensor:
        """Read pairs (B, 2, S), names above values; return logits (B, S, 32) over the values.

        A position may not attend to itself, so it has to find the other one with its name.
        """
        names, values = pairs.unbind(1)
        vectors = self.names(names)  # (B, S, K)
        scores = self.score(self.query(vectors), self.score.project_keys(self.key(vectors)))
        others = ~torch.eye(names.shape[1], dtype=torch.bool, device=pairs.device)
        weights = masked_softmax(scores, mask=others)  # (B, S, S)
        return self.readout(weights @ self.values(values))


@accepts(count=natural, seed=any_seed)
def matching_sequences(count: int, *, seed: int = 0) -> Iterator[Tensor]:
    """Yield batches (B, 2, 16) indefinitely: 8 name–value pairs, each twice, in random order.

    Args:
        count: B, sequences in a batch.
        seed: of the random numbers.
    """
    draw = torch.Generator().manual_seed(int(seed))  # may be NumPy's
    while True:
        order = torch.rand(count, NAMES, generator=draw).argsort(1)
        names = order[:, :PAIRS].repeat(1, 2)
        values = torch.randint(NAMES, (count, PAIRS), generator=draw).repeat(1, 2)
        places = torch.rand(count, 2 * PAIRS, generator=draw).argsort(1)
        yield torch.stack([names.gather(1, places), values.gather(1, places)], 1)


@accepts(model=module, pairs=tokens("B 2 S", below=NAMES))
def matching_loss(model: nn.Module, pairs: Tensor) -> Tensor:
    """Mean cross-entropy of the values in nats; uniform probabilities give ln 32 = 3.47.

    Args:
        model: from pairs (B, 2, S) to logits (B, S, 32).
        pairs: names above values, as `matching_sequences` samples them.
    """
    return cross_entropy(model(pairs), pairs[:, 1])
