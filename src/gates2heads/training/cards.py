"""Parameter files that contain a whole model: kind, settings, tokenizers and search."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from gates2heads.accepts.shown import in_line, shown
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.models.kinds import build, describe
from gates2heads.training.checkpoints import check_shapes, read_whole, save_weights

SPECIAL = 3  # the vocabulary's special tokens, which files do not repeat


class Rebuilt(NamedTuple):
    """A model with everything needed to use it."""

    model: nn.Module
    source: Any  # the tokenizers of the two sides
    target: Any
    decoding: dict  # width, length_power and max_length of its search; empty if it has none
    card: dict


def save_model(
    path: str | os.PathLike,
    model: nn.Module,
    *,
    source=None,
    target=None,
    decoding: Mapping | None = None,
    card: Mapping | None = None,
    small: bool = False,
) -> None:
    """Save a model so that `rebuild` can restore it from the file alone.

    Args:
        path, card, small: as for `save_weights`.
        model: one of the kinds that `describe` knows.
        source, target: the tokenizers; one serves both sides, and a table of words has none.
        decoding: width, length_power and max_length of its search, if it has one.

    Raises:
        TypeError, ValueError, OSError: as `save_weights`, or model or tokenizer are of a kind that
            cannot be saved.
    """
    sides = [one for one in (source, target) if one is not None]
    if source is target:
        sides = sides[:1]
    made = {
        **describe(model),
        "tokenizers": [serialize_tokenizer(side) for side in sides],
        "decoding": dict(decoding or {}),
    }
    save_weights(path, model, card=card, made=made, small=small)


def rebuild(path: str | os.PathLike) -> Rebuilt:
    """Build the model of a file, in evaluation mode.

    Raises:
        FileNotFoundError, ValueError: as `read_weights`, or the file contains parameters only.
    """
    tensors, card, made = read_whole(path)
    if made is None:
        raise ValueError(
            f"path {in_line(path)} cannot be rebuilt, it has parameters but no model's settings"
        )
    try:
        sides = [build_tokenizer(entry) for entry in made["tokenizers"]]
        source, target = (*sides, *sides, None, None)[:2]
        with torch.device("meta"), _Undrawn():  # before wrong settings allocate memory
            blank = build(made, tensors)
        _check_sizes(made["settings"], source, target)
        decoding = dict(made["decoding"])
    except Exception as error:  # a file may contain anything
        reason = " ".join(str(error).split())
        raise ValueError(
            f"path {in_line(path)} cannot be rebuilt, its settings are not a model's: {reason}"
        ) from error
    check_shapes(Path(path), blank, tensors)
    model = build(made, tensors)
    model.load_state_dict(tensors)
    return Rebuilt(model.eval(), source, target, decoding, card)


def serialize_tokenizer(tokenizer) -> dict:
    """Kind and settings of a tokenizer, as values that JSON can store.

    Raises:
        TypeError: `build_tokenizer` does not know its kind.
    """
    if type(tokenizer) is CharacterTokenizer:
        settings = {"tokens": tokenizer.vocabulary.tokens[SPECIAL:]}
    elif type(tokenizer) is BilingualTokenizer:
        words = slice(SPECIAL + 1, None)  # <unk> is special too
        vocabulary = tokenizer.vocabulary
        settings = {"tokens": vocabulary.tokens[words], "counts": vocabulary.frequencies[words]}
    elif type(tokenizer) is BPETokenizer:
        settings = {"text": tokenizer.to_json()}
    else:
        raise TypeError(f"tokenizer must be one of {', '.join(TOKENIZERS)}, got {shown(tokenizer)}")
    return {"kind": type(tokenizer).__name__, "settings": settings}


def build_tokenizer(entry: Mapping) -> Any:
    """Build a tokenizer from the kind and settings that `serialize_tokenizer` returned.

    Raises:
        KeyError, TypeError, ValueError: the kind is unknown, or a setting is invalid.
    """
    return TOKENIZERS[entry["kind"]](**entry["settings"])


def _bilingual(tokens: list[str], counts: list[int]) -> BilingualTokenizer:
    return BilingualTokenizer(WordVocabulary(dict(zip(tokens, counts, strict=True))))


TOKENIZERS = {
    "BPETokenizer": BPETokenizer.from_json,
    "BilingualTokenizer": _bilingual,
    "CharacterTokenizer": lambda tokens: CharacterTokenizer(Vocabulary(tokens)),
}


def _check_sizes(settings: Mapping, source, target) -> None:
    """Reject tokenizers whose numbers the model does not know; it may also know [MASK]."""
    for side, part, tokenizer in (("source", "encoder", source), ("target", "decoder", target)):
        if tokenizer is None:
            continue
        whole = settings.get(part, settings.get("encoder", {}))  # or an encoder alone
        sizes = whole.get("settings", settings)
        size = sizes.get(f"{side}_size", sizes.get("vocabulary_size"))
        there = len(tokenizer.vocabulary)
        if size not in (there, there + 1):
            raise ValueError(f"{side} has {there} tokens, and the model {shown(size)}")


class _Undrawn(TorchFunctionMode):
    """Skip the initialisation of tensors without data: PyTorch takes seconds to prepare it."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name == "randn":
            return torch.empty(*args, **(kwargs or {}))
        if name.endswith(("normal_", "uniform_", "div", "div_")):
            return args[0] if args else kwargs["tensor"]
        return function(*args, **(kwargs or {}))
