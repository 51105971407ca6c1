"""The description of a model and its tokenizers that the engine needs beside the parameters.

Sizes are given by the shapes of the parameters. Other settings, such as the number of heads or the
position of the norms, are taken from the model itself, so that no card can contradict it.
"""

from collections.abc import Callable, Mapping
from functools import cache

from tokenizers import Regex
from tokenizers.pre_tokenizers import Split
from torch import nn

from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.data.tokens.bpe import SPECIAL, BPETokenizer, bytes_to_characters
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.layers.attention.hard import HardAttention
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.scores import (
    AdditiveScore,
    ConcatScore,
    DotScore,
    GaussianScore,
    GeneralScore,
    ScaledDotScore,
)
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.norms import NORMS
from gates2heads.layers.recurrent.by_name import CELLS
from gates2heads.layers.recurrent.unroll import Unrolled
from gates2heads.layers.transformer_layers import EncoderLayer
from gates2heads.models.language.attention_only import AttentionOnly
from gates2heads.models.language.decoder_only import DecoderOnly
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.language.pruned import PrunedCounts, PrunedKneserNey
from gates2heads.models.pretraining.answers import AnswerHead
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    LuongDecoder,
    PlainDecoder,
)
from gates2heads.models.translation.encoders import RecurrentEncoder
from gates2heads.models.translation.seq2seq import (
    Decoder,
    EncoderDecoder,
    SequenceToSequence,
)
from gates2heads.models.words.subword_table import SubwordTable
from gates2heads.models.words.table import WordTable

POINTS = 0x110000  # the number of code points
SURROGATES = range(0xD800, 0xE000)  # which occur in no text

AT_ONCE = 8192  # code points; the library's running time is quadratic


def describe_model(model: nn.Module) -> dict:
    """Kind and settings of a model, as plain values.

    Raises:
        TypeError: the engine has no counterpart.
    """
    return _described(model, MODELS)


def _described(part: nn.Module, kinds: Mapping[type, Callable]) -> dict:
    if type(part) not in kinds:
        names = ", ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"the engine supports {names}, got {type(part).__name__}")
    return {"kind": type(part).__name__, **kinds[type(part)](part)}


def _layer(layer: EncoderLayer) -> dict:
    """The settings shared by the layers of one stack."""
    residual = layer.self_residual
    return {
        "nhead": layer.self_attn.num_heads,
        "rotary": layer.self_attn.rotary,
        "activation": layer.feed_forward.activation,
        "norm_first": residual.norm_first,
        "norm": next(name for name, kind in NORMS.items() if type(residual.norm) is kind),
    }


def _transformer(model: Transformer) -> dict:
    return {**_layer(model.encoder_layers[0]), "max_length": model.max_length}


def _stack(model: TransformerLanguageModel | GPT | BERT) -> dict:
    return {**_layer(model.layers[0]), "max_length": model.max_length}


def _attention_only(model: AttentionOnly) -> dict:
    return {"nhead": model.layers[0].num_heads, "max_length": model.max_length}


def _decoder_only(model: DecoderOnly) -> dict:
    attention = model.layers[0].attention
    return {
        "nhead": attention.num_heads,
        "rotary": attention.rotary,
        "window": attention.window,
        "norm": next(name for name, kind in NORMS.items() if type(model.norm) is kind),
        "max_length": model.max_length,
    }


def _recurrent(layer: Unrolled) -> dict:
    told = {
        "cell": next(name for name, kind in CELLS.items() if type(layer) is kind),
        "num_layers": layer.num_layers,
        "bidirectional": layer.bidirectional,
    }
    choices = {name: getattr(layer, name, None) for name in ("reset_after", "nonlinearity")}
    return told | {name: value for name, value in choices.items() if value is not None}


def _attention(attention: Attention) -> dict:
    return {"score": _described(attention.score, SCORES)}


def _local_attention(attention: LocalAttention) -> dict:
    window = {"window": attention.window, "predictive": attention.predictive}
    return {**_attention(attention), **window}


def _counted(model: PrunedCounts) -> dict:
    discounts = [list(some) for some in model.discounts]
    return {"vocabulary_size": model.vocabulary_size, "discounts": discounts}


def _subwords(model: SubwordTable) -> dict:
    names = ("buckets", "own", "shortest", "longest")
    return {"words": model.words, **{name: model.settings[name] for name in names}}


SCORES = {
    AdditiveScore: lambda score: {},
    ConcatScore: lambda score: {},
    DotScore: lambda score: {"scaled": score.scale != 1},
    GaussianScore: lambda score: {"bandwidth": score.bandwidth},
    GeneralScore: lambda score: {},
    ScaledDotScore: lambda score: {},
}
ATTENTIONS = {
    Attention: _attention,
    HardAttention: _attention,
    LocalAttention: _local_attention,
}


def _reads(encoder: RecurrentEncoder) -> dict:
    return {"recurrent": _recurrent(encoder.recurrent)}


def _looks(decoder) -> dict:
    attention = decoder.attention
    return {"attention": None if attention is None else _described(attention, ATTENTIONS)}


def _carries(decoder: PlainDecoder) -> dict:
    return {"recurrent": _recurrent(decoder.recurrent)}


def _luong(decoder: LuongDecoder) -> dict:
    return {**_carries(decoder), **_looks(decoder), "input_feeding": decoder.fed_size > 0}


def _bahdanau(decoder: BahdanauDecoder) -> dict:
    return {**_looks(decoder), "reset_after": decoder.cell.reset_after}


ENCODERS = {RecurrentEncoder: _reads}
DECODERS = {
    Decoder: _looks,
    PlainDecoder: _carries,
    ChoDecoder: _carries,
    LuongDecoder: _luong,
    BahdanauDecoder: _bahdanau,
}


def _pair(model: SequenceToSequence) -> dict:
    return {
        "encoder": _described(model.encoder, ENCODERS),
        "decoder": _described(model.decoder, DECODERS),
        "max_length": model.max_length,
    }


TASK_HEADS = {AnswerHead: lambda head: {}}


def _fine_tuned(model: FineTuned) -> dict:
    return {"encoder": _stack(model.encoder), "head": _described(model.head, TASK_HEADS)}


MODELS = {
    AttentionOnly: _attention_only,
    BERT: _stack,
    DecoderOnly: _decoder_only,
    EncoderDecoder: _pair,
    FineTuned: _fine_tuned,
    GPT: _stack,
    PrunedKneserNey: _counted,
    RecurrentLanguageModel: lambda model: {"recurrent": _recurrent(model.recurrent)},
    SequenceToSequence: _pair,
    SubwordTable: _subwords,
    Transformer: _transformer,
    TransformerLanguageModel: _stack,
    WordTable: lambda model: {"words": model.words},
}


def describe_tokenizer(tokenizer) -> dict:
    """Kind and tokens of a tokenizer, as plain values.

    Raises:
        TypeError: the engine has no counterpart.
    """
    if isinstance(tokenizer, CharacterTokenizer | BilingualTokenizer):
        tokens = tokenizer.vocabulary.tokens[len(SPECIAL) :]
        return {"kind": type(tokenizer).__name__, "tokens": tokens}
    if isinstance(tokenizer, BPETokenizer):
        return {"kind": "BPETokenizer", **_byte_pairs(tokenizer)}
    raise TypeError(
        "the engine supports CharacterTokenizer, BilingualTokenizer and BPETokenizer, got "
        f"{type(tokenizer).__name__}"
    )


def _byte_pairs(tokenizer: BPETokenizer) -> dict:
    numbers = tokenizer.numbers
    written = {character: byte for byte, character in bytes_to_characters().items()}
    pieces = sorted(numbers, key=numbers.get)[len(SPECIAL) :]
    merges = sorted(tokenizer.merges, key=tokenizer.merges.get)
    letters, numerals = letters_and_numerals()
    return {
        "pieces": [bytes(written[one] for one in piece).hex() for piece in pieces],
        "merges": [numbers[side] for pair in merges for side in pair],
        "letters": letters,
        "numerals": numerals,
    }


@cache
def letters_and_numerals() -> tuple[list[int], list[int]]:
    """The code points that 🤗 tokenizers classify as letters and as numerals.

    Browsers may have another version of Unicode than the library, so the library is queried.

    Returns:
        first and last code point of each range, one after the other; letters, then numerals.
    """
    return _ranges(r"\p{L}+"), _ranges(r"\p{N}+")


def _ranges(pattern: str) -> list[int]:
    """The code points that a regular expression of the library matches, in order."""
    points = [point for point in range(POINTS) if point not in SURROGATES]
    split = Split(Regex(pattern), "removed", invert=True).pre_tokenize_str
    found: list[int] = []
    for start in range(0, len(points), AT_ONCE):
        some = points[start : start + AT_ONCE]
        for _, (first, end) in split("".join(map(chr, some))):
            if found and found[-1] + 1 == some[first]:  # a range that was divided into parts
                found[-1] = some[end - 1]
            else:
                found += [some[first], some[end - 1]]
    return found
