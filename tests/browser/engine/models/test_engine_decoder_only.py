"""The decoder-only Transformer of the engine beside the library's, with its cache and without."""

import random
from itertools import pairwise

import pytest
import torch

from gates2heads.browser.engine.export import export_model
from gates2heads.layers.record import record
from gates2heads.models.language.decoder_only import GPT2, LLAMA, DecoderOnly
from gates2heads.training.quantisation import dequantise, quantise
from tests.browser.engine.in_node import EngineError, entry_of
from tests.browser.engine.models.test_engine_models import TOLERANCE, assert_notes, far, stirred

LENGTH, SIZE = 17, 23
STYLES = {
    "gpt2": GPT2,
    "gpt2, untied": {**GPT2, "tie": False},
    "gpt2, no biases": {**GPT2, "bias": False},
    "llama": {**LLAMA, "num_key_value_heads": 2},
    "llama, untied": {**LLAMA, "tie": False},
    "llama, one group": {**LLAMA, "num_key_value_heads": 1},
    "llama, biases": {**LLAMA, "bias": True},
    "window": {**LLAMA, "num_key_value_heads": 2, "window": 3},
    "window of one": {**GPT2, "window": 1},
    "mixed": {**GPT2, "norm": "rms", "feed_forward": "swiglu"},
}


def made(style, number=0):
    torch.manual_seed(number)
    sizes = {"d_model": 24, "nhead": 4, "num_layers": 2, "dim_feedforward": 20}
    return stirred(DecoderOnly(SIZE, **sizes, **STYLES[style], max_length=LENGTH))


def loaded(node, model, key="decoder", **options):
    node.one("load", key=key, entry=entry_of(export_model(model, name=key, **options)))
    return key


def close(ours, wanted):
    return far(ours, wanted) <= TOLERANCE * max(1, wanted.abs().max())


@pytest.mark.parametrize("style", STYLES)
def test_logits_and_cache_are_the_librarys(node, style):
    draw = random.Random(style)
    for number in range(5):
        model = made(style, number)
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
        window = STYLES[style].get("window")
        kept = len(tokens) if window is None else min(window - 1, len(tokens))
        assert found["kept"] == kept


@pytest.mark.parametrize("style", STYLES)
def test_what_its_layers_note_is_what_the_library_notes(node, style):
    model, tokens = made(style), [1, 5, 9, 4, 3, 11]
    with torch.no_grad(), record(model) as trace:
        state = model.start(1)
        for token in tokens:
            _, state = model.step(state, torch.tensor([token]))
    asked = {"source": [], "tokens": tokens, "more": []}
    if STYLES[style].get("window") is None:  # notes of a window have no common width
        assert_notes(node.one("follow", key=loaded(node, model), **asked)["notes"], trace)


def test_one_byte_a_weight(node):
    model = made("llama")
    key = loaded(node, model, small=True)
    model.load_state_dict(dequantise(quantise(model.state_dict())))
    with torch.no_grad():
        wanted = model.logits(torch.tensor([[1, 5, 9, 4]]))[0]
    assert close(node.one("call", key=key, method="logits", given=[[1, 5, 9, 4]]), wanted)


@pytest.mark.parametrize("style", ["gpt2", "llama", "window"])
def test_a_long_text_slides_through_the_context(node, style):
    model = made(style)
    key, draw = loaded(node, model), random.Random(0)
    for length in (0, 3, LENGTH - 1, 3 * LENGTH):
        prompt = [draw.randrange(3, SIZE) for _ in range(length)]
        tokens = [draw.randrange(3, SIZE) for _ in range(2 * LENGTH)]
        both = [
            node.one("context", key=key, prompt=prompt, tokens=tokens, cache=cache)
            for cache in (True, False)
        ]
        written, sizes = list(prompt), []
        for token, with_cache, without in zip(tokens, *both, strict=True):
            written.append(token)
            context = with_cache["tokens"]
            assert context == without["tokens"]
            assert context == [1, *written[len(written) - len(context) + 1 :]]
            sizes.append(len(context))
            with torch.no_grad():
                wanted = model.logits(torch.tensor([context]))[0, -1].log_softmax(-1)
            assert close(with_cache["logProbs"], wanted)
            assert close(without["logProbs"], wanted)
        assert max(sizes) == LENGTH
        slides = [size for before, size in pairwise(sizes) if size <= before]
        assert slides
        assert set(slides) == {3 * (LENGTH - 1) // 4 + 2}


def test_what_is_too_long_is_refused(node):
    key = loaded(node, made("llama"))
    with pytest.raises(EngineError, match="tokens must"):
        node.one("cached", key=key, parts=[[1] * LENGTH], rest=[2])
    with pytest.raises(EngineError, match="tokens must"):
        node.one("call", key=key, method="recompute", given=[[1] * 18])
    with pytest.raises(EngineError, match="tokens must"):
        node.one("cached", key=key, parts=[[23]], rest=[])
