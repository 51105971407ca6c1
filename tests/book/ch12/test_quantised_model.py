"""What the Further page of chapter 12 says of fewer bits, on other modules and lengths."""

import inspect
import json
import math

import pytest
import torch

from gates2heads.book.ch12.python_text import PythonText, bits_per_character
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.python.source import known_characters
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding import beam
from gates2heads.layers import masks
from gates2heads.layers.attention import heads
from tests.chapters.solutions.test_solutions import CHAPTERS

PAGE = "12_one_stack_further.ipynb"


def defined(function, **space):
    """What the cell of the page that defines a function defines, up to its first use."""
    cells = json.loads((CHAPTERS / PAGE).read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    (found,) = [one for one in code if f"def {function}(" in one]
    space["torch"] = torch
    exec(found.partition("released =")[0], space)
    return space


def quantised():
    """The function of the page."""
    return defined("quantised")["quantised"]


def test_four_bits_by_hand():
    """The largest of the row, 1.4, becomes 7; 0.44 / 0.2 = 2.2 becomes 2."""
    found = quantised()({"w": torch.tensor([[1.4, -0.44, 0.26, 0.0]]), "b": torch.ones(1)}, bits=4)
    assert found["w"][0].tolist() == pytest.approx([1.4, -0.4, 0.2, 0.0])
    assert found["b"].tolist() == [1]
    grouped = quantised()({"w": torch.tensor([[1.4, -0.44, 0.7, 0.0]])}, bits=4, group=2)
    assert grouped["w"][0].tolist() == pytest.approx([1.4, -0.4, 0.7, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("module", [masks, heads, beam])
@pytest.mark.parametrize("length", [64, 256])
def test_the_formats_have_one_order(module, length):
    released, round_to = shipped("python_llama"), quantised()
    kept = {name: one.clone() for name, one in released.model.state_dict().items()}
    text = known_characters(inspect.getsource(module))
    told = PythonText(torch.tensor(released.source.encode(text)), len(text) + 1)

    def bits_with(*how):
        released.model.load_state_dict(round_to(kept, *how))
        return bits_per_character(released.model, told, length=length)

    eight, six, four, grouped, three = (
        bits_with(*how) for how in ((8,), (6,), (4,), (4, 32), (3,))
    )
    assert abs(six - eight) < 0.01
    assert eight - 0.01 < grouped < four < three  # a text may favour either by rounding
    assert four - eight < 0.1
    assert three - eight > 3 * (four - eight)


@pytest.mark.slow
@pytest.mark.parametrize("module", [masks, heads, beam])
def test_a_cache_with_fewer_bits_has_the_same_order(module):
    released = shipped("python_llama")
    rounded = defined("rounded")["rounded"]
    space = defined("bits_per_token", model=released.model, math=math, rounded=rounded)
    tokens = torch.tensor(released.source.encode(known_characters(inspect.getsource(module))))
    count = len(tokens) // 127
    passages = torch.nn.functional.pad(
        tokens[: 127 * count].view(count, 127), (1, 0), value=Vocabulary.bos
    )
    exact, eight, four, three, two = (
        space["bits_per_token"](passages, bits) for bits in (None, 8, 4, 3, 2)
    )
    assert abs(eight - exact) < 0.005
    assert 0.01 < four - exact < 0.1 < three - exact < 0.4
    assert two - exact > 1
