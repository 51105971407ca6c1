"""Words as tokens: a vocabulary that counts, and a tokenizer that cuts a text into words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from torch import Tensor, tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.values import check_count, check_flag, check_list, check_number, check_texts
from gates2heads.data.tokens.vocabulary import Vocabulary

UNK = "<unk>"
WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")  # `don't`, `one-hot` and `set_xlim` are one word


class WordVocabulary(Vocabulary):
    """Number words by falling frequency, and count them; a word that is not here is `<unk>`.

    The four special tokens stand first (`<pad>`, `<bos>`, `<eos>`, `<unk>`). Equally frequent words
    stand in alphabetical order, so that the same counts give the same numbers.

    Args:
        counts: how often each word occurs.
        min_count: rarer words become `<unk>`.
        max_size: keep at most so many words beside the special tokens; None keeps all.

    Raises:
        TypeError: `counts` is no mapping, or a limit no whole number.
        ValueError: no word remains, a limit is below 1, or a word is a special token.
    """

    unk = 3

    def __init__(
        self, counts: Mapping[str, int], *, min_count: int = 1, max_size: int | None = None
    ):
        if not isinstance(counts, Mapping):
            raise TypeError(f"counts must map words to numbers, got {type(counts).__name__}")
        check_texts("counts", counts)
        for word, count in counts.items():
            check_number(f"counts[{shown(word)}]", count, least=0)
        check_count("min_count", min_count)
        if max_size is not None:
            check_count("max_size", max_size)
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        kept = [(word, count) for word, count in ordered if count >= min_count][:max_size]
        if not kept:
            raise ValueError(
                f"counts holds {len(counts)} words, none of them {min_count} times or more"
            )
        super().__init__([UNK, *(word for word, _ in kept)])
        known = [count for _, count in kept]
        self.frequencies = [0, 0, 0, sum(counts.values()) - sum(known), *known]

    @classmethod
    def from_texts(cls, texts: Iterable[Iterable[str]], **limits) -> "WordVocabulary":
        """Count the words of some texts, each a sequence of words; limits as in the constructor.

        Raises:
            TypeError: a text is a string, whose parts would be characters.
        """
        check_list("texts", texts, of="lists of words")
        counts = Counter()
        for words in texts:
            check_list("each of the texts", words, of="words")
            found = list(words)
            check_texts("each of the texts", found)
            counts.update(found)
        if not counts:
            raise ValueError("texts must hold at least one word, got none")
        return cls(counts, **limits)

    @property
    def counts(self) -> Tensor:
        """(V,) float: how often each token occurs; `<unk>` has what the rare words had together."""
        return tensor(self.frequencies).float()

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Turn words into numbers; a word that is not in the vocabulary becomes `<unk>`.

        Raises:
            TypeError: `tokens` is no list of strings.
        """
        tokens = list(tokens) if isinstance(tokens, Iterator) else tokens
        check_texts("tokens", tokens)
        return [self.index.get(token, self.unk) for token in tokens]


class WordTokenizer:
    """Cut a text into words and punctuation marks, and number them.

    Args:
        vocabulary: the words that the tokenizer knows.
        lower: read capitals as small letters.
    """

    def __init__(self, vocabulary: WordVocabulary, *, lower: bool = True):
        if not isinstance(vocabulary, WordVocabulary):
            raise TypeError(f"vocabulary must be a WordVocabulary, got {shown(vocabulary)}")
        check_flag("lower", lower)
        self.vocabulary = vocabulary
        self.lower = lower

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], *, lower: bool = True, min_count: int = 1, max_size=None
    ) -> "WordTokenizer":
        """Know the words of `texts`; see `WordVocabulary` for the limits.

        Raises:
            TypeError: `texts` is one string.
            ValueError: no word remains.
        """
        check_list("texts", texts, of="strings")
        check_flag("lower", lower)
        split = (split_words(text, lower=lower) for text in texts)
        limits = {"min_count": min_count, "max_size": max_size}
        return cls(WordVocabulary.from_texts(split, **limits), lower=lower)

    def __repr__(self) -> str:
        return f"WordTokenizer({self.vocabulary!r}, lower={self.lower})"

    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Number the words of a text; `<eos>` closes it unless `eos=False`.

        Raises:
            TypeError: `text` is not a string.
            ValueError: `text` holds no word.
        """
        words = split_words(text, lower=self.lower)
        if not words:
            raise ValueError(f"text must hold at least one word, got {shown(text)}")
        numbers = self.vocabulary.encode(words)
        return [*numbers, self.vocabulary.eos] if eos else numbers

    def decode(self, numbers: Sequence[int]) -> str:
        """Write the words up to the first `<eos>`, one space between two of them."""
        return " ".join(self.vocabulary.decode(numbers))


def split_words(text: str, *, lower: bool = True) -> list[str]:
    """Cut a text into words and single punctuation marks; spaces only separate.

    Raises:
        TypeError: `text` is not a string.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {type(text).__name__}")
    return WORD.findall(text.lower() if lower else text)
