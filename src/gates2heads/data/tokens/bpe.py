"""Byte-pair encoding: frequent words remain whole, rare words are split into subwords."""

import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from gates2heads.accepts import accepts, flag, instance, listed, natural, string, strings
from gates2heads.accepts.shown import in_line
from gates2heads.data.tokens.vocabulary import BOS, EOS, PAD, Vocabulary, text_numbers

SPECIAL = [PAD, BOS, EOS]
BYTES = 256
PATH = instance((str, os.PathLike))


@accepts(tokenizer=instance(Tokenizer, "of 🤗 tokenizers"))
class BPETokenizer:
    """Tokenize a text by byte-pair encoding.

    Source: Sennrich et al. 2016, section 3.2, on bytes as in Radford et al. 2019, section 2.2, by
    🤗 tokenizers. Every text can be encoded, so there is no unknown token, and `decode` inverts
    `encode` exactly. Departs from GPT-2 in that a space is put before the text and removed by
    `decode`: the first word has the same pieces as inside a sentence.

    Args:
        tokenizer: of 🤗 tokenizers; created by `train` or `load`.
    """

    pad, bos, eos = Vocabulary.pad, Vocabulary.bos, Vocabulary.eos

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._tokenizer.encode_special_tokens = True  # a typed "<eos>" is text, not an end

    @classmethod
    @accepts(
        texts=listed("strings"),
        vocabulary_size=natural(least=BYTES + len(SPECIAL)),
        min_frequency=natural,
    )
    def train(
        cls, texts: Iterable[str], vocabulary_size: int, *, min_frequency: int = 2
    ) -> "BPETokenizer":
        """Merge the most frequent pair of adjacent tokens until the vocabulary has the given size.

        A joint vocabulary of two languages is trained on the texts of both, one after the other.

        Args:
            texts: the training texts.
            vocabulary_size: the most tokens, including 3 special ones and the 256 bytes.
            min_frequency: a pair that is rarer is not merged.

        Raises:
            TypeError, ValueError: there is no text, or one is not a string or has half a character.
        """
        texts = list(texts)
        listed("strings", kind=string, least=1).check("texts", texts)
        texts = [f" {one}" for one in texts]
        # A text of n bytes allows fewer than n merges. The trainer allocates
        # memory for the full vocabulary and crashes if there is not enough.
        merges = sum(len(one.encode()) for one in texts)
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=min(vocabulary_size, BYTES + len(SPECIAL) + merges),
            min_frequency=min_frequency,
            special_tokens=SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All tokens in readable form; bytes that are not text alone are shown as <0xC3>."""
        pieces = map(self._tokenizer.id_to_token, range(len(SPECIAL), len(self)))
        return Vocabulary(readable(self._bytes_of(piece)) for piece in pieces)

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def __repr__(self) -> str:
        return f"BPETokenizer({len(self)} tokens)"

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every token, in the characters of `words`."""
        return self._tokenizer.get_vocab()

    @cached_property
    def merges(self) -> dict[tuple[str, str], int]:
        """Which pairs of pieces are merged, in order: the lowest number first."""
        pairs = json.loads(self.to_json())["model"]["merges"]
        return {(left, right): rank for rank, (left, right) in enumerate(pairs)}

    @accepts(merges=natural(least=0))
    def with_merges(self, merges: int) -> "BPETokenizer":
        """The same tokenizer with only its first merges, and so with a smaller vocabulary.

        Merges are learnt sequentially, so this is the tokenizer that training would give with a
        smaller `vocabulary_size`.

        Args:
            merges: the number of merges that are kept; 0 leaves single bytes.

        Raises:
            ValueError: there are fewer merges.
        """
        if merges > len(self.merges):
            raise ValueError(f"merges must be at most {len(self.merges)}, got {merges}")
        described = json.loads(self.to_json())
        model = described["model"]
        model["merges"] = model["merges"][:merges]
        size = len(SPECIAL) + BYTES + merges
        model["vocab"] = {piece: one for piece, one in model["vocab"].items() if one < size}
        return BPETokenizer.from_json(json.dumps(described))

    @accepts(text=string)
    def words(self, text: str) -> list[str]:
        """The words of a text, between which nothing is merged, one character for each byte.

        Raises:
            ValueError: `text` is empty.
        """
        _check_not_empty("text", text)
        split = self._tokenizer.pre_tokenizer.pre_tokenize_str(f" {text}")
        return [word for word, _ in split]

    @accepts(text=string, eos=flag)
    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Encode a text; `<eos>` is appended unless `eos=False`.

        Args:
            text: any text, also one with unseen characters.
            eos: close with `<eos>`.

        Raises:
            ValueError: `text` is empty.
        """
        _check_not_empty("text", text)
        return self._numbers_of([text], eos)[0]

    @accepts(texts=strings, eos=flag)
    def encode_all(self, texts: Sequence[str], *, eos: bool = True) -> list[list[int]]:
        """Encode many texts in one call; see `encode`."""
        for place, one in enumerate(texts):
            string.check(f"texts[{place}]", one)
            _check_not_empty(f"texts[{place}]", one)
        return self._numbers_of(texts, eos)

    def _numbers_of(self, texts: Sequence[str], eos: bool) -> list[list[int]]:
        end = [self.eos] if eos else []
        return [[*split.ids, *end] for split in self._split(texts)]

    @accepts(text=string)
    def pieces(self, text: str) -> list[str]:
        """The tokens of a text in readable form; a leading space begins a word.

        A token that is not a whole character is shown by its bytes: 日 may be <0xE6>, <0x97>,
        <0xA5>.

        Raises:
            ValueError: `text` is empty.
        """
        _check_not_empty("text", text)
        return [readable(self._bytes_of(piece)) for piece in self._split([text])[0].tokens]

    def _bytes_of(self, piece: str) -> bytes:
        """The content of a token, given in the characters of `bytes_to_characters`."""
        return bytes(self._byte_of[character] for character in piece)

    @cached_property
    def _byte_of(self) -> dict[str, int]:
        return {character: byte for byte, character in bytes_to_characters().items()}

    def decode(self, numbers: Sequence[int]) -> str:
        """Decode tokens up to the first `<eos>`, without the special tokens.

        Raises:
            ValueError: a number is outside the vocabulary.
        """
        return self._tokenizer.decode(text_numbers(numbers, len(self))).removeprefix(" ")

    @accepts(path=PATH)
    def save(self, path: str | Path) -> None:
        """Write the tokenizer to one JSON file, in the format of 🤗 tokenizers."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """The tokenizer as a text, in the format of 🤗 tokenizers."""
        return self._tokenizer.to_str()

    @classmethod
    @accepts(path=PATH)
    def load(cls, path: str | Path) -> "BPETokenizer":
        """Load a tokenizer from a file of `save`.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file is not a byte-pair encoding with our special tokens.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(
                f"path must name a saved tokenizer, there is none at {in_line(path)}"
            )
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(
                f"path must name a saved tokenizer, got {in_line(path)}: {error}"
            ) from None

    @classmethod
    def from_json(cls, text: str) -> "BPETokenizer":
        """Restore a tokenizer from the text of `to_json`.

        Raises:
            ValueError: the text is not a byte-pair encoding with our special tokens.
        """
        try:
            special = [token["content"] for token in json.loads(text)["added_tokens"]]
            tokenizer = Tokenizer.from_str(text)
        except Exception as error:  # the library raises bare Exception
            raise ValueError(f"text must hold a tokenizer in JSON: {error}") from None
        if special != SPECIAL or not isinstance(tokenizer.model, models.BPE):
            raise ValueError("text must hold a tokenizer that BPETokenizer wrote")
        return cls(tokenizer)

    def _split(self, texts: Sequence[str]):
        return self._tokenizer.encode_batch([f" {one}" for one in texts])


def bytes_to_characters() -> dict[int, str]:
    """The character for each byte inside 🤗 tokenizers.

    Source: Radford et al. 2019; bytes that are printable characters of Latin-1 are unchanged, the
    others are mapped to the characters from number 256 on.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(BYTES) if byte not in printable]
    return {
        **{byte: chr(byte) for byte in printable},
        **{byte: chr(BYTES + number) for number, byte in enumerate(others)},
    }


def readable(piece: bytes) -> str:
    """The text of a token, or its bytes if they are not a whole character."""
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in piece)


def _check_not_empty(name: str, text: str) -> None:
    if not text:
        raise ValueError(f"{name} is empty; it must hold at least one character")
