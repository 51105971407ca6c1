"""What a model of attention alone makes of words: beside the model itself, the page, bad input."""

import math

import pytest
import torch

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.layers.attention.heads_off import heads_off
from gates2heads.layers.record import record
from gates2heads.watching.repeats import observe_repeats

TEXT = "moon guitar Anna river lamp moon guitar Anna river"


@pytest.fixture(scope="module")
def two():
    """The released model of two layers."""
    return shipped("induction_two")


@pytest.mark.parametrize("off", [[], [("layers.1", 0), ("layers.0", 2)]])
def test_it_is_what_the_model_gives_to_the_whole_text(two, off):
    seen = observe_repeats(two.model, TEXT, two.source, off=off)
    numbers = torch.tensor([1, *two.source.encode(TEXT, eos=False)])
    with torch.no_grad(), record(two.model) as trace, heads_off(two.model, off):
        log_probs = two.model.logits(numbers[None])[0].log_softmax(-1).double()
    assert seen.tokens == ["<bos>", *TEXT.split()]
    wanted = [-log_probs[t, n].item() / math.log(2) for t, n in enumerate(numbers[1:].tolist())]
    assert seen.bits.tolist() == pytest.approx(wanted, abs=1e-5)
    assert seen.likeliest[:, 0].tolist() == log_probs.argmax(-1).tolist()
    assert seen.probs[:, 0].tolist() == pytest.approx(log_probs.exp().amax(-1).tolist(), abs=1e-5)
    assert (seen.probs.diff(dim=1) <= 0).all()
    torch.testing.assert_close(seen.weights[1], trace["layers.1"]["weights"][0][0])
    assert seen.weights.shape == (2, 4, 10, 10)
    assert seen.vocabulary == two.source.vocabulary.tokens


def test_bad_input_gets_one_sentence(two):
    for change, error, message in (
        ({"text": "moon sword"}, ValueError, "text must"),
        ({"text": "moon " * 64}, ValueError, "text must"),
        ({"tokenizer": 3}, TypeError, "tokenizer must"),
        ({"model": 3}, TypeError, "model must"),
        ({"top": 0}, ValueError, "top must"),
    ):
        given = {"model": two.model, "text": TEXT, "tokenizer": two.source, **change}
        with pytest.raises(error, match=message):
            observe_repeats(**given)
