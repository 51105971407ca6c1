"""The walk of `nonsense.py` through the layers' other doors: steps, orders, scores, flags."""

import math

import torch
from torch import nn

from gates2heads.checks.models import check_row
from gates2heads.checks.tensors import check_mask, check_tokens, check_width
from gates2heads.layers.attention.hard import HardAttention
from gates2heads.layers.attention.heads_off import heads_of, heads_off
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.attention.scores import ConcatScore, DotScore, GaussianScore
from gates2heads.layers.norms import BatchNorm
from gates2heads.layers.positions import LearnedPositions
from gates2heads.layers.record import record
from gates2heads.layers.recurrent.clamping import clamp_gates
from gates2heads.layers.recurrent.gru import GRU, ContextGRUCell, GRUCell
from gates2heads.layers.recurrent.lstm import LSTM
from gates2heads.layers.recurrent.rnn import RNN, RNNCell
from gates2heads.layers.transformer_layers import DecoderLayer, EncoderLayer
from gates2heads.models.translation.checks import check_attention
from tests.nonsense import (
    CHOICES,
    COUNTS,
    FLAGS,
    FLOATS,
    LISTS,
    MASK,
    MASKS,
    SHARES,
    THINGS,
    B,
    D,
    S,
    T,
    U,
    V,
    floats,
    through,
    walk,
)

H = 2
GIVEN = [x for x in FLOATS if x is not None]
READER, WRITER = EncoderLayer(U, H, D), DecoderLayer(U, H, D)
HEADS = MultiHeadAttention(U, H)
PAST, MEMORY = READER.step(floats(B, T, U))[1], HEADS.project(floats(B, S, U))
ORDER = torch.tensor([1, 0])
ORDERS = [*THINGS, 3, [0], floats(B), ORDER[:1], ORDER[None], ORDER + B, ORDER - B]
NO_PASTS = [*THINGS, 3, (), floats(B, T, U), HEADS.project(floats(3, S, U))]
READERS = [*COUNTS, 3]
ATTENDING = {
    "query": floats(B, T, U),
    "keys": floats(B, S, U),
    "values": floats(B, S, D),
    "mask": MASK[:, None],
}
WRONG_ATTENDING = {
    "query": [*FLOATS, floats(B, T, U).double(), floats(3, T, U)],
    "keys": [*FLOATS, floats(B, 4, U)],
    "values": [*FLOATS, floats(B, 4, D)],
    "mask": MASKS,
}


def trace():
    layer = nn.Linear(1, 1)
    with record(layer) as notes:
        notes.add("", weights=floats(B, T, S))
    return notes


ENTRIES = {
    "check_mask": (
        through(check_mask, lambda mask: check_mask(mask, (B, S))),
        {"mask": MASK},
        {"mask": MASKS},
    ),
    "check_width": (
        through(check_width, lambda tensor: check_width("tensor", tensor, S)),
        {"tensor": floats(B, S)},
        {"tensor": FLOATS},
    ),
    "check_tokens": (
        through(check_tokens, lambda tokens: check_tokens("tokens", tokens, V)),
        {"tokens": torch.full((B, S), 3)},
        {"tokens": [*THINGS, None, 3, [[3]], floats(B, S), torch.full((B, S), V), ORDER]},
    ),
    "check_row": (
        through(check_row, lambda tokens: check_row("tokens", tokens, B, V)),
        {"tokens": ORDER},
        {"tokens": [*THINGS, None, 3, [3, 3], floats(B), ORDER + V, ORDER[:1]]},
    ),
    "check_attention": (
        through(check_attention, lambda attention: check_attention(attention, U)),
        {"attention": HardAttention(DotScore(U, U))},
        {"attention": [*THINGS, None, DotScore(U, U), HardAttention(DotScore(D, D))]},
    ),
    "DotScore": (
        DotScore,
        {"query_size": U, "key_size": U, "scaled": True},
        {"query_size": [*COUNTS, D], "key_size": [*COUNTS, D], "scaled": FLAGS},
    ),
    "ConcatScore": (
        ConcatScore,
        {"query_size": U, "key_size": D, "hidden_size": S},
        {
            "query_size": COUNTS,
            "key_size": COUNTS,
            "hidden_size": [x for x in COUNTS if x is not None],
        },
    ),
    "HardAttention()": (HardAttention(GaussianScore(U)), ATTENDING, WRONG_ATTENDING),
    "LocalAttention": (
        LocalAttention,
        {"score": DotScore(U, U), "window": 2, "predictive": True},
        {"score": [*THINGS, None, nn.Linear(1, 1)], "window": COUNTS, "predictive": FLAGS},
    ),
    "LocalAttention(predictive)": (
        LocalAttention(DotScore(U, U), 2, predictive=True),
        ATTENDING,
        WRONG_ATTENDING,
    ),
    **{
        cell.__name__: (cell, {**sizes, "reset_after": True}, {"reset_after": FLAGS})
        for cell, sizes in [
            (GRUCell, {"input_size": D, "hidden_size": U}),
            (ContextGRUCell, {"input_size": D, "context_size": S, "hidden_size": U}),
        ]
    },
    **{
        family.__name__: (
            family,
            {"input_size": D, "hidden_size": U, "bidirectional": True, "dropout": 0.1},
            {"bidirectional": FLAGS, "dropout": SHARES},
        )
        for family in (RNN, GRU, LSTM)
    },
    "GRU(reset_after)": (
        GRU,
        {"input_size": D, "hidden_size": U, "reset_after": False},
        {"reset_after": FLAGS},
    ),
    **{
        family.__name__ + "(nonlinearity)": (
            family,
            {"input_size": D, "hidden_size": U, "nonlinearity": "relu"},
            {"nonlinearity": CHOICES},
        )
        for family in (RNNCell, RNN)
    },
    "MultiHeadAttention.attend": (
        HEADS.attend,
        {"query": floats(2 * B, T, U), "memory": MEMORY, "readers": 2},
        {"query": FLOATS, "memory": [*THINGS, None, (), floats(B, S, U)], "readers": READERS},
    ),
    "MultiHeadAttention.extend": (
        HEADS.extend,
        {"inputs": floats(B, 1, U), "past": PAST, "order": ORDER},
        {"inputs": FLOATS, "past": NO_PASTS[:-1], "order": ORDERS},
    ),
    **{
        layer.__name__: (
            layer,
            {"d_model": U, "nhead": H, "norm_first": True, "norm": "rms"},
            {"norm_first": FLAGS, "norm": CHOICES},
        )
        for layer in (EncoderLayer, DecoderLayer)
    },
    "EncoderLayer.step": (
        READER.step,
        {"vectors": floats(B, 1, U), "past": PAST, "order": ORDER},
        {"vectors": FLOATS, "past": NO_PASTS[:-1], "order": ORDERS},
    ),
    "DecoderLayer.step": (
        WRITER.step,
        {
            "vectors": floats(B, 1, U),
            "past": PAST,
            "memory": MEMORY,
            "memory_mask": MASK[:, None, None],
            "order": ORDER,
            "readers": 1,
        },
        {
            "vectors": FLOATS,
            "past": NO_PASTS[:-1],
            "memory": [*THINGS, None, (), floats(B, S, U)],
            "memory_mask": MASKS,
            "order": ORDERS,
            "readers": READERS,
        },
    ),
    "BatchNorm(momentum)": (BatchNorm, {"size": D, "momentum": 0.1}, {"momentum": SHARES}),
    "LearnedPositions(join)": (
        LearnedPositions,
        {"max_length": S, "size": D, "join": "concatenate"},
        {"join": CHOICES},
    ),
    "heads_of": (heads_of, {"model": HEADS}, {"model": THINGS}),
    "heads_off": (
        through(heads_off, lambda model, heads: heads_off(model, heads).__enter__()),
        {"model": MultiHeadAttention(U, H), "heads": [("", 1)]},
        {
            "model": [*THINGS, None, nn.Linear(1, 1)],
            "heads": [*LISTS, "", [3], ["01"], [("", H)], [("", -1)], [("", 0.0)], [("a", 0)]],
        },
    ),
    "clamp_gates": (
        through(clamp_gates, lambda **given: clamp_gates(**given).__enter__()),
        {"layer": LSTM(D, U), "gates": {"forget": 0.5, "input_l0": 1}, "units": [0, 3]},
        {
            "layer": [*THINGS, None],
            "gates": [*THINGS[:2], None, 3, [], {"update": 1}, {3: 1}]
            + [{"forget": share} for share in SHARES],
            "units": [object(), 3, 2.5, "ab", ["a"], [None], [0.0], [True], [-1], [U]],
        },
    ),
    "Trace.joined": (
        trace().joined,
        {"layer": "", "quantity": "weights", "dim": 1},
        {
            "layer": [*THINGS, None, 3, []],
            "quantity": [*THINGS, None, 3, []],
            "dim": [*THINGS, None, 3, -4, 0.5, [], math.nan],
        },
    ),
}
SAME = {  # the inner layer's word for the same thing
    "nhead": ["num_heads"],
    "d_model": ["embed_dim"],
    "vectors": ["query", "inputs"],
    "memory_mask": ["mask"],
    "query": ["weights"],
    "keys": ["weights"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
