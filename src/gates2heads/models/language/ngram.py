"""N-gram language models: count what followed the last n − 1 tokens, and smooth the counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from gates2heads.accepts import accepts, fraction, listed, natural, positive
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.context import UNWRITTEN, ContextModel

Followers = dict[tuple[int, ...], Counter]  # context h -> how often each token w came after it

COUNTED = {
    "texts": listed("texts", least=1),
    "vocabulary_size": natural(least=len(UNWRITTEN) + 1),
    "order": natural,
}
FALLBACK = (0.5, 1.0, 1.5)  # where counts are too few to estimate from, as in the program KenLM


@accepts(**COUNTED)
class NgramModel(ContextModel):
    """Count what followed every context of up to n − 1 tokens.

    This class estimates no probabilities; see `MaximumLikelihood`, `AddK` and `KneserNey`.

    Args:
        texts: lists of token numbers, each ending with `<eos>`.
        vocabulary_size: V.
        order: n; 1 uses no context.

    Raises:
        TypeError, ValueError: a text is empty, or contains a token that cannot be generated.
    """

    def __init__(self, texts: Iterable[Sequence[int]], vocabulary_size: int, order: int = 3):
        super().__init__(vocabulary_size, order)
        texts = list(texts)
        _check_written(texts, vocabulary_size)
        # counts[m]: contexts of m tokens, and the tokens that followed them
        self.counts: list[Followers] = [defaultdict(Counter) for _ in range(order)]
        for text in texts:
            padded = [Vocabulary.bos] * (order - 1) + list(text)
            for end in range(order - 1, len(padded)):
                for size, followers in enumerate(self.counts):
                    followers[tuple(padded[end - size : end])][padded[end]] += 1


def _check_written(texts: list[Sequence[int]], vocabulary_size: int) -> None:
    """Reject texts without a token, and tokens that are never generated, as <pad> and <bos>."""
    written = natural(least=max(UNWRITTEN) + 1, most=vocabulary_size - 1)
    for place, text in enumerate(texts):
        listed("token numbers", kind=written, least=1).check(f"texts[{place}]", text)


class MaximumLikelihood(NgramModel):
    """Maximum-likelihood estimate c(hw) / c(h): the counted texts get the highest probability.

    Source: Chen & Goodman 1999, eq. 2. An n-gram that was never counted has probability 0. After a
    context that was never counted, all probabilities are 0, and they sum to 0.

    Args:
        texts, vocabulary_size, order: as for `NgramModel`.
    """

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        probs = torch.zeros_like(self.uniform)  # (V,)
        followers = self.counts[-1].get(context)
        if followers:
            counts = torch.tensor(list(followers.values()), dtype=probs.dtype)
            probs[list(followers)] = counts / counts.sum()
        return probs


@accepts(**COUNTED, k=positive)
class AddK(NgramModel):
    """Add k to the count of every token after every context: (c(hw) + k) / (c(h) + kV).

    Source: Chen & Goodman 1999, section 2.1 (additive smoothing; k = 1 is Laplace's rule). V counts
    the tokens that can be generated.

    Args:
        texts, vocabulary_size, order: as for `NgramModel`.
        k: above 0; near 0, the model approaches the maximum-likelihood estimate.
    """

    def __init__(
        self,
        texts: Iterable[Sequence[int]],
        vocabulary_size: int,
        order: int = 3,
        *,
        k: float = 1.0,
    ):
        super().__init__(texts, vocabulary_size, order)
        self.k = k

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        added = self.k * (self.uniform > 0).double()  # (V,)
        followers = self.counts[-1].get(context, {})
        added[list(followers)] += torch.tensor(list(followers.values()), dtype=added.dtype)
        return added / added.sum()


@accepts(**COUNTED, discount=fraction)
class KneserNey(NgramModel):
    """Subtract a discount from every count, and give its mass to a shorter context.

    p(w | h) = (c(hw) − D) / c(h) + (the sum of the discounts / c(h)) · p(w | h without its first
    token). A shorter context does not count how often w came after it but how many different tokens
    preceded the two: "Francisco" is frequent, but comes after "San" alone. The last backs off to
    the uniform distribution.

    Source: Kneser & Ney 1995; Chen & Goodman 1999, section 3, interpolated, with one discount D or
    with three, for counts 1, 2 and 3 or more ("modified", eq. 26 there). Where the counts are too
    few to estimate the three, they are 0.5, 1 and 1.5.

    Args:
        texts, vocabulary_size, order: as for `NgramModel`.
        discount: D, from 0 to 1; None estimates three discounts for each length of context.
    """

    def __init__(
        self,
        texts: Iterable[Sequence[int]],
        vocabulary_size: int,
        order: int = 3,
        *,
        discount: float | None = None,
    ):
        super().__init__(texts, vocabulary_size, order)
        self.tables = [*map(_continuations, self.counts[1:]), self.counts[-1]]
        self.discounts = [
            modified_discounts(table) if discount is None else (discount,) * 3
            for table in self.tables
        ]
        self._rows: dict[tuple[int, ...], tuple[Tensor, Tensor, float]] = {}

    def _row(self, context: tuple[int, ...]):
        """The tokens seen after a context, their discounted shares, and the share that is left."""
        if context not in self._rows:
            followers = self.tables[len(context)][context]
            counts = torch.tensor(list(followers.values()))
            discounts = torch.tensor(self.discounts[len(context)], dtype=torch.float64)
            taken = discounts[counts.clamp(max=3) - 1]
            shares = (counts - taken) / counts.sum()
            left = (taken.sum() / counts.sum()).item()
            self._rows[context] = torch.tensor(list(followers)), shares, left
        return self._rows[context]

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        shorter = self._probs(context[1:]) if context else self.uniform
        if context not in self.tables[len(context)]:
            return shorter
        tokens, shares, left = self._row(context)
        return (left * shorter).index_add(0, tokens, shares)


def modified_discounts(table: Followers) -> tuple[float, float, float]:
    """The discounts for counts of 1, 2, and 3 or more.

    Source: Chen & Goodman 1999, eq. 26, from how many n-grams were counted once, twice, three
    and four times: D_r = r − (r + 1) Y n_{r+1} / n_r with Y = n_1 / (n_1 + 2 n_2).

    Args:
        table: the tokens that followed each context, and how often.

    Returns:
        D_1, D_2 and D_3; or 0.5, 1, 1.5 where one cannot be estimated, or would be negative.
    """
    of = Counter(count for followers in table.values() for count in followers.values())
    if not all(of[count] for count in (1, 2, 3, 4)):
        return FALLBACK
    y = of[1] / (of[1] + 2 * of[2])
    estimates = tuple(r - (r + 1) * y * of[r + 1] / of[r] for r in (1, 2, 3))
    return estimates if min(estimates) >= 0 else FALLBACK


def _continuations(longer: Followers) -> Followers:
    """From contexts with one more token: how many tokens precede each (context, token)."""
    table = defaultdict(Counter)
    for context, followers in longer.items():
        table[context[1:]].update(followers.keys())
    return table
