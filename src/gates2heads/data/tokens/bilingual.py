"""Tokenizer for English words and Chinese characters in one text."""

import re
from collections.abc import Iterable, Sequence

from gates2heads.accepts import accepts, flag, instance, listed, string, strings
from gates2heads.accepts.shown import shown
from gates2heads.data.tokens.spans import Span
from gates2heads.data.tokens.vocabulary import text_numbers
from gates2heads.data.tokens.words import WordVocabulary

SIGN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Chinese characters
MASK = "[MASK]"  # the written form of a masked token
TOKEN = re.compile(rf"{re.escape(MASK)}|[{SIGN}]|[^\W{SIGN}]+(?:['’-][^\W{SIGN}]+)*|[^\w\s]")
MARKS = re.compile(r"[^\w\s<>\[\]&(“]")  # are attached to the preceding word


@accepts(vocabulary=instance(WordVocabulary))
class BilingualTokenizer:
    """Tokenize a text into English words, single Chinese characters and punctuation marks.

    These are the basic tokens of Sun et al. 2019 (ERNIE), section 4.1. Case is kept.

    Args:
        vocabulary: the tokens that the tokenizer knows; all others are `<unk>`.
    """

    def __init__(self, vocabulary: WordVocabulary):
        self.vocabulary = vocabulary

    @classmethod
    @accepts(texts=listed("strings"))
    def from_texts(cls, texts: Iterable[str]) -> "BilingualTokenizer":
        """Create a tokenizer with the tokens of `texts`.

        Raises:
            ValueError: there is no token in them.
        """
        return cls(WordVocabulary.from_texts([split_bilingual(text) for text in texts]))

    def __repr__(self) -> str:
        return f"BilingualTokenizer({self.vocabulary!r})"

    @accepts(text=string, eos=flag)
    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Encode a text; `<eos>` is appended unless `eos=False`.

        Raises:
            ValueError: `text` contains no token.
        """
        tokens = split_bilingual(text)
        if not tokens:
            raise ValueError(f"text must hold at least one word or character, got {shown(text)}")
        numbers = self.vocabulary.encode(tokens)
        return [*numbers, self.vocabulary.eos] if eos else numbers

    def decode(self, numbers: Sequence[int]) -> str:
        """Write the tokens up to the first `<eos>`; see `write_bilingual`."""
        kept = text_numbers(numbers, len(self.vocabulary))
        return write_bilingual([self.vocabulary.tokens[number] for number in kept])


def split_bilingual(text: str) -> list[str]:
    """Split a text into words, Chinese characters, punctuation marks and [MASK], without spaces."""
    return TOKEN.findall(text)


def bilingual_offsets(text: str) -> list[Span]:
    """The span of each token of `split_bilingual`; text[start:end] is the token."""
    return [match.span() for match in TOKEN.finditer(text)]


@accepts(tokens=strings)
def write_bilingual(tokens: Sequence[str]) -> str:
    """Join tokens: a space between two words, none beside a Chinese character or before a mark."""
    text = ""
    for token in tokens:
        close = not text or MARKS.fullmatch(token) or _is_sign(token[:1]) or _is_sign(text[-1:])
        text += token if close else f" {token}"
    return text


def _is_sign(character: str) -> bool:
    return bool(re.match(rf"[{SIGN}，。、？]", character))
