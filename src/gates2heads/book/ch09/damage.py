"""Chapter 9's experiment: damaged sentences, each with an error that translation systems make."""

import random
from collections.abc import Callable

from gates2heads.accepts import accepts, choice, string

# A word, a synonym, and a word with another meaning.
WORDS = {
    "man": ("guy", "woman"),
    "woman": ("lady", "man"),
    "men": ("guys", "women"),
    "women": ("ladies", "men"),
    "boy": ("lad", "girl"),
    "girl": ("lass", "boy"),
    "child": ("kid", "adult"),
    "children": ("kids", "adults"),
    "bike": ("bicycle", "horse"),
    "bicycle": ("bike", "horse"),
    "street": ("road", "river"),
    "road": ("street", "river"),
    "beach": ("shore", "roof"),
    "ocean": ("sea", "desert"),
    "picture": ("photo", "bath"),
    "couch": ("sofa", "ladder"),
    "jumping": ("leaping", "sleeping"),
    "walking": ("strolling", "sleeping"),
    "big": ("large", "small"),
    "large": ("big", "small"),
    "small": ("little", "large"),
    "little": ("small", "large"),
}
REPEATED, CUT = 3, 3  # words that are repeated; one of so many is omitted


def _words(text: str) -> tuple[list[str], str]:
    """The words of a sentence, and the full stop behind them."""
    return text.removesuffix(".").split(), "." if text.endswith(".") else ""


def _exchanged(text: str, column: int) -> str:
    words, stop = _words(text)
    place = next((n for n, word in enumerate(words) if word in WORDS), None)
    if place is not None:
        words[place] = WORDS[words[place]][column]
    return " ".join(words) + stop


def _halves(text: str) -> str:
    words, stop = _words(text)
    middle = len(words) // 2
    return " ".join(words[middle:] + words[:middle]) + stop


def _shuffled(text: str) -> str:
    words, stop = _words(text)
    random.Random(text).shuffle(words)
    return " ".join(words) + stop


def _repeated(text: str) -> str:
    words, stop = _words(text)
    return " ".join(words + words[-REPEATED:] * 2) + stop


def _cut(text: str) -> str:
    words, stop = _words(text)
    return " ".join(words[: len(words) - len(words) // CUT]) + stop


DAMAGES: dict[str, Callable[[str], str]] = {
    "a synonym": lambda text: _exchanged(text, 0),
    "a wrong word": lambda text: _exchanged(text, 1),
    "halves swapped": _halves,
    "words shuffled": _shuffled,
    "last three words repeated twice": _repeated,
    "last third omitted": _cut,
}


@accepts(text=string)
def exchanged_word(text: str) -> str | None:
    """Return the word that a synonym or a wrong word replaces: the first of `WORDS`, if any."""
    return next((word for word in _words(text)[0] if word in WORDS), None)


@accepts(text=string)
def can_be_exchanged(text: str) -> bool:
    """Whether a sentence has a word of `WORDS`, and neither of the words to replace it with."""
    word = exchanged_word(text)
    return word is not None and not set(_words(text)[0]) & set(WORDS[word])


@accepts(text=string, damage=choice(DAMAGES))
def damaged(text: str, damage: str) -> str:
    """Return a sentence with one of the `DAMAGES`.

    Args:
        text: a sentence of words with blanks between them; a full stop at the end stays there.
        damage: its name.
    """
    return DAMAGES[damage](text)
