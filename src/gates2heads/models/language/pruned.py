"""N-gram counts as tensors, without the rare ones: small enough to be embedded in a page."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, instance, listed, mapping, natural, number
from gates2heads.accepts.shown import shown
from gates2heads.models.language.context import ContextModel
from gates2heads.models.language.ngram import Followers, KneserNey

PARTS = ("contexts", "totals", "starts", "followers", "counts")
EXACT = 2**24  # up to here float32 holds every whole number


@accepts(vocabulary_size=natural)
class PrunedCounts(ContextModel, nn.Module):
    """N-grams with sufficiently high counts, as tensors that a file of parameters can store.

    For each length m of a context, from 0 to n − 1, five tensors of whole numbers in float32:
    `contexts_m` (C · m,), the tokens of one context after the other; `totals_m` (C,), how often
    each was counted, including pruned n-grams; `followers_m` (N,), in which the tokens that
    followed context i have the indices `starts_m[i]` to `starts_m[i + 1]`; and `counts_m` (N,), how
    often each followed.

    Args:
        tensors: those five for each m, by name, as `pruned` or a file of parameters gives them.
        vocabulary_size: V.
        discounts: (n, 3), the discounts of `KneserNey` for counts of 1, 2, and 3 or more.

    Raises:
        TypeError, ValueError: a tensor is missing or does not fit, the discounts are not three
            numbers for each length, or V is not a whole number with room for a token.
    """

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        vocabulary_size: int,
        discounts: Sequence[Sequence[float]],
    ):
        listed("rows of three numbers").check("discounts", discounts)
        discounts = [tuple(some) for some in discounts]
        _check_discounts(discounts)
        super().__init__(vocabulary_size, len(discounts))
        self.discounts = discounts
        self._places: list[dict[tuple[int, ...], int]] = []
        for size in range(self.order):
            _check_table(tensors, size, vocabulary_size)
            for part in PARTS:
                name = f"{part}_{size}"
                self.register_buffer(name, tensors[name].detach().float())
            count = len(tensors[f"totals_{size}"])
            contexts = getattr(self, f"contexts_{size}").long().view(count, size).tolist()
            self._places.append({tuple(one): place for place, one in enumerate(contexts)})

    def _row(self, context: tuple[int, ...]):
        """Tokens (N,) that followed a context, their counts (N,), its total; None if unseen."""
        size = len(context)
        place = self._places[size].get(context)
        if place is None:
            return None
        first, end = getattr(self, f"starts_{size}")[place : place + 2].long().tolist()
        followers = getattr(self, f"followers_{size}")[first:end].long()
        counts = getattr(self, f"counts_{size}")[first:end].double()
        return followers, counts, getattr(self, f"totals_{size}")[place].item()


class PrunedKneserNey(PrunedCounts):
    """`KneserNey` without rare n-grams; their probability mass goes to the shorter context.

    With `least=1` it equals `KneserNey`.

    Args: those of `PrunedCounts`.
    """

    @classmethod
    @accepts(model=instance(KneserNey), least=natural)
    def of(cls, model: KneserNey, *, least: int = 2) -> "PrunedKneserNey":
        """Keep the n-grams that a model counted at least a given number of times.

        Args:
            model: whose tables are pruned; a shorter context's table counts different tokens.
            least: 1 keeps everything.
        """
        tensors = {}
        for size, table in enumerate(model.tables):
            tensors |= _packed(table, size, least)
        return cls(tensors, model.vocabulary_size, model.discounts)

    def counts_alone(self) -> "PrunedMaximumLikelihood":
        """The unsmoothed model of the same counts."""
        tensors = dict(self.named_buffers())
        return PrunedMaximumLikelihood(tensors, self.vocabulary_size, self.discounts)

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        shorter = self._probs(context[1:]) if context else self.uniform
        row = self._row(context)
        if row is None:
            return shorter
        tokens, counts, total = row
        discounts = torch.tensor(self.discounts[len(context)], dtype=torch.float64)
        shares = (counts - discounts[counts.clamp(max=3).long() - 1]) / total
        left = (1 - shares.sum()).clamp(min=0)  # without a discount, rounding may leave less
        return (left * shorter).index_add(0, tokens, shares)


class PrunedMaximumLikelihood(PrunedCounts):
    """`MaximumLikelihood` of the n-grams that are kept: c(hw) over the sum of the kept counts.

    After a context without kept n-grams, every probability is 0.

    Args: those of `PrunedCounts`.
    """

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        probs = torch.zeros_like(self.uniform)  # (V,)
        row = self._row(context)
        if row is not None:
            tokens, counts, _ = row
            probs[tokens] = counts / counts.sum()
        return probs


def _packed(table: Followers, size: int, least: int) -> dict[str, Tensor]:
    """One table as tensors, in the order of its contexts; contexts without a follower are left."""
    contexts, totals, starts, followers, counts = [], [], [0], [], []
    for context in sorted(table):
        kept = sorted((token, n) for token, n in table[context].items() if n >= least)
        if not kept and size:
            continue
        contexts += context
        totals.append(sum(table[context].values()))
        followers += [token for token, _ in kept]
        counts += [n for _, n in kept]
        starts.append(len(followers))
    parts = zip(PARTS, (contexts, totals, starts, followers, counts), strict=True)
    return {f"{part}_{size}": torch.tensor(some, dtype=torch.float32) for part, some in parts}


def _check_discounts(discounts: list[tuple[float, ...]]) -> None:
    for row in discounts:
        if len(row) != 3:
            raise ValueError(f"discounts must have three numbers per row, got {shown(row)}")
        for one in row:
            number.check("discounts", one)


def _check_table(tensors: Mapping[str, Tensor], size: int, vocabulary_size: int) -> None:
    """Reject tensors of one context length that are inconsistent."""
    names = [f"{part}_{size}" for part in PARTS]
    mapping("names to tensors").check("tensors", tensors)
    for name in names:
        one = tensors.get(name)
        if not isinstance(one, Tensor) or one.dim() != 1:
            raise TypeError(f"tensors must hold {name}, a tensor of one axis, got {shown(one)}")
        whole = one.isfinite().all() and (one == one.round()).all()
        if not whole or (one < 0).any() or (one > EXACT).any():
            raise ValueError(f"tensors: {name} must hold whole numbers from 0 to 2^24")
    contexts, totals, starts, followers, counts = (tensors[name] for name in names)
    fits = len(contexts) == size * len(totals) and len(starts) == len(totals) + 1
    fits = fits and len(followers) == len(counts) == starts[-1] and starts[0] == 0
    if not fits or (starts.diff() < 0).any() or not (size or len(totals) == 1):
        raise ValueError(f"the tensors of contexts of {size} tokens must fit each other")
    if max(contexts.tolist() + followers.tolist(), default=0) >= vocabulary_size:
        raise ValueError(
            f"tensors: contexts_{size} and followers_{size} must hold numbers below "
            f"vocabulary_size, {vocabulary_size}"
        )
    if (counts < 1).any():
        raise ValueError(f"tensors: counts_{size} must be at least 1")
