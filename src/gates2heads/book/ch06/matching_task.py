"""Chapter 6, the scale of the scores: a task that can only be solved by finding an equal."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, count, module, seed, tokens
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.masks import masked_softmax
from gates2heads.training.losses import cross_entropy

NAMES, PAIRS, VALUE = 32, 8, 32  # different symbols; pairs in a sequence; width of a value


@accepts(score=choice(SCORES), size=count)
class Recaller(nn.Module):
    """One layer of attention whose queries and keys have K numbers; the values are 32 wide.

    Source: the comparison of Vaswani et al. 2017, section 3.2.1, after Britz et al. 2017, in small.

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
        """Read pairs (B, 2, S), names above values; give logits (B, S, 32) over the value.

        A place may not look at itself, so it must find the other place with its name.
        """
        names, values = pairs.unbind(1)
        vectors = self.names(names)  # (B, S, K)
        scores = self.score(self.query(vectors), self.score.project_keys(self.key(vectors)))
        others = ~torch.eye(names.shape[1], dtype=torch.bool, device=pairs.device)
        weights = masked_softmax(scores, mask=others)  # (B, S, S)
        return self.readout(weights @ self.values(values))


@accepts(count=count, seed=seed)
def twins(count: int, *, seed: int = 0) -> Iterator[Tensor]:
    """Draw batches (B, 2, 16) without end: 8 pairs of a name and a value, each twice, shuffled.

    Args:
        count: B, sequences in a batch.
        seed: of the draws.
    """
    draw = torch.Generator().manual_seed(int(seed))  # may be NumPy's
    while True:
        order = torch.rand(count, NAMES, generator=draw).argsort(1)
        names = order[:, :PAIRS].repeat(1, 2)
        values = torch.randint(NAMES, (count, PAIRS), generator=draw).repeat(1, 2)
        places = torch.rand(count, 2 * PAIRS, generator=draw).argsort(1)
        yield torch.stack([names.gather(1, places), values.gather(1, places)], 1)


@accepts(model=module, pairs=tokens("B 2 S", below=NAMES))
def recall_loss(model: nn.Module, pairs: Tensor) -> Tensor:
    """Mean surprise at the value of each place, in nats; a blind guess costs ln 32 = 3.47.

    Args:
        model: from pairs (B, 2, S) to logits (B, S, 32).
        pairs: names above values, as `twins` draws them.
    """
    return cross_entropy(model(pairs), pairs[:, 1])
