"""Three small language models of one corpus, for the next-token view of chapter 3.

    python -m shipping.next_token ngram
    python -m shipping.next_token gru
    python -m shipping.next_token transformer

The corpus is the 29,000 English captions of Multi30k, cut into the 4,000 byte pairs of
`language_models.py`. Each run writes `src/gates2heads/models/weights/captions_MODEL.safetensors`:
what the model knows, and a card with data, command, seed and bits per token of the test split. The
networks are written in one byte a weight; the bits of the test split are those of the weights as
they are written. The n-gram model keeps only what was counted at least twice.
"""

import argparse
from functools import partial
from pathlib import Path

import torch
from torch import nn

from gates2heads.book.studies import device_name
from gates2heads.data.batches.pairs import endless_token_batches, token_batches
from gates2heads.models.kinds import describe
from gates2heads.models.language.base import NeuralLanguageModel
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.language.ngram import KneserNey
from gates2heads.models.language.pruned import PrunedKneserNey
from gates2heads.training.cards import save_model
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.quantisation import dequantise, quantise
from gates2heads.training.schedules import warmup_cosine
from studies.ch03.language_models import Corpus, read, surprise

BATCH_TOKENS, ROUNDS, WARMUP = 1_000, 5, 100
ORDER, LEAST = 3, 2  # of the n-grams: how long, and how often counted at least
NETWORKS = {
    "gru": (
        RecurrentLanguageModel,
        {"cell": "gru", "embedding_size": 128, "hidden_size": 160, "dropout": 0.2},
        8e-3,
    ),
    "transformer": (
        TransformerLanguageModel,
        {
            "d_model": 128,
            "nhead": 4,
            "num_layers": 2,
            "dim_feedforward": 512,
            "dropout": 0.1,
            "max_length": 256,
        },
        4e-3,
    ),
}
MODELS = ("ngram", *NETWORKS)
WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights"


def count(corpus: Corpus) -> tuple[PrunedKneserNey, dict]:
    """Count the n-grams of the training split; return the model and the contents of its card."""
    whole = KneserNey(corpus.tokens["train"], len(corpus.tokenizer), ORDER)
    model = PrunedKneserNey.of(whole, least=LEAST)
    return model, {
        "settings": describe(model)["settings"],
        "unpruned_test_bits_per_token": surprise(whole, corpus.tokens["test"]),
    }


def train(name: str, corpus: Corpus, seed: int) -> tuple[NeuralLanguageModel, dict]:
    """Train one network and quantise its parameters; return it and the contents of its card."""
    kind, settings, rate = NETWORKS[name]
    torch.manual_seed(seed)
    model = kind(len(corpus.tokenizer), **settings)
    pairs = [([corpus.tokenizer.eos], text) for text in corpus.tokens["train"]]
    once = sum(1 for _ in token_batches(pairs, BATCH_TOKENS))
    steps = ROUNDS * once
    history = fit(
        model,
        endless_token_batches(pairs, BATCH_TOKENS, seed=seed),
        steps=steps,
        loss=sequence_loss,
        learning_rate=rate,
        schedule=warmup_cosine(steps, warmup=WARMUP),
        evaluate=partial(surprise, texts=corpus.tokens["validation"]),
        evaluate_at=[turn * once for turn in range(1, ROUNDS + 1)],
        description=f"{name}, seed {seed}",
    )
    model.load_state_dict(dequantise(quantise(model.state_dict())))
    return model.eval(), {
        "settings": settings,
        "seed": seed,
        "evaluated_at": history.evaluated_at,
        "validation_bits_per_token": history.evaluations,
        "seconds": round(history.seconds),
    }


def card(name: str, model: nn.Module, corpus: Corpus, made: dict) -> dict:
    """What a reader should know of a model."""
    tokens = corpus.tokens["test"]
    bits = surprise(model, tokens)
    return {
        "data": "the 29,000 English captions of the training split of Multi30k",
        "terms": "Flickr30k's terms: for research and education; the weights hold no caption.",
        "limits": "Knows captions of photographs and nothing else.",
        "command": f"python -m shipping.next_token {name}",
        "kind": type(model).__name__,
        **made,
        "test_bits_per_token": bits,
        "test_tokens": sum(map(len, tokens)),
        "machine": {"device": device_name(), "threads": torch.get_num_threads()},
    }


def main() -> None:
    """Make one of the three models and write it with its card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    name = parser.parse_args().model
    torch.set_num_threads(1)
    corpus = read("captions")
    model, made = count(corpus) if name == "ngram" else train(name, corpus, seed=0)
    description = card(name, model, corpus, made)
    path = WEIGHTS / f"captions_{name}.safetensors"
    save_model(path, model, source=corpus.tokenizer, card=description, small=name != "ngram")
    print({key: value for key, value in description.items() if key != "settings"})


if __name__ == "__main__":
    main()
