"""N-gram models of the engine beside the library's: the same probabilities."""

import random

import pytest
import torch

from gates2heads.browser.engine.export import export_model
from gates2heads.models.language.ngram import KneserNey
from gates2heads.models.language.pruned import PrunedKneserNey
from tests.browser.engine.in_node import EngineError, entry_of


def counted(draw):
    size = draw.choice([5, 11, 23])
    texts = [
        [draw.randrange(3, size) for _ in range(draw.randrange(1, 13))] + [2]
        for _ in range(draw.choice([1, 7, 31]))
    ]
    discount = draw.choice([None, 0.0, 0.5, 0.75, 1.0])
    whole = KneserNey(texts, size, draw.choice([1, 2, 3, 4]), discount=discount)
    return PrunedKneserNey.of(whole, least=draw.choice([1, 2, 3])), size


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_every_step_is_the_librarys(node, count):
    draw, requests, expected = random.Random(count), [], []
    for number in range(count):
        model, size = counted(draw)
        entry = entry_of(export_model(model, name=f"n{number}"))
        tokens = [1] + [draw.randrange(3, size) for _ in range(7)]
        requests.append({"op": "load", "key": f"n{number}", "entry": entry})
        requests.append({"op": "counted", "key": f"n{number}", "tokens": tokens})
        for one in (model, model.counts_alone()):
            state, rows = one.start(), []
            for token in tokens:
                log_probs, state = one.step(state, torch.tensor([token]))
                rows.append(log_probs[0])
            expected.append(torch.stack(rows))
    answers = node.ask(requests)[1::2]
    found = [table for answer in answers for table in (answer["smoothed"], answer["alone"])]
    for table, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(table.exp().double(), wanted.exp(), atol=1e-12, rtol=1e-9)


def test_a_number_outside_of_the_vocabulary_is_refused(node):
    model, size = counted(random.Random(0))
    node.one("load", key="n", entry=entry_of(export_model(model, name="n")))
    with pytest.raises(EngineError, match="last must"):
        node.one("counted", key="n", tokens=[1, size])
