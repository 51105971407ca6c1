"""A language of 28 words, in which words of one kind occur in the same contexts. For chapter 2."""

import torch

from gates2heads.accepts import accepts, natural
from gates2heads.data.tokens.words import WordVocabulary

KINDS = {
    "people": ("woman", "man", "girl", "boy"),
    "animals": ("dog", "cat", "horse", "cow"),
    "food": ("bread", "rice", "soup", "cake"),
    "vehicles": ("car", "bus", "truck", "bike"),
    "colours": ("red", "blue", "green", "yellow"),
}
PHRASES = (
    "the people eats the food",
    "the people feeds the animals",
    "the animals eats food",
    "the animals sleeps",
    "a colours vehicles stops",
    "the people drives a colours vehicles",
    "a people likes the colours vehicles",
)


@accepts(count=natural, seed=natural(least=0))
def small_language(count: int, *, seed: int = 0) -> list[list[str]]:
    """Make sentences: a random phrase, and for each kind in it one of its four words.

    Args:
        count: how many sentences.
        seed: of the random numbers.
    """
    generator = torch.Generator().manual_seed(int(seed))

    def draw(choices):
        return choices[int(torch.randint(len(choices), (), generator=generator))]

    sentences = []
    for _ in range(count):
        words = draw(PHRASES).split()
        sentences.append([draw(KINDS[word]) if word in KINDS else word for word in words])
    return sentences


def kinds_of(vocabulary: WordVocabulary) -> list[list[int]]:
    """The numbers of the words of each kind.

    Raises:
        TypeError: `vocabulary` is not a `WordVocabulary`.
        ValueError: a word of a kind is not in it.
    """
    if not isinstance(vocabulary, WordVocabulary):
        raise TypeError(f"vocabulary must be a WordVocabulary, got {type(vocabulary).__name__}")
    for word in (word for words in KINDS.values() for word in words):
        if word not in vocabulary.index:
            raise ValueError(f"vocabulary must hold all words of the language, but lacks {word!s}")
    return [[vocabulary.index[word] for word in words] for words in KINDS.values()]
