"""A small language model of Python source, for the live views of chapter 12.

    python -m shipping.python_model --steps 8000

It has the block of Llama, 2.8 million parameters and 2,048 byte-pair tokens, and is trained on the
source of Python's standard library and of five packages that every reader of the book has (see
`gates2heads.data.corpora.python.source`). It writes
`src/gates2heads/models/weights/python_llama.safetensors`: the parameters in one byte each, and a
card. `--to FILE` writes another file; the study
`ch12/python_budgets` trains the same model for less time on one thread of a processor.
"""

import argparse
from pathlib import Path

import torch

from gates2heads.book.ch12.exchanges import BATCH, parameters
from gates2heads.book.ch12.python_model import train_python_model
from gates2heads.book.ch12.python_text import (
    LENGTH,
    bits_per_character,
    python_text,
    python_tokenizer,
)
from gates2heads.book.studies import device_name
from gates2heads.data.corpora.python.source import PACKAGES, source_fingerprint
from gates2heads.training.cards import save_model
from gates2heads.training.quantisation import dequantise, quantise

WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights/python_llama.safetensors"


def main() -> None:
    """Train, round to one byte a parameter, score, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m shipping.python_model")
    parser.add_argument("--steps", type=int, default=8_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--to", type=Path, default=WEIGHTS)
    asked = parser.parse_args()
    model, history = train_python_model(asked.steps, asked.seed, dropout=asked.dropout)
    scores = {}
    for name in ("full", "small"):
        if name == "small":
            device = next(model.parameters()).device
            rounded = dequantise(quantise(model.cpu().state_dict()))
            model.load_state_dict(rounded)
            model.to(device)
        scores[name] = {
            split: bits_per_character(model, python_text(split)) for split in ("validation", "test")
        }
    options = f" --dropout {asked.dropout}" if asked.dropout else ""
    card = {
        "data": source_fingerprint(PACKAGES),
        "terms": "Derived from source under the licences of Python, NumPy, Matplotlib, PyTorch, "
        "SymPy and NetworkX. The file contains no source.",
        "limits": "Reads at most 256 tokens of Python. It knows the style of these packages; what "
        "it generates is seldom a correct program.",
        "command": f"python -m shipping.python_model --steps {asked.steps}{options}",
        "seed": asked.seed,
        "steps": asked.steps,
        "tokens": asked.steps * BATCH * LENGTH,
        "parameters": parameters(model),
        "bits_per_character": scores["full"],
        "bits_per_character_small": scores["small"],
        "seconds": round(history.seconds),
        "machine": {"device": device_name(), "threads": torch.get_num_threads()},
    }
    save_model(asked.to, model.cpu(), source=python_tokenizer(), card=card, small=True)
    print(f"{asked.to}: {asked.to.stat().st_size:,} bytes, {scores}")


if __name__ == "__main__":
    main()
