"""A vocabulary: a mapping between tokens and integers."""

import operator
from collections.abc import Iterable, Sequence

from gates2heads.accepts.shown import shown

PAD, BOS, EOS = "<pad>", "<bos>", "<eos>"


class Vocabulary:
    """Number tokens from 0, the special tokens first.

    `<pad>` fills a batch, `<bos>` begins a target, `<eos>` ends it. The order of the other tokens
    is the order in which they are given, so that the same list gives the same numbers.

    Args:
        tokens: distinct strings, none of them a special token.

    Raises:
        TypeError: a token is not a string.
        ValueError: a token occurs twice, or is one of the special tokens.
    """

    pad, bos, eos = 0, 1, 2

    def __init__(self, tokens: Iterable[str]):
        self.tokens = [PAD, BOS, EOS, *tokens]
        for token in self.tokens:
            if not isinstance(token, str):
                raise TypeError(f"tokens must be strings, got {shown(token)}")
        self.index = {token: number for number, token in enumerate(self.tokens)}
        if len(self.index) < len(self.tokens):
            twice = next(t for n, t in enumerate(self.tokens) if self.index[t] != n)
            raise ValueError(
                f"tokens must be distinct and not special, but {shown(twice)} stands twice"
            )

    @classmethod
    def from_texts(cls, texts: Iterable[Iterable[str]]) -> "Vocabulary":
        """Collect the distinct tokens of some texts, sorted; a string is a text of characters."""
        return cls(sorted(set().union(*texts)))

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self.index

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens)"

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Turn tokens into numbers.

        Raises:
            ValueError: a token is not in the vocabulary; the message names it and its position.
        """
        numbers = []
        for position, token in enumerate(tokens):
            if token not in self.index:
                raise ValueError(
                    f"tokens holds {shown(token)} at position {position}, which is not among the "
                    f"{len(self)} tokens of the vocabulary"
                )
            numbers.append(self.index[token])
        return numbers

    def decode(self, numbers: Sequence[int]) -> list[str]:
        """Turn numbers into tokens, up to the first `<eos>`, without the special tokens.

        Raises:
            TypeError: `numbers` is not a list of whole numbers.
            ValueError: a number is outside the vocabulary.
        """
        return [self.tokens[number] for number in text_numbers(numbers, len(self))]


def text_numbers(numbers: Sequence[int], size: int) -> list[int]:
    """The numbers of text tokens: up to the first `<eos>`, without `<pad>` and `<bos>`.

    Raises:
        TypeError: `numbers` is not a list of whole numbers.
        ValueError: a number is not one of the `size` tokens.
    """
    try:
        numbers = list(map(operator.index, numbers))
    except TypeError as error:
        raise TypeError(f"numbers must be a list of whole numbers: {error}") from error
    kept = []
    for number in numbers:
        if not 0 <= number < size:
            raise ValueError(
                f"numbers holds {shown(number)}, but the vocabulary knows 0 to {size - 1}"
            )
        if number == Vocabulary.eos:
            break
        if number not in (Vocabulary.pad, Vocabulary.bos):
            kept.append(number)
    return kept


def check_tokenizer(tokenizer: object, name: str = "tokenizer") -> None:
    """Reject an argument, called `name`, that has no vocabulary.

    Raises:
        TypeError: with a message that names the argument.
    """
    if not isinstance(getattr(tokenizer, "vocabulary", None), Vocabulary):
        raise TypeError(f"{name} must be a tokenizer, got {shown(tokenizer)}")
