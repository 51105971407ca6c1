"""The two networks with gates that come with the library: whole, and as good as their cards say."""

import pytest
import torch

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.python.source import CHARACTERS
from shipping.gates import SETTINGS, bits, read

CELLS = ("lstm", "gru")


@pytest.mark.parametrize("cell", CELLS)
def test_its_card_names_what_made_it(cell):
    model, source, target, decoding, card = shipped(f"gates_{cell}")
    assert not model.training
    assert source is target
    assert source.vocabulary.tokens[3:] == list(CHARACTERS)
    assert decoding == {}
    assert card["command"] == f"python -m shipping.gates {cell}"
    assert card["settings"] == {"cell": cell, **SETTINGS}
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("cell", CELLS)
def test_it_reads_python_as_well_as_its_card_says(cell):
    """A sample of passages, of the Python that is here: within a quarter of a bit."""
    one = shipped(f"gates_{cell}")
    found = bits(one.model, read("test")[::25])
    assert found == pytest.approx(one.card["test_bits_per_character"], abs=0.25)
    assert one.card["test_bits_per_character"] < 2


def test_the_weights_are_those_of_the_file():
    first, second = (shipped("gates_lstm").model.state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
