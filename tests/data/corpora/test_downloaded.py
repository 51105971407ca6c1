"""Loaders of what is downloaded: sizes that upstream states, and lines that a reader can check."""

import pytest

from gates2heads.data.corpora.multi30k import (
    CODES,
    KEPT_BACK,
    described_images,
    descriptions,
    multi30k,
)
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
@pytest.mark.parametrize(("language", "many"), [("German", 143_315), ("English", 143_485)])
def test_descriptions_by_hand(language, many):
    texts = descriptions(language)
    assert len(texts) == many  # of 145,000: 1,500 of images kept back, the rest known elsewhere
    assert all(text and text == text.strip() for text in texts)
    judged = {getattr(pair, language.lower()) for split in SPLITS[1:] for pair in multi30k(split)}
    assert not judged & set(texts)
    # Both occur among the 145,000 and, with a full stop, in the validation captions.
    assert not {"Drei Hunde spielen im Wasser", "Three dogs playing in the snow"} & set(texts)


@needs_data
def test_described_images_by_hand():
    images = described_images()
    assert len(images) == KEPT_BACK == 300
    assert images[0].german[0] == "Zwei Männer betrachten etwas im Garten"
    assert images[0].english[1] == multi30k("train")[0].english
    assert {len(side) for image in images for side in image} == {5}
    for language in CODES:
        side = language.lower()
        first = [text for image in images for text in getattr(image, side)]
        assert len(first) == 5 * KEPT_BACK
        assert not set(first) & set(descriptions(language))


def test_bad_languages():
    for language in ("german", "French", None):
        with pytest.raises(ValueError, match=r"language must"):
            descriptions(language)


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
