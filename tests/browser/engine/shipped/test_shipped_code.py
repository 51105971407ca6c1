"""The model of Python source that comes with the library: whole, and the same in the page."""

from pathlib import Path

import pytest
import torch

import gates2heads
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.watching.next_token import score_tokens
from tests.browser.engine.in_node import entry_of

NAME = "python_llama"
FILE = Path(gates2heads.__file__).parent / f"models/weights/{NAME}.safetensors"
TEXTS = (
    "def mean(numbers):\n    total = 0.0\n    for number in numbers:\n        total += number\n",
    "import sys\n\n\nclass Point:\n    def __init__(self, x, y):\n        self.x = x\n" * 9,
)


@pytest.fixture(scope="module")
def code(node):
    """The model in Node."""
    node.one("load", key=NAME, entry=entry_of(live_model(NAME)))
    return node


def test_its_card_counts_its_parameters():
    model, source, _, _, card = shipped(NAME)
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert len(source.vocabulary) == model.vocabulary_size
    assert card["bits_per_character_small"]["test"] < 2


@pytest.mark.parametrize("text", TEXTS, ids=["short", "longer than the context"])
def test_the_page_scores_and_continues_code_as_python_does(code, text):
    model, source, *_ = shipped(NAME)
    wanted = score_tokens(model, text, source)
    found = code.one("readCode", key=NAME, payload={"text": text})
    assert [one["piece"] for one in found["tokens"]] == wanted.tokens
    bits = torch.tensor([one["bits"] for one in found["tokens"]], dtype=torch.double)
    torch.testing.assert_close(bits, wanted.bits, atol=2e-3, rtol=2e-3)
    payload = {"text": text, "steps": 12, "seed": 1, "temperature": 1, "minP": 0.1}
    payload |= {"topK": None, "topP": None}
    both = [
        code.one("continueCode", key=NAME, payload={**payload, "cache": cache})["returned"]
        for cache in (True, False)
    ]
    assert both[0] == both[1]
