"""The four models of pre-training that come with the library: whole, and as good as told."""

import pytest
import torch

from gates2heads.book.ch11.pretraining import SIZES, STEPS, fact_tokenizer
from gates2heads.book.ch11.questions import fill_names
from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.data.corpora.wordings import wordings
from gates2heads.watching.filling import observe_gaps, observe_line
from studies.ch11.pretraining import KINDS, known_names
from tests.browser.engine.in_node import entry_of
from tests.javascript import run_javascript
from tests.views.fill_the_mask.test_fill_the_mask import RUN, TASK, same_gaps, same_line


@pytest.mark.parametrize("kind", KINDS)
def test_its_card_names_what_made_it(kind):
    model, source, target, decoding, card = shipped(f"pretrained_{kind}")
    assert not model.training
    assert source is target
    assert source.vocabulary.tokens == fact_tokenizer().vocabulary.tokens
    assert source.vocabulary.frequencies == fact_tokenizer().vocabulary.frequencies
    assert decoding == {}
    assert card["command"] == f"python -m studies.ch11.pretraining {kind} --seeds 0"
    assert (card["settings"], card["steps"]) == (SIZES[kind], STEPS)
    assert card["names"] == known_names()
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_it_knows_what_its_row_says(kind):
    """On another machine a tie of rounded weights may fall otherwise, in a name or two."""
    row = results_of(read_study("ch11/pretraining"), kind)[0]["test"]
    found = [
        one.is_right for one in fill_names(shipped(f"pretrained_{kind}").model, wordings("test"))
    ]
    assert len(found) == row["facts"]
    assert sum(one != other for one, other in zip(found, row["right"], strict=True)) <= 2


def test_in_the_page_they_say_what_they_say_in_python():
    asked = wordings("test")[::9]
    for kind in ("bert", "ernie", "gpt"):
        one = shipped(f"pretrained_{kind}")
        entry = entry_of(live_model(f"pretrained_{kind}"))
        given = [
            {"entry": entry, "payload": {"text": fact.text, "hidden": [3, 1]}} for fact in asked
        ]
        for fact, found in zip(asked, run_javascript(RUN, TASK, given), strict=True):
            if kind == "gpt":
                same_line(found, observe_line(one.model, fact.text, 1, one.source))
            else:
                same_gaps(found, observe_gaps(one.model, fact.text, [1, 3], one.source))


def test_the_weights_are_those_of_the_file():
    first, second = (shipped("pretrained_elmo").model.state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
