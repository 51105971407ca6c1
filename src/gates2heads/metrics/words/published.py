"""Files of word vectors in the text format of GloVe, word2vec and fastText.

Each line contains a word and its D numbers, separated by blanks, usually with the most frequent
words first. The files of word2vec and fastText begin with a line that contains the number of
words and D; those of GloVe do not. Source: the README files of the three programs.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import torch

from gates2heads.accepts import accepts, instance, natural
from gates2heads.accepts.shown import in_line, shown
from gates2heads.metrics.words.vectors import WordVectors

LONGEST = 100_000  # characters of a line


@accepts(path=instance((str, os.PathLike)), most=natural)
def read_vectors(path: str | os.PathLike, most: int = 100_000) -> WordVectors:
    """Read the first word vectors of a file, each of width D.

    Args:
        path: the file, not compressed, in UTF-8.
        most: how many words to read at most. If a word occurs twice, its first vector counts.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: a line is not a word with D finite numbers; the message says which line.
    """
    path = Path(path)
    what = f"path must name a file of word vectors, got {in_line(path)}"
    if not path.is_file():
        raise FileNotFoundError(f"{what}, which is not there")
    found: dict[str, torch.Tensor] = {}
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for word, vector in _rows(file, what):
            found.setdefault(word, vector)
            if len(found) == most:
                break
    if not found:
        raise ValueError(f"{what}, which has no vectors")
    return WordVectors(list(found), torch.stack(list(found.values())))


def _rows(file: TextIO, what: str) -> Iterator[tuple[str, torch.Tensor]]:
    """The word and the vector (D,) of each line."""
    size = None
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        fields = line.rstrip(" \r\n").split(" ")
        if size is None:
            is_header = len(fields) == 2 and all(field.isdecimal() for field in fields)
            size = int(fields[1]) if is_header else len(fields) - 1
            if is_header:
                continue
        # A few words of published files contain blanks: the numbers are the last D fields.
        word, numbers = " ".join(fields[:-size]) if size else "", fields[-size:]
        vector = _vector(numbers) if word and len(line) <= LONGEST else None
        if vector is None:
            raise ValueError(
                f"{what}, whose line {number} must be a word and {size} finite numbers, "
                f"got {shown(line[:60])}"
            )
        yield word, vector


def _vector(numbers: list[str]) -> torch.Tensor | None:
    """The numbers as a vector (D,), or None if one is not a finite number."""
    try:
        vector = torch.tensor([float(one) for one in numbers])
    except ValueError:
        return None
    return vector if vector.isfinite().all() else None
