"""A text with gaps, filled or continued, and the names in it."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.watching.filling import MASK, find_names, observe_gaps, observe_line

TEXT = "In Bern, people pay with 法郎."
TOKENIZER = BilingualTokenizer.from_texts([TEXT, "法国 a b c"])
SIZES = {"d_model": 8, "nhead": 2, "num_layers": 2, "max_length": 29}


@pytest.fixture(scope="module")
def models():
    torch.manual_seed(0)
    size = Markers.of(TOKENIZER.vocabulary).size
    return BERT(size, **SIZES).eval(), GPT(size, **SIZES).eval()


def test_gaps_are_what_bert_says_of_the_masked_text(models):
    bert, _ = models
    seen = observe_gaps(bert, TEXT, [7, 1, 7], TOKENIZER)
    assert seen.tokens == ["In", "Bern", ",", "people", "pay", "with", "法", "郎", "."]
    assert seen.hidden == [1, 7]
    assert seen.vocabulary == [*TOKENIZER.vocabulary.tokens, MASK]
    numbers = [1, *TOKENIZER.encode(TEXT)]
    numbers[2] = numbers[8] = len(TOKENIZER.vocabulary)
    wanted = bert(torch.tensor([numbers]))[0].log_softmax(-1)[0, [2, 8]]
    torch.testing.assert_close(seen.log_probs, wanted)


@pytest.mark.parametrize("length", [0, 1, 9])
def test_a_line_goes_on_with_the_likeliest_token(models, length):
    _, gpt = models
    seen = observe_line(gpt, TEXT, length, TOKENIZER, max_length=5)
    line, steps = [1, *TOKENIZER.encode(TEXT, eos=False)[:length]], []
    for _ in range(5):
        log_probs = gpt(torch.tensor([line])).log_softmax(-1)[0, -1]
        line.append(int(log_probs.argmax()))
        steps.append(log_probs.max().item())
        if line[-1] == 2:
            break
    finished = line[-1] == 2
    written = line[1 + length : len(line) - finished]
    known = [*TOKENIZER.vocabulary.tokens, MASK]
    assert seen.tokens == ["In", "Bern", ",", "people", "pay", "with", "法", "郎", "."][:length]
    assert seen.written == [known[number] for number in written]
    assert seen.finished == finished
    torch.testing.assert_close(seen.log_probs, torch.tensor(steps))


def test_an_end_is_no_part_of_what_was_written(models):
    _, gpt = models
    with torch.no_grad():  # the end is the likeliest after anything
        ends = GPT(gpt.vocabulary_size, **SIZES).eval()
        ends.norm.weight.zero_()
        ends.norm.bias.copy_(ends.token_table.weight[2] * 100)
    seen = observe_line(ends, TEXT, 3, TOKENIZER)
    assert (seen.written, seen.finished, len(seen.log_probs)) == ([], True, 1)


def test_a_line_that_does_not_end_in_the_places_of_the_model_is_refused(models):
    model = GPT(models[1].vocabulary_size, **SIZES | {"max_length": 7}).eval()
    with torch.no_grad():  # `In` is the likeliest after anything
        model.norm.weight.zero_()
        model.norm.bias.copy_(model.token_table.weight[TOKENIZER.encode("In")[0]] * 100)
    seen = observe_line(model, TEXT, 3, TOKENIZER, max_length=3)
    assert (seen.written, seen.finished) == (["In"] * 3, False)
    with pytest.raises(ValueError, match=r"max_length must"):
        observe_line(model, TEXT, 3, TOKENIZER, max_length=4)
    with pytest.raises(ValueError, match="length must"):
        observe_line(model, TEXT, 9, TOKENIZER)


def test_the_longest_name_is_found_first():
    tokens = ["a", "b", "c", "a", "b", "法", "国"]
    assert find_names(tokens, ["a b", "a b c", "法国", "b", "c a b x"]) == [(0, 3), (3, 5), (5, 7)]
    assert find_names(tokens, []) == []


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.text("abc", max_size=3)))
def test_names_never_overlap_and_are_names(tokens, words):
    names = [" ".join(word) for word in words]
    found = find_names(tokens, names)
    assert all(" ".join(tokens[start:end]) in names for start, end in found)
    assert all(one[1] <= two[0] for one, two in pairwise(found))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"hidden": [9]}, ValueError, "each position of hidden must"),
        ({"hidden": []}, ValueError, "hidden must"),
        ({"text": ""}, ValueError, "text must"),
    ],
)
def test_a_mistake_gets_one_sentence(models, change, error, message):
    given = {"model": models[0], "text": TEXT, "hidden": [1], "tokenizer": TOKENIZER} | change
    with pytest.raises(error, match=message):
        observe_gaps(**given)


def test_more_than_the_text_has_cannot_be_read(models):
    with pytest.raises(ValueError, match="length must"):
        observe_line(models[1], TEXT, 10, TOKENIZER)
