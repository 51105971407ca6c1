"""The model of attention alone in the engine beside the library's, and what its view asks of it."""

import random

import pytest
import torch

from gates2heads.browser.engine.export import export_model
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.layers.attention.heads_off import heads_of, heads_off
from gates2heads.layers.record import record
from gates2heads.models.language.attention_only import AttentionOnly
from gates2heads.training.quantisation import dequantise, quantise
from tests.browser.engine.in_node import EngineError, entry_of
from tests.browser.engine.models.test_engine_decoder_only import close, loaded
from tests.browser.engine.models.test_engine_models import assert_notes, stirred

LENGTH, SIZE = 13, 19
TEXT = "Anna moon river Anna glass moon river stone"


def made(layers, number=0, size=SIZE):
    torch.manual_seed(number)
    sizes = {"d_model": 24, "nhead": 4, "max_length": LENGTH}
    return stirred(AttentionOnly(size, num_layers=layers, **sizes))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_logits_and_cache_are_the_librarys(node, layers):
    draw = random.Random(layers)
    for number in range(5):
        model = made(layers, number)
        key = loaded(node, model)
        tokens = [draw.randrange(SIZE) for _ in range(draw.randrange(3, LENGTH + 1))]
        with torch.no_grad():
            wanted = model.logits(torch.tensor([tokens]))[0]
        assert close(node.one("call", key=key, method="logits", given=[tokens]), wanted)
        first, second = sorted(draw.sample(range(1, len(tokens) + 1), 2))
        parts = [tokens[:first], tokens[first:second]]
        found = node.one("cached", key=key, parts=parts, rest=tokens[second:])
        assert close(found["rows"], wanted.log_softmax(-1))
        assert close(found["again"], wanted.log_softmax(-1))


@pytest.mark.parametrize("off", [[], [1], [0, 5, 6], list(range(8))])
def test_notes_and_heads_that_are_off_are_the_librarys(node, off):
    model, tokens = made(2), [1, 5, 9, 4, 3, 11]
    heads = [heads_of(model)[number] for number in off]
    with torch.no_grad(), record(model) as trace, heads_off(model, heads):
        state, wanted = model.start(1), []
        for token in tokens:
            log_probs, state = model.step(state, torch.tensor([token]))
            wanted.append(log_probs[0])
    key = loaded(node, model)
    told = [head._asdict() for head in heads]
    found = node.one("follow", key=key, source=[], tokens=tokens, more=[], heads=told)
    assert close(found["logProbs"], torch.stack(wanted))
    assert_notes(found["notes"], trace)
    assert node.one("headsOf", key=key) == [head._asdict() for head in heads_of(model)]


def test_one_byte_a_parameter(node):
    model = made(2)
    key = loaded(node, model, small=True)
    model.load_state_dict(dequantise(quantise(model.state_dict())))
    with torch.no_grad():
        wanted = model.logits(torch.tensor([[1, 5, 9, 4]]))[0]
    assert close(node.one("call", key=key, method="logits", given=[[1, 5, 9, 4]]), wanted)


def test_what_is_too_long_is_refused(node):
    key = loaded(node, made(2))
    with pytest.raises(EngineError, match="tokens must"):
        node.one("cached", key=key, parts=[[1] * LENGTH], rest=[2])


@pytest.fixture(scope="module")
def words(node):
    """A small model of some words."""
    tokenizer = BilingualTokenizer.from_texts([TEXT])
    model = made(2, 7, len(tokenizer.vocabulary))
    entry = entry_of(export_model(model, name="words", source=tokenizer))
    node.one("load", key="words", entry=entry)
    return model, tokenizer


@pytest.mark.parametrize("off", [[], [2], [4, 5, 6, 7]])
@pytest.mark.parametrize("text", ["", "moon", TEXT, "  ANNA  moon\nRiver "])
def test_the_view_is_told_what_python_finds(node, words, text, off):
    model, tokenizer = words
    known = {token.lower(): number for number, token in enumerate(tokenizer.vocabulary.tokens)}
    numbers = [1, *(known[word.lower()] for word in text.split())]
    heads = [heads_of(model)[number] for number in off]
    with torch.no_grad(), record(model) as trace, heads_off(model, heads):
        log_probs = model.logits(torch.tensor([numbers]))[0].log_softmax(-1)
    payload = {"text": text, "off": [head._asdict() for head in heads]}
    found = node.one("readRepeats", key="words", payload=payload)
    assert found["text"] == text
    assert found["tokens"] == [tokenizer.vocabulary.tokens[number] for number in numbers]
    surprisals = -log_probs[range(len(numbers) - 1), numbers[1:]] / torch.tensor(2.0).log()
    assert found["bits"] == pytest.approx(surprisals.tolist(), abs=1e-4)
    wanted = log_probs.exp().topk(5)
    for row, (told, probs) in enumerate(zip(found["top"], wanted.values, strict=True)):
        assert [prob for _, prob in told] == pytest.approx(probs.tolist(), abs=1e-5)
        assert told[0][0] == tokenizer.vocabulary.tokens[wanted.indices[row, 0]]
    weights = torch.stack([trace[f"layers.{depth}"]["weights"][0][0] for depth in range(2)])
    assert found["weights"].shape == weights.shape
    assert close(found["weights"], weights)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("moon Mars Anna Pluto Mars", "The model does not know “Mars”, “Pluto”."),
        ("moon <bos>", "The model does not know “<bos>”."),
        ("moon " * LENGTH, "Too long: 13 words (maximum 12)."),
    ],
)
def test_what_the_model_cannot_read_is_refused_in_a_sentence(node, words, text, sentence):
    found = node.one("readRepeats", key="words", payload={"text": text, "off": []})
    assert found == {"refused": sentence}
