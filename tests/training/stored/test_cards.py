"""A weights file holds a whole model, and whatever is altered in it is noticed."""

import json
import random
import re
import string

import pytest
import torch
from torch import nn

from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.models.words.table import WordTable
from gates2heads.training.cards import build_tokenizer, rebuild, save_model, serialize_tokenizer
from gates2heads.training.checkpoints import (
    read_packed,
    read_weights,
    read_whole,
    save_weights,
    shipped_weights,
)

SHIPPED = sorted(path.stem for path in shipped_weights("translator").parent.glob("*.safetensors"))
FLIPS = 4  # in each part of each file
SIGNS = string.ascii_letters + string.digits
SOURCE = CharacterTokenizer.from_texts(["3 March 2033"])
TARGET = CharacterTokenizer.from_texts(["2033-03-03"])
DECODING = {"width": 3, "length_power": 1.0, "max_length": 12}


def small():
    torch.manual_seed(5)
    sizes = {"embedding_size": 6, "hidden_size": 10, "score": "dot"}
    return EncoderDecoder(len(SOURCE.vocabulary), len(TARGET.vocabulary), **sizes)


def parts(whole: bytes) -> dict[str, range]:
    """Where the parts of a file's head stand, by name."""
    end = 8 + int.from_bytes(whole[:8], "little")
    found = {"tensors": range(whole.index(b"}", whole.index(b"__metadata__")), end)}
    for name in ("card", "made", "checksum"):
        start = re.search(rb'[{,]"%s":"' % name.encode(), whole[:end]).end()
        found[name] = range(start, start + re.match(rb'(?:[^"\\]|\\.)*', whole[start:end]).end())
    return found


def refused(path, whole: bytes) -> str:
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"^path ") as told:
        read_packed(path)
    assert len(str(told.value).splitlines()) == 1
    return str(told.value)


@pytest.mark.parametrize("name", SHIPPED)
def test_another_sign_anywhere_in_the_head_of_a_shipped_file_is_noticed(name, tmp_path):
    whole = shipped_weights(name).read_bytes()
    draw = random.Random(name)
    for part, places in parts(whole).items():
        signs = [at for at in places if chr(whole[at]) in SIGNS]
        assert signs, part
        for at in draw.sample(signs, FLIPS):
            other = draw.choice(SIGNS.replace(chr(whole[at]), ""))
            spoiled = whole[:at] + other.encode() + whole[at + 1 :]
            told = refused(tmp_path / "x.safetensors", spoiled)
            if part in ("card", "made", "checksum"):
                assert told.endswith("what it holds does not match the checksum inside it")


def test_two_letters_that_changed_places_in_the_alphabet_are_noticed(tmp_path):
    """Once this made 3 March 2033 into 2077-07-07."""
    whole = shipped_weights("dates_dot").read_bytes()
    letters = rb"\"2\", \"3\"", rb"\"3\", \"2\""
    at = whole.index(letters[0], whole.index(rb"\"tokens\""))
    spoiled = whole[:at] + letters[1] + whole[at + len(letters[0]) :]
    assert len(spoiled) == len(whole)
    told = refused(tmp_path / "x.safetensors", spoiled)
    assert "was altered: what it holds does not match the checksum" in told


def test_the_parts_cannot_lend_each_other_their_text(tmp_path):
    """The checksum is over each text with its length, not over what they are when joined."""
    path = tmp_path / "x.safetensors"
    save_weights(path, nn.Linear(2, 3), card={"a": 1}, made={"b": 2})
    assert read_whole(path)[1:] == ({"a": 1}, {"b": 2})
    whole = path.read_bytes()
    refused(path, whole.replace(b'"made":', b'"nade":'))


def test_a_model_comes_back_with_its_tokenizers_and_its_search(tmp_path):
    path, model = tmp_path / "x.safetensors", small()
    told = {"seed": 3, "settings": "of the run"}
    save_model(path, model, source=SOURCE, target=TARGET, decoding=DECODING, card=told)
    again = rebuild(path)
    assert again.card == read_weights(path)[1] == told
    assert again.decoding == DECODING
    assert not again.model.training
    assert again.source.vocabulary.tokens == SOURCE.vocabulary.tokens
    assert again.target.vocabulary.tokens == TARGET.vocabulary.tokens
    torch.testing.assert_close(again.model.state_dict(), model.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize(
    "tokenizer",
    [
        SOURCE,
        BPETokenizer.train(["a dog runs", "a dog sits"], 270),
        BilingualTokenizer(WordVocabulary({"dog": 5, "狗": 3})),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_tokenizer_comes_back(tokenizer):
    again = build_tokenizer(json.loads(json.dumps(serialize_tokenizer(tokenizer))))
    assert type(again) is type(tokenizer)
    assert again.encode("a 3") == tokenizer.encode("a 3")
    assert serialize_tokenizer(again) == serialize_tokenizer(tokenizer)


def test_a_tokenizer_that_no_file_can_hold_is_refused():
    with pytest.raises(TypeError, match=r"^tokenizer must"):
        serialize_tokenizer("letters")


def test_a_table_of_words_needs_no_tokenizer(tmp_path):
    path, table = tmp_path / "x.safetensors", WordTable(["a", "man"], torch.tensor([5, 3]), 7)
    save_model(path, table)
    again = rebuild(path)
    assert again[1:4] == (None, None, {})
    assert again.model.words == ["a", "man"]
    assert again.model.counts.tolist() == [5, 3]


SETTINGS = small().settings
FEW = {"kind": "CharacterTokenizer", "settings": {"tokens": ["a", "b"]}}
WRONG = [
    {"kind": "door"},
    {"kind": 3},
    {"settings": {}},
    {"settings": None},
    {"settings": {**SETTINGS, "score": "door"}},
    {"settings": {**SETTINGS, "hidden_size": 10**6}},
    {"settings": {**SETTINGS, "hidden_size": 2**31 - 2}},
    {"tokenizers": 3},
    {"tokenizers": [3]},
    {"tokenizers": [FEW]},
    {"decoding": 3},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_file_that_does_not_say_what_to_build_is_refused(wrong, tmp_path):
    path, model = tmp_path / "x.safetensors", small()
    save_model(path, model, source=SOURCE, target=TARGET, decoding=DECODING)
    _, _, made = read_whole(path)
    save_weights(path, model, made={**made, **wrong})
    message = r"^path .*(cannot be rebuilt, its settings are not a model's|is for another model): "
    with pytest.raises(ValueError, match=message):
        rebuild(path)


def test_weights_alone_are_no_model(tmp_path):
    save_weights(tmp_path / "x.safetensors", nn.Linear(2, 3), card={"kind": "Transformer"})
    with pytest.raises(ValueError, match="cannot be rebuilt, it has parameters but no model's"):
        rebuild(tmp_path / "x.safetensors")
