"""Files of back-translated sentence pairs, of which a model generated one side.

Such a file is made by `shipping/back_translation.py`, and may come from anywhere. It is a
compressed text: a first line that states its kind and origin, then a line for each pair,
German and English with a tab between them. Source: Sennrich et al. 2016, "Improving Neural Machine
Translation Models with Monolingual Data".
"""

import gzip
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from gates2heads.accepts import accepts, instance, listed, string
from gates2heads.accepts.shown import in_line, shown
from gates2heads.data.corpora.multi30k import CaptionPair

KIND = "sentence pairs, one side by a model"
MOST, LONGEST = 2_000_000, 1_000  # pairs in a file; characters of a sentence


@accepts(pairs=listed("pairs"), origin=string)
def pairs_file(pairs: Iterable[Sequence[str]], origin: str) -> bytes:
    """Return the content of a file of pairs; the same pairs give the same bytes.

    Args:
        pairs: German and English; white space inside a sentence becomes one blank.
        origin: where the pairs come from, such as a command.

    Raises:
        ValueError: a sentence is empty or longer than `LONGEST`.
    """
    lines = [f"{KIND}\t{' '.join(origin.split())}"]
    for number, pair in enumerate(pairs):
        sides = [" ".join(side.split()) for side in pair]
        _check(sides, f"pairs[{number}]")
        lines.append("\t".join(sides))
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


@accepts(path=instance((str, os.PathLike)))
def read_machine_pairs(path: str | os.PathLike) -> list[CaptionPair]:
    """Read a file of pairs.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: it is damaged, of another kind, empty or too large, or a line is not a pair; the
            message says which.
    """
    path = Path(path)
    what = f"path must name a file of sentence pairs, got {in_line(path)}"
    if not path.is_file():
        raise FileNotFoundError(f"{what}, which is not there")
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            pairs = _read(file, what)
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise ValueError(f"{what}, which is damaged: {error}") from error
    if not pairs:
        raise ValueError(f"{what}, which holds no pair")
    return pairs


def _read(file, what: str) -> list[CaptionPair]:
    longest = 2 * LONGEST + 2  # two sentences, a tab and the end of the line
    if file.readline(longest).partition("\t")[0] != KIND:
        raise ValueError(f"{what}, which does not begin with “{KIND}”")
    pairs = []
    while line := file.readline(longest):
        place = f"{what}: line {len(pairs) + 2}"
        if len(pairs) == MOST:
            raise ValueError(f"{what}, which holds more than {MOST:,} pairs")
        sides = line.removesuffix("\n").split("\t")
        _check(sides, place)
        pairs.append(CaptionPair(*sides))
    return pairs


def _check(sides: Sequence[str], place: str) -> None:
    """Reject anything but a pair of two sentences of a reasonable length."""
    if len(sides) != 2 or not all(side.strip() and len(side) <= LONGEST for side in sides):
        raise ValueError(
            f"{place} must hold two sentences of 1 to {LONGEST:,} characters, got "
            f"{shown(list(sides))}"
        )
