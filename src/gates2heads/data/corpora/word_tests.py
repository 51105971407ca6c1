"""Human-made tests of word vectors: word similarity and analogies."""

from typing import NamedTuple

from gates2heads.accepts import accepts, choice
from gates2heads.data.corpora.download import fetch

SIMILARITY = {
    "wordsim353": "EN-WS-353-ALL.txt",
    "simlex999": "EN-SIMLEX-999.txt",
    "men": "EN-MEN-TR-3k.txt",
    "rg65": "EN-RG-65.txt",
}


class WordPair(NamedTuple):
    """Two words, and their similarity as judged by people (each set has its own scale)."""

    first: str
    second: str
    score: float


class Analogy(NamedTuple):
    """a is to b as c is to d."""

    a: str
    b: str
    c: str
    d: str
    section: str  # `capital-world`, `gram7-past-tense`


@accepts(name=choice(SIMILARITY))
def word_similarity(name: str) -> list[WordPair]:
    """Load pairs of words that people have judged.

    Source: `wordsim353` Finkelstein et al. 2002; `simlex999` Hill et al. 2015; `men` Bruni et al.
    2014; `rg65` Rubenstein and Goodenough 1965; collected by Faruqui and Dyer 2014.

    Raises:
        ValueError: as in `fetch`.
        ConnectionError: the file is missing and cannot be downloaded.
    """
    text = fetch(f"word-similarity/{SIMILARITY[name]}").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if line.strip())
    return [WordPair(first, second, float(score)) for first, second, score in rows]


def analogies() -> list[Analogy]:
    """Load the 19,544 analogies of the word2vec authors, with the section of each.

    Source: Mikolov et al. 2013, "Efficient Estimation of Word Representations", section 4.1.

    Raises:
        ConnectionError: the file is missing and cannot be downloaded.
    """
    text = fetch("word-similarity/questions-words.txt").read_text(encoding="utf-8")
    section, found = "", []
    for line in text.splitlines():
        if line.startswith(":"):
            section = line[1:].strip()
        elif line.strip():
            found.append(Analogy(*line.split(), section))
    return found
