"""Texts that metrics stumble over: repeated words, marks, numbers, entities, several scripts."""

import random

import pytest

WORDS = ["the", "The", "cat", "sat", "on", "a", "A", "猫", "坐在垫子上", "naïve", "Straße", "İ"]
MARKS = [*"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~。，«’", "...", ".,", "--", "👍🏽"]
NUMBERS = ["3", "3.14", "1,000", "1-2", "5.", ".5", "-7", "٣", "²", "9-", "5.,6"]
PIECES = [
    "&quot;",
    "&amp;",
    "&lt;",
    "&gt;",
    "&amp;lt;",
    "<skipped>",
    "e\u0301",
    "\u200b",
    "-\n",
    "\n",
]
SPACES = [" ", " ", " ", " ", "", "", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2028", "\x1c"]


class Texts:
    """Draws texts from one seeded source of chance."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self, most=13):
        """Give a text of up to `most` pieces; now and then it is empty or blank."""
        draw = self.random
        pieces = []
        for _ in range(draw.randint(0, most)):
            kind = draw.choices([WORDS, MARKS, NUMBERS, PIECES], [11, 3, 2, 1])[0]
            pieces += [draw.choice(kind), draw.choice(SPACES)]
        return "".join(pieces)

    def near(self, text):
        """Give the text with some of its characters lost or doubled and some words swapped."""
        draw = self.random
        words = text.split(" ")
        if len(words) > 2 and draw.random() < 0.5:
            i, j = draw.sample(range(len(words)), 2)
            words[i], words[j] = words[j], words[i]
        return "".join(c * draw.choice([0, 1, 1, 1, 1, 1, 2]) for c in " ".join(words))

    def hypothesis_and_references(self, most_references=3, most=13):
        """Give a text and one to three references, near to it or not."""
        hypothesis = self.text(most)
        number = self.random.randint(1, most_references)
        near = self.near(hypothesis)
        choices = [near, self.near(near), hypothesis, self.text()]
        return hypothesis, self.random.choices(choices, [5, 3, 1, 1], k=number)


@pytest.fixture
def texts():
    """A function from a seed to a source of texts."""
    return Texts
