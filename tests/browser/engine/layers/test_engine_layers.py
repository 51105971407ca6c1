"""Layers of the engine beside the library's, on random sizes, masks and states."""

import json
import random
from contextlib import ExitStack

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gates2heads.browser.engine.export import Exported, pack
from gates2heads.layers.attention.heads_off import heads_of, heads_off
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.attention.scores import SCORES, DotScore, GaussianScore
from gates2heads.layers.attention.self_attention import self_attention
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.blocks import FeedForward, Residual
from gates2heads.layers.masks import key_mask, masked_softmax
from gates2heads.layers.norms import NORMS
from gates2heads.layers.positions import LearnedPositions, rotate, sinusoids
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import (
    ContextGRUCell,
    GRUCell,
    LSTMCell,
    RNNCell,
    clamp_gates,
)
from gates2heads.layers.recurrent.by_name import CELLS
from gates2heads.layers.transformer_layers import DecoderLayer, EncoderLayer
from gates2heads.models.kinds import describe
from gates2heads.training.quantisation import dequantise, quantise
from tests.browser.engine.in_node import EngineError, entry_of

PRIMES = (2, 3, 5, 7, 11, 13)
TOLERANCE = 1e-5
COUNTS = [50, pytest.param(500, marks=pytest.mark.slow)]
many = pytest.mark.parametrize("count", COUNTS)


def entry(module, name=""):
    """An entry that holds a layer's tensors, under a name if given."""
    prefix = f"{name}." if name else ""
    return entry_with({prefix + key: value for key, value in module.state_dict().items()})


def entry_with(tensors):
    listed, data = pack(tensors)
    return entry_of(Exported("layer", json.dumps({"format": 2, "tensors": listed}), data))


def stirred(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) / 2)
    return module


def draw_mask(draw, size):
    """Real tokens and padding behind them; None is no mask."""
    real = draw.randrange(size + 1)
    return draw.choice([None, [place < real for place in range(size)]])


def in_batch(mask):
    return None if mask is None else torch.tensor([mask])


def compare(node, cases):
    """Ask all, and hold each answer's tensors against the library's."""
    answers = node.ask([request for request, _ in cases])
    assert len(answers) == len(cases) > 0
    for answer, (request, wanted) in zip(answers, cases, strict=True):
        ours = answer if isinstance(answer, list | tuple) else [answer]
        assert len(ours) == len(wanted), (request, answer)
        for mine, theirs in zip(ours, wanted, strict=True):
            assert mine.numel() == theirs.numel() > 0
            gap = (mine.flatten() - theirs.flatten()).abs().max()
            assert gap <= TOLERANCE * max(1, theirs.abs().max()), (request["op"], gap)


def drawn(count):
    """Generators that are alike from run to run, one a case."""
    for number in range(count):
        torch.manual_seed(number)
        yield random.Random(number)


@many
@torch.no_grad()
def test_linear_and_numbers(node, count):
    cases = []
    for draw in drawn(count):
        rows, width, out = (draw.choice(PRIMES) for _ in range(3))
        layer = stirred(nn.Linear(width, out, bias=draw.random() < 0.5))
        inputs = torch.randn(rows, width)
        cases.append(({"op": "linear", "entry": entry(layer), "inputs": inputs}, [layer(inputs)]))
        numbers = 6 * torch.randn(97)
        for name in ("gelu", "relu", "silu", "sigmoid"):
            wanted = getattr(F, name)(numbers)
            cases.append(({"op": "numbers", "name": name, "numbers": numbers}, [wanted]))
        request = {"op": "logSoftmax", "numbers": numbers}
        cases.append((request, [numbers.log_softmax(-1)]))
        mask = draw_mask(draw, width)
        request = {"op": "maskedSoftmax", "scores": inputs, "mask": mask}
        wanted = masked_softmax(inputs, mask=None if mask is None else torch.tensor(mask))
        cases.append((request, [wanted]))
    compare(node, cases)


@many
@torch.no_grad()
def test_the_kernel_multiplies_as_the_plain_way(node, count):
    cases = []
    for draw in drawn(count):
        rows, width, out = draw.choice(PRIMES), 16 * draw.choice([1, 2, 3, 10]), draw.choice(PRIMES)
        layer, inputs = nn.Linear(width, out, bias=False), torch.randn(rows, width)
        packed = quantise(layer.state_dict()) if draw.random() < 0.5 else layer.state_dict()
        wanted = inputs @ dequantise(packed)["weight"].T
        request = {"op": "bothWays", "entry": entry_with(packed), "inputs": inputs}
        halves = wanted.split([out // 2, out - out // 2], dim=1)
        cases.append((request, [wanted, wanted, wanted, *halves]))
        cases.append(({**request, "op": "withoutWebAssembly"}, [wanted]))
    compare(node, cases)


@many
@torch.no_grad()
def test_recurrent_layers(node, count):
    requests, expected = [], []
    for draw in drawn(count):
        width, units, steps = (draw.choice(PRIMES) for _ in range(3))
        cell = draw.choice(list(CELLS))
        sizes = {"num_layers": draw.choice([1, 2, 3]), "bidirectional": draw.random() < 0.5}
        if cell == "gru":
            sizes["reset_after"] = draw.random() < 0.5
        if cell == "rnn":
            sizes["nonlinearity"] = draw.choice(["tanh", "relu"])
        layer = stirred(CELLS[cell](width, units, **sizes))
        inputs, mask = torch.randn(1, steps, width), draw_mask(draw, steps)
        rows = sizes["num_layers"] * (1 + sizes["bidirectional"])
        initial = [torch.randn(rows, 1, units) for _ in range(1 + (cell == "lstm"))]
        given = None if draw.random() < 0.3 else initial
        with record(layer) as trace:
            start = None if given is None else tuple(given) if cell == "lstm" else given[0]
            states, final = layer(inputs, mask=in_batch(mask), initial=start)
        final = final if cell == "lstm" else (final,)
        notes = {name: note[0][0] for name, note in trace[""].items()}
        carried = None if given is None else [part[:, 0] for part in given]
        request = {"op": "run", "entry": entry(layer, "layer"), "settings": {"cell": cell, **sizes}}
        requests.append({**request, "inputs": inputs[0], "initial": carried, "mask": mask})
        expected.append((states[0], [part[:, 0] for part in final], notes))
    for answer, (states, carried, notes) in zip(node.ask(requests), expected, strict=True):
        assert close(answer["states"], states)
        assert all(close(*pair) for pair in zip(answer["carried"], carried, strict=True))
        assert answer["notes"].keys() == notes.keys()
        assert all(close(answer["notes"][name], note) for name, note in notes.items())


def close(ours, theirs):
    assert ours.shape == theirs.shape
    return (ours - theirs).abs().max() <= TOLERANCE * max(1, theirs.abs().max())


@pytest.mark.parametrize(
    ("cell", "gate"), [("gru", "update_l0"), ("lstm", "output_l0"), ("rnn", "hidden_l0")]
)
def test_a_gate_can_be_held(node, cell, gate):
    units, layer = 5, stirred(CELLS[cell](3, 5))
    initial = [torch.randn(1, units) for _ in range(1 + (cell == "lstm"))]
    request = {"entry": entry(layer, "layer"), "settings": {"cell": cell}, "gate": gate}
    request |= {"inputs": torch.randn(7, 3), "initial": initial}
    value = 1.0 if cell == "gru" else 0.0
    answer = node.one("held", **request, value=value)
    # An update gate of 1 keeps the state; an output gate of 0, or a state of 0, shows nothing.
    kept = initial[0].expand(7, units) if cell == "gru" else torch.zeros(7, units)
    assert close(answer["states"], kept)
    assert close(answer["gate"], torch.full((7, units), value))


@many
@torch.no_grad()
def test_clamped_gates(node, count):
    """Some gates of some units, of one layer and direction or of all, clamps upon clamps."""
    requests, expected = [], []
    for draw in drawn(count):
        width, units, steps = (draw.choice(PRIMES) for _ in range(3))
        cell = draw.choice(["gru", "lstm"])
        sizes = {"num_layers": draw.choice([1, 2]), "bidirectional": draw.random() < 0.5}
        layer = stirred(CELLS[cell](width, units, **sizes))
        inputs = torch.randn(1, steps, width)
        initial = [
            torch.randn(sizes["num_layers"] * (1 + sizes["bidirectional"]), 1, units)
            for _ in range(1 + (cell == "lstm"))
        ]
        clamps = []
        with ExitStack() as blocks, record(layer) as trace:
            for _ in range(draw.randrange(4)):
                gate, value = draw.choice(layer.gates) + draw.choice(["", "_l0"]), draw.random()
                some = draw.choice([None, draw.sample(range(units), draw.randrange(units))])
                clamps.append({"gate": gate, "value": value, "units": some})
                blocks.enter_context(clamp_gates(layer, {gate: value}, units=some))
            states, _ = layer(inputs, initial=tuple(initial) if cell == "lstm" else initial[0])
        request = {"op": "clamped", "entry": entry(layer, "layer"), "clamps": clamps}
        request |= {"settings": {"cell": cell, **sizes}, "inputs": inputs[0]}
        requests.append({**request, "initial": [part[:, 0] for part in initial]})
        notes = {name: note[0][0] for name, note in trace[""].items()}
        expected.append((states[0], notes))
    for answer, (states, notes) in zip(node.ask(requests), expected, strict=True):
        assert close(answer["states"], states)
        assert answer["notes"].keys() == notes.keys()
        assert all(close(answer["notes"][name], note) for name, note in notes.items())


@pytest.mark.parametrize(
    ("clamp", "sentence"),
    [
        ({"gate": "door"}, "clamps must be of gates that layer has, .*; got door"),
        ({"gate": "cell_l0"}, "clamps must be of gates that layer has, .*; got cell_l0"),
        ({"value": 1.5}, "clamps must set a gate to a value from 0 to 1, got 1.5"),
        ({"units": [5]}, "clamps must be of units from 0 to 4, got 5"),
    ],
)
def test_a_wrong_clamp_gets_one_sentence(node, clamp, sentence):
    given = {"gate": "forget", "value": 0.5, "units": None, **clamp}
    request = {"entry": entry(CELLS["lstm"](3, 5), "layer"), "settings": {"cell": "lstm"}}
    request |= {"inputs": torch.randn(7, 3), "initial": [torch.zeros(1, 5)] * 2}
    with pytest.raises(EngineError, match=sentence):
        node.one("clamped", **request, clamps=[given])


def test_a_context_can_be_noted_and_emptied(node):
    given = {"query": torch.randn(2, 5), "keys": torch.randn(3, 5), "values": torch.randn(3, 7)}
    settings = {"score": {"kind": "DotScore", "settings": {}}}
    empty = entry_with({"layer.x": torch.zeros(1)})
    answer = node.one("emptied", entry=empty, settings=settings, **given)
    wanted = (given["query"] @ given["keys"].T).softmax(-1) @ given["values"]
    assert close(answer["whole"], wanted)
    assert close(answer["noted"], wanted)
    assert not answer["empty"].any()


@many
@torch.no_grad()
def test_cells(node, count):
    cases = []
    for draw in drawn(count):
        width, units, seen = (draw.choice(PRIMES) for _ in range(3))
        inputs, hidden, second = torch.randn(1, width), torch.randn(1, units), torch.randn(1, units)
        kind = draw.choice([RNNCell, GRUCell, LSTMCell, ContextGRUCell])
        settings, state, context = {}, [hidden], None
        if kind is LSTMCell:
            state = [hidden, second]
        if kind in (GRUCell, ContextGRUCell):
            settings = {"reset_after": draw.random() < 0.5}
        if kind is RNNCell:
            settings = {"nonlinearity": draw.choice(["tanh", "relu"])}
        if kind is ContextGRUCell:
            context = torch.randn(1, seen)
            cell = stirred(kind(width, seen, units, **settings))
            wanted = cell(inputs, context, hidden)
        else:
            cell = stirred(kind(width, units, **settings))
            wanted = cell(inputs, *state)
        request = {"op": "cell", "entry": entry(cell, "layer"), "kind": kind.__name__}
        request |= {"settings": settings, "inputs": inputs[0], "state": [one[0] for one in state]}
        request |= {"context": None if context is None else context[0]}
        cases.append((request, wanted if kind is LSTMCell else [wanted]))
    compare(node, cases)


def attention_of(draw):
    """One of the ways to attend, and its queries' and keys' width."""
    size = draw.choice(PRIMES)
    kinds = [score(size, size) for score in SCORES.values()]
    kinds += [GaussianScore(size, 0.5 + draw.random()), DotScore(size, size, scaled=True)]
    score = draw.choice(kinds)
    if draw.random() < 0.5:
        return Attention(score), size
    window = draw.choice([1, 2, 3])
    return LocalAttention(score, window, predictive=draw.random() < 0.5), size


@many
@torch.no_grad()
def test_attention_and_scores(node, count):
    requests, expected = [], []
    for draw in drawn(count):
        attention, size = attention_of(draw)
        stirred(attention)
        steps, length, width, start = (draw.choice(PRIMES) for _ in range(4))
        query, keys = torch.randn(steps, size), torch.randn(length, size)
        values, mask = torch.randn(length, width), draw_mask(draw, length)
        options = {"start": start} if isinstance(attention, LocalAttention) else {}
        allowed = None if mask is None else torch.tensor([[mask]])
        given = (query[None], keys[None], values[None])
        context, weights = attention(*given, mask=allowed, **options)
        settings = describe(attention)["settings"]
        request = {"op": "attention", "entry": entry(attention), "settings": settings}
        request |= {"query": query, "keys": keys, "values": values, "mask": mask, "start": start}
        requests.append(request)
        expected.append((context[0], weights[0]))
    for answer, (context, weights) in zip(node.ask(requests), expected, strict=True):
        assert close(answer["context"], context)
        assert close(answer["weights"], weights)


@many
@torch.no_grad()
def test_multi_head_attention(node, count):
    cases = []
    for draw in drawn(count):
        heads, rotary = draw.choice([1, 2, 3]), draw.random() < 0.5
        width = heads * draw.choice([2, 4, 6] if rotary else PRIMES)
        attention = stirred(MultiHeadAttention(width, heads, rotary=rotary))
        steps, length = draw.choice(PRIMES), draw.choice(PRIMES)
        query, source = torch.randn(1, steps, width), torch.randn(1, length, width)
        settings = {"num_heads": heads, "rotary": rotary}
        request = {"op": "multiHead", "entry": entry(attention), "settings": settings}
        request["query"] = query[0]
        off = [head for head in heads_of(attention) if draw.random() < 0.3]
        request["heads"] = [head._asdict() for head in off]
        mask, causal = draw_mask(draw, steps), draw.random() < 0.5
        cut = draw.randrange(1, steps)
        with heads_off(attention, off):
            wanted = attention(query, mask=key_mask(in_batch(mask)), causal=causal)
            parts = attention(query, causal=True)[0].split([cut, steps - cut])
        cases.append(({**request, "mask": mask, "causal": causal}, [wanted]))
        cases.append(({**request, "cut": cut}, parts))
        if not rotary:
            mask = draw_mask(draw, length)
            with heads_off(attention, off):
                wanted = attention(query, source, mask=key_mask(in_batch(mask)))
            cases.append(({**request, "source": source[0], "mask": mask}, [wanted]))
    compare(node, cases)


@many
@torch.no_grad()
def test_self_attention_without_parameters(node, count):
    requests, expected = [], []
    for draw in drawn(count):
        inputs = torch.randn(1, draw.choice(PRIMES), draw.choice(PRIMES))
        mask = draw_mask(draw, inputs.shape[1])
        allowed = None if mask is None else torch.tensor([[mask]])
        requests.append({"op": "selfAttention", "inputs": inputs[0], "mask": mask})
        expected.append([part[0] for part in self_attention(inputs, mask=allowed)])
    for answer, wanted in zip(node.ask(requests), expected, strict=True):
        assert all(close(*pair) for pair in zip(answer.values(), wanted, strict=True))


@many
@torch.no_grad()
def test_norms_positions_and_blocks(node, count):
    cases = []
    for draw in drawn(count):
        width, length, start = 2 * draw.choice(PRIMES), draw.choice(PRIMES), draw.choice(PRIMES)
        vectors = torch.randn(1, length, width)
        kind, first = draw.choice(list(NORMS)), draw.random() < 0.5
        norm = stirred(NORMS[kind](width))
        request = {"op": "norm", "entry": entry(norm), "kind": kind, "vectors": vectors[0]}
        cases.append((request, [norm(vectors)]))
        activation = draw.choice(["relu", "gelu", "silu"])
        block = stirred(FeedForward(width, draw.choice(PRIMES), activation))
        request = {"op": "feedForward", "entry": entry(block), "vectors": vectors[0]}
        cases.append(({**request, "settings": {"activation": activation}}, [block(vectors)]))
        settings = {"norm_first": first, "norm": kind}
        residual = stirred(Residual(width, **settings))
        request = {"op": "residual", "entry": entry(residual), "settings": settings}
        wanted = residual.after(vectors, residual.before(vectors).tanh())
        cases.append(({**request, "vectors": vectors[0]}, [wanted]))
        positions = [draw.randrange(500) for _ in range(5)]
        odd = draw.choice([1, 3, 5, 17, 64])
        request = {"op": "sinusoids", "positions": positions, "size": odd}
        cases.append((request, list(sinusoids(torch.tensor(positions), odd))))
        heads = draw.choice([1, 2])
        split = vectors[0].view(length, heads, width // heads).transpose(0, 1)[None]
        if width // heads % 2 == 0:
            wanted = rotate(split, start=start)[0].transpose(0, 1)
            request = {"op": "rotate", "vectors": vectors[0], "heads": heads, "start": start}
            cases.append((request, [wanted.reshape(length, width)]))
        learned = stirred(LearnedPositions(29, width))
        request = {"op": "learned", "entry": entry(learned), "vectors": vectors[0], "start": start}
        cases.append((request, [learned(vectors, start=start)]))
    compare(node, cases)


@many
@torch.no_grad()
def test_the_layers_of_a_transformer(node, count):
    cases = []
    for draw in drawn(count):
        heads, rotary = draw.choice([1, 2, 3]), draw.random() < 0.5
        width = heads * draw.choice([2, 4, 6])
        activation = draw.choice(["relu", "gelu", "silu"])
        options = {"norm_first": draw.random() < 0.5, "norm": draw.choice(list(NORMS))}
        sizes = (width, heads, draw.choice(PRIMES), 0.0, activation)
        settings = {"nhead": heads, "activation": activation, "rotary": rotary, **options}
        steps, length = draw.choice(PRIMES), draw.choice(PRIMES)
        vectors, source = torch.randn(1, steps, width), torch.randn(1, length, width)
        mask, causal = draw_mask(draw, steps), draw.random() < 0.5
        layer = stirred(EncoderLayer(*sizes, **options, rotary=rotary)).eval()
        request = {"op": "encoderLayer", "entry": entry(layer), "settings": settings}
        wanted = layer(vectors, mask=key_mask(in_batch(mask)), causal=causal)
        given = {"vectors": vectors[0], "mask": mask, "causal": causal}
        cases.append(({**request, **given}, [wanted]))
        layer, mask = (
            stirred(DecoderLayer(*sizes, **options, rotary=rotary)).eval(),
            draw_mask(draw, length),
        )
        request = {"op": "decoderLayer", "entry": entry(layer), "settings": settings}
        memory = layer.cross_attn.project(source)
        wanted = layer(vectors, memory, memory_mask=key_mask(in_batch(mask)))
        given = {"vectors": vectors[0], "source": source[0], "mask": mask}
        cases.append(({**request, **given}, [wanted]))
    compare(node, cases)


def test_refusals_are_one_sentence(node):
    layer, learned = nn.Linear(3, 2), LearnedPositions(5, 2)
    answers = node.ask(
        [
            {"op": "linear", "entry": entry(layer), "inputs": torch.zeros(1, 5)},
            {"op": "learned", "entry": entry(learned), "vectors": torch.zeros(3, 2), "start": 3},
            {"op": "run", "entry": entry(layer), "settings": {"cell": "toString"}},
            {
                "op": "attention",
                "entry": entry(layer),
                "settings": {"score": {"kind": "x", "settings": {}}},
            },
        ]
    )
    assert [str(answer) for answer in answers] == [
        "inputs must have width 3, got 5",
        "vectors must end within 5 positions, got position 5",
        "cell must be one of rnn, gru, lstm, got toString",
        "score must be known, got x",
    ]
