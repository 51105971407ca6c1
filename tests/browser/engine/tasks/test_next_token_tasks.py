"""What the next-token view asks of its models, in Node, beside Python."""

import math
import random

import pytest
import torch

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.decoding.sampling import narrow
from gates2heads.watching.next_token import foresee
from tests.browser.engine.in_node import EngineError, entry_of

FILES = ("captions_ngram", "captions_gru", "captions_transformer")


@pytest.fixture(scope="module")
def loaded(node):
    """The engine with the three shipped models."""
    for name in FILES:
        node.one("load", key=name, entry=entry_of(live_model(name)))
    return node


def models_of(name):
    one = shipped(name)
    counted = hasattr(one.model, "counts_alone")
    models = [one.model.counts_alone(), one.model] if counted else [one.model]
    return models, one.source


TEXTS = ("", "A man is playing the", "A cat sleeps", "é 猫 <b>", "Two dogs " * 20 + "run")
WAYS = ({}, {"temperature": 0.5}, {"topK": 3}, {"temperature": 2, "topK": 40, "topP": 0.8})


@pytest.mark.parametrize("name", FILES)
def test_a_text_is_foreseen_as_python_does(loaded, name):
    models, tokenizer = models_of(name)
    way = random.Random(name)
    for text in TEXTS:
        options = {"temperature": 1, "topK": None, "topP": None} | way.choice(WAYS)
        found = loaded.one("ahead", key=name, payload={"text": text, **options})
        assert found["text"] == text
        for column, model in zip(found["columns"], models, strict=True):
            wanted = foresee(model, text, tokenizer)
            assert column["tokens"] == wanted.tokens
            bits = torch.tensor([one if one is not None else math.inf for one in column["bits"]])
            torch.testing.assert_close(bits.double(), wanted.bits, atol=2e-3, rtol=1e-4)
            check_ahead(column, wanted, options)


def check_ahead(column, wanted, options):
    probs = wanted.log_probs.exp()
    if not probs.any():
        assert (column["ahead"], column["kept"]) == ([], 0)
        return
    drawn = narrow(
        wanted.log_probs,
        temperature=options["temperature"],
        top_k=options["topK"],
        top_p=options["topP"],
    ).exp()
    for one in column["ahead"]:
        assert one["piece"] == wanted.vocabulary[one["token"]]
        assert one["prob"] == pytest.approx(probs[one["token"]].item(), abs=1e-4)
        assert one["drawn"] == pytest.approx(drawn[one["token"]].item(), abs=1e-3)
    top = probs.topk(8).values
    shown = [one["prob"] for one in column["ahead"]]
    assert shown == pytest.approx(top[top > 0].tolist(), abs=1e-4)
    assert abs(column["kept"] - int((drawn > 0).sum())) <= (1 if options["topP"] else 0)


@pytest.mark.parametrize("name", FILES)
def test_draws_follow_the_distribution_and_stop_at_the_end(loaded, name):
    models, tokenizer = models_of(name)
    plain = {"temperature": 1, "topK": None, "topP": None}
    for place, model in enumerate(models):
        probs = foresee(model, "A man", tokenizer).log_probs.exp()
        pieces = []
        for seed in range(150):
            payload = {"text": "A man", "place": place, "steps": 1, "seed": seed, **plain}
            drawn = loaded.one("drawOn", key=name, payload=payload)
            assert drawn["text"] == ("A man" + drawn["pieces"][0]).removesuffix("<eos>")
            pieces += drawn["pieces"]
        tokens = tokenizer.vocabulary.tokens
        for token in probs.topk(3).indices.tolist():
            share, wanted = pieces.count(tokens[token]) / 150, probs[token].item()
            assert abs(share - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / 150)
    payload = {"text": "A man", "place": len(models) - 1, "steps": 60, "seed": 3, **plain}
    whole = loaded.one("drawOn", key=name, payload={**payload, "temperature": 0.3})
    assert whole["ended"]
    assert whole["pieces"][-1] == "<eos>"
    assert whole["text"] == "A man" + "".join(whole["pieces"][:-1])
    assert loaded.one("drawOn", key=name, payload={**payload, "temperature": 0.3}) == whole


def test_counts_alone_say_when_they_have_nothing_to_say(loaded):
    way = {"temperature": 1, "topK": None, "topP": None}
    payload = {"text": "Zebras philosophise", "place": 0, "steps": 5, "seed": 0, **way}
    drawn = loaded.one("drawOn", key="captions_ngram", payload=payload)
    assert drawn == {**drawn, "pieces": [], "ended": False, "silent": True}
    assert drawn["text"] == "Zebras philosophise"


def test_a_text_that_is_too_long_is_refused(loaded):
    payload = {"text": "a dog " * 31, "temperature": 1, "topK": None, "topP": None}
    with pytest.raises(EngineError, match="text must"):
        loaded.one("ahead", key="captions_gru", payload=payload)


@pytest.mark.parametrize("name", FILES)
def test_barred_tokens_are_not_sampled(loaded, name):
    barred = ["<eos>", ".", "!", "?"]
    payload = {"text": "A dog runs through the snow", "temperature": 1, "topK": None, "topP": None}
    column = loaded.one("ahead", key=name, payload=payload | {"barred": barred})["columns"][-1]
    free = loaded.one("ahead", key=name, payload=payload)["columns"][-1]
    ends = [one for one in column["ahead"] if one["piece"].strip() in barred]
    assert ends
    assert all(one["drawn"] == 0 < one["prob"] for one in ends)
    vocabulary = shipped(name).source.vocabulary.tokens
    assert free["kept"] - column["kept"] == sum(piece.strip() in barred for piece in vocabulary)
