"""Loaders of what is downloaded: sizes that upstream states, and lines that a reader can check."""

from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.data.corpora.shakespeare import tiny_shakespeare
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.corpora.word_tests import SIMILARITY, analogies, word_similarity
from tests.needs import needs_data


@needs_data
def test_multi30k_by_hand():
    sizes = {split: len(multi30k(split)) for split in SPLITS}
    assert sizes == {"train": 29_000, "validation": 1_014, "test": 1_000}
    german, english = multi30k("train")[0]
    assert german.startswith("Zwei junge weiße Männer")
    assert english.startswith("Two young, White males")
    assert all(pair.german and pair.english for split in SPLITS for pair in multi30k(split))


@needs_data
def test_word_similarity_by_hand():
    sizes = {name: len(word_similarity(name)) for name in SIMILARITY}
    assert sizes == {"wordsim353": 353, "simlex999": 999, "men": 3000, "rg65": 65}
    assert word_similarity("wordsim353")[1] == ("tiger", "cat", 7.35)
    assert max(pair.score for pair in word_similarity("rg65")) <= 4


@needs_data
def test_analogies_by_hand():
    questions = analogies()
    assert len(questions) == 19_544
    assert questions[0] == ("Athens", "Greece", "Baghdad", "Iraq", "capital-common-countries")
    assert len({question.section for question in questions}) == 14


@needs_data
def test_tiny_shakespeare_is_cut_between_speakers():
    parts = [tiny_shakespeare(split) for split in SPLITS]
    whole = "".join(parts)
    assert len(whole.encode()) == 1_115_394
    assert parts[0].startswith("First Citizen:\nBefore we proceed")
    assert all(part.endswith("\n\n") for part in parts[:2])
    assert abs(len(parts[0]) / len(whole) - 0.9) < 0.01
