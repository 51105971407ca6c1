"""Two small networks with gates that read Python by character, for the gate explorer of chapter 1.

    python -m shipping.gates lstm
    python -m shipping.gates gru

Each run writes `src/gates2heads/models/weights/gates_CELL.safetensors`: the weights in one byte
each, and a card with data, command, seed and bits per character on modules of the standard library
that were not trained on. The bits of the test split are those of the weights as they are written.
"""

import argparse
from functools import partial
from pathlib import Path

import torch

from gates2heads.book.studies import device_name
from gates2heads.data.batches.pairs import endless_batches, pad
from gates2heads.data.corpora.python.source import (
    CHARACTERS,
    passages,
    python_source,
    source_fingerprint,
)
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.metrics.perplexity import mean_surprisal
from gates2heads.models.language.base import LanguageModel
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.training.cards import save_model
from gates2heads.training.loop import History, fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.quantisation import dequantise, quantise
from gates2heads.training.schedules import warmup_cosine

CELLS = ("lstm", "gru")
SETTINGS = {"embedding_size": 32, "hidden_size": 96}
PASSAGE, BATCH_SIZE, STEPS, EVERY = 256, 32, 4000, 500
LEARNING_RATE, WARMUP = 5e-3, 100
WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights"


def tokenizer() -> CharacterTokenizer:
    """The characters of a keyboard, the end of a line, and one for all others."""
    return CharacterTokenizer(Vocabulary(CHARACTERS))


def read(split: str) -> list[list[int]]:
    """The passages of a split as numbers; none ends with `<eos>`, since the module goes on."""
    encode = partial(tokenizer().encode, eos=False)
    return [
        encode(text) for module in python_source(split) for text in passages(module.text, PASSAGE)
    ]


def bits(model: LanguageModel, texts: list[list[int]]) -> float:
    """Bits per character; every passage is read from a blank state."""
    found = []
    with torch.no_grad():
        for start in range(0, len(texts), 100):
            tokens, mask = pad(texts[start : start + 100])
            found.append(model.log_probs(tokens, mask=mask)[mask].double())
    return mean_surprisal(torch.cat(found), unit="bits")


def untrained(cell: str, seed: int) -> RecurrentLanguageModel:
    """A network as training finds it."""
    torch.manual_seed(seed)
    return RecurrentLanguageModel(len(tokenizer().vocabulary), cell=cell, **SETTINGS).eval()


def train(cell: str, seed: int) -> tuple[RecurrentLanguageModel, History]:
    """Train one network, and round its weights to one byte each; return it and its history."""
    model = untrained(cell, seed)
    source = [tokenizer().vocabulary.eos]  # no model of language reads it
    history = fit(
        model,
        endless_batches([(source, text) for text in read("train")], BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=LEARNING_RATE,
        schedule=warmup_cosine(STEPS, warmup=WARMUP),
        evaluate=partial(bits, texts=read("validation")),
        evaluate_at=range(EVERY, STEPS + 1, EVERY),
        description=f"{cell}, seed {seed}",
    )
    model.load_state_dict(dequantise(quantise(model.state_dict())))
    return model.eval(), history


def main() -> None:
    """Train one of the two networks and write it with its card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cell", choices=CELLS)
    cell = parser.parse_args().cell
    torch.set_num_threads(1)
    model, history = train(cell, seed=0)
    card = {
        "data": f"source of the {source_fingerprint()}",
        "terms": "Python's own source, under the PSF licence; the weights hold none of it.",
        "limits": "Knows how Python looks, not what it means; forgets within some dozen lines.",
        "command": f"python -m shipping.gates {cell}",
        "seed": 0,
        "settings": {"cell": cell, **SETTINGS},
        "evaluated_at": history.evaluated_at,
        "validation_bits_per_character": history.evaluations,
        "test_bits_per_character": bits(model, read("test")),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(history.seconds),
        "machine": {"device": device_name(), "threads": torch.get_num_threads()},
    }
    path = WEIGHTS / f"gates_{cell}.safetensors"
    save_model(path, model, source=tokenizer(), card=card, small=True)
    print(card)


if __name__ == "__main__":
    main()
