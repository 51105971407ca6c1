"""What a language model foresees of a text: by hand, beside the model itself, bad input."""

import math

import pytest
import torch

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.language.ngram import MaximumLikelihood
from gates2heads.watching.next_token import foresee, score_tokens

TOKENIZER = CharacterTokenizer(Vocabulary([*"abc"]))
A, B, C = 3, 4, 5
COUNTED = MaximumLikelihood([[A, B, 2], [A, C, 2], [A, C, 2], [B, B, 2]], 6, 2)


def test_bits_by_hand():
    seen = foresee(COUNTED, "ac", TOKENIZER)
    assert seen.tokens == ["a", "c"]
    # a begins 3 of 4 texts; c comes after it in 2 of 3; and then the end
    assert seen.bits.tolist() == pytest.approx([math.log2(4 / 3), math.log2(3 / 2)])
    assert seen.end_bits == 0
    assert seen.vocabulary == ["<pad>", "<bos>", "<eos>", "a", "b", "c"]
    assert foresee(COUNTED, "ca", TOKENIZER).bits.tolist() == [math.inf, math.inf]


def test_nothing_read_yet():
    seen = foresee(COUNTED, "", TOKENIZER)
    assert seen.tokens == []
    assert seen.bits.shape == (0,)
    assert seen.log_probs.exp().tolist() == pytest.approx([0, 0, 0, 0.75, 0.25, 0])
    assert seen.end_bits == math.inf


@pytest.mark.parametrize("kind", [RecurrentLanguageModel, TransformerLanguageModel])
def test_it_is_what_the_model_gives_to_the_whole_text(kind):
    torch.manual_seed(0)
    model = kind(6).eval()
    seen = foresee(model, "abcab", TOKENIZER)
    numbers = torch.tensor([TOKENIZER.encode("abcab")])
    wanted = -model.log_probs(numbers)[0].detach().double() / math.log(2)
    torch.testing.assert_close(seen.bits, wanted[:-1], atol=1e-5, rtol=1e-5)
    assert seen.end_bits == pytest.approx(wanted[-1].item(), abs=1e-5)


def test_what_is_no_tokenizer_is_refused():
    with pytest.raises(TypeError, match="tokenizer must"):
        foresee(COUNTED, "a", 3)


def test_each_place_has_its_likeliest_tokens():
    seen = score_tokens(COUNTED, "ac", TOKENIZER, top=2)
    plain = foresee(COUNTED, "ac", TOKENIZER)
    assert (seen.text, seen.unread, seen.tokens) == ("ac", [], plain.tokens)
    assert seen.bits.tolist() == plain.bits.tolist()
    assert seen.log_probs.tolist() == plain.log_probs.tolist()
    assert seen.likeliest.tolist() == [[A, B], [C, B]]
    assert seen.probs.flatten().tolist() == pytest.approx([0.75, 0.25, 2 / 3, 1 / 3])
    empty = score_tokens(COUNTED, "", TOKENIZER)
    assert empty.likeliest.shape == (0, 5)
    assert empty.tokens == []


def test_of_a_long_text_the_end_is_read():
    torch.manual_seed(0)
    model = TransformerLanguageModel(6, max_length=4).eval()
    seen = score_tokens(model, "abcab", TOKENIZER)
    assert (seen.unread, seen.tokens) == (["a", "b"], ["c", "a", "b"])
    wanted = foresee(model, "cab", TOKENIZER)
    torch.testing.assert_close(seen.bits, wanted.bits)
    torch.testing.assert_close(seen.log_probs, wanted.log_probs)
