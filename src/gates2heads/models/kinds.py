"""Models as plain values: the kind and settings from which each can be rebuilt."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from gates2heads.accepts.shown import shown
from gates2heads.layers.attention.hard import HardAttention
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.scores import SCORES, GaussianScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.models.language.attention_only import AttentionOnly
from gates2heads.models.language.decoder_only import DecoderOnly
from gates2heads.models.language.neural import (
    FeedForwardLanguageModel,
    RecurrentLanguageModel,
    TransformerLanguageModel,
)
from gates2heads.models.language.pruned import PrunedKneserNey, PrunedMaximumLikelihood
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo
from gates2heads.models.pretraining.fine_tuned import HEADS, FineTuned
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.transformer.non_autoregressive import (
    NonAutoregressiveLanguageModel,
    NonAutoregressiveTransformer,
)
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.models.translation.convolutional import ConvolutionalDecoder
from gates2heads.models.translation.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    LuongDecoder,
    PlainDecoder,
)
from gates2heads.models.translation.encoders import ConvolutionalEncoder, RecurrentEncoder
from gates2heads.models.translation.seq2seq import (
    Decoder,
    EncoderDecoder,
    SequenceToSequence,
)
from gates2heads.models.words.subword_table import SubwordTable
from gates2heads.models.words.table import WordTable

MODELS = (
    AttentionOnly,
    BERT,
    DecoderOnly,
    ELMo,
    EncoderDecoder,
    FeedForwardLanguageModel,
    FineTuned,
    GPT,
    NonAutoregressiveLanguageModel,
    NonAutoregressiveTransformer,
    PrunedKneserNey,
    PrunedMaximumLikelihood,
    RecurrentLanguageModel,
    SequenceToSequence,
    SubwordTable,
    Transformer,
    TransformerLanguageModel,
    UniversalTransformer,
    WordTable,
)
PARTS = (
    Attention,
    BahdanauDecoder,
    ChoDecoder,
    ConvolutionalDecoder,
    ConvolutionalEncoder,
    Decoder,
    GaussianScore,
    HardAttention,
    LocalAttention,
    LuongDecoder,
    PlainDecoder,
    RecurrentEncoder,
    *HEADS,
    *SCORES.values(),
)
KINDS = {kind.__name__: kind for kind in (*MODELS, *PARTS)}
NUMBERS = "Tensor"  # the kind of an argument that is a tensor; its settings are `values`


def describe(model: nn.Module) -> dict:
    """Kind and settings of a model, as values that JSON can store; `build` rebuilds the model.

    A component that was passed to the model, such as an encoder, is described in the same way. An
    argument that maps names to tensors is left out: these are the parameters.

    Raises:
        TypeError: `build` does not know the kind of the model.
    """
    if KINDS.get(type(model).__name__) is not type(model):
        raise TypeError(f"model must be one of {', '.join(KINDS)}, got {type(model).__name__}")
    settings = {
        name: _plain(value)
        for name, value in model.settings.items()
        if not isinstance(value, Mapping)
    }
    return {"kind": type(model).__name__, "settings": settings}


def build(description: Mapping, tensors: Mapping[str, Tensor] | None = None) -> nn.Module:
    """Build a model from the kind and settings that `describe` returned, randomly initialised.

    Args:
        description: kind and settings.
        tensors: the parameters by name, of any shape, for kinds that consist of tensors, such as
            counts.

    Raises:
        TypeError, ValueError: the kind is unknown, or a setting is invalid.
    """
    name, settings = description["kind"], description["settings"]
    if name == NUMBERS:
        return torch.tensor(settings["values"], device="cpu")  # also where models are built blank
    if not isinstance(name, str) or name not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {shown(name)}")
    given = {
        key: build(value) if isinstance(value, Mapping) else value
        for key, value in settings.items()
    }
    if "tensors" in signature(KINDS[name]).parameters:
        given["tensors"] = tensors
    return KINDS[name](**given)


def _plain(value: Any) -> Any:
    if isinstance(value, nn.Module):
        return describe(value)
    if isinstance(value, Tensor):
        return {"kind": NUMBERS, "settings": {"values": value.tolist()}}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
