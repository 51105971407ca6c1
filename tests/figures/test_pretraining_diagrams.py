"""The diagrams of chapter 11: the four models with their objectives, and the sum of embeddings."""

import pytest

from gates2heads.figures.diagrams.pretraining import four_heads, four_ways, input_embeddings


def test_each_of_the_four_is_drawn_with_its_question():
    told = " ".join(text.get_text() for axes in four_ways().axes for text in axes.texts)
    for words in ("ELMo", "GPT", "BERT", "ERNIE", "The [MASK] [MASK]", "previous token"):
        assert words in told
    assert told.count("(|M|, V), (B, 2)") == 2  # BERT and ERNIE predict the same


def test_each_shown_token_has_its_three_embeddings():
    tokens, segments = ["[CLS]", "In", "Bern", "[SEP]", "Franc", "[SEP]"], [0, 0, 0, 0, 1, 1]
    axes = input_embeddings(tokens, segments, [0, 1, 3, 4]).axes[0]
    told = [text.get_text() for text in axes.texts]
    assert told.count("…") == 1  # for position 2
    for words in ("E [CLS]", "E Franc", "P 0", "P 4", "sum at 3"):
        assert words in told
    assert (told.count("S 0"), told.count("S 1")) == (3, 1)
    assert "P 2" not in told


def test_a_diagram_of_other_positions_or_segments_is_refused():
    with pytest.raises(ValueError, match="segments must"):
        input_embeddings(["a", "b"], [0], [0])
    with pytest.raises(ValueError, match="each of shown_positions must"):
        input_embeddings(["a", "b"], [0, 0], [2])


def test_the_four_heads_name_their_input_and_output():
    told = " ".join(text.get_text() for axes in four_heads().axes for text in axes.texts)
    for part in ("question [SEP]", "a span, or none", "vector of [CLS]", "a label for each token"):
        assert part in told
