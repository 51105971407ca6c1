"""Sentence pairs as matrices of token numbers: prepared once, split and batched on the device.

A row is a sentence that ends with `<eos>` and is padded with zeros. BPE-dropout happens on whole
matrices: each piece of the vocabulary has a few ways to fall apart, drawn in advance with the
`merge_with_dropout` of the library, and each token of each epoch takes one of them at random.
"""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.merge_dropout import merge_with_dropout
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.training.cards import rebuild
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.files import write_whole

WIDTH = 64  # tokens in a row at most, <eos> included; the longest training caption has 54
SPLITS, PIECES = 16, 8  # ways to split one piece, and into how many pieces at most
DROPOUT = 0.1  # share of merges that are left out
STEP = 4  # lengths of batches are multiples of it, and the numbers of rows of 2 · STEP
TO_GERMAN = "translator_to_german"


class Prepared(NamedTuple):
    """All that the training reads, (N, WIDTH) long unless said otherwise."""

    german: Tensor  # training captions
    english: Tensor
    german_alone: Tensor  # descriptions without a translation
    english_alone: Tensor
    validation: Tensor  # German
    references: list[str]  # English
    splits: Tensor  # (V, SPLITS, PIECES)
    counts: Tensor  # (V, SPLITS) how many pieces each split has

    def to(self, device: torch.device) -> "Prepared":
        """The same on a device."""
        return Prepared(*(x.to(device) if isinstance(x, Tensor) else x for x in self))


def tokenizer() -> BPETokenizer:
    """The tokenizer of both stored translators, which is the same."""
    return rebuild(shipped_weights(TO_GERMAN)).source


def prepare(path: Path, most: int | None = None) -> dict[str, int]:
    """Write everything that the training reads into one file; return the sizes.

    Args:
        path: the file; it contains the captions of other people, so it stays outside the
            repository.
        most: as many sentences of each kind at most, for a trial.
    """
    # This module is also imported where only PyTorch and tokenizers are installed.
    from gates2heads.data.corpora.multi30k import descriptions, multi30k  # noqa: PLC0415

    both, pairs, validation = tokenizer(), multi30k("train")[:most], multi30k("validation")[:most]
    splits, counts = split_pieces(both)
    arrays = {
        "german": rows_of(both, [pair.german for pair in pairs]),
        "english": rows_of(both, [pair.english for pair in pairs]),
        "german_alone": rows_of(both, descriptions("German")[:most], skip=True),
        "english_alone": rows_of(both, descriptions("English")[:most], skip=True),
        "validation": rows_of(both, [pair.german for pair in validation]),
        "splits": splits,
        "counts": counts,
    }
    text = json.dumps([pair.english for pair in validation]).encode()
    arrays["references"] = np.frombuffer(text, dtype=np.uint8)
    write_whole(path, lambda file: np.savez_compressed(file, **arrays))
    return {name: len(array) for name, array in arrays.items()}


def read(path: Path) -> Prepared:
    """Read what `prepare` wrote."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    texts = json.loads(arrays.pop("references").tobytes())
    tensors = {name: torch.from_numpy(one.astype(np.int64)) for name, one in arrays.items()}
    return Prepared(**tensors, references=texts)


def rows_of(both: BPETokenizer, texts: Sequence[str], *, skip: bool = False) -> np.ndarray:
    """The texts as rows (N, WIDTH) of whole numbers; `skip` leaves out those that are too long."""
    numbers = both.encode_all(texts)
    if skip:
        numbers = [one for one in numbers if len(one) <= WIDTH]
    rows = np.zeros((len(numbers), WIDTH), dtype=np.uint16)
    for row, one in zip(rows, numbers, strict=True):
        row[: len(one)] = one
    return rows


def split_pieces(both: BPETokenizer, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ways in which each piece of the vocabulary falls apart when merges are left out.

    Departs from `MergeDropout` in that the pieces of a word are split one by one, so that no new
    piece crosses the boundary of two old ones.
    """
    draw, special = random.Random(seed), Vocabulary.eos + 1
    splits = np.zeros((len(both), SPLITS, PIECES), dtype=np.uint16)
    counts = np.ones((len(both), SPLITS), dtype=np.uint8)
    splits[:, :, 0] = np.arange(len(both))[:, None]
    for piece, number in both.numbers.items():
        if number < special:
            continue
        for way in range(SPLITS):
            parts = merge_with_dropout(list(piece), both.merges, DROPOUT, draw)
            if len(parts) <= PIECES:
                splits[number, way, : len(parts)] = [both.numbers[part] for part in parts]
                counts[number, way] = len(parts)
    counts[Vocabulary.pad] = 0
    return splits, counts


def resplit(rows: Tensor, prepared: Prepared, generator: torch.Generator) -> Tensor:
    """Rows (N, WIDTH) with each token split at random; rows that would be too long stay whole."""
    ways = torch.randint(SPLITS, rows.shape, generator=generator, device=rows.device)
    counts = prepared.counts[rows, ways]
    ends = counts.cumsum(dim=1)
    fits = ends[:, -1:] <= WIDTH
    found = rows.new_zeros(
        len(rows), WIDTH + 1
    )  # the last column receives what lies outside the pieces
    for number in range(PIECES):
        places = torch.where((number < counts) & fits, ends - counts + number, WIDTH)
        found.scatter_(1, places, prepared.splits[rows, ways, number])
    return torch.where(fits, found[:, :WIDTH], rows)


class Some(NamedTuple):
    """A batch for a team: token numbers, 0 is padding."""

    source: Tensor  # (M, B, L)
    target_in: Tensor
    target_out: Tensor


def batches(
    source: Tensor, target: Tensor, budget: int, orders: int, generator: torch.Generator
) -> Iterator[Some]:
    """Go through all pairs once, pairs of similar length together, in random order.

    Args:
        source, target: (N, WIDTH).
        budget: tokens of one side and one member in a batch, padding included.
        orders: M; each member receives the same pairs in its own order.
        generator: on the device of the pairs.
    """
    device = source.device
    lengths = torch.maximum(*((side != 0).sum(dim=1) for side in (source, target)))
    lengths = (lengths + STEP - 1) // STEP * STEP
    draws = torch.rand(orders, len(source), generator=generator, device=device)
    order = (lengths + draws).argsort(dim=1)  # (M, N), the same lengths in each row
    chunks = cut(lengths[order[0]].tolist(), budget)
    mixed = torch.randperm(len(chunks), generator=generator, device=device).tolist()
    for number in mixed:
        start, end, length = chunks[number]
        rows = order[:, start:end]
        read, written = source[rows][..., :length], target[rows][..., :length]
        begin = torch.full_like(written[..., :1], Vocabulary.bos)
        # The last token of a sentence, <eos>, is read too where another one is longer: the loss
        # leaves out the position after it.
        yield Some(read, torch.cat([begin, written[..., :-1]], dim=2), written)


def cut(lengths: Sequence[int], budget: int) -> list[tuple[int, int, int]]:
    """Cut rows of rising length into batches: the first row, the one after the last, the length."""
    chunks, start, least = [], 0, 2 * STEP
    while start < len(lengths):
        end = min(start + max(budget // lengths[start], 1), len(lengths))
        longest = lengths[end - 1]
        rows = max(budget // longest // least * least, 1)
        end = min(start + rows, len(lengths))
        chunks.append((start, end, lengths[end - 1]))
        start = end
    return chunks
