"""Batches: sequences of unequal length in one padded tensor, with a mask of real tokens."""

import operator
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from gates2heads.accepts import accepts, any_seed, listed, natural
from gates2heads.accepts.values import MOST, distinct_seed
from gates2heads.data.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Batch:
    """Source and target of B pairs, padded to the longest.

    `target_in` begins with `<bos>` and `target_out` ends with `<eos>`: at step t the decoder
    receives `target_in[:, t]` and predicts `target_out[:, t]`.
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


PAIRS = listed("pairs", least=1)
SEQUENCES = listed("sequences", kind=listed("token numbers", least=1), least=1)


@accepts(sequences=SEQUENCES, pad_id=natural(least=-MOST))
def pad(sequences: Sequence[Sequence[int]], *, pad_id: int = Vocabulary.pad):
    """Pad sequences with `pad_id` to the rows of one tensor.

    Args:
        sequences: B sequences of token numbers, none empty.
        pad_id: the padding token.

    Returns:
        tokens (B, L) long and mask (B, L) bool, True where a token is real; L is the longest.
    """
    lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.long)
    numbers = torch.tensor([number for sequence in sequences for number in sequence])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]  # (B, L)
    tokens = torch.full(mask.shape, pad_id, dtype=torch.long)
    tokens[mask] = numbers
    return tokens, mask


@accepts(pairs=PAIRS)
def collate(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """Make one batch of B (source, target) pairs; both sides must end with `<eos>`."""
    source, source_mask = pad([source for source, _ in pairs])
    target_out, target_mask = pad([target for _, target in pairs])
    begin = torch.full_like(target_out[:, :1], Vocabulary.bos)
    target_in = torch.cat([begin, target_out[:, :-1]], dim=1)  # shifted one step to the right
    return Batch(source, source_mask, target_in, target_out, target_mask)


@accepts(pairs=PAIRS, batch_size=natural, seed=any_seed)
def batches(pairs: Sequence, batch_size: int, *, seed: int | None = None) -> Iterator[Batch]:
    """Iterate once over all pairs.

    Args:
        pairs: (source, target) pairs of token numbers, both ending with `<eos>`.
        batch_size: pairs per batch; the last batch may be smaller.
        seed: shuffles the pairs; None keeps their order.
    """
    order = torch.arange(len(pairs))
    if seed is not None:
        order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(int(seed)))
    for chunk in order.split(int(batch_size)):
        yield collate([pairs[number] for number in chunk.tolist()])


@accepts(pairs=PAIRS, batch_size=natural, seed=any_seed)
def endless_batches(pairs: Sequence, batch_size: int, *, seed: int = 0) -> Iterator[Batch]:
    """Iterate endlessly over all pairs, in a new order in each epoch; see `batches`."""
    while True:
        yield from batches(pairs, batch_size, seed=seed)
        seed += 1


@accepts(pairs=PAIRS, token_budget=natural, seed=any_seed)
def token_batches(
    pairs: Sequence, token_budget: int, *, seed: int | None = None
) -> Iterator[Batch]:
    """Iterate once over all pairs, in batches of similar length to reduce padding.

    A batch of B pairs holds B × (its longest sequence, source or target) tokens per side at most,
    including padding: batches of short sentences are large, those of long ones small.

    Args:
        pairs: (source, target) pairs of token numbers, both ending with `<eos>`.
        token_budget: the maximum number of tokens per side, including padding; 2,000 is a usual
            choice.
        seed: shuffles pairs of equal length, and the order of the batches; None keeps both.

    Raises:
        ValueError: `token_budget` is below the longest sequence.
    """
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


@accepts(pairs=PAIRS, token_budget=natural, seed=any_seed)
def endless_token_batches(pairs: Sequence, token_budget: int, *, seed: int = 0) -> Iterator[Batch]:
    """Iterate endlessly over all pairs; each epoch has other batches in another order.

    See `token_batches`.
    """
    while True:
        yield from token_batches(pairs, token_budget, seed=seed)
        seed += 1


@accepts(numbers=listed("token numbers", least=2), length=natural(least=2), step=natural)
def chunks(numbers: Sequence[int], length: int, *, step: int | None = None) -> list[list[int]]:
    """Split one long text into segments of `length` tokens, for a next-token model.

    Args:
        numbers: the tokens of a text.
        length: tokens per segment; the last one may be shorter, but not shorter than two.
        step: tokens from one beginning to the next; `length` if not given, so that every token is
            in one segment.
    """
    step = length if step is None else step
    numbers = list(map(operator.index, numbers))
    runs = (numbers[start : start + length] for start in range(0, len(numbers), step))
    return [run for run in runs if len(run) > 1]
