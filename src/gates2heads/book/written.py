"""Outputs of systems on a test set, and the counts of a metric: the data for a page.

The library does not contain the source texts and the references, which are works of other authors.
It contains the outputs of our own systems and their n-gram counts against the references. Counts
add up, so a page can compute scores and resample the test set without any reference.
"""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gates2heads.accepts import accepts, string
from gates2heads.accepts.shown import choices, shown
from gates2heads.book.studies import BOOK, results_file
from gates2heads.training.files import write_whole


class Written(NamedTuple):
    """The outputs of one system for N texts, in their order."""

    texts: list[str]
    bleu: np.ndarray  # (N, 10) int, `Bleu.statistics` beside the references


@accepts(study=string)
def read_written(study: str, folder: Path = BOOK) -> dict[str, Written]:
    """Read the outputs of the systems of a study, by their names.

    Args:
        study: such as "ch09/systems".
        folder: where the results are.

    Raises:
        ValueError: the study stored no texts.
    """
    there = sorted(
        f"{path.parts[-3]}/{path.name.removesuffix('.json.gz')}"
        for path in folder.glob("ch*/results/*.json.gz")
    )
    if study not in there:
        known = choices(there, study)
        raise ValueError(f"study must be one that stored its texts ({known}), got {shown(study)}")
    stored = json.loads(
        gzip.decompress(results_file(study, folder, suffix=".json.gz").read_bytes())
    )
    return {name: Written(one["texts"], np.array(one["bleu"])) for name, one in stored.items()}


def store_written(study: str, written: Mapping[str, Written], folder: Path = BOOK) -> None:
    """Add the outputs of some systems to those of the study, replacing previous ones.

    Args:
        study: as in `read_written`.
        written: by the systems' names.
        folder: where the results are.
    """
    path = results_file(study, folder, suffix=".json.gz")
    before = read_written(study, folder) if path.is_file() else {}
    stored = {
        name: {"texts": one.texts, "bleu": one.bleu.tolist()}
        for name, one in {**before, **written}.items()
    }
    # Without the time of day: the same texts are the same file.
    packed = gzip.compress(json.dumps(stored, ensure_ascii=False).encode(), mtime=0)
    write_whole(path, lambda file: file.write(packed))
