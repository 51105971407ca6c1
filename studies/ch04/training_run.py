"""What does an encoder–decoder output while it learns? Section 4.4 shows the result.

    python -m studies.ch04.training_run --seeds 0
    python -m studies.ch04.training_run --table

The model, the training loop and the decoder are the cells of the chapter itself, read from the
notebook, so that the stored outputs come from the code that a reader sees. The model learns dates
in eight languages from 2,000 batches of 64. After 100, 500 and 2,000 batches, `outputs` holds its
free-running output for one test date in each of six languages, `right` the share of 1,000 test
dates that it gets right, and `loss` the mean cross-entropy of the last ten batches.
"""

import json
from pathlib import Path

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate, endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs

PAGE = Path(__file__).parents[2] / "chapters" / "04_sequence_to_sequence.ipynb"
CELLS = ("ch4-model", "ch4-loop", "ch4-greedy")
STOPS, TESTED = (100, 500, 2000), 1000
SHOWN = ("en", "de", "es", "fr", "ru", "ja")


def of_the_page(names: dict) -> dict:
    """The names that the chapter's cells define, given those that they use."""
    cells = {one["id"]: one["source"] for one in json.loads(PAGE.read_text("utf-8"))["cells"]}
    for name in CELLS:
        exec(compile("".join(cells[name]), name, "exec"), names)
    return names


def run(setting: str, seed: int) -> dict:
    """Train one model; return what it outputs at each stop."""
    pairs = [(pair.text, pair.iso) for pair in dates("train", 30_000)]
    source, target = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    names = {"torch": torch, "nn": nn, "pack_padded_sequence": pack_padded_sequence}
    names |= {"endless_batches": endless_batches, "collate": collate, "encode_pairs": encode_pairs}
    names |= {"source": source, "target": target, "numbered": encode_pairs(pairs, source, target)}
    page = of_the_page(names)
    test = dates("test", TESTED)
    shown = [next(pair for pair in test if pair.locale == one) for one in SHOWN]
    torch.manual_seed(seed)
    model = page["Seq2Seq"](len(source.vocabulary), len(target.vocabulary))
    losses, stops = [], []
    for step, loss in page["training"](model, STOPS[-1], seed=seed):
        losses.append(loss)
        if step not in STOPS:
            continue
        written = page["outputs"](model, [pair.text for pair in test])
        right = [a == pair.iso for a, pair in zip(written, test, strict=True)]
        found = page["outputs"](model, [pair.text for pair in shown])
        stops.append(
            {"step": step, "loss": sum(losses[-10:]) / 10, "right": sum(right) / TESTED}
            | {"outputs": found}
        )
        print(stops[-1], flush=True)
    return {
        "sources": [pair.text for pair in shown],
        "targets": [pair.iso for pair in shown],
        "stops": stops,
    }


if __name__ == "__main__":
    Study("ch04/training_run", run, ["page"]).main()
