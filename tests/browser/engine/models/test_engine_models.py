"""Models of the engine beside the library's: the same log-probabilities, and the same notes."""

import random

import pytest
import torch

from gates2heads.book.ch05.attention_variants import WAYS, looking_model
from gates2heads.browser.engine.export import export_model
from gates2heads.layers.attention.heads_off import heads_of, heads_off
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.record import record
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.by_name import recurrent_translator
from gates2heads.models.translation.decoders import BahdanauDecoder, LuongDecoder
from gates2heads.models.translation.encoders import RecurrentEncoder
from gates2heads.models.translation.seq2seq import EncoderDecoder, SequenceToSequence
from gates2heads.training.quantisation import dequantise, quantise
from tests.browser.engine.in_node import entry_of
from tests.without_positions import without_positions

PRIMES = (2, 3, 5, 7, 11, 13)
TOLERANCE = 1e-5
COUNTS = [20, pytest.param(500, marks=pytest.mark.slow)]


def transformer(draw, size, target):
    heads = draw.choice([1, 2, 3])
    return Transformer(
        size,
        size if (all_ := draw.random() < 0.3) else target,
        d_model=heads * draw.choice([2, 4, 6, 10]),
        nhead=heads,
        num_encoder_layers=draw.choice([1, 2, 3]),
        num_decoder_layers=draw.choice([1, 2, 3]),
        dim_feedforward=draw.choice(PRIMES),
        tie="all" if all_ else draw.choice([None, "target"]),
        rotary=draw.random() < 0.5,
        max_length=37,
        **block(draw),
    )


def block(draw):
    """The choices that all stacks have."""
    return {
        "activation": draw.choice(["relu", "gelu", "silu"]),
        "norm_first": draw.random() < 0.5,
        "norm": draw.choice(["layer", "rms"]),
        "positions": draw.choice(["sinusoidal", "learned"]),
    }


def recurrent(draw, size, target):
    attention = draw.choice([None, "bahdanau", "luong"])
    several = attention != "bahdanau"
    return recurrent_translator(
        size,
        target,
        cell=draw.choice(["rnn", "gru", "lstm"]) if several else "gru",
        attention=attention,
        repeat_summary=attention is None and draw.random() < 0.5,
        score=draw.choice(list(SCORES)),
        embedding_size=draw.choice(PRIMES),
        hidden_size=2 * draw.choice(PRIMES),
        num_layers=draw.choice([1, 2, 3]) if several else 1,
        bidirectional=draw.random() < 0.5,
    )


def encoder_decoder(draw, size, target):
    score = draw.choice([None, *SCORES])
    sizes = {"embedding_size": draw.choice(PRIMES), "hidden_size": 2 * draw.choice(PRIMES)}
    return EncoderDecoder(size, target, score=score, **sizes)


def looking(draw, size, target):
    model = looking_model(draw.choice(WAYS), size, target, window=draw.choice([1, 2, 3]))
    if isinstance(model.decoder, LuongDecoder) and draw.random() < 0.3:
        attention, embedding = model.decoder.attention, draw.choice(PRIMES)
        decoder = LuongDecoder(target, embedding, 64, attention, input_feeding=False)
        model = SequenceToSequence(model.encoder, decoder)
    if isinstance(model.decoder, BahdanauDecoder) and draw.random() < 0.5:
        encoder = RecurrentEncoder(size, 5, 64)
        attention, size = model.decoder.attention, draw.choice(PRIMES)
        decoder = BahdanauDecoder(target, size, 64, attention, maxout_size=7, reset_after=True)
        model = SequenceToSequence(encoder, decoder)
    return model


TRANSLATORS = {
    "Transformer": transformer,
    "recurrent": recurrent,
    "EncoderDecoder": encoder_decoder,
    "looking": looking,
}


def stirred(model):
    """The model with noise on every weight, so that none is still zero or one."""
    with torch.no_grad():
        for parameter in model.parameters():
            # Scaled by the width, or a recurrent model would double its rounding at every step.
            width = parameter.shape[-1] if parameter.dim() > 1 else 9
            parameter.add_(torch.randn_like(parameter) / (2 * width) ** 0.5)
    return model.eval()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", TRANSLATORS)
def test_translators(node, kind, count):
    draw, requests, expected = random.Random(count), [], []
    for number in range(count):
        torch.manual_seed(number)
        size, target = draw.choice([5, 11, 23]), draw.choice([7, 13, 29])
        model = stirred(TRANSLATORS[kind](draw, size, target))
        known = model.target_size if kind == "Transformer" else target
        source = [draw.randrange(size) for _ in range(draw.choice(PRIMES))]
        mask = [True] * draw.randrange(1, len(source) + 1)
        mask += [False] * (len(source) - len(mask))
        if draw.random() < 0.3:
            mask = None
        tokens = [draw.randrange(known) for _ in range(draw.choice(PRIMES))]
        key = f"{kind} {number}"
        requests.append(
            {"op": "load", "key": key, "entry": entry_of(export_model(model, name=key))}
        )
        asked = {"source": source, "mask": mask, "tokens": tokens, "more": []}
        requests.append({"op": "follow", "key": key, **asked})
        requests.append({"op": "forget", "key": key})
        expected.append(((model, source, mask, tokens), *followed(model, source, mask, tokens)))
    shaky = 0
    for answer, (given, log_probs, trace) in zip(node.ask(requests)[1::3], expected, strict=True):
        if far(answer["logProbs"], log_probs) > TOLERANCE:
            # A norm over two numbers that are nearly equal enlarges what was rounded: then the
            # engine must be about as near to the exact answer as the library itself.
            exact, _ = followed(given[0].double(), *given[1:])
            assert far(answer["logProbs"], exact) <= 2 * far(log_probs, exact)
            shaky += 1
            continue
        assert_notes(answer["notes"], trace)
    assert shaky <= count / 100


def followed(model, source, mask, tokens):
    """What the library answers to the same, and what its layers note."""
    rows = []
    with torch.no_grad(), record(model) as trace:
        mask = None if mask is None else torch.tensor([mask])
        state = model.start(torch.tensor([source]), mask=mask)
        for token in tokens:
            log_probs, state = model.step(state, torch.tensor([token]))
            rows.append(log_probs[0])
    return torch.stack(rows), trace


@pytest.mark.parametrize("count", COUNTS)
def test_transformers_without_some_heads_and_without_positions(node, count):
    draw, requests, expected = random.Random(count), [], []
    for number in range(count):
        torch.manual_seed(number)
        size, target = draw.choice([5, 11, 23]), draw.choice([7, 13, 29])
        model = stirred(transformer(draw, size, target))
        source = [draw.randrange(size) for _ in range(draw.choice(PRIMES))]
        tokens = [draw.randrange(model.target_size) for _ in range(draw.choice(PRIMES))]
        off = [head for head in heads_of(model) if draw.random() < 0.3]
        positions, key = draw.random() < 0.5, f"heads {number}"
        asked = {"source": source, "tokens": tokens, "more": [], "positions": positions}
        asked["heads"] = [head._asdict() for head in off]
        entry = entry_of(export_model(model, name=key))
        requests.append({"op": "load", "key": key, "entry": entry})
        requests += ({"op": op, "key": key, **asked} for op in ("follow", "headsOf", "forget"))
        with heads_off(model, off):
            given = (model if positions else without_positions(model), source, None, tokens)
            expected.append((given, off, followed(*given)))
    answers = node.ask(requests)
    shaky = 0
    for answer, listed, (given, off, found) in zip(
        answers[1::4], answers[2::4], expected, strict=True
    ):
        log_probs, trace = found
        assert listed == [head._asdict() for head in heads_of(given[0])]
        if far(answer["logProbs"], log_probs) > TOLERANCE:
            with heads_off(given[0].double(), off):
                exact, _ = followed(*given)
            assert far(answer["logProbs"], exact) <= 2 * far(log_probs, exact)
            shaky += 1
            continue
        assert_notes(answer["notes"], trace)
    assert shaky <= count / 100


def far(ours, theirs):
    assert ours.shape == theirs.shape
    return (ours - theirs).abs().max().item()


def assert_notes(ours, trace):
    """The same layers noted the same quantities, step for step."""
    assert set(ours) == set(trace)
    for layer in trace:
        # The engine notes scores when it is asked to; the browser's tests ask, and compare them.
        usual = {name: notes for name, notes in trace[layer].items() if name != "scores"}
        assert set(ours[layer]) == set(usual)
        for quantity, notes in usual.items():
            mine = ours[layer][quantity]
            theirs = with_steps(quantity, notes)
            assert mine.numel() == theirs.numel()
            assert far(mine.flatten(), theirs.flatten()) <= 10 * TOLERANCE, (layer, quantity)


def with_steps(quantity, notes):
    """The library's notes without the batch, along the time axis as the engine joins them."""
    if notes[0].dim() == 4:  # weights of heads, (B, H, T, S): a shorter row ends in zeros
        longest = max(note.shape[-1] for note in notes)
        padded = [torch.nn.functional.pad(note, (0, longest - note.shape[-1])) for note in notes]
        return torch.cat(padded, dim=2)[0]
    return torch.cat(notes, dim=1)[0]


def language_model(draw, size):
    if draw.random() < 0.4:
        return RecurrentLanguageModel(
            size,
            cell=draw.choice(["rnn", "gru", "lstm"]),
            embedding_size=draw.choice(PRIMES),
            hidden_size=draw.choice(PRIMES),
            num_layers=draw.choice([1, 2, 3]),
        )
    heads = draw.choice([1, 2, 3])
    sizes = {"d_model": heads * draw.choice(PRIMES), "nhead": heads}
    sizes |= {"num_layers": draw.choice([1, 2, 3]), "dim_feedforward": draw.choice(PRIMES)}
    if draw.random() < 0.5:
        return GPT(size, norm_first=draw.random() < 0.5, max_length=23, **sizes)
    tie = draw.random() < 0.5
    return TransformerLanguageModel(size, tie=tie, max_length=23, **sizes, **block(draw))


@pytest.mark.parametrize("count", COUNTS)
def test_language_models(node, count):
    draw, requests, expected = random.Random(count), [], []
    for number in range(count):
        torch.manual_seed(number)
        size = draw.choice([5, 11, 23])
        model = stirred(language_model(draw, size))
        tokens = [draw.randrange(size) for _ in range(draw.choice(PRIMES))]
        prompt = draw.randrange(len(tokens))
        key = f"language {number}"
        requests.append(
            {"op": "load", "key": key, "entry": entry_of(export_model(model, name=key))}
        )
        asked = {"source": tokens[:prompt], "tokens": tokens[prompt:]}
        requests.append({"op": "follow", "key": key, **asked})
        requests.append({"op": "call", "key": key, "method": "logits", "given": [tokens]})
        requests.append({"op": "forget", "key": key})
        with torch.no_grad():
            logits = (model if isinstance(model, GPT) else model.logits)(torch.tensor([tokens]))[0]
        expected.append((logits, prompt))
    answers = node.ask(requests)
    for steps, logits, (wanted, prompt) in zip(answers[1::4], answers[2::4], expected, strict=True):
        assert far(logits, wanted) <= TOLERANCE * max(1, wanted.abs().max())
        log_probs = wanted.log_softmax(-1)[prompt:]
        assert far(steps["logProbs"], log_probs) <= TOLERANCE * max(1, wanted.abs().max())


@pytest.mark.parametrize("count", COUNTS)
def test_bert(node, count):
    draw, requests, expected = random.Random(count), [], []
    for number in range(count):
        torch.manual_seed(number)
        size, heads, length = draw.choice([7, 13, 29]), draw.choice([1, 2, 3]), draw.choice(PRIMES)
        sizes = {"d_model": heads * draw.choice(PRIMES), "nhead": heads}
        model = stirred(BERT(size, num_layers=draw.choice([1, 2, 3]), max_length=17, **sizes))
        tokens = [draw.randrange(size) for _ in range(length)]
        segments = [int(place > length / 2) for place in range(length)]
        real = draw.randrange(1, length + 1)
        options = {"segments": segments, "mask": [place < real for place in range(length)]}
        key = f"bert {number}"
        requests.append(
            {"op": "load", "key": key, "entry": entry_of(export_model(model, name=key))}
        )
        requests.append({"op": "bert", "key": key, "tokens": tokens, "options": options})
        requests.append({"op": "forget", "key": key})
        given = {name: torch.tensor([value]) for name, value in options.items()}
        with torch.no_grad():
            states = model.states(torch.tensor([tokens]), **given)[:, 0]
            logits, follows = model(torch.tensor([tokens]), **given)
        expected.append((states, logits[0], follows[0]))
    for answer, (states, logits, follows) in zip(node.ask(requests)[1::3], expected, strict=True):
        assert far(torch.stack(answer["states"]), states) <= TOLERANCE * max(1, states.abs().max())
        assert far(answer["logits"], logits) <= TOLERANCE * max(1, logits.abs().max())
        assert far(answer["follows"], follows) <= TOLERANCE * max(1, follows.abs().max())


def test_small_weights_answer_as_the_library_reads_them(node):
    draw, requests, expected = random.Random(3), [], []
    for number in range(20):
        torch.manual_seed(number)
        model = stirred(draw.choice([transformer, recurrent, encoder_decoder])(draw, 11, 11))
        exported = export_model(model, name="small", small=True)
        assert '"int8"' in exported.header
        source, tokens = [3, 1, 4, 1, 5], [9, 2, 6]
        requests.append({"op": "load", "key": f"small {number}", "entry": entry_of(exported)})
        asked = {"source": source, "tokens": tokens, "mask": None}
        requests.append({"op": "follow", "key": f"small {number}", **asked})
        model.load_state_dict(dequantise(quantise(model.state_dict())))
        expected.append(followed(model, source, None, tokens)[0])
    for answer, log_probs in zip(node.ask(requests)[1::2], expected, strict=True):
        assert far(answer["logProbs"], log_probs) <= TOLERANCE


def test_refusals_are_one_sentence(node):
    models = {
        "gpt": GPT(7, d_model=4, nhead=2, num_layers=1, max_length=3),
        "bert": BERT(7, d_model=4, nhead=2, num_layers=1, max_length=3),
        "pair": EncoderDecoder(5, 7, embedding_size=3, hidden_size=4, max_length=3),
    }
    for key, model in models.items():
        node.one("load", key=key, entry=entry_of(export_model(model, name=key)))
    follow = {"op": "follow", "tokens": [1], "source": [1]}
    answers = node.ask(
        [
            {**follow, "key": "pair", "source": []},
            {**follow, "key": "pair", "source": [1, 2, 3, 4]},
            {**follow, "key": "pair", "tokens": [7]},
            {**follow, "key": "gpt", "source": [1, 2, 3]},
            {"op": "call", "key": "gpt", "method": "logits", "given": ["abc"]},
            {"op": "bert", "key": "bert", "tokens": [1, 2], "options": {"segments": [0]}},
            {"op": "bert", "key": "bert", "tokens": [1, 2], "options": {"segments": [0, 2]}},
            {"op": "bert", "key": "bert", "tokens": [1, 2], "options": {"mask": [True]}},
        ]
    )
    assert [str(answer) for answer in answers] == [
        "source must hold at least one token, got none",
        "source must be at most 3 tokens long, got 4",
        "last must hold numbers from 0 to 6, got 7",
        "tokens must be at most 3 tokens long, got 4",
        "tokens must be a list of token numbers, got string",
        "segments must be 2 numbers long, as the tokens are, got 1",
        "segments must hold numbers from 0 to 1, got 2",
        "mask must have 2 entries, one a token, got 1",
    ]
