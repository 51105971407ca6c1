"""The description of a model and its tokenizers that the engine needs beside the parameters.

The settings are those with which the model was built, so that no card can contradict it.
"""

from collections.abc import Mapping
from functools import cache

from tokenizers import Regex
from tokenizers.pre_tokenizers import Split
from torch import nn

from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.data.tokens.bpe import SPECIAL, BPETokenizer, bytes_to_characters
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.layers.positions import BASE
from gates2heads.models.kinds import NUMBERS, describe

COUNTERPARTS = (  # the kinds of models and of their parts that the engine has too
    "AttentionOnly",
    "BERT",
    "DecoderOnly",
    "EncoderDecoder",
    "FineTuned",
    "GPT",
    "PrunedKneserNey",
    "RecurrentLanguageModel",
    "SequenceToSequence",
    "SubwordTable",
    "Transformer",
    "TransformerLanguageModel",
    "WordTable",
    "AnswerHead",
    "RecurrentEncoder",
    "Decoder",
    "PlainDecoder",
    "ChoDecoder",
    "LuongDecoder",
    "BahdanauDecoder",
    "Attention",
    "HardAttention",
    "LocalAttention",
    "AdditiveScore",
    "ConcatScore",
    "DotScore",
    "GaussianScore",
    "GeneralScore",
    "ScaledDotScore",
)

FIXED = {"rotary_base": BASE, "eps": None}  # settings for which the engine has one value

POINTS = 0x110000  # the number of code points
SURROGATES = range(0xD800, 0xE000)  # which occur in no text

AT_ONCE = 8192  # code points; the library's running time is quadratic


def describe_model(model: nn.Module) -> dict:
    """Kind and settings of a model, under the library's own names, as `describe` gives them.

    Settings that are tensors, such as the counts of words, are left out.

    Raises:
        TypeError: the engine has no counterpart of the model or of a part of it.
        ValueError: a setting has a value that the engine lacks.
    """
    return _known(describe(model))


def _known(described: Mapping) -> dict:
    """The description without tensors; rejected if the engine lacks one of its kinds."""
    if described["kind"] not in COUNTERPARTS:
        names = ", ".join(COUNTERPARTS)
        raise TypeError(f"model must consist of {names}, for a page, got {described['kind']}")
    for name, only in FIXED.items():
        value = described["settings"].get(name, only)
        if value != only:
            raise ValueError(f"model must have {name}={only}, for a page, got {value}")
    settings = {
        name: _known(value) if isinstance(value, Mapping) else value
        for name, value in described["settings"].items()
        if name not in FIXED and not (isinstance(value, Mapping) and value["kind"] == NUMBERS)
    }
    return {"kind": described["kind"], "settings": settings}


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
