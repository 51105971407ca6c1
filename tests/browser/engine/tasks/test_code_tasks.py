"""What the view of a model of code asks of its model, in Node, beside Python."""

import pytest
import torch

from gates2heads.browser.engine.export import export_model
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.watching.next_token import score_tokens
from tests.browser.engine.in_node import entry_of
from tests.browser.engine.models.test_engine_models import stirred

CODE = "def total(numbers):\n    result = 0\n    for one in numbers:\n        result += one\n"
LENGTH = 24
WAY = {"temperature": 1, "topK": None, "topP": None, "minP": None}


@pytest.fixture(scope="module")
def code(node):
    """A small model, its tokenizer and its key in Node."""
    tokenizer = BPETokenizer.train([CODE, "é 猫 import math\n"], 300)
    torch.manual_seed(1)
    sizes = {"d_model": 16, "nhead": 2, "num_layers": 2, "dim_feedforward": 24}
    size = len(tokenizer.vocabulary)
    model = stirred(DecoderOnly(size, **sizes, **LLAMA, max_length=LENGTH))
    node.one("load", key="code", entry=entry_of(export_model(model, name="code", source=tokenizer)))
    return model, tokenizer


@pytest.mark.parametrize("text", ["", "x", CODE[:20], CODE, "é 猫 <b>\n\n\tq"])
def test_each_token_is_scored_as_python_does(node, code, text):
    model, tokenizer = code
    found = node.one("readCode", key="code", payload={"text": text})
    wanted = score_tokens(model, text, tokenizer)
    assert found["text"] == text
    assert found["unread"] == wanted.unread
    assert [one["piece"] for one in found["tokens"]] == wanted.tokens
    bits = [one["bits"] for one in found["tokens"]]
    assert bits == pytest.approx(wanted.bits.tolist(), abs=1e-4)
    for one, probs in zip(found["tokens"], wanted.probs.tolist(), strict=True):
        assert [prob for _, prob in one["top"]] == pytest.approx(probs, abs=1e-5)
    torch.testing.assert_close(found["next"].double(), wanted.log_probs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("text", ["", CODE[:20], CODE])
def test_the_likeliest_continuation_is_pythons_beyond_the_context_too(node, code, cache, text):
    model, tokenizer = code
    payload = {"text": text, "steps": 40, "seed": 0, "cache": cache, **WAY, "minP": 1}
    found = node.one("continueCode", key="code", payload=payload)
    told = [one for one in found["yielded"] if "piece" in one]
    numbers = tokenizer.encode(text, eos=False) if text else []
    context, written = [1, *numbers[max(0, len(numbers) - LENGTH + 1) :]], []
    for one in told:
        with torch.no_grad():
            logits = model.logits(torch.tensor([context]))[0, -1]
        written.append(int(logits.argmax()))
        assert one["piece"] == tokenizer.vocabulary.tokens[written[-1]]
        if len(context) == LENGTH:
            context = [1, *context[-(3 * (LENGTH - 1) // 4) :]]
        context.append(written[-1])
        assert one["position"] == len(context)
        assert one["milliseconds"] >= 0
    ended = written[-1] == 2
    assert found["returned"]["ended"] == ended
    assert len(told) == 40 or ended
    assert text + found["returned"]["added"] == tokenizer.decode([*numbers, *written])


def test_one_seed_gives_one_text_with_the_cache_and_without(node, code):
    def written(seed, cache):
        payload = {"text": CODE[:20], "steps": 60, "seed": seed, "cache": cache, **WAY}
        return node.one("continueCode", key="code", payload=payload)["returned"]["added"]

    assert written(3, True) == written(3, False) == written(3, True)
    assert len({written(seed, True) for seed in range(5)}) > 1


def test_an_endless_continuation_has_all_its_tokens(node, code):
    way = {**WAY, "temperature": 3}
    payload = {"text": "", "steps": 400, "seed": 0, "cache": True, **way}
    found = node.one("continueCode", key="code", payload={**payload, "endless": True})
    pieces = [one["piece"] for one in found["yielded"] if "piece" in one]
    assert len(pieces) == 400
    assert "<eos>" not in pieces
    assert not found["returned"]["ended"]
