"""The docstrings as models of words learn them."""

import pytest

from gates2heads.data.batches.windows import join_sentences
from gates2heads.data.corpora.prose import sentences
from gates2heads.data.corpora.python.docstrings import docstrings
from gates2heads.data.tokens.words import WordVocabulary, split_words


@pytest.fixture(scope="session")
def docstring_words():
    """The words that occur three times or more, and the text that is left of them."""
    lines = [
        split_words(sentence)
        for document in docstrings("train")
        for paragraph in document.entry
        for sentence in sentences(paragraph)
    ]
    vocabulary = WordVocabulary.from_texts(lines, min_count=3)
    known = [[word for word in line if word in vocabulary] for line in lines]
    return vocabulary, join_sentences([vocabulary.encode(line) for line in known if line])
