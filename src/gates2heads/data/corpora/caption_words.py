"""How often each word occurs in the captions on which the translators were trained.

The counts are distributed with the library, because a page shows them for typed words. They are
facts about words; no sentence can be reconstructed from them.
"""

import gzip
import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gates2heads.accepts import accepts, choice, string
from gates2heads.data.corpora.multi30k import CaptionPair
from gates2heads.data.tokens.as_typed import without_umlauts

LANGUAGES = ("german", "english")
FILE = Path(__file__).with_name("caption_words.json.gz")


@accepts(text=string)
def words_in(text: str) -> list[str]:
    """The words of a text: maximal sequences of letters, marks and digits."""
    runs = groupby(unicodedata.normalize("NFC", text), key=_is_of_a_word)
    return ["".join(run) for is_of_a_word, run in runs if is_of_a_word]


def _is_of_a_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


@accepts(word=string)
def word_key(word: str) -> str:
    """The key under which a word is counted: in lower case, with “ae” for “ä” and “ss” for “ß”.

    So a word counts as the same at the beginning of a sentence, in capitals, and on a keyboard
    without umlauts.
    """
    return without_umlauts(unicodedata.normalize("NFC", word).lower())


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Count the words of some texts, by their keys."""
    return Counter(word_key(word) for text in texts for word in words_in(text))


def pack(pairs: Iterable[CaptionPair]) -> dict[str, Any]:
    """Count both sides of some pairs, in the form that is stored: words by how often they occur.

    Args:
        pairs: such as the training captions of Multi30k.

    Returns:
        `captions`, how many pairs there are, and for each language the words of each count, in
        alphabetical order with blanks between them: {"2": "suppe …"}.
    """
    pairs = list(pairs)
    counted: dict[str, Any] = {"captions": len(pairs)}
    for language in LANGUAGES:
        by_count = defaultdict(list)
        for word, times in count_words(getattr(pair, language) for pair in pairs).items():
            by_count[times].append(word)
        counted[language] = {
            str(times): " ".join(sorted(words)) for times, words in sorted(by_count.items())
        }
    return counted


def unpack(groups: Mapping[str, str]) -> dict[str, int]:
    """The count of each word, from one language of what `pack` gives."""
    return {word: int(times) for times, words in groups.items() for word in words.split()}


def to_bytes(packed: Mapping[str, Any]) -> bytes:
    """The stored file; the same counts always give the same file."""
    return gzip.compress(json.dumps(packed, ensure_ascii=False).encode(), mtime=0)


@cache
def packed_caption_words() -> Mapping[str, Any]:
    """The counts that are distributed with the library, as returned by `pack`."""
    return MappingProxyType(json.loads(gzip.decompress(FILE.read_bytes())))


@accepts(language=choice(LANGUAGES))
def caption_words(language: str) -> dict[str, int]:
    """How often each word occurs in the 29,000 training captions of Multi30k, by its key.

    Source: Elliott et al. 2016, "Multi30K: Multilingual English-German Image Descriptions". The
    counts are made by `python -m shipping.caption_words`.

    Args:
        language: "german" or "english".
    """
    return unpack(packed_caption_words()[language])
