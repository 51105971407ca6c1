"""The shipped translator in the engine: the library's tokens, sentence for sentence."""

import time

import pytest
import torch

from gates2heads.data.batches.pairs import pad
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.decoding.translation import write
from gates2heads.layers.attention.heads_off import heads_off
from gates2heads.layers.record import record
from gates2heads.training.recipes.runs import search_of
from tests.needs import needs_data

SENTENCES = [
    "Ein Hund läuft durch den Schnee.",
    "Zwei Kinder spielen am Strand mit einem roten Ball.",
    "Eine Frau in einem grünen Kleid singt auf einer Bühne.",
    "Der alte Mann liest im Park eine Zeitung.",
    "Drei Radfahrer fahren hintereinander einen steilen Berg hinauf.",
    "Ein Mädchen schaukelt, während ihr Bruder zusieht.",
    "Mehrere Leute warten vor einem Geschäft auf den Bus.",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    "ein Koch schneidet Gemüse",
    "Warum ist der Himmel blau?",
    "x",
]


def slow_case(width):
    return pytest.param(width, len(SENTENCES), marks=pytest.mark.slow)


def library_writes(trained, texts, width, max_length=None):
    """The tokens that the library writes for each text, up to <eos>."""
    max_length = max_length or trained.task.max_length
    search = {**search_of(trained.card["recipe"]), "width": width}
    sides = (trained.source, trained.target)
    written = []
    for text in texts:  # one by one, so that no padding changes the order of additions
        output = write(trained.model, [text], *sides, max_length=max_length, **search)
        tokens = output.tokens[0].tolist()
        eos = trained.target.eos
        written.append(tokens[: tokens.index(eos) + 1] if eos in tokens else tokens)
    return written


def engine_writes(node, translator, texts, width):
    return node.one("translate", key=translator, texts=texts, options={"width": width})


@pytest.mark.parametrize(("width", "count"), [(1, 3), slow_case(1), slow_case(5)])
def test_own_sentences_become_the_library_s_tokens(node, translator, trained, width, count):
    texts = SENTENCES[:count]
    found = engine_writes(node, translator, texts, width)
    assert [one["tokens"] for one in found] == library_writes(trained, texts, width)
    assert [one["text"] for one in found] == [trained.target.decode(one["tokens"]) for one in found]
    words = trained.source.vocabulary.tokens
    for text, one in zip(texts, found, strict=True):
        assert one["source"] == [words[number] for number in trained.source.encode(text)]
        assert one["target"] == [words[number] for number in one["tokens"]]
        assert one["finished"] == (one["tokens"][-1] == trained.target.eos)
        assert one["progress"][:2] == [1, 2][: len(one["progress"])]


@pytest.mark.slow
@needs_data
def test_captions_become_the_library_s_tokens(node, translator, trained):
    texts = [pair.german for pair in multi30k("test")[::34]]
    assert len(texts) == 30
    found = engine_writes(node, translator, texts, 1)
    assert [one["tokens"] for one in found] == library_writes(trained, texts, 1)


def test_a_forward_pass_within_its_own_rounding(node, translator, plain_translator, trained):
    # In double precision the library computes what is meant; the engine must be as near to that
    # as the library itself is in single precision.
    source = trained.source.encode(SENTENCES[1])
    tokens = [trained.target.bos, *trained.target.encode("Two children play with a red ball.")]
    request = {"source": source, "tokens": tokens}
    fast = node.one("follow", key=translator, **request)["logProbs"]
    plain = node.one("follow", key=plain_translator, **request)["logProbs"]
    single = followed(trained.model, source, tokens)
    exact = followed(trained.model.double(), source, tokens)
    trained.model.float()
    assert (single - exact).abs().max() < 1e-4
    assert (fast - exact).abs().max() <= 2 * (single - exact).abs().max()
    assert (plain - exact).abs().max() <= 2 * (single - exact).abs().max()
    assert not torch.equal(fast, plain)


def followed(model, source, tokens):
    """Log-probabilities (T, V) of the library, step by step."""
    rows = []
    with torch.no_grad():
        state = model.start(torch.tensor([source]))
        for token in tokens:
            log_probs, state = model.step(state, torch.tensor([token]))
            rows.append(log_probs[0])
    return torch.stack(rows)


def test_the_layers_note_what_they_did_in_the_written_sequence(node, translator, trained):
    text = SENTENCES[0]
    options = {"width": 2, "record": True, "more": ["scores"]}
    (found,) = node.one("translate", key=translator, texts=[text], options=options)
    tokens, mask = pad([trained.source.encode(text)])
    with record(trained.model) as trace, torch.no_grad():
        state = trained.model.start(tokens, mask=mask)
        for token in [trained.target.bos, *found["tokens"][:-1]]:
            _, state = trained.model.step(state, torch.tensor([token]))
    assert found["notes"].keys() == set(trace)
    layer = "decoder_layers.2.cross_attn"
    expected = trace.joined(layer, "weights", dim=2)[0]
    assert found["notes"][layer]["weights"].shape == (4, len(found["tokens"]), tokens.shape[1])
    torch.testing.assert_close(found["notes"][layer]["weights"], expected, atol=1e-5, rtol=0)
    scores = found["notes"][layer]["scores"]
    torch.testing.assert_close(scores.softmax(-1), expected, atol=1e-5, rtol=0)


OFF = {
    "one head": [("decoder_layers.1.cross_attn", 2)],
    "an encoder layer": [("encoder_layers.0.self_attn", head) for head in range(4)],
    "heads here and there": [
        *(("encoder_layers.2.self_attn", 1), ("decoder_layers.0.self_attn", 0)),
        *(("decoder_layers.2.cross_attn", 3), ("encoder_layers.1.self_attn", 2)),
    ],
}


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.slow) for one in OFF])
def test_without_some_heads_it_writes_the_library_s_tokens(node, translator, trained, name):
    heads = [{"layer": layer, "head": head} for layer, head in OFF[name]]
    options = {"width": 1, "maxLength": 24}
    request = {"key": translator, "texts": SENTENCES, "options": options}
    found = [one["tokens"] for one in node.one("translate", **request, heads=heads)]
    with heads_off(trained.model, OFF[name]):
        expected = library_writes(trained, SENTENCES, 1, max_length=24)
    assert found == expected
    assert found != [one["tokens"] for one in node.one("translate", **request)]


def test_a_head_that_is_switched_off_adds_nothing(node, translator, trained):
    source = trained.source.encode(SENTENCES[0])
    tokens, layer, head = [trained.target.bos, 7, 11], "decoder_layers.1.cross_attn", 2
    request = {"key": translator, "source": source, "tokens": tokens}
    found = node.one("follow", **request, heads=[{"layer": layer, "head": head}])["logProbs"]
    whole = node.one("follow", **request)["logProbs"]
    assert (found - whole).abs().max() > 1e-3
    with heads_off(trained.model, [(layer, head)]):
        expected = followed(trained.model, source, tokens)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_heads_that_are_not_there_are_refused(node, translator):
    request = {"op": "follow", "key": translator, "source": [3], "tokens": [1]}
    wrong = [{"layer": "decoder", "head": 0}, {"layer": "encoder_layers.0.self_attn", "head": 4}]
    answers = node.ask([{**request, "heads": [head]} for head in wrong])
    assert "heads must be of layers that model has, encoder_layers.0.self_attn" in str(answers[0])
    assert (
        str(answers[1])
        == "heads of encoder_layers.0.self_attn must have numbers from 0 to 3, got 4"
    )


def test_a_run_can_be_cancelled(node, translator):
    found = node.one("cancel", key=translator, text=SENTENCES[1], after=3)
    assert found == {"cancelled": True, "steps": 3}


def test_refusals_are_one_sentence(node, translator):
    requests = [
        {"op": "translate", "key": translator, "texts": [text]} for text in ("", "a " * 600)
    ]
    requests.append({"op": "follow", "key": translator, "source": [8000], "tokens": [1]})
    requests.append({"op": "follow", "key": translator, "source": [3], "tokens": [-1]})
    requests.append(
        {"op": "follow", "key": translator, "source": [3], "tokens": [1], "mask": [True] * 2}
    )
    assert [str(error) for error in node.ask(requests)] == [
        "text is empty; it must hold at least one character",
        "source must be at most 512 tokens long, got 602",
        "source must hold numbers from 0 to 7999, got 8000",
        "last must hold numbers from 0 to 7999, got -1",
        "mask must have 1 entries, one a token, got 2",
    ]


@pytest.mark.slow
def test_speed_beside_the_library(node, translator, plain_translator, trained, capsys):
    source = trained.source.encode(SENTENCES[1])
    tokens = [trained.target.bos, *trained.target.encode("Two children play with a red ball.")]
    request = {"op": "speed", "source": source, "tokens": tokens, "times": 20}
    ours = node.ask([{**request, "key": key} for key in (translator, plain_translator)])
    with torch.no_grad():
        theirs = {"start": quickest(lambda: trained.model.start(torch.tensor([source])))}
        state = trained.model.start(torch.tensor([source]))
        for token in tokens:
            _, state = trained.model.step(state, torch.tensor([token]))
        theirs["step"] = quickest(lambda: trained.model.step(state, torch.tensor([1])))
    with capsys.disabled():
        for way, times in zip(("WebAssembly", "plain"), ours, strict=True):
            for name, known in theirs.items():
                ratio = f"{times[name]:.1f} ms, library {known:.1f} ms: {times[name] / known:.1f}"
                print(f"\nengine ({way}), one {name}: {ratio}", end="")
    assert all(time > 0 for times in ours for time in times.values())


def quickest(work):
    """Milliseconds of the quickest of some runs."""
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - begin))
    return min(times)
