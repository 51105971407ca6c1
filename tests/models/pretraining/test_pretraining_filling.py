"""Gaps filled by BERT, and the four models by name."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.joined import Markers
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.by_name import PRETRAINED, pretraining_model
from gates2heads.models.pretraining.filling import fill_gaps
from gates2heads.models.pretraining.gpt import GPT

MARKERS = Markers(11)
SIZES = {"d_model": 8, "nhead": 2, "num_layers": 2, "max_length": 13}


def model():
    torch.manual_seed(3)
    return BERT(MARKERS.size, **SIZES).eval()


def line(*tokens):
    return torch.tensor([[MARKERS.cls, *tokens, MARKERS.sep]])


def gaps(tokens, *places):
    found = torch.zeros_like(tokens, dtype=torch.bool)
    found[0, list(places)] = True
    return found


def test_it_is_what_the_model_says_of_the_hidden_places():
    bert, tokens = model(), line(3, 5, 7)
    hidden = torch.tensor([[MARKERS.cls, MARKERS.mask, 5, MARKERS.mask, MARKERS.sep]])
    wanted = bert(hidden)[0].log_softmax(-1)[0, [1, 3]]
    found = fill_gaps(bert, tokens, gaps(tokens, 1, 3), markers=MARKERS)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(found.exp().sum(-1), torch.ones(2))


@given(st.integers(3, 10), st.integers(3, 10))
def test_what_stands_in_a_gap_is_not_read(one, other):
    bert, first, second = model(), line(4, one, 6), line(4, other, 6)
    found = [fill_gaps(bert, both, gaps(both, 2), markers=MARKERS) for both in (first, second)]
    torch.testing.assert_close(*found)


def test_padding_changes_nothing():
    bert, tokens = model(), line(3, 5, 7)
    padded = torch.cat([tokens, torch.zeros(1, 4, dtype=torch.long)], dim=1)
    found = fill_gaps(bert, padded, gaps(padded, 2), markers=MARKERS, mask=padded != MARKERS.pad)
    torch.testing.assert_close(found, fill_gaps(bert, tokens, gaps(tokens, 2), markers=MARKERS))


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (torch.zeros(1, 5).bool(), "gaps masks no token"),
        (torch.ones(1, 5).bool(), r"gaps must"),
    ],
)
def test_gaps_where_nothing_can_be_asked(places, message):
    with pytest.raises(ValueError, match=message):
        fill_gaps(model(), line(3, 5, 7), places, markers=MARKERS)


def test_the_four_go_by_their_names():
    kinds = {kind: type(pretraining_model(kind, 12, **sizes(kind))) for kind in PRETRAINED}
    assert kinds["bert"] is kinds["ernie"] is BERT
    assert kinds["gpt"] is GPT
    assert len(set(kinds.values())) == 3


def sizes(kind):
    return {"hidden_size": 5} if kind == "elmo" else SIZES
