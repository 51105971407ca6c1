"""GloVe: word vectors from a table of how often words stand together."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from gates2heads.accepts.shown import shown
from gates2heads.checks.models import check_row
from gates2heads.checks.tensors import check_dense, check_device, check_filled
from gates2heads.checks.values import LARGEST_SINGLE, check_count, check_flag, check_positive
from gates2heads.data.batches.windows import Text, check_text


class Cooccurrences(NamedTuple):
    """The entries X_ij > 0 of a V × V table, sorted by row and column."""

    row: Tensor  # (P,) long: the word i
    column: Tensor  # (P,) long: a word j near it
    count: Tensor  # (P,) float: X_ij

    def dense(self, size: int) -> Tensor:
        """The whole table, (size, size); for small vocabularies.

        Raises:
            TypeError, ValueError: `size` is no whole number above every word.
        """
        check_count("size", size, least=1 + int(torch.cat([self.row, self.column]).max()))
        table = self.count.new_zeros(size, size)
        table[self.row, self.column] = self.count
        return table


def cooccurrences(text: Text, *, window: int = 10, weighted: bool = True) -> Cooccurrences:
    """Count how often each word stands near each other word, in both directions.

    Source: Pennington et al. 2014, section 4.2: a word at distance d counts 1/d.

    Args:
        text: tokens of whole sentences; no window crosses the end of a sentence.
        window: the farthest word that counts.
        weighted: False counts every word of the window 1.

    Returns:
        The table; it is symmetric.

    Raises:
        TypeError, ValueError: the text is no `Text`, `window` is no whole number above zero, or
            `weighted` no flag.
        ValueError: no two words stand in one sentence.
    """
    check_text(text)
    check_count("window", window)
    check_flag("weighted", weighted)
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


class GloVe(nn.Module):
    """Vectors whose products give the logarithm of the table: w_i · w̃_j + b_i + b̃_j ≈ log X_ij.

    Source: Pennington et al. 2014, equation 8. Departs from it in nothing.

    Args:
        vocabulary_size: V.
        vector_size: width D.
        ceiling: x_max; counts above it weigh no more.
        power: α in f(x) = (x / x_max)^α.
    """

    def __init__(
        self,
        vocabulary_size: int,
        vector_size: int = 100,
        *,
        ceiling: float = 100.0,
        power: float = 0.75,
    ):
        super().__init__()
        check_count("vocabulary_size", vocabulary_size)
        check_count("vector_size", vector_size)
        check_positive("ceiling", ceiling)
        check_positive("power", power)
        self.ceiling, self.power = ceiling, power
        self.vectors = nn.Embedding(vocabulary_size, vector_size)
        self.context_vectors = nn.Embedding(vocabulary_size, vector_size)
        self.bias = nn.Embedding(vocabulary_size, 1)
        self.context_bias = nn.Embedding(vocabulary_size, 1)
        for part in (self.vectors, self.context_vectors, self.bias, self.context_bias):
            nn.init.uniform_(part.weight, -0.5 / vector_size, 0.5 / vector_size)

    def weight(self, count: Tensor) -> Tensor:
        """f(x) = min(1, x / x_max)^α: rare pairs weigh little, frequent ones not too much.

        Raises:
            TypeError: `count` is no floating-point tensor.
        """
        if not isinstance(count, Tensor) or not count.is_floating_point():
            raise TypeError(f"count must be a floating-point tensor, got {shown(count)}")
        check_dense("count", count)
        return (count / self.ceiling).clamp(max=1).pow(self.power)

    def forward(self, pairs: Cooccurrences) -> Tensor:
        """Σ f(X_ij) (w_i · w̃_j + b_i + b̃_j − log X_ij)² over pairs, divided by their number.

        Raises:
            TypeError: it is no table.
            ValueError: there is no pair, a count is not positive, or a word is not in the model.
        """
        _check_table("pairs", pairs, self)
        product = (self.vectors(pairs.row) * self.context_vectors(pairs.column)).sum(-1)
        bias = self.bias(pairs.row) + self.context_bias(pairs.column)  # (P, 1)
        error = product + bias[:, 0] - pairs.count.log()
        return (self.weight(pairs.count) * error.square()).mean()

    def word_vectors(self) -> Tensor:
        """(V, D): w + w̃, since both sides of a symmetric table learn the same."""
        return (self.vectors.weight + self.context_vectors.weight).detach()


def _check_table(name: str, table: Cooccurrences, model: GloVe) -> None:
    """Refuse what is no table of positive counts of a model's words."""
    if not isinstance(table, Cooccurrences):
        raise TypeError(f"{name} must come from cooccurrences, got {type(table).__name__}")
    size = model.vectors.num_embeddings
    check_device(model, **{f"{name}.{part}": value for part, value in table._asdict().items()})
    if not isinstance(table.count, Tensor) or not table.count.is_floating_point():
        raise TypeError(f"{name}.count must be a floating-point tensor, got {shown(table.count)}")
    check_filled(f"{name}.count", table.count)
    if table.count.dim() != 1 or not len(table.count) or not (table.count > 0).all():
        raise ValueError(f"{name} must hold at least one count, all of them positive")
    for part in ("row", "column"):
        check_row(f"{name}.{part}", getattr(table, part), len(table.count), size)


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
        epochs: how often the table is read.
        batch_size: entries a step.
        learning_rate: of Adagrad.
        seed: shuffles.
        progress: show a bar.

    Returns:
        The mean loss of each epoch.

    Raises:
        TypeError, ValueError: model or table is another thing, the table holds words that the
            model does not, a size is no whole number of at least 1, the seed none of at least 0,
            or the rate not positive.
        FloatingPointError: the loss is not finite.
    """
    check_count("epochs", epochs)
    check_count("batch_size", batch_size)
    check_positive("learning_rate", learning_rate, most=LARGEST_SINGLE)
    check_count("seed", seed, least=0)
    if not isinstance(model, GloVe):
        raise TypeError(f"model must be a GloVe, got {type(model).__name__}")
    _check_table("table", table, model)
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
