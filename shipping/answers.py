"""Two models that extract an answer from a passage, for the view in section 11.7.

    python -m shipping.answers ernie
    python -m shipping.answers random

One starts from the shipped ERNIE, the other from a random initialisation of the same size, as in
the settings "passages" of `studies.ch11.fine_tuning`, with seed 0. Each run writes
`src/gates2heads/models/weights/answers_START.safetensors`: the weights in one byte each, and a card
with data, command, seed and scores of the weights as they are written.
"""

import argparse
import time
from pathlib import Path

import torch

from gates2heads.book.ch11.pretraining import fact_tokenizer
from gates2heads.book.ch11.uses import MORE, PASSAGES, answer_counts, learn_use
from gates2heads.book.studies import device_name
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.training.cards import save_model
from gates2heads.training.quantisation import dequantise, quantise
from studies.ch11.fine_tuning import LONG, STARTS, begin

WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights"


def main() -> None:
    """Train one of the two models and write it with its card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("start", choices=STARTS)
    start = parser.parse_args().start
    torch.set_num_threads(1)
    began = time.perf_counter()
    reader = learn_use(PASSAGES, begin(start, 0), seed=0, **LONG).reader
    seconds = time.perf_counter() - began
    reader.load_state_dict(dequantise(quantise(reader.state_dict())))
    model = FineTuned(reader.encoder, reader.head)
    model.load_state_dict(reader.state_dict())
    card = {
        "data": "one to three facts of Unicode CLDR in each passage, about currencies and "
        "languages, with territories, currencies and languages exchanged; the test asks about "
        "territories that neither pre-training nor fine-tuning mentions",
        "terms": "Names from Unicode CLDR, under the Unicode licence.",
        "limits": "Reads facts in the wordings of the book, in English or Chinese, and questions "
        "in the wording of section 11.7; other words are unknown to it.",
        "command": f"python -m shipping.answers {start}",
        "start": start,
        "seed": 0,
        "steps": LONG["steps"],
        "test_right_of": answer_counts(reader.eval(), MORE[PASSAGES].examples("test")),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(seconds),
        "machine": {"device": device_name(), "threads": torch.get_num_threads()},
    }
    path = WEIGHTS / f"answers_{start}.safetensors"
    save_model(path, model, source=fact_tokenizer(), card=card, small=True)
    print(card)


if __name__ == "__main__":
    main()
