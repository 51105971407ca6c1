"""What a model read, wrote and looked at: the pass that wrote is the pass that is shown."""

import pytest
import torch

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.decoding.observation import observe
from gates2heads.decoding.translation import align, translate
from gates2heads.models.translation.seq2seq import EncoderDecoder

SOURCE = CharacterTokenizer.from_texts(["jeudi 14"])
TARGET = CharacterTokenizer.from_texts(["0123-"])


def model(score):
    torch.manual_seed(3)
    sizes = len(SOURCE.vocabulary), len(TARGET.vocabulary)
    return EncoderDecoder(*sizes, embedding_size=5, hidden_size=6, score=score).eval()


@pytest.mark.parametrize("score", ["dot", "additive", "general"])
def test_weights_are_those_of_align_and_the_softmax_of_the_scores(score):
    attends = model(score)
    seen = observe(attends, "jeudi 4", SOURCE, TARGET, max_length=7)
    (other,) = align(attends, ["jeudi 4"], SOURCE, TARGET, max_length=7)
    assert (seen.source, seen.target) == (other.source, other.target)
    torch.testing.assert_close(seen.weights, other.weights, rtol=0, atol=0)
    torch.testing.assert_close(seen.scores.softmax(-1), seen.weights)
    assert seen.scores.shape == (len(seen.target), len("jeudi 4") + 1)


def test_a_model_that_does_not_look_back_has_neither():
    plain = model(None)
    seen = observe(plain, "1 de", SOURCE, TARGET, max_length=7)
    assert (seen.weights, seen.scores) == (None, None)
    assert seen.source == [*"1 de", "<eos>"]
    text = "".join(token for token in seen.target if not token.startswith("<"))
    assert [text] == translate(plain, ["1 de"], SOURCE, TARGET, max_length=7)


def test_what_was_written_ends_with_its_first_end():
    seen = observe(model("dot"), "jeudi", SOURCE, TARGET, max_length=40)
    assert "<eos>" not in seen.target[:-1]
    assert len(seen.target) == len(seen.weights) <= 40


def test_a_list_of_texts_is_refused():
    with pytest.raises(TypeError, match=r"text must be a string, got \['jeudi'\]"):
        observe(model("dot"), ["jeudi"], SOURCE, TARGET)
