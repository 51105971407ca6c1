"""Batches: sequences of unequal length in one tensor, with a mask that says what is real."""

import operator
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.values import MOST, check_count, check_seed, distinct_seed
from gates2heads.data.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Batch:
    """Source and target of B pairs, padded to the longest.

    `target_in` begins with `<bos>` and `target_out` ends with `<eos>`: at step t the decoder reads
    `target_in[:, t]` and must predict `target_out[:, t]`.
    """

    source: Tensor  # (B, S) long
    source_mask: Tensor  # (B, S) bool, True = a real token
    target_in: Tensor  # (B, T) long
    target_out: Tensor  # (B, T) long
    target_mask: Tensor  # (B, T) bool, True = a real token

    def __len__(self) -> int:
        return len(self.source)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return Batch(*(getattr(self, field.name).to(device) for field in fields(self)))


def pad(sequences: Sequence[Sequence[int]], *, pad_id: int = Vocabulary.pad):
    """Write sequences into the rows of one tensor and fill the rest with `pad_id`.

    Args:
        sequences: B sequences of token numbers, none empty.
        pad_id: the number that fills.

    Returns:
        tokens (B, L) long and mask (B, L) bool, True where a token is real; L is the longest.

    Raises:
        TypeError: a sequence is no list of whole numbers, or `pad_id` is none.
        ValueError: there is no sequence, or one of them is empty.
    """
    check_count("pad_id", pad_id, least=-MOST)
    try:
        lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.long)
        numbers = torch.tensor([number for sequence in sequences for number in sequence])
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"sequences must be lists of token numbers, got {shown(sequences)}"
        ) from error
    if not len(lengths):
        raise ValueError("sequences is empty; a batch needs at least one sequence")
    if (lengths == 0).any():
        row = int((lengths == 0).nonzero()[0])
        raise ValueError(f"sequences[{row}] is empty; every sequence needs at least one token")
    if numbers.dtype != torch.long or numbers.dim() != 1:
        raise TypeError(f"sequences must hold whole numbers, got {shown(sequences)}")
    mask = torch.arange(int(lengths.max())) < lengths[:, None]  # (B, L)
    tokens = torch.full(mask.shape, pad_id, dtype=torch.long)
    tokens[mask] = numbers
    return tokens, mask


def _check_pair(pair: Sequence) -> None:
    sides = pair if isinstance(pair, Sequence) else ()
    if len(sides) != 2 or not all(hasattr(side, "__len__") for side in sides):
        raise TypeError(
            f"pairs must hold (source, target), two lists of token numbers; got {shown(pair)}"
        )


def _check_list(name: str, values: Sequence, *, of: str) -> None:
    """Refuse what has no first, second and last."""
    listed = hasattr(values, "__len__") and hasattr(values, "__getitem__")
    listed &= getattr(values, "ndim", 1) > 0  # a tensor without axes has neither, whatever it says
    if not listed or isinstance(values, str | bytes | Mapping):
        raise TypeError(f"{name} must be a list of {of}, got {type(values).__name__}")


def _check_pairs(pairs: Sequence, seed: int | None) -> None:
    _check_list("pairs", pairs, of="pairs")
    if seed is not None:
        check_seed("seed", seed)
    if not len(pairs):
        raise ValueError("pairs is empty; there is nothing to put into a batch")


def collate(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """Make one batch of B (source, target) pairs; both sides must end with `<eos>`.

    Raises:
        TypeError: a pair is not two lists of token numbers.
        ValueError: there is no pair, or a side of one is empty.
    """
    if not isinstance(pairs, Sequence):
        raise TypeError(f"pairs must be a list of pairs, got {type(pairs).__name__}")
    for pair in pairs:
        _check_pair(pair)
    source, source_mask = pad([source for source, _ in pairs])
    target_out, target_mask = pad([target for _, target in pairs])
    begin = torch.full_like(target_out[:, :1], Vocabulary.bos)
    target_in = torch.cat([begin, target_out[:, :-1]], dim=1)  # shifted one step to the right
    return Batch(source, source_mask, target_in, target_out, target_mask)


def batches(pairs: Sequence, batch_size: int, *, seed: int | None = None) -> Iterator[Batch]:
    """Go through all pairs once.

    Args:
        pairs: (source, target) pairs of token numbers, both closed by `<eos>`.
        batch_size: pairs a batch; the last batch may be smaller.
        seed: shuffles the pairs; None keeps their order.

    Raises:
        TypeError: `batch_size` or `seed` is no whole number, or `pairs` is no list.
        ValueError: `batch_size` is below 1, or there are no pairs.
    """
    check_count("batch_size", batch_size)
    _check_pairs(pairs, seed)
    order = torch.arange(len(pairs))
    if seed is not None:
        order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(int(seed)))
    for chunk in order.split(int(batch_size)):
        yield collate([pairs[number] for number in chunk.tolist()])


def endless_batches(pairs: Sequence, batch_size: int, *, seed: int = 0) -> Iterator[Batch]:
    """Go through all pairs again and again, in a new order each time; see `batches`."""
    check_seed("seed", seed)
    while True:
        yield from batches(pairs, batch_size, seed=seed)
        seed += 1


def token_batches(
    pairs: Sequence, token_budget: int, *, seed: int | None = None
) -> Iterator[Batch]:
    """Go through all pairs once, pairs of like length together, so that little is padding.

    A batch of B pairs holds B × (its longest sequence, source or target) tokens a side at most,
    padding counted: short sentences come in large batches, long ones in small ones.

    Args:
        pairs: (source, target) pairs of token numbers, both closed by `<eos>`.
        token_budget: the largest number of padded tokens a side; 2,000 is a usual choice.
        seed: shuffles pairs of equal length, and the order of the batches; None keeps both.

    Raises:
        TypeError: `token_budget` or `seed` is no whole number, or `pairs` is no list of pairs.
        ValueError: it is below 1 or below the longest sequence, or there are no pairs.
    """
    check_count("token_budget", token_budget)
    _check_pairs(pairs, seed)
    for pair in pairs:
        _check_pair(pair)
    sizes = [(len(source), len(target)) for source, target in pairs]
    longest = max(map(max, sizes))
    if longest > token_budget:
        raise ValueError(
            f"token_budget must be at least {longest}, the longest, got {token_budget}"
        )
    draw = random.Random(None if seed is None else distinct_seed(seed))
    order = list(range(len(pairs)))
    if seed is not None:
        draw.shuffle(order)
    order.sort(key=lambda number: (max(sizes[number]), min(sizes[number])))  # keeps ties shuffled
    chunks = [[]]
    for number in order:  # the last of a chunk is its longest
        if (len(chunks[-1]) + 1) * max(sizes[number]) > token_budget:
            chunks.append([])
        chunks[-1].append(number)
    if seed is not None:
        draw.shuffle(chunks)
    for chunk in chunks:
        yield collate([pairs[number] for number in chunk])


def endless_token_batches(pairs: Sequence, token_budget: int, *, seed: int = 0) -> Iterator[Batch]:
    """Go through all pairs again and again; each round has other batches in another order.

    See `token_batches`.
    """
    check_seed("seed", seed)
    while True:
        yield from token_batches(pairs, token_budget, seed=seed)
        seed += 1


def chunks(numbers: Sequence[int], length: int, *, step: int | None = None) -> list[list[int]]:
    """Cut one long text into runs of `length` tokens, for a model that predicts the next one.

    Args:
        numbers: the tokens of a text.
        length: tokens a run; the last one may be shorter, but not shorter than two.
        step: tokens from one beginning to the next; `length` if not given, so that every token
            stands in one run.

    Raises:
        TypeError, ValueError: a size or a token is no whole number, `length` is below 2 or `step`
            below 1, or there are fewer than two tokens.
    """
    check_count("length", length, least=2)
    step = length if step is None else step
    check_count("step", step)
    _check_list("numbers", numbers, of="whole numbers")
    if len(numbers) < 2:
        raise ValueError(f"numbers must hold at least two tokens, got {len(numbers)}")
    try:
        numbers = list(map(operator.index, numbers))
    except TypeError as error:
        raise TypeError(f"numbers must be a list of whole numbers: {error}") from error
    runs = (numbers[start : start + length] for start in range(0, len(numbers), step))
    return [run for run in runs if len(run) > 1]
