"""Python source as tokens: passages, bits per character, and what is held out."""

import math
from itertools import islice

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.book.ch12 import python_text as module
from gates2heads.book.ch12.python_text import (
    VOCABULARY,
    PythonText,
    bits_by_context,
    bits_per_character,
    consecutive,
    continues_a_pair,
    occurred_before,
    prefixed_passages,
    python_text,
    python_tokenizer,
)
from gates2heads.data.corpora.python.source import PACKAGES, python_source
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly

BOS, EOS = Vocabulary.bos, Vocabulary.eos
V = 11


@pytest.fixture
def model():
    torch.manual_seed(3)
    sizes = {"d_model": 8, "nhead": 2, "num_layers": 1, "dim_feedforward": 12, "max_length": 6}
    made = DecoderOnly(V, **sizes, **LLAMA).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return made


def test_passages_in_order_by_hand():
    (batch,) = consecutive(torch.arange(3, 11), 3)
    assert batch.tolist() == [[BOS, 3, 4, 5], [BOS, 6, 7, 8]]  # 9 and 10 fill no passage


@given(st.integers(0, 90), st.integers(1, 4))
def test_all_passages_join_to_the_text(size, length):
    text = torch.arange(3, 3 + size)
    batches = list(consecutive(text, length)) if size >= length else []
    assert all(len(batch) <= module.AT_ONCE for batch in batches)
    joined = [one for batch in batches for one in batch[:, 1:].flatten().tolist()]
    assert joined == text.tolist()[: size // length * length]


def test_bits_per_character_are_those_of_a_direct_computation(model):
    """One token at a time: −log₂ p of each, over the characters behind these tokens."""
    numbers = torch.randint(3, V, (20,), generator=torch.Generator().manual_seed(1))
    text = PythonText(numbers, 50)
    bits = 0.0
    with torch.no_grad():
        for start in (0, 6, 12):  # 18 of 20 tokens are in passages of 6
            for end in range(start, start + 6):
                read = torch.tensor([[BOS, *numbers[start:end].tolist()]])
                probability = F.softmax(model.logits(read)[0, -1], dim=-1)[numbers[end]]
                bits -= math.log2(probability)
    assert bits_per_character(model, text, length=6) == pytest.approx(bits / (50 * 18 / 20))


def test_no_more_is_read_than_asked_for(model, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 2)  # several batches
    numbers = torch.randint(3, V, (60,), generator=torch.Generator().manual_seed(2))
    some = bits_per_character(model, PythonText(numbers, 120), length=6, most=24)
    alone = bits_per_character(model, PythonText(numbers[:24], 48), length=6)
    assert some == pytest.approx(alone)
    assert some != pytest.approx(bits_per_character(model, PythonText(numbers, 120), length=6))


def test_what_repeats_by_hand():
    passage = torch.tensor([[0, 5, 6, 7, 5, 6, 6, 7, 5], [9, 9, 9, 8, 9, 8, 7, 8, 9]])
    pairs = [[0, 0, 0, 0, 1, 0, 1, 1], [0, 1, 0, 0, 1, 0, 0, 1]]
    tokens = [[0, 0, 0, 1, 1, 1, 1, 1], [1, 1, 0, 1, 1, 0, 1, 1]]
    assert continues_a_pair(passage).tolist() == (torch.tensor(pairs) > 0).tolist()
    assert occurred_before(passage).tolist() == (torch.tensor(tokens) > 0).tolist()


@given(st.lists(st.integers(0, 4), min_size=2, max_size=20))
def test_what_repeats_is_what_a_search_finds(numbers):
    passage, at = torch.tensor([numbers]), range(1, len(numbers))
    pairs = [tuple(numbers[n - 1 : n + 1]) for n in at]
    assert continues_a_pair(passage)[0].tolist() == [
        pair in pairs[:n] for n, pair in enumerate(pairs)
    ]
    assert occurred_before(passage)[0].tolist() == [numbers[n] in numbers[:n] for n in at]


def test_the_kinds_of_tokens_add_up_to_the_bits_per_character(model):
    numbers = torch.randint(3, V, (40,), generator=torch.Generator().manual_seed(4))
    text = PythonText(numbers, 90)
    parts = bits_by_context(model, text, length=6)
    assert tuple(parts) == ("pair", "token", "new")
    assert sum(part.share for part in parts.values()) == pytest.approx(1)
    bits = sum(part.bits for part in parts.values())
    assert bits == pytest.approx(bits_per_character(model, text, length=6))
    twice = PythonText(numbers[:3].repeat(2), 6)  # half of the tokens occurred before
    parts = bits_by_context(model, twice, length=6)
    assert [parts[kind].share for kind in parts] == pytest.approx([2 / 6, 1 / 6, 3 / 6])


def test_a_model_without_knowledge_needs_the_logarithm_of_the_vocabulary():
    sizes = {"d_model": 8, "nhead": 2, "num_layers": 1, "dim_feedforward": 12, "max_length": 6}
    made = DecoderOnly(V, **sizes, **LLAMA).eval()
    torch.nn.init.zeros_(made.token_table.weight)  # tied, so that all logits are 0
    text = PythonText(torch.arange(18) % (V - 3) + 3, 18)  # one character a token
    assert bits_per_character(made, text, length=6) == pytest.approx(math.log2(V))


def test_passages_come_from_anywhere_and_begin_with_bos():
    text = torch.arange(3, 13)
    batches = list(islice(prefixed_passages(text, 4, length=7, seed=0), 30))
    firsts = set()
    for batch in batches:
        assert batch.shape == (4, 8)
        assert (batch[:, 0] == BOS).all()
        assert (batch[:, 2:] - batch[:, 1:-1] == 1).all()
        firsts |= set(batch[:, 1].tolist())
    assert firsts == {3, 4, 5, 6}  # the last passage ends where the text does


def test_a_seed_repeats_the_passages():
    text = torch.arange(3, 99)
    drawn = [next(prefixed_passages(text, 5, length=9, seed=seed)).tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.slow
def test_the_source_of_this_python_is_cut_into_tokens_and_back():
    assert len(python_tokenizer()) == VOCABULARY
    texts = {split: python_text(split) for split in ("validation", "test")}
    for split, text in texts.items():
        modules = python_source(split, packages=PACKAGES)
        assert int((text.tokens == EOS).sum()) == len(modules)
        assert text.characters == sum(len(one.text) + 1 for one in modules)
        first = text.tokens[: int((text.tokens == EOS).nonzero()[0])].tolist()
        assert python_tokenizer().decode(first) in {one.text for one in modules}
    assert python_text("test") is texts["test"]
    with pytest.raises(ValueError, match="split must"):
        python_text("all")
