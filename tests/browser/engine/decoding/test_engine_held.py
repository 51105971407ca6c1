"""Three ways to write, in the engine: the same tokens, states and numbers as in the library."""

import random

import pytest
import torch

from gates2heads.browser.engine.export import export_model
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.models.translation.encoders import RecurrentEncoder
from gates2heads.models.translation.seq2seq import Decoder, SequenceToSequence
from gates2heads.watching.forced_tokens import observe_forcing
from tests.browser.engine.in_node import entry_of
from tests.browser.engine.models.test_engine_models import (
    COUNTS,
    PRIMES,
    TOLERANCE,
    encoder_decoder,
    far,
    recurrent,
    stirred,
)
from tests.browser.engine.models.test_engine_walk import Numbers

NEAR = 2e-3  # two float32 passes of a whole model, summed in another order
LONGEST = 7
TEXTS = ["4 février 1974", "Monday, February 4, 1974", "1974年2月4日", "4 de mayo de 2050"]
FORCED = ("forced_teacher", "forced_free", "forced_mixed")


def one_way(draw, size, target):
    """An encoder–decoder whose encoder reads in one direction, in one layer or two."""
    embedding, width = draw.choice(PRIMES), 2 * draw.choice(PRIMES)
    encoder = RecurrentEncoder(size, embedding, width, num_layers=draw.choice([1, 2]))
    return SequenceToSequence(encoder, Decoder(target, embedding, width))


KINDS = (encoder_decoder, recurrent, one_way)


def cases(count):
    """Random models, each with a source, what is held, and what is taught."""
    draw = random.Random(count)
    for number in range(count):
        torch.manual_seed(number)
        sizes = draw.choice([5, 11, 23]), draw.choice([7, 13, 29])
        model = stirred(draw.choice(KINDS)(draw, *sizes))
        source = [draw.randrange(sizes[0]) for _ in range(draw.choice(PRIMES))]
        held = {
            draw.randrange(LONGEST): draw.randrange(2, sizes[1])
            for _ in range(draw.choice([0, 1, 3]))
        }
        taught = [draw.randrange(3, sizes[1]) for _ in range(draw.choice(PRIMES))]
        yield model, sizes, source, held, draw.choice([None, taught])


@pytest.mark.parametrize("count", COUNTS)
def test_random_models(node, count):
    requests, expected = [], []
    for number, (model, sizes, source, held, taught) in enumerate(cases(count)):
        key, (read, written) = f"forcing {number}", map(Numbers, sizes)
        words = written.vocabulary
        options = {"bos": words.bos, "eos": words.eos, "maxLength": LONGEST}
        options |= {"held": list(held.items()), "taught": taught}
        entry = entry_of(export_model(model, name=key))
        requests.append({"op": "load", "key": key, "entry": entry})
        requests.append({"op": "forcing", "key": key, "source": source, "options": options})
        requests.append({"op": "forget", "key": key})
        seen = observe_forcing(
            model,
            " ".join(map(str, source)),
            read,
            Taught(written, taught),
            held={step: words.tokens[token] for step, token in held.items()},
            taught=None if taught is None else "taught",
            max_length=LONGEST,
        )
        expected.append((words, seen))
    shaky = 0
    for ours, (words, theirs) in zip(node.ask(requests)[1::3], expected, strict=True):
        assert far(ours["states"], theirs.states) <= TOLERANCE
        assert far(ours["summary"], theirs.summary) <= TOLERANCE
        for name in ("free", "held", "taught"):
            mine, line = ours[name], getattr(theirs, name)
            if [words.tokens[token] for token in mine["tokens"]] != line.tokens:
                shaky += 1  # two tokens were as likely, and what followed has another beginning
                continue
            assert far(mine["hidden"], line.hidden) <= 10 * TOLERANCE
            assert far(mine["logProbs"], line.log_probs) <= 10 * TOLERANCE * 10
    assert shaky <= count / 50


class Taught:
    """A tokenizer of the target whose only text is the teacher's."""

    def __init__(self, numbers, taught):
        self.vocabulary, self.taught, self.decode = numbers.vocabulary, taught, numbers.decode

    def encode(self, text, *, eos=True):
        assert text == "taught"
        assert not eos
        return self.taught


@pytest.mark.parametrize("name", FORCED)
def test_the_shipped_networks(node, name):
    one = shipped(name)
    node.one("load", key=name, entry=entry_of(live_model(name)))
    for text in TEXTS:
        for held, taught in (({}, None), ({0: "3"}, "1975-02-04"), ({4: "7", 9: "<eos>"}, "-")):
            payload = {"text": text, "held": list(held.items()), "taught": taught}
            ours = node.one("forceText", key=name, payload=payload)
            theirs = observe_forcing(
                one.model, text, one.source, one.target, held=held, taught=taught, max_length=16
            )
            assert (ours["source"], ours["vocabulary"]) == (theirs.source, theirs.vocabulary)
            assert far(ours["states"], theirs.states) < NEAR
            for line in ("free", "held", "taught"):
                assert ours[line]["tokens"] == getattr(theirs, line).tokens
                assert far(ours[line]["hidden"], getattr(theirs, line).hidden) < NEAR
                assert far(ours[line]["logProbs"], getattr(theirs, line).log_probs) < 10 * NEAR


def test_what_has_no_room_or_no_number_is_refused_in_a_sentence(node):
    name = FORCED[0]
    node.one("load", key=name, entry=entry_of(live_model(name)))

    def ask(**payload):
        return node.one("forceText", key=name, payload={"text": "4 mai 1974", **payload})

    assert ask(text="4 " * 31) == {"refused": "Too long: 62 characters (maximum 60)."}
    assert ask(taught="1974x") == {
        "refusedLesson": "The target may contain only digits and “-”; “x” is not allowed."
    }
    assert ask(taught="1" * 16) == {
        "refusedLesson": "The target has 16 characters; at most 15 are possible."
    }
    assert ask(taught="1" * 15)["taught"]["tokens"] == ["1"] * 15 + ["<eos>"]
