"""The three networks of the unroller: whole, as their cards say, and unlike in what drifts."""

import pytest
import torch

from gates2heads.book.ch04.error_propagation import drift
from gates2heads.browser.engine.rebuild import shipped
from studies.ch04.teacher_forcing import SETTINGS, batch_of, digits_of, judge

WAYS = ("teacher", "free", "mixed")


@pytest.mark.parametrize("way", WAYS)
def test_its_card_names_what_made_it(way):
    model, source, target, decoding, card = shipped(f"forced_{way}")
    assert not model.training
    assert target.vocabulary.tokens[3:] == [*"-0123456789"]
    assert decoding["width"] == 1
    assert card["command"] == f"python -m shipping.forced {way}"
    assert card["settings"] == SETTINGS
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert len(source.vocabulary) == model.encoder.embedding.num_embeddings


@pytest.mark.parametrize("way", WAYS)
def test_it_writes_as_well_as_its_card_says(way):
    model, source, target, _, card = shipped(f"forced_{way}")
    with torch.no_grad():
        found = judge(model, batch_of("test", 1000, source, target))
    assert found == pytest.approx(card["scores"]["test"], abs=2e-3)
    assert found["right"] > 0.97


def test_with_a_teacher_it_drifts_most_and_alone_least():
    found = {}
    for way in WAYS:
        model, source, target, *_ = shipped(f"forced_{way}")
        batch = batch_of("test", 200, source, target)
        found[way] = drift(model, batch, digits_of(target))["drift"][0]
    assert found["teacher"] > found["mixed"] > found["free"]
