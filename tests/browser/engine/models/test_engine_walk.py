"""A walk through a Transformer in the engine: the same numbers as in the library."""

import random

import pytest
import torch

from gates2heads.browser.engine.export import export_model
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.watching.walk import walk
from tests.browser.engine.in_node import entry_of
from tests.browser.engine.models.test_engine_models import (
    COUNTS,
    PRIMES,
    TOLERANCE,
    far,
    stirred,
    transformer,
)
from tests.browser.engine.models.test_engine_translator import SENTENCES

NEAR = 2e-3  # two float32 passes of a large model, summed in another order
LONGEST = 7


class Numbers:
    """A tokenizer of texts such as "3 1 4": the numbers of tokens, and no others."""

    def __init__(self, size):
        self.vocabulary = Vocabulary([str(number) for number in range(size - 3)])

    def encode(self, text):
        return [int(word) for word in text.split()]

    def decode(self, numbers):
        return " ".join(map(str, numbers))


def cases(count):
    """Random models with a text each: the entry for the engine, and what the library walks."""
    draw = random.Random(count)
    for number in range(count):
        torch.manual_seed(number)
        model = stirred(transformer(draw, draw.choice([5, 11, 23]), draw.choice([7, 13, 29])))
        sides = Numbers(model.source_size), Numbers(model.target_size)
        source = [draw.randrange(model.source_size) for _ in range(draw.choice(PRIMES))]
        yield model, source, sides, draw.choice([1, 3, 5])


@pytest.mark.parametrize("count", COUNTS)
def test_random_transformers(node, count):
    requests, expected = [], []
    for number, (model, source, sides, top) in enumerate(cases(count)):
        key, words = f"walk {number}", sides[1].vocabulary
        options = {"bos": words.bos, "eos": words.eos, "maxLength": LONGEST, "count": top}
        entry = entry_of(export_model(model, name=key))
        requests.append({"op": "load", "key": key, "entry": entry})
        requests.append({"op": "walk", "key": key, "source": source, "options": options})
        requests.append({"op": "forget", "key": key})
        text = " ".join(map(str, source))
        expected.append((words, walk(model, text, *sides, top=top, max_length=LONGEST)))
    shaky = 0
    for ours, (words, theirs) in zip(node.ask(requests)[1::3], expected, strict=True):
        if [words.tokens[token] for token in ours["tokens"]] != theirs.target:
            shaky += 1  # two tokens were as likely, and what followed has another beginning
            continue
        named = [
            [[words.tokens[token] for token in step] for step in depth]
            for depth in ours["readouts"].pop("tokens")
        ]
        ours["readouts"]["words"] = named
        shaky += not same_walk(ours, theirs, 10 * TOLERANCE)
    assert shaky <= count / 50


def same_walk(ours, theirs, within):
    """Whether all numbers are equal to within rounding; the cache's, and all names, exactly."""
    names = ("stack", "block", "part")
    for mine, other in zip(ours["stages"], theirs.stages, strict=True):
        assert [mine[name] for name in names] == [getattr(other, name) for name in names]
        for name in ("before", "added", "after", "weights"):
            known = getattr(other, name)
            assert (mine[name] is None) == (known is None)
            # Sizes are compared by their share: some models let them grow.
            if known is not None and far(mine[name], known) > within * max(1, known.max()):
                return False
    cache = theirs.cache
    assert ours["cache"]["shape"] == list(cache.shape)
    for name in ("source", "target", "without"):
        assert ours["cache"][name] == getattr(cache, name)
    for name, known in (
        ("logProbs", theirs.readouts.log_probs),
        ("written", theirs.readouts.written),
    ):
        if far(torch.tensor(ours["readouts"][name]), known) > within:
            return False
    assert abs(ours["logProb"] - theirs.log_prob) <= 10 * within
    return same_order(ours["readouts"], theirs.readouts, within)


def same_order(ours, theirs, within):
    """Whether the same words stand in the same order; where two are as likely, in either."""
    rank = torch.tensor(ours["rank"])
    assert rank.shape == theirs.rank.shape
    differ = sum(
        one != other
        for mine, known in zip(ours["words"], theirs.words, strict=True)
        for one, other in zip(mine, known, strict=True)
    )
    return (rank == theirs.rank).float().mean() > 0.95 and differ <= 0.05 * rank.numel() + 1


@pytest.mark.parametrize("count", [2, pytest.param(len(SENTENCES), marks=pytest.mark.slow)])
def test_the_shipped_translator(node, translator, trained, count):
    for text in SENTENCES[:count]:
        ours = node.one("walkText", key=translator, payload={"text": text})
        theirs = walk(trained.model, text, trained.source, trained.target, max_length=40)
        assert (ours["source"], ours["target"]) == (theirs.source, theirs.target)
        assert ours["written"] == trained.target.decode(
            trained.target.vocabulary.encode(theirs.target)
        )
        assert same_walk(ours, theirs, NEAR)
        first = [step[0] for step in ours["readouts"]["words"][-1]]
        assert first == ours["target"]


def test_what_has_no_room_is_refused_in_a_sentence(node, translator):
    found = node.one("walkText", key=translator, payload={"text": " ".join(["Hund"] * 40)})
    assert found == {"refused": "Too long: 41 tokens (maximum 40)."}
