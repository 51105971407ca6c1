"""The small language of chapter 2, and the fault that makes its loss too good."""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.ch02.faulty import (
    FAULTS,
    FaultyNegativeSampling,
    check_fault,
    small_words,
)
from gates2heads.book.ch02.small_language import KINDS, PHRASES, kinds_of, small_language
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.models.words.outputs import NegativeSampling


def test_every_sentence_is_a_phrase_with_words_of_its_kinds():
    kinds = {word: kind for kind, words in KINDS.items() for word in words}
    sentences = small_language(300, seed=3)
    assert len(sentences) == 300
    assert sentences == small_language(300, seed=3) != small_language(300)
    patterns = {" ".join(kinds.get(word, word) for word in words) for words in sentences}
    assert patterns == set(PHRASES)


def test_the_kinds_are_told_by_number():
    vocabulary = WordVocabulary.from_texts(small_language(500))
    told = [[vocabulary.tokens[number] for number in one] for one in kinds_of(vocabulary)]
    assert told == [list(words) for words in KINDS.values()]
    with pytest.raises(ValueError, match="vocabulary must"):
        kinds_of(WordVocabulary.from_texts([["dog"]]))
    with pytest.raises(TypeError, match="vocabulary must"):
        kinds_of([])


def test_the_fault_is_noise_that_is_sampled_once():
    torch.manual_seed(5)
    counts = torch.ones(101)
    sound, faulty = NegativeSampling(counts, 7), FaultyNegativeSampling(counts, 7)
    torch.nn.init.normal_(sound.vectors.weight)
    faulty.load_state_dict(sound.state_dict())
    hidden, target = torch.randn(3, 7), torch.tensor([2, 3, 5])
    noise = torch.randint(101, (3, 5))
    torch.testing.assert_close(faulty(hidden, target, noise), sound(hidden, target, noise))
    assert faulty.first is None
    once, again = faulty(hidden, target), faulty(hidden, target)
    torch.testing.assert_close(once, again)
    torch.testing.assert_close(once, sound(hidden, target, faulty.first.expand(3, -1)))
    assert not torch.equal(sound(hidden, target), sound(hidden, target))


@pytest.mark.slow
def test_the_faulty_loss_is_better_and_its_vectors_are_all_alike():
    sound, _, losses = small_words(epochs=3)
    faulty, vocabulary, better = small_words(faulty=True, epochs=3)
    assert 0.4 < better[-1] < 1 < losses[-1]
    for model, alike in ((sound, False), (faulty, True)):
        unit = F.normalize(model.vectors.weight.detach()[4:], dim=1)
        assert ((unit @ unit.T).mean() > 0.95) == alike
    prob = (faulty.vectors.weight @ faulty.output.vectors.weight.T).sigmoid()[4:].mean(0)
    (rejected,) = (prob < 0.1).nonzero(as_tuple=True)
    assert set(rejected.tolist()) == set(faulty.output.first.tolist())
    assert len(vocabulary) == len(prob)


def test_the_fault_is_found_by_its_letter():
    assert check_fault("b").passed
    assert check_fault(" (B). ").passed
    for letter in FAULTS.keys() - {"b"}:
        assert f"With bug ({letter})" in check_fault(letter).message
    assert "one of the letters a, b, c, d" in check_fault("e").message
    assert "not tried" in check_fault(...).message
