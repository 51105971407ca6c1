"""The study of the language models: by hand, a small run of each kind, and what is stored."""

import math

import pytest
import torch

from gates2heads.book.studies import Study
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.ngram import AddK, KneserNey
from studies.ch03 import language_models as study
from studies.ch03.language_models import (
    CELLS,
    MODELS,
    ORDERS,
    ROUNDS,
    SETTINGS,
    SMOOTHED,
    WINDOWS,
)

EOS = Vocabulary.eos
TEXTS = {
    "train": ["A dog runs.", "A cat sleeps.", "Two dogs run.", "A dog sleeps."] * 5,
    "validation": ["A cat runs.", "Two cats sleep."],
    "test": ["Two dogs sleep.", "A dog."],
}
KINDS = (
    "2-gram-add-k",
    "3-gram-one-discount",
    "3-gram-tuned-discount",
    "5-gram-kneser-ney",
    "feed-forward-4",
    *CELLS,
    "transformer",
)
ROWS = Study("ch03/language_models", study.run, SETTINGS).rows()
RUNS = [(row["setting"], row["seed"]) for row in ROWS]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(study, "texts_of", lambda corpus, split: TEXTS[split])
    monkeypatch.setattr(study, "VOCABULARY", 280)
    monkeypatch.setattr(study, "BATCH_TOKENS", 60)
    monkeypatch.setattr(study, "WARMUP", 2)
    monkeypatch.setattr(study, "WIDTH", 12)
    study.read.cache_clear()
    yield
    study.read.cache_clear()


def test_there_are_a_network_of_each_kind_and_twelve_n_grams():
    networks = len(WINDOWS) + len(CELLS) + 1
    assert len(MODELS) == len(ORDERS) * len(SMOOTHED) + networks == 19
    assert (
        len(SETTINGS) == len(set(SETTINGS)) == 32
    )  # windows and tuned discounts on the captions alone


def test_the_surprise_of_a_model_that_knows_nothing_by_hand():
    # Of six tokens, <pad> and <bos> are never written: four are left, two bits each.
    model = AddK([[3, EOS]], 6, 1, k=1e9)
    assert study.surprise(model, [[3, 4, 5, EOS], [5, EOS]]) == pytest.approx(2)
    # c(3) = c(<eos>) = 1, k = 1: 2/6 each, and 1/6 for 4 and 5.
    model = AddK([[3, EOS]], 6, 1, k=1)
    wanted = (math.log2(3) + math.log2(6) + 2 * math.log2(3)) / 4
    assert study.surprise(model, [[3, EOS], [4, EOS]]) == pytest.approx(wanted)


def test_the_surprise_does_not_depend_on_how_texts_are_put_into_batches(monkeypatch):
    torch.manual_seed(0)
    model = study.build("transformer", 17).eval()
    texts = [[3 + n % 11] * (1 + n % 5) + [EOS] for n in range(23)]
    one = study.surprise(model, texts)
    monkeypatch.setattr(study, "READ_AT_ONCE", 4)
    assert study.surprise(model, texts[::-1]) == pytest.approx(one, rel=1e-6)


def test_a_corpus_is_cut_by_what_its_training_split_taught(small):
    corpus = study.read("captions")
    same = BPETokenizer.train(TEXTS["train"], 280)
    assert corpus.tokens["test"] == [same.encode(text) for text in TEXTS["test"]]
    assert corpus.characters["test"] == len("Two dogs sleep.\nA dog.\n")


def test_the_docstrings_are_read_as_paragraphs(monkeypatch):
    class Document:
        paragraphs = ("One. Two.", "Three.")

    monkeypatch.setattr(study, "docstrings", lambda split: [Document(), Document()][: len(split)])
    assert study.texts_of("docstrings", "test") == ["One. Two.", "Three."] * 2


@pytest.mark.parametrize("model", KINDS)
def test_a_run_tells_what_its_model_makes_of_the_test_split(model, small):
    told = study.run(f"captions-{model}", 0)
    corpus = told["corpus"]
    assert told["perplexity"] == pytest.approx(2 ** told["bits_per_token"])
    bits = told["bits_per_token"] * corpus["test_tokens"]
    assert told["bits_per_character"] == pytest.approx(bits / corpus["test_characters"])
    assert told["parameters"] > 0
    again, other = study.run(f"captions-{model}", 0), study.run(f"captions-{model}", 1)
    assert again["bits_per_token"] == told["bits_per_token"]
    drawn = "-gram-" not in model
    assert (other["bits_per_token"] != told["bits_per_token"]) == drawn
    if drawn:
        course = told["made"]["validation_bits_per_token"]
        assert len(course) == ROUNDS["captions"]
        assert 0 < course[-1] < course[0]


def test_the_k_that_is_kept_is_the_best_on_the_validation_split(small):
    corpus = study.read("captions")
    model, how = study.count("2-gram-add-k", corpus)
    assert model.k == how["k"]
    bits = {}
    for k in study.ADDED:
        other = AddK(corpus.tokens["train"], len(corpus.tokenizer), 2, k=k)
        bits[k] = study.surprise(other, corpus.tokens["validation"])
    assert bits[how["k"]] == min(bits.values())
    assert len(set(bits.values())) == len(bits)


def test_the_discount_that_is_kept_is_the_best_on_the_validation_split(small):
    corpus = study.read("captions")
    model, how = study.count("3-gram-tuned-discount", corpus)
    assert model.discounts == [(how["discount"],) * 3] * 3
    bits = [
        study.surprise(
            KneserNey(corpus.tokens["train"], len(corpus.tokenizer), 3, discount=one),
            corpus.tokens["validation"],
        )
        for one in study.DISCOUNTS
    ]
    assert how["validation_bits_per_token"] == bits
    assert bits[study.DISCOUNTS.index(how["discount"])] == min(bits)


def test_every_run_is_stored_and_none_twice():
    # N-grams draw nothing: one run tells what any seed would.
    wanted = [(one, seed) for one in SETTINGS for seed in ((0,) if "gram" in one else (0, 1, 2))]
    assert sorted(RUNS) == sorted(wanted)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['setting']}-{row['seed']}")
def test_a_row_tells_what_can_be_repeated(row):
    setting, told = row["setting"], row["result"]
    assert (
        row["command"] == f"python -m studies.ch03.language_models {setting} --seeds {row['seed']}"
    )
    corpus = told["corpus"]
    assert corpus["vocabulary"] == study.VOCABULARY
    assert told["perplexity"] == pytest.approx(2 ** told["bits_per_token"])
    bits = told["bits_per_token"] * corpus["test_tokens"]
    assert told["bits_per_character"] == pytest.approx(bits / corpus["test_characters"])
    assert 0.5 < told["bits_per_character"] < 3
    if setting.startswith("docstrings"):
        assert "sha256" in corpus["about"]


def test_all_runs_on_a_corpus_read_the_same_text():
    for corpus in ROUNDS:
        read = [row["result"]["corpus"] for row in ROWS if row["setting"].startswith(corpus)]
        assert all(one == read[0] for one in read)


def bits_of(setting):
    return [row["result"]["bits_per_token"] for row in ROWS if row["setting"] == setting]


def bits_of_n_grams(corpus):
    """Bits per token of the n-grams that are stored, one for each seed."""
    models = [model for model in MODELS if "-gram-" in model]
    return {model: bits for model in models if (bits := bits_of(f"{corpus}-{model}"))}


@pytest.mark.parametrize("corpus", ROUNDS)
def test_n_grams_draw_nothing(corpus):
    assert all(len(set(seeds)) == 1 for seeds in bits_of_n_grams(corpus).values())


def test_what_the_n_grams_show():
    bits = bits_of_n_grams("captions")
    for order in ORDERS:
        assert max(bits[f"{order}-gram-kneser-ney"]) < min(bits[f"{order}-gram-add-k"])
    # Added counts make longer contexts worse, discounts make them better.
    assert bits["2-gram-add-k"] < bits["3-gram-add-k"] < bits["5-gram-add-k"]
    assert bits["5-gram-kneser-ney"] < bits["3-gram-kneser-ney"] < bits["2-gram-kneser-ney"]
