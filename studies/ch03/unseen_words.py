"""How many words of new captions are unknown to a vocabulary of whole words? For section 3.8.

    python -m studies.ch03.unseen_words
    python -m studies.ch03.unseen_words --table

A setting is a vocabulary: all words that occur in the 29,000 English training captions of Multi30k
at least once, or at least five times. Upper and lower case are distinguished. A word is a match of
`data.tokens.words.WORD`: a run of letters and digits, or one punctuation mark. In the 1,000 test
captions, `unknown_words` counts the unknown words, and `captions_with_unknown` the captions with at
least one. Counting is deterministic, so there is one seed.
"""

from collections import Counter

from gates2heads.book.studies import Study
from gates2heads.data.tokens.words import WORD
from studies.ch03.language_models import texts_of

LEAST = {"all words": 1, "five times or more": 5}


def run(setting: str, seed: int) -> dict:
    """Count the words of the training captions, and look those of the test captions up."""
    counts = Counter(word for text in texts_of("captions", "train") for word in WORD.findall(text))
    known = {word for word, times in counts.items() if times >= LEAST[setting]}
    test = [WORD.findall(text) for text in texts_of("captions", "test")]
    unknown = [sum(word not in known for word in words) for words in test]
    return {
        "vocabulary": len(known),
        "test_words": sum(map(len, test)),
        "unknown_words": sum(unknown),
        "captions": len(test),
        "captions_with_unknown": sum(count > 0 for count in unknown),
    }


if __name__ == "__main__":
    Study("ch03/unseen_words", run, list(LEAST)).main()
