"""Character tokenizers: from a text to token numbers, and back."""

from collections.abc import Iterable, Sequence

from gates2heads.accepts import accepts, flag, instance, listed, string
from gates2heads.accepts.shown import shown
from gates2heads.data.tokens.vocabulary import Vocabulary


@accepts(vocabulary=instance(Vocabulary))
class CharacterTokenizer:
    """Split a text into characters; every code point is a token.

    Args:
        vocabulary: the characters that the tokenizer knows.
    """

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> "CharacterTokenizer":
        """Create a tokenizer with all characters of `texts`."""
        return cls(Vocabulary.from_texts(texts))

    def __repr__(self) -> str:
        return f"CharacterTokenizer({self.vocabulary!r})"

    @accepts(text=string, eos=flag)
    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Encode a text by characters; `<eos>` is appended unless `eos=False`.

        Raises:
            ValueError: `text` is empty, or contains a character outside the vocabulary.
        """
        if not text:
            raise ValueError("text is empty; it must hold at least one character")
        unknown = sorted(set(text) - self.vocabulary.index.keys())
        if unknown:
            raise ValueError(
                f"text holds {', '.join(map(repr, unknown))}, which this tokenizer never saw: "
                f"{shown(text)}"
            )
        numbers = [self.vocabulary.index[character] for character in text]
        return [*numbers, self.vocabulary.eos] if eos else numbers

    def decode(self, numbers: Sequence[int]) -> str:
        """Decode characters, up to the first `<eos>`."""
        return "".join(self.vocabulary.decode(numbers))


@accepts(pairs=listed("pairs"))
def encode_pairs(pairs: Iterable, source, target) -> list[tuple[list[int], list[int]]]:
    """Encode both sides of (text, text) pairs, each ending with `<eos>`.

    Args:
        pairs: two texts each, such as `(pair.text, pair.iso)`.
        source, target: the tokenizers of the two sides.

    Raises:
        TypeError, ValueError: as raised by a tokenizer.
    """
    return [(source.encode(read), target.encode(written)) for read, written in pairs]
