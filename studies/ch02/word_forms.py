"""Regular forms of English words, misspellings, and edit distances: what `subword` judges by."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

import torch

VOWELS = "aeiou"
SHORTEST_BASE = 3


def regular_forms(base: str) -> set[str]:
    """A word with its regular endings: -s, -ed, -ing, and -'s."""
    forms = {base, base + "s", base + "es", base + "ed", base + "ing", base + "'s"}
    if base.endswith("e"):
        forms |= {base + "d", base[:-1] + "ing"}
    if base.endswith("y") and base[-2] not in VOWELS:
        forms |= {base[:-1] + "ies", base[:-1] + "ied"}
    if base[-1] not in VOWELS + "wxy" and base[-2] in VOWELS and base[-3] not in VOWELS:
        forms |= {base + base[-1] + "ed", base + base[-1] + "ing"}
    return forms


def families(words: Iterable[str]) -> dict[str, set[str]]:
    """For each word, the others of the same lemma: both are regular forms of one of the words.

    Irregular forms ("man", "men") are not recognised.
    """
    words = set(words)
    found = defaultdict(set)
    for base in words:
        if len(base) < SHORTEST_BASE or not base.isalpha():
            continue
        forms = regular_forms(base) & words
        for form in forms:
            found[form] |= forms - {form}
    return found


def misspelt(word: str, draw: random.Random) -> str:
    """A word with two neighbouring, different letters exchanged, neither of them the first.

    Empty if there are no such letters.
    """
    places = [at for at in range(1, len(word) - 1) if word[at] != word[at + 1]]
    if not places:
        return ""
    at = draw.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


class EditDistances:
    """Edit distances from any word to several words.

    An edit inserts, deletes or replaces a letter, or exchanges two neighbours (the optimal string
    alignment distance).

    Args:
        words: V words, by falling frequency.
    """

    def __init__(self, words: Sequence[str]):
        self.words = list(words)
        longest = max(map(len, words))
        codes = [[*map(ord, word)] + [0] * (longest - len(word)) for word in words]
        self.letters = torch.tensor(codes).T.contiguous()  # (L, V), padded with 0
        self.sizes = torch.tensor([len(word) for word in words])

    def to_all(self, word: str) -> torch.Tensor:
        """The distances (V,) from a word."""
        longest, count = self.letters.shape
        row = torch.arange(longest + 1)[:, None].expand(-1, count)  # from an empty beginning
        before = None
        for done, letter in enumerate(word, start=1):
            same = self.letters == ord(letter)  # (L, V)
            new = torch.empty_like(row)
            new[0] = done
            changed = torch.minimum(row[:-1] + ~same, row[1:] + 1)
            if before is not None:  # the letter before it here, and this one there, exchanged
                was = self.letters == ord(word[done - 2])
                turned = same[:-1] & was[1:]
                swapped = torch.where(turned, before[:-2] + 1, changed[1:])
                changed[1:] = torch.minimum(changed[1:], swapped)
            for at in range(longest):
                new[at + 1] = torch.minimum(changed[at], new[at] + 1)
            before, row = row, new
        return row.gather(0, self.sizes[None])[0]

    def nearest(self, word: str) -> str:
        """The word with the smallest distance; of several the most frequent."""
        distances = self.to_all(word)
        return self.words[int((distances == distances.min()).nonzero()[0, 0])]
