"""From a weights file of the book to the model, its tokenizers and its search, whoever wrote it.

What the command line trained holds its recipe. The small models of the experiments hold what
their own scripts wrote: the settings of an `EncoderDecoder` or of a language model, the way that a
model looks, or the words of a table of vectors.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts.shown import in_line
from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.exercises.looking import WAYS, looking_model
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.language.pruned import PrunedKneserNey
from gates2heads.models.pretraining.by_name import pretraining_model
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.models.words.table import WordTable
from gates2heads.training.checkpoints import check_shapes, read_weights, shipped_weights
from gates2heads.training.recipes.runs import load

DATE = 12  # ten characters, <eos>, and one that would be wrong
LANGUAGE_MODELS = ("RecurrentLanguageModel", "TransformerLanguageModel", "PrunedKneserNey")
LIST_OF_DATES = 8 * 11 + 1  # each with the space behind it; more than any list of training


class Rebuilt(NamedTuple):
    """A model with all that the engine needs of it."""

    model: nn.Module
    source: Any  # the tokenizers of the two sides
    target: Any
    decoding: dict  # width, length_power and max_length of its search; empty if it has none
    card: dict


def rebuild(path: Path) -> Rebuilt:
    """Build the model whose weights a file holds.

    Raises:
        FileNotFoundError, ValueError: as `read_weights`, or the card does not say what to build.
    """
    tensors, card = read_weights(path)
    if "recipe" in card:
        trained = load(path)
        decoding = {**trained.card["recipe"]["decoding"], "max_length": trained.task.max_length}
        return Rebuilt(trained.model, trained.source, trained.target, decoding, trained.card)
    if {"kind", "tokens", "counts"} <= card.keys():
        return _pretrained(path, tensors, card)
    if "tokens" in card or card.get("kind") in LANGUAGE_MODELS:
        return _language_model(path, tensors, card)
    if "words" in card:
        return _word_table(path, tensors, card)
    way = str(card.get("command", "")).rpartition(" ")[2]
    if not {"source_tokens", "target_tokens"} <= card.keys() or (
        "settings" not in card and way not in WAYS
    ):
        raise ValueError(
            f"path {in_line(path)} cannot be rebuilt, its card holds neither recipe nor settings"
        )
    try:
        sides = [
            CharacterTokenizer(Vocabulary(card[f"{side}_tokens"])) for side in ("source", "target")
        ]
        sizes = [len(side.vocabulary) for side in sides]
        if "settings" in card:
            model, longest = EncoderDecoder(*sizes, **card["settings"]), LIST_OF_DATES
        else:
            model, longest = looking_model(way, *sizes), DATE
    except Exception as error:  # a card may hold anything
        raise _no_model(path, error) from error
    check_shapes(path, model, tensors)
    model.load_state_dict(tensors)
    decoding = {"width": 1, "length_power": 1.0, "max_length": longest}
    return Rebuilt(model.eval(), *sides, decoding, card)


def _language_model(path: Path, tensors: Mapping[str, Tensor], card: dict) -> Rebuilt:
    """A model that reads and writes with the one tokenizer that its card holds."""
    kind = card.get("kind", "RecurrentLanguageModel")
    try:
        if "tokens" in card:
            tokenizer = CharacterTokenizer(Vocabulary(card["tokens"]))
            size = len(tokenizer.vocabulary)
        else:
            tokenizer = BPETokenizer.from_json(card["tokenizer"])
            size = len(tokenizer)
        if kind == "PrunedKneserNey":
            model = PrunedKneserNey(tensors, **{**card["settings"], "vocabulary_size": size})
        elif kind == "TransformerLanguageModel":
            model = TransformerLanguageModel(size, **card["settings"])
        else:
            model = RecurrentLanguageModel(size, **card["settings"])
    except Exception as error:  # a card may hold anything
        raise _no_model(path, error) from error
    check_shapes(path, model, tensors)
    model.load_state_dict(tensors)
    return Rebuilt(model.eval(), tokenizer, tokenizer, {}, card)


def _word_table(path: Path, tensors: Mapping[str, Tensor], card: dict) -> Rebuilt:
    """Word vectors, whose words and counts the card holds; they read no text."""
    try:
        width = tensors["vectors.weight"].shape[1]
        model = WordTable(card["words"], torch.tensor(card["counts"]), width)
    except Exception as error:  # a card may hold anything
        raise _no_model(path, error) from error
    check_shapes(path, model, tensors)
    model.load_state_dict(tensors)
    return Rebuilt(model.eval(), None, None, {}, card)


def _pretrained(path: Path, tensors: Mapping[str, Tensor], card: dict) -> Rebuilt:
    """A model of pre-training, with the words that its card counts."""
    try:
        counts = dict(zip(card["tokens"], card["counts"], strict=True))
        tokenizer = BilingualTokenizer(WordVocabulary(counts))
        size = Markers.of(tokenizer.vocabulary).size
        model = pretraining_model(card["kind"], size, **card["settings"])
    except Exception as error:  # a card may hold anything
        raise _no_model(path, error) from error
    check_shapes(path, model, tensors)
    model.load_state_dict(tensors)
    return Rebuilt(model.eval(), tokenizer, tokenizer, {}, card)


def _no_model(path: Path, error: Exception) -> ValueError:
    reason = " ".join(str(error).split())
    return ValueError(f"path {in_line(path)} cannot be rebuilt, its card is no model's: {reason}")


def shipped(name: str) -> Rebuilt:
    """A model that comes with the library, in evaluation mode.

    Args:
        name: of its weights file, such as "translator" or "dates_dot".

    Raises:
        ValueError: there is none of this name.
    """
    return rebuild(shipped_weights(name))
