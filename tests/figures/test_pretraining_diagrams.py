"""The diagram of chapter 11: each of the four, with what it reads and what it is asked."""

from gates2heads.figures.diagrams.pretraining import four_ways


def test_each_of_the_four_is_drawn_with_its_question():
    told = " ".join(text.get_text() for axes in four_ways().axes for text in axes.texts)
    for words in ("ELMo", "GPT", "BERT", "ERNIE", "whole names hidden", "the one before"):
        assert words in told
    assert told.count("(|M|, V), (B, 2)") == 2  # BERT and ERNIE are asked the same
