"""N-gram language models: count what followed the last n − 1 tokens, and smooth the counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.checks.shown import shown
from gates2heads.checks.values import check_count, check_positive, check_share
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.base import LanguageModel

Followers = dict[tuple[int, ...], Counter]  # context h -> how often each token w came after it

UNWRITTEN = (Vocabulary.pad, Vocabulary.bos)
FALLBACK = (0.5, 1.0, 1.5)  # where counts are too few to estimate from, as in the program KenLM


class NgramState(NamedTuple):
    """Where a text stands."""

    context: Tensor  # (B, n − 1) long: the last tokens, `<bos>` before the first


class NgramModel(LanguageModel):
    """Approximate p(x_t | all before) by p(x_t | the n − 1 tokens before).

    Every text is read with n − 1 `<bos>` before it. Nothing is smoothed here; see `AddK` and
    `KneserNey`. `<pad>` and `<bos>` are never written and have probability 0; all other tokens
    share a probability of 1 after every context, whether it was seen or not.

    Args:
        texts: lists of token numbers, each closed by `<eos>`.
        vocabulary_size: V.
        order: n; 1 looks at no context.

    Raises:
        TypeError, ValueError: the texts are no lists of token numbers, one is empty or holds a
            number that cannot be written, or a size is no whole number of at least 1.
    """

    state_type = NgramState

    def __init__(self, texts: Iterable[Sequence[int]], vocabulary_size: int, order: int = 3):
        check_count("vocabulary_size", vocabulary_size, least=len(UNWRITTEN) + 1)
        check_count("order", order)
        texts = _checked(texts, vocabulary_size)
        self.vocabulary_size, self.order = vocabulary_size, order
        self.uniform = torch.ones(vocabulary_size, dtype=torch.float64)
        self.uniform[list(UNWRITTEN)] = 0.0
        self.uniform /= self.uniform.sum()
        # counts[m]: contexts of m tokens, and what followed them
        self.counts: list[Followers] = [defaultdict(Counter) for _ in range(order)]
        for text in texts:
            padded = [Vocabulary.bos] * (order - 1) + text
            for end in range(order - 1, len(padded)):
                for size, followers in enumerate(self.counts):
                    followers[tuple(padded[end - size : end])][padded[end]] += 1

    def probs(self, context: Sequence[int] = ()) -> Tensor:
        """What comes next after a context of any length: (V,), sums to 1.

        Raises:
            TypeError, ValueError: the context is no list of token numbers.
        """
        context = _checked([context], self.vocabulary_size, written=False)[0]
        padded = [Vocabulary.bos] * (self.order - 1) + context
        return self._probs(tuple(padded[len(context) :]))

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        """(V,) float64 after a context of n − 1 tokens."""
        raise NotImplementedError(f"{type(self).__name__} must say how it smooths")

    def _begin(self, batch_size: int) -> NgramState:
        return NgramState(torch.full((batch_size, self.order - 1), Vocabulary.bos))

    def _advance(self, state: NgramState, last_tokens: Tensor):
        longer = torch.cat([state.context, last_tokens[:, None].to(state.context)], dim=1)
        context = longer[:, 1:]  # (B, n) -> (B, n − 1)
        probs = torch.stack([self._probs(tuple(row)) for row in context.tolist()])
        return probs.log().to(last_tokens.device), NgramState(context)

    def _score(self, tokens: Tensor, mask: Tensor) -> Tensor:
        padded = torch.cat([self._begin(len(tokens)).context.to(tokens), tokens], dim=1)
        runs = padded.unfold(1, self.order, 1).flatten(0, 1).tolist()  # B · T times n
        # Each distribution is made once, for all the places at which its context stands.
        places = defaultdict(list)
        for place in mask.flatten().nonzero()[:, 0].tolist():
            places[tuple(runs[place][:-1])].append(place)
        result = torch.zeros(tokens.numel(), dtype=torch.float64)
        for context, here in places.items():
            result[here] = self._probs(context)[[runs[place][-1] for place in here]].log()
        return result.view(tokens.shape).to(tokens.device)


class AddK(NgramModel):
    """Pretend that every token followed every context k times more: (c(hw) + k) / (c(h) + kV).

    Source: Chen & Goodman 1999, section 2.1 (additive smoothing; k = 1 is Laplace's rule). V counts
    the tokens that can be written.

    Args:
        texts, vocabulary_size, order: as for `NgramModel`.
        k: above 0; near 0, the model trusts its counts alone.
    """

    def __init__(
        self,
        texts: Iterable[Sequence[int]],
        vocabulary_size: int,
        order: int = 3,
        *,
        k: float = 1.0,
    ):
        check_positive("k", k)
        super().__init__(texts, vocabulary_size, order)
        self.k = k

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        added = self.k * (self.uniform > 0).double()  # (V,)
        followers = self.counts[-1].get(context, {})
        added[list(followers)] += torch.tensor(list(followers.values()), dtype=added.dtype)
        return added / added.sum()


class KneserNey(NgramModel):
    """Take a discount from every count, and give it to a shorter context.

    p(w | h) = (c(hw) − D) / c(h) + (the sum of the discounts / c(h)) · p(w | h without its first
    token). A shorter context does not count how often w came after it but how many different
    tokens stood before the two: "Francisco" is frequent, but comes after "San" alone. The last
    backs off to the uniform distribution.

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
        if discount is not None:
            check_share("discount", discount)
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
            shares, left = (counts - taken) / counts.sum(), taken.sum() / counts.sum()
            self._rows[context] = torch.tensor(list(followers)), shares, left.item()
        return self._rows[context]

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        shorter = self._probs(context[1:]) if context else self.uniform
        if context not in self.tables[len(context)]:
            return shorter
        tokens, shares, left = self._row(context)
        return (left * shorter).index_add(0, tokens, shares)


def modified_discounts(table: Followers) -> tuple[float, float, float]:
    """How much to take from counts of 1, 2, and 3 or more.

    Source: Chen & Goodman 1999, eq. 26, from how many n-grams were counted once, twice, three
    and four times: D_r = r − (r + 1) Y n_{r+1} / n_r with Y = n_1 / (n_1 + 2 n_2).

    Args:
        table: what followed each context, and how often.

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
    """From contexts with one token more: before how many of them each (context, token) stood."""
    table = defaultdict(Counter)
    for context, followers in longer.items():
        table[context[1:]].update(followers.keys())
    return table


def _checked(texts, vocabulary_size: int, *, written: bool = True) -> list[list[int]]:
    """Texts as lists of numbers in the vocabulary; `written` ones hold none that cannot be."""
    name = "texts" if written else "context"
    try:
        texts = [list(text) for text in texts]
        if any(getattr(number, "ndim", 0) for text in texts for number in text):
            raise TypeError("an array in the place of a number")
        numbers = torch.tensor([number for text in texts for number in text], dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise TypeError(f"{name} must hold token numbers, got {shown(texts)}") from error
    if numbers.dim() != 1 or (numbers != numbers.round()).any():
        raise TypeError(f"{name} must hold whole numbers, got {shown(texts)}")
    if written and not (texts and all(texts)):
        raise ValueError(f"{name} must hold at least one token each, got {shown(texts)}")
    wrong = (numbers < 0) | (numbers >= vocabulary_size)
    if wrong.any():
        wanted = f"numbers 0 to {vocabulary_size - 1}"
        raise ValueError(f"{name} must hold {wanted}, got {numbers[wrong][0]:.0f}")
    if written and (numbers <= max(UNWRITTEN)).any():
        raise ValueError(f"{name} must not hold <pad> or <bos>, which are never written")
    return texts
