"""How good is the vector of an unseen word, computed from its character n-grams?

    python -m studies.ch02.subword --seeds 0 1 2
    python -m studies.ch02.subword --table
    python -m studies.ch02.subword --ship

The text consists of the 29,000 training captions and the English descriptions of the same images. A
setting names a model, and whether 500 words that occur 20 to 200 times were removed from the text
before training.

If they were removed, their vectors are computed from n-grams alone. `rho` is Spearman's correlation
with human scores on the pairs of MEN that contain a removed word; `lemma_first` and `lemma_ten` are
the shares of removed words for which the nearest known word, or one of the ten nearest, is a form
of the same lemma. Two baselines need no n-grams: a random vector, and the vector of the nearest
known word by edit distance.

If nothing was removed, `rho` is measured on the same pairs and `men` on all pairs of MEN whose
words are known. `right_first` is the share of misspellings whose nearest word is the correct one; a
misspelling swaps two neighbouring letters. Hyperparameters were chosen on the first half of pairs
and words (`first`); the book reports the second half (`second`).

With `--ship`, the vectors of seed 0 are written to
`src/gates2heads/models/weights/words_subword.safetensors`. Needs the folder GATES2HEADS_DATA, or
downloads Multi30k and the word tests.
"""

import random
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from gates2heads.book.studies import Study, device_name
from gates2heads.data.batches.windows import join_sentences
from gates2heads.data.corpora.multi30k import descriptions, multi30k
from gates2heads.data.corpora.word_tests import word_similarity
from gates2heads.data.tokens.words import WordVocabulary, split_words
from gates2heads.metrics.words.vectors import WordVectors, rank_correlation
from gates2heads.models.words.subword import SubwordSkipGram
from gates2heads.models.words.subword_table import SubwordTable, SubwordVectors
from gates2heads.models.words.training import train_negative_sampling
from gates2heads.models.words.word2vec import Word2Vec
from gates2heads.training.cards import save_model
from studies.ch02.word_forms import EditDistances, families, misspelt

WIDTH, LEAST_OFTEN, EPOCHS, WINDOW, THRESHOLD = 64, 5, 5, 6, 1e-3
SIZES = {"buckets": 8192, "own": 0, "shortest": 3, "longest": 5}
MODELS = {
    "sub-word": {},
    "word vectors for 3,000 words": {"own": 3000},
}
WORD = "skip-gram"  # a vector for each word, as a comparison
WHOLE, REMOVED = "all words", "500 words removed"
SETTINGS = [f"{model}, {text}" for model in MODELS for text in (WHOLE, REMOVED)]
SETTINGS += [f"{WORD}, {WHOLE}"]
RARE, COMMON, TAKEN, MISSPELT = 20, 200, 500, 1000
HALVES = {"first": 0, "second": 1}
WEIGHTS = Path(__file__).parents[2] / "src/gates2heads/models/weights"


@cache
def corpus() -> tuple[WordVocabulary, list[list[str]]]:
    """The words that occur five times or more in captions and descriptions, and the sentences."""
    texts = [pair.english for pair in multi30k("train")] + descriptions("English")
    sentences = [words for words in map(split_words, texts) if words]
    return WordVocabulary.from_texts(sentences, min_count=LEAST_OFTEN), sentences


def known_words(vocabulary: WordVocabulary) -> list[str]:
    """The words of a vocabulary without the special tokens."""
    return vocabulary.tokens[vocabulary.unk + 1 :]


@cache
def removed_words() -> list[str]:
    """500 words in random order: those of MEN first, as far as they occur 20 to 200 times."""
    vocabulary, _ = corpus()
    often = dict(zip(vocabulary.tokens, vocabulary.frequencies, strict=True))
    fitting = [w for w in known_words(vocabulary) if RARE <= often[w] <= COMMON and w.isalpha()]
    draw = random.Random(0)
    judged = {word for pair in word_similarity("men") for word in pair[:2]}
    first = [word for word in fitting if word in judged]
    others = [word for word in fitting if word not in judged]
    taken = draw.sample(first, min(TAKEN // 2, len(first)))
    taken += draw.sample(others, TAKEN - len(taken))
    draw.shuffle(taken)
    return taken


@cache
def misspellings() -> list[tuple[str, str]]:
    """1,000 pairs (misspelt, right), with words of five letters or more."""
    vocabulary, _ = corpus()
    often = dict(zip(vocabulary.tokens, vocabulary.frequencies, strict=True))
    draw, known = random.Random(1), set(vocabulary.tokens)
    fitting = [w for w in known_words(vocabulary) if often[w] >= RARE and len(w) >= 5]
    draw.shuffle(fitting)
    pairs = ((misspelt(word, draw), word) for word in fitting if word.isalpha())
    return [pair for pair in pairs if pair[0] and pair[0] not in known][:MISSPELT]


def train(model: str, text: str, seed: int) -> tuple[WordVocabulary, Word2Vec, list[float]]:
    """The vocabulary and the trained model of one setting, and the loss of each epoch."""
    vocabulary, sentences = corpus()
    if text == REMOVED:
        gone = set(removed_words())
        sentences = [[word for word in words if word not in gone] for words in sentences]
        sentences = [words for words in sentences if words]
        vocabulary = WordVocabulary.from_texts(sentences, min_count=LEAST_OFTEN)
    torch.manual_seed(seed)
    if model == WORD:
        made = Word2Vec(vocabulary.counts, WIDTH)
    else:
        sizes = SIZES | MODELS[model]
        made = SubwordSkipGram(vocabulary.tokens, vocabulary.counts, WIDTH, **sizes)
    numbers = join_sentences([vocabulary.encode(words) for words in sentences])
    history = train_negative_sampling(
        made,
        numbers,
        epochs=EPOCHS,
        window=WINDOW,
        threshold=THRESHOLD,
        seed=seed,
        progress=False,
    )
    return vocabulary, made, history.loss


def shippable(vocabulary: WordVocabulary, model: SubwordSkipGram) -> SubwordTable:
    """The trained rows with the known words, without those of special tokens."""
    first, vectors = vocabulary.unk + 1, model.vectors
    shortest, longest = vectors.lengths
    own = max(0, vectors.own - first)
    table = vectors.weight.detach()[vectors.own - own :]
    sizes = {"buckets": vectors.buckets, "own": own, "shortest": shortest, "longest": longest}
    counts = vocabulary.counts[first:].long()
    return SubwordTable.of(vocabulary.tokens[first:], counts, table, **sizes)


def correlation(unit: Callable[[str], Tensor], pairs: Iterable) -> float:
    """Spearman's ρ of the cosines of pairs of words, whose unit vectors are given."""
    pairs = list(pairs)
    ours = torch.tensor([float(unit(one) @ unit(other)) for one, other, _ in pairs])
    return rank_correlation(ours, torch.tensor([float(score) for *_, score in pairs]))


def pairs_with_removed(words: Iterable[str], half: int) -> list[tuple[str, str, float]]:
    """The pairs of one half of MEN with a removed word, whose other word is removed or known."""
    gone = set(removed_words())
    there = gone | set(words)
    pairs = word_similarity("men")[half::2]
    return [one for one in pairs if gone & set(one[:2]) and there.issuperset(one[:2])]


class Unseen:
    """Ways to give an unseen word a unit vector beside those of known words."""

    def __init__(self, known: WordVectors, seed: int):
        self.known, self.distances = known, EditDistances(known.words)
        self.generator = torch.Generator().manual_seed(seed)
        self.random, self.nearest = {}, {}

    def by_chance(self, word: str) -> Tensor:
        """A random direction, the same one for every query of a word."""
        if word not in self.random:
            drawn = torch.randn(self.known.unit.shape[1], generator=self.generator)
            self.random[word] = drawn / drawn.norm()
        return self.random[word]

    def by_edits(self, word: str) -> Tensor:
        """The vector of the known word that fewest edits lead to."""
        return self.known.unit_vector(self.neighbour(word))

    def neighbour(self, word: str) -> str:
        """That word; of equally near ones the most frequent."""
        if word not in self.nearest:
            self.nearest[word] = self.distances.nearest(word)
        return self.nearest[word]

    def all_ngrams(self, word: str) -> Tensor:
        """The mean of all n-grams, those that are in no known word included."""
        table = self.known.table
        rows = table.weight.detach()[table.rows_of(table.ngrams(word))]
        return rows.mean(0) / rows.mean(0).norm()


def neighbours(known: WordVectors, vector: Tensor, count: int) -> list[str]:
    """The known words with the largest cosines to a unit vector."""
    return [known.words[n] for n in (known.unit @ vector).topk(count).indices.tolist()]


def judged_unseen(known: WordVectors, half: int, seed: int) -> dict:
    """Judge vectors for the removed words: of n-grams, if the model has them, and of baselines."""
    unseen, gone = Unseen(known, seed), removed_words()
    ways = {"random": unseen.by_chance, "edit distance": unseen.by_edits}
    if isinstance(known, SubwordVectors):
        ways |= {"n-grams": known.unit_vector, "all n-grams": unseen.all_ngrams}
    related = families([*known.words, *gone])
    asked = [word for word in gone[half::2] if any(x in known.index for x in related[word])]
    pairs, found = pairs_with_removed(known.words, half), {}
    for name, way in ways.items():

        def unit(word: str, way: Callable[[str], Tensor] = way) -> Tensor:
            return known.unit[known.index[word]] if word in known.index else way(word)

        lists = {word: neighbours(known, way(word), 10) for word in asked}
        found[name] = {
            "rho": correlation(unit, pairs),
            "lemma_first": sum(lists[word][0] in related[word] for word in asked) / len(asked),
            "lemma_ten": sum(bool(related[w] & set(lists[w])) for w in asked) / len(asked),
        }
    return found | {"pairs": len(pairs), "asked": len(asked)}


def judged_seen(known: WordVectors, half: int, seed: int) -> dict:
    """Judge the vectors of known words, and those of misspellings if the model has n-grams."""
    plain = WordVectors(known.words, known.unit)  # knows no other words
    agreed = plain.agreement(word_similarity("men")[half::2])
    pairs = pairs_with_removed(known.words, half)
    found = {"men": agreed.value, "men_pairs": agreed.used}
    found |= {"rho": correlation(plain.unit_vector, pairs), "pairs": len(pairs)}
    if not isinstance(known, SubwordVectors):
        return found
    unseen, asked = Unseen(known, seed), misspellings()[half::2]
    ways = {"n-grams": known.unit_vector, "all n-grams": unseen.all_ngrams}
    for name, way in ways.items():
        ranks = []
        for wrong, right in asked:
            cosines = known.unit @ way(wrong)
            ranks.append(1 + int((cosines > cosines[known.index[right]]).sum()))
        ranks = torch.tensor(ranks)
        found[name] = {
            "right_first": float((ranks == 1).double().mean()),
            "right_ten": float((ranks <= 10).double().mean()),
            "median_rank": int(ranks.median()),
        }
    by_edits = [unseen.neighbour(wrong) == right for wrong, right in asked]
    return found | {"edit distance": sum(by_edits) / len(asked), "asked": len(asked)}


def run(setting: str, seed: int) -> dict:
    """Train one setting and judge its vectors by both halves."""
    model, text = setting.rsplit(", ", 1)
    vocabulary, made, losses = train(model, text, seed)
    if model == WORD:
        words = known_words(vocabulary)
        known = WordVectors(words, made.word_vectors()[-len(words) :])
    else:
        known = shippable(vocabulary, made).compared()
    judge = judged_seen if text == WHOLE else judged_unseen
    return {
        "words": len(known.words),
        "losses": [round(loss, 4) for loss in losses],
        **{name: judge(known, half, seed) for name, half in HALVES.items()},
    }


def ship() -> None:
    """Write the sub-word vectors, rounded to one byte a number, with their card."""
    vocabulary, made, losses = train("sub-word", WHOLE, seed=0)
    table, (_, sentences) = shippable(vocabulary, made), corpus()
    card = {
        "data": f"29,000 English training captions of Multi30k and {len(sentences) - 29000:,} "
        f"English descriptions of the same images ({sum(map(len, sentences)):,} words and marks)",
        "terms": "Multi30k and Flickr30k are for research and education; the file holds no "
        "caption.",
        "limits": "A word that training never met is "  # term: never met, the stored card says so
        "placed by its spelling: names and words that "
        "only look like another get the vector of what they look like.",
        "command": "python -m studies.ch02.subword --ship",
        "seed": 0,
        "model": f"skip-gram, n-grams of {SIZES['shortest']} to {SIZES['longest']} characters",
        "losses": [round(loss, 4) for loss in losses],
        "judged": judged_seen(table.compared(), HALVES["second"], 0),
        "machine": {"device": device_name(), "threads": torch.get_num_threads()},
    }
    path = WEIGHTS / "words_subword.safetensors"
    save_model(path, table, card=card, small=True)
    print(path.name, path.stat().st_size, card["losses"][-1], card["judged"])


STUDY = Study("ch02/subword", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    if "--ship" in sys.argv[1:]:
        ship()
    else:
        STUDY.main()
