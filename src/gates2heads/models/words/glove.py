"""GloVe: word vectors from a table of co-occurrence counts."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from gates2heads.accepts import (
    Call,
    accepts,
    any_seed,
    counts,
    flag,
    floats,
    instance,
    natural,
    positive,
    tokens,
)
from gates2heads.data.batches.windows import Text


class Cooccurrences(NamedTuple):
    """The entries X_ij > 0 of a V × V table, sorted by row and column."""

    row: Tensor  # (P,) long: the word i
    column: Tensor  # (P,) long: a word j near it
    count: Tensor  # (P,) float: X_ij

    def dense(self, size: int) -> Tensor:
        """The whole table, (size, size) for a size above every word; for small vocabularies."""
        natural(least=1 + int(torch.cat([self.row, self.column]).max())).check("size", size)
        table = self.count.new_zeros(size, size)
        table[self.row, self.column] = self.count
        return table


@accepts(text=instance(Text, "from `join_sentences`"), window=natural, weighted=flag)
def cooccurrences(text: Text, *, window: int = 10, weighted: bool = True) -> Cooccurrences:
    """Count how often each pair of words co-occurs within a window, in both directions.

    Source: Pennington et al. 2014, section 4.2: a word at distance d counts 1/d.

    Args:
        text: tokens of whole sentences; no window crosses the end of a sentence.
        window: the largest distance that counts.
        weighted: False counts every word of the window 1.

    Returns:
        The table; it is symmetric.

    Raises:
        ValueError: no sentence has two words.
    """
    size = int(text.tokens.max()) + 1 if len(text.tokens) else 1
    keys, counts = [], []
    for distance in range(1, min(window + 1, len(text.tokens))):
        together = text.sentence[distance:] == text.sentence[:-distance]
        first, second = text.tokens[:-distance][together], text.tokens[distance:][together]
        both = torch.cat([first * size + second, second * size + first])
        key, times = both.unique(return_counts=True)
        keys.append(key)
        counts.append(times.double() / (distance if weighted else 1))
    if not sum(map(len, keys)):
        raise ValueError("text holds no two words in one sentence")
    key, place = torch.cat(keys).unique(return_inverse=True)
    total = torch.zeros(len(key), dtype=torch.double).index_add_(0, place, torch.cat(counts))
    return Cooccurrences(key // size, key % size, total.float())


PAIRS = instance(Cooccurrences, "from `cooccurrences`")


@accepts(vocabulary_size=natural, vector_size=natural, x_max=positive, power=positive)
class GloVe(nn.Module):
    """Vectors whose products give the logarithm of the table: v_i · u_j + β_i + β̃_j ≈ log X_ij.

    Source: Pennington et al. 2014, equation 8. Departs from it in nothing.

    Args:
        vocabulary_size: V.
        vector_size: width D.
        x_max: counts above it have the same weight.
        power: α in f(x) = (x / x_max)^α.
    """

    def __init__(
        self,
        vocabulary_size: int,
        vector_size: int = 100,
        *,
        x_max: float = 100.0,
        power: float = 0.75,
    ):
        super().__init__()
        self.x_max, self.power = x_max, power
        self.vectors = nn.Embedding(vocabulary_size, vector_size)
        self.context_vectors = nn.Embedding(vocabulary_size, vector_size)
        self.bias = nn.Embedding(vocabulary_size, 1)
        self.context_bias = nn.Embedding(vocabulary_size, 1)
        for part in (self.vectors, self.context_vectors, self.bias, self.context_bias):
            nn.init.uniform_(part.weight, -0.5 / vector_size, 0.5 / vector_size)

    @accepts(count=counts(empty=True, some=False))
    def weight(self, count: Tensor) -> Tensor:
        """The weight f(x) = min(1, x / x_max)^α, small for rare pairs and at most 1."""
        return (count / self.x_max).clamp(max=1).pow(self.power)

    @accepts(pairs=PAIRS)
    def forward(self, pairs: Cooccurrences) -> Tensor:
        """Σ f(X_ij) (v_i · u_j + β_i + β̃_j − log X_ij)² over pairs, divided by their number.

        Raises:
            ValueError: there is no pair, a count is not positive, or a word is not in the model.
        """
        _check_pairs("pairs", pairs, self)
        product = (self.vectors(pairs.row) * self.context_vectors(pairs.column)).sum(-1)
        bias = self.bias(pairs.row) + self.context_bias(pairs.column)  # (P, 1)
        error = product + bias[:, 0] - pairs.count.log()
        return (self.weight(pairs.count) * error.square()).mean()

    def word_vectors(self) -> Tensor:
        """(V, D): v + u, since both sides of a symmetric table learn the same."""
        return (self.vectors.weight + self.context_vectors.weight).detach()


def _check_pairs(name: str, pairs: Cooccurrences, model: GloVe) -> None:
    """Reject anything but a table of positive counts of a model's words."""
    size, call = model.vectors.num_embeddings, Call({"self": model})
    floats("P", empty=False).check(f"{name}.count", pairs.count, call)
    for part in ("row", "column"):
        tokens("P", below=size).check(f"{name}.{part}", getattr(pairs, part), call)
    if not (pairs.count > 0).all():
        raise ValueError(f"{name}.count must be positive, got {float(pairs.count.min()):g}")


@accepts(
    model=instance(GloVe),
    table=PAIRS,
    epochs=natural,
    batch_size=natural,
    learning_rate=positive,
    seed=any_seed,
    progress=flag,
)
def train_glove(
    model: GloVe,
    table: Cooccurrences,
    *,
    epochs: int = 15,
    batch_size: int = 8192,
    learning_rate: float = 0.05,
    seed: int = 0,
    progress: bool = True,
) -> list[float]:
    """Train by Adagrad on the entries of a table, in a new order each epoch.

    Source: Pennington et al. 2014, section 4.2. Departs from it in taking batches.

    Args:
        model: trained in place.
        table: from `cooccurrences`.
        epochs: number of passes over the table.
        batch_size: entries per step.
        learning_rate: of Adagrad.
        seed: shuffles.
        progress: show a bar.

    Returns:
        The mean loss of each epoch.

    Raises:
        ValueError: the table contains words that the model does not know.
        FloatingPointError: the loss is not finite.
    """
    _check_pairs("table", table, model)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=learning_rate)
    generator, losses = torch.Generator().manual_seed(int(seed)), []
    for epoch in tqdm(range(epochs), desc="GloVe", unit="epoch", disable=not progress):
        total = 0.0
        for chosen in torch.randperm(len(table.count), generator=generator).split(int(batch_size)):
            optimizer.zero_grad()
            loss = model(Cooccurrences(*(part[chosen] for part in table)))
            # The gradient of the sum, as in the paper: the rate does not depend on the batch.
            (loss * len(chosen)).backward()
            optimizer.step()
            total += loss.item() * len(chosen)
        losses.append(total / len(table.count))
        if not torch.tensor(losses[-1]).isfinite():
            raise FloatingPointError(f"loss became {losses[-1]} in epoch {epoch + 1}")
    return losses
