"""Words as tokens: a vocabulary with counts, and a word tokenizer."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from torch import Tensor, tensor

from gates2heads.accepts import accepts, flag, instance, listed, mapping, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.data.tokens.vocabulary import Vocabulary

UNK = "<unk>"
WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")  # `don't`, `one-hot` and `set_xlim` are one word


@accepts(counts=mapping("words to numbers"), min_count=natural, max_size=natural)
class WordVocabulary(Vocabulary):
    """A vocabulary of words by decreasing frequency, with counts; other words are `<unk>`.

    The four special tokens come first (`<pad>`, `<bos>`, `<eos>`, `<unk>`). Equally frequent words
    are in alphabetical order, so that the same counts give the same numbers.

    Args:
        counts: how often each word occurs.
        min_count: rarer words become `<unk>`.
        max_size: the maximum number of words besides the special tokens; None keeps all.

    Raises:
        ValueError: no word remains, or a word is a special token.
    """

    unk = 3

    def __init__(
        self, counts: Mapping[str, int], *, min_count: int = 1, max_size: int | None = None
    ):
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        kept = [(word, times) for word, times in ordered if times >= min_count][:max_size]
        if not kept:
            raise ValueError(
                f"counts holds {len(counts)} words, none of them {min_count} times or more"
            )
        super().__init__([UNK, *(word for word, _ in kept)])
        known = [times for _, times in kept]
        self.frequencies = [0, 0, 0, sum(counts.values()) - sum(known), *known]

    @classmethod
    @accepts(texts=listed("lists of words"))
    def from_texts(cls, texts: Iterable[Iterable[str]], **limits) -> "WordVocabulary":
        """Count the words of some texts, each a sequence of words; limits as in the constructor.

        Raises:
            TypeError: a text is a string, whose parts would be characters.
        """
        counts = Counter()
        for words in texts:
            listed("words").check("each of the texts", words)
            counts.update(words)
        if not counts:
            raise ValueError("texts must hold at least one word, got none")
        return cls(counts, **limits)

    @property
    def counts(self) -> Tensor:
        """(V,) float: how often each token occurs; `<unk>` has the sum of the rare words."""
        return tensor(self.frequencies).float()

    @accepts(tokens=listed("strings"))
    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Turn words into numbers; a word that is not in the vocabulary becomes `<unk>`."""
        return [self.index.get(token, self.unk) for token in tokens]


@accepts(vocabulary=instance(WordVocabulary), lower=flag)
class WordTokenizer:
    """Tokenize a text into words and punctuation marks.

    Args:
        vocabulary: the words that the tokenizer knows.
        lower: convert to lower case.
    """

    def __init__(self, vocabulary: WordVocabulary, *, lower: bool = True):
        self.vocabulary = vocabulary
        self.lower = lower

    @classmethod
    @accepts(texts=listed("strings"), lower=flag, min_count=natural, max_size=natural)
    def from_texts(
        cls, texts: Iterable[str], *, lower: bool = True, min_count: int = 1, max_size=None
    ) -> "WordTokenizer":
        """Create a tokenizer with the words of `texts`; see `WordVocabulary` for the limits.

        Raises:
            ValueError: no word remains.
        """
        split = (split_words(one, lower=lower) for one in texts)
        words = WordVocabulary.from_texts(split, min_count=min_count, max_size=max_size)
        return cls(words, lower=lower)

    def __repr__(self) -> str:
        return f"WordTokenizer({self.vocabulary!r}, lower={self.lower})"

    @accepts(text=string, eos=flag)
    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Encode a text by words; `<eos>` is appended unless `eos=False`.

        Raises:
            ValueError: `text` contains no word.
        """
        words = split_words(text, lower=self.lower)
        if not words:
            raise ValueError(f"text must hold at least one word, got {shown(text)}")
        numbers = self.vocabulary.encode(words)
        return [*numbers, self.vocabulary.eos] if eos else numbers

    def decode(self, numbers: Sequence[int]) -> str:
        """Decode words up to the first `<eos>`, separated by spaces."""
        return " ".join(self.vocabulary.decode(numbers))


def split_words(text: str, *, lower: bool = True) -> list[str]:
    """Split a text into words and single punctuation marks, without spaces."""
    return WORD.findall(text.lower() if lower else text)
