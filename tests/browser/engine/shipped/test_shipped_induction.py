"""The two released models of section 13.2: what is claimed of them, and the same in the page."""

from pathlib import Path

import pytest
import torch

import gates2heads
from gates2heads.book.ch13.induction import (
    composition,
    copying,
    head_scores,
    scores,
    scores_without,
)
from gates2heads.book.ch13.repeats import held_out, successors
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.layers.attention.heads_off import heads_of, heads_off
from gates2heads.layers.record import record
from tests.browser.engine.in_node import entry_of

NAMES = ("induction_one", "induction_two")
FOLDER = Path(gates2heads.__file__).parent / "models/weights"
TEXT = "moon guitar Anna river lamp tiger bread moon guitar Anna river lamp tiger"


@pytest.mark.parametrize("name", NAMES)
def test_its_card_tells_its_size_and_its_scores(name):
    model, source, _, _, card = shipped(name)
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert len(source.vocabulary) == model.vocabulary_size == 4 + len(successors())
    assert (FOLDER / f"{name}.safetensors").stat().st_size < 200_000
    for kind in ("chain", "random"):
        found = scores(model, held_out(kind))
        assert card[kind] == pytest.approx(found._asdict(), abs=1e-3)


def test_two_layers_continue_repeats_of_random_words_and_one_layer_does_not():
    one, two = (shipped(name).model for name in NAMES)
    found = held_out("random")
    assert scores(two, found).accuracy > 0.9
    assert scores(two, found).repeat < 0.8
    assert scores(one, found).accuracy < 0.05
    assert scores(one, found).repeat > 4
    assert scores(one, held_out("chain")).first == pytest.approx(
        scores(two, held_out("chain")).first, abs=0.15
    )


def test_offsets_that_did_not_occur_in_training_are_harder_but_found():
    found = scores(shipped("induction_two").model, held_out("random", "held"))
    assert 0.6 < found.accuracy < 0.8


def test_all_heads_of_the_second_layer_are_induction_heads_that_share_the_work():
    model, found = shipped("induction_two").model, held_out("random")
    heads = heads_of(model)
    first, second = heads[:4], heads[4:]
    told = head_scores(model, found)
    assert min(told.prefix_matching[4:]) > 0.4
    assert max(told.prefix_matching[:4]) < 0.05
    assert sorted(told.previous[:4])[1] > 0.25
    whole = scores(model, found)
    for head in second:
        left = scores_without(model, found, [head])
        assert 0.5 < left.accuracy < whole.accuracy - 0.1
    for off in (first, second):
        assert scores_without(model, found, off).accuracy < 0.03
        assert scores_without(model, found, off).repeat > 4.5


def test_the_circuits_copy_and_match():
    model = shipped("induction_two").model
    heads = heads_of(model)
    first, second = heads[:4], heads[4:]
    assert copying(model, second).largest == 1
    assert min(copying(model, [head]).eigenvalues for head in second) > 0.98
    assert min(composition(model, head, first) for head in second) == 1


def test_the_scores_of_the_heads_are_those_of_a_loop():
    model, found = shipped("induction_two").model, held_out("random", size=5, seed=3)
    told = head_scores(model, found)
    with torch.no_grad(), record(model) as trace:
        model.logits(found.tokens[:, :-1])
    prefix, previous = [], []
    weights = trace["layers.1"]["weights"][0]
    for row in range(5):
        begin, length, offset = (int(some[row]) for some in found[1:])
        for query in range(begin, begin + length - 1):
            assert found.tokens[row, query] == found.tokens[row, query - offset]
            prefix.append(weights[row, 2, query, query - offset + 1])
        previous += [weights[row, 2, query, query - 1] for query in range(1, 64)]
    assert told.prefix_matching[4 + 2] == pytest.approx(torch.stack(prefix).mean().item(), abs=1e-5)
    assert told.previous[4 + 2] == pytest.approx(torch.stack(previous).mean().item(), abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_told_what_python_finds(node, name):
    node.one("load", key=name, entry=entry_of(live_model(name)))
    model, source, *_ = shipped(name)
    numbers = [1, *source.encode(TEXT, eos=False)]
    for off in ([], heads_of(model)[-3:]):
        with torch.no_grad(), record(model) as trace, heads_off(model, off):
            log_probs = model.logits(torch.tensor([numbers]))[0].log_softmax(-1)
        payload = {"text": TEXT, "off": [head._asdict() for head in off]}
        found = node.one("readRepeats", key=name, payload=payload)
        surprisals = -log_probs[range(len(numbers) - 1), numbers[1:]] / torch.tensor(2.0).log()
        assert found["bits"] == pytest.approx(surprisals.tolist(), abs=1e-3)
        weights = [trace[f"layers.{n}"]["weights"][0][0] for n in range(len(model.layers))]
        torch.testing.assert_close(found["weights"], torch.stack(weights), atol=1e-4, rtol=0)
        probable = [[word for word, _ in row] for row in found["top"]]
        assert [row[0] for row in probable] == [
            source.vocabulary.tokens[number] for number in log_probs.argmax(-1)
        ]
