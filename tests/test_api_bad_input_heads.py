"""The walk of test_api_bad_input.py through recurrent families, heads, blocks and Transformers."""

import math

import torch

from gates2heads.layers.attention.hard import HardAttention, MovingBaseline, draw, reinforce_loss
from gates2heads.layers.attention.heads import join_heads, scaled_dot, split_heads
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.attention.scores import DotScore
from gates2heads.layers.attention.self_attention import self_attention
from gates2heads.layers.blocks import ConvolutionBlock, FeedForward, Residual
from gates2heads.layers.masks import causal_mask, key_mask, length_mask
from gates2heads.layers.norms import BatchNorm, LayerNorm, RMSNorm
from gates2heads.layers.positions import LearnedPositions, SinusoidalPositions, rotate, sinusoids
from gates2heads.layers.recurrent import LSTM, RNN, ContextGRUCell, LSTMCell, RNNCell
from gates2heads.layers.transformer_layers import ENCODER_NAMES, DecoderLayer, EncoderLayer, rename
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from tests.nonsense import (
    BATCH,
    CHOICES,
    COUNTS,
    FLAGS,
    FLOATS,
    LISTS,
    MASK,
    MASKS,
    POSITIVES,
    SHARES,
    SOURCE,
    THINGS,
    TOKENS,
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
OPTIONAL_COUNTS = [x for x in COUNTS if x is not None]
STARTS = [x for x in COUNTS if type(x) is not int or x]  # 0 is a start
GIVEN = [x for x in FLOATS if x is not None]
HEADS = MultiHeadAttention(U, H)
MEMORY = HEADS.project(floats(B, S, U))
WIDE = floats(B, T, U)
MODEL = Transformer(V, V, d_model=U, nhead=H, dim_feedforward=D)
STATE = MODEL.start(SOURCE)
DRAWN = [draw(torch.full((B, T, S), 1 / S))[1]]
SIZES = {
    "d_model": U,
    "nhead": H,
    "dim_feedforward": D,
    "dropout": 0.1,
    "activation": "relu",
    "rotary": False,
}
WRONG_SIZES = {
    "rotary": FLAGS,
    "d_model": COUNTS,
    "nhead": [*COUNTS, 4],
    "dim_feedforward": COUNTS,
    "dropout": SHARES,
    "activation": CHOICES,
}


def wrong(*shape):
    return [*FLOATS, floats(*shape).double()]


ENTRIES = {
    **{
        family.__name__: (
            family,
            {"input_size": D, "hidden_size": U},
            {"input_size": COUNTS, "hidden_size": COUNTS},
        )
        for family in (RNNCell, LSTMCell)
    },
    **{
        family.__name__: (
            family,
            {"input_size": D, "hidden_size": U, "num_layers": 2, "dropout": 0.1},
            {
                "input_size": COUNTS,
                "hidden_size": COUNTS,
                "num_layers": COUNTS,
                "dropout": SHARES,
            },
        )
        for family in (RNN, LSTM)
    },
    "RNN of a kind": (
        through(RNN, lambda nonlinearity: RNN(D, U, nonlinearity=nonlinearity)),
        {"nonlinearity": "relu"},
        {"nonlinearity": CHOICES},
    ),
    "RNN()": (
        RNN(D, U),
        {"inputs": floats(B, S, D), "mask": MASK, "initial": floats(1, B, U)},
        {"inputs": wrong(B, S, D), "mask": MASKS, "initial": [*GIVEN, floats(B, U)]},
    ),
    "RNNCell()": (
        RNNCell(D, U),
        {"inputs": floats(B, D), "hidden": floats(B, U)},
        {"inputs": wrong(B, D), "hidden": [*wrong(B, U), floats(3, U)]},
    ),
    "LSTM()": (
        LSTM(D, U),
        {"inputs": floats(B, S, D), "mask": MASK, "initial": (floats(1, B, U), floats(1, B, U))},
        {
            "inputs": wrong(B, S, D),
            "mask": MASKS,
            "initial": [*THINGS, 3, (), floats(1, B, U), *[(floats(1, B, U), x) for x in GIVEN]],
        },
    ),
    "LSTMCell()": (
        LSTMCell(D, U),
        {"inputs": floats(B, D), "hidden": floats(B, U), "cell": floats(B, U)},
        {
            "inputs": wrong(B, D),
            "hidden": [*wrong(B, U), floats(3, U)],
            "cell": [*wrong(B, U), floats(3, U)],
        },
    ),
    "ContextGRUCell": (
        ContextGRUCell,
        {"input_size": D, "context_size": S, "hidden_size": U},
        {"input_size": COUNTS, "context_size": COUNTS, "hidden_size": COUNTS},
    ),
    "ContextGRUCell()": (
        ContextGRUCell(D, S, U),
        {"inputs": floats(B, D), "context": floats(B, S), "hidden": floats(B, U)},
        {
            "inputs": wrong(B, D),
            "context": [*wrong(B, S), floats(3, S)],
            "hidden": [*wrong(B, U), floats(3, U)],
        },
    ),
    "causal_mask": (
        causal_mask,
        {"queries": 3, "keys": 5},
        {"queries": [*COUNTS, 6], "keys": [*OPTIONAL_COUNTS, 2]},
    ),
    "length_mask": (
        length_mask,
        {"lengths": torch.tensor([2, 3]), "size": 5},
        {
            "lengths": [
                *[x for x in FLOATS if getattr(x, "shape", 0) != (B,)],
                torch.tensor([6]),
                torch.tensor([-1]),
                torch.ones(2).bool(),
            ],
            "size": OPTIONAL_COUNTS,
        },
    ),
    "key_mask": (key_mask, {"mask": MASK}, {"mask": [*THINGS, True, torch.ones(B, S), MASK[0]]}),
    "self_attention": (
        self_attention,
        {"inputs": floats(B, S, D), "mask": MASK[:, None]},
        {"inputs": [x for x in FLOATS if getattr(x, "shape", 0) != (13, 17, 19)], "mask": MASKS},
    ),
    "MultiHeadAttention": (
        MultiHeadAttention,
        {"embed_dim": U, "num_heads": 3, "dropout": 0.1, "rotary": True},
        {"embed_dim": COUNTS, "num_heads": [*COUNTS, H, 4], "dropout": SHARES, "rotary": FLAGS},
    ),
    "MultiHeadAttention()": (
        HEADS,
        {
            "query": WIDE,
            "key": floats(B, S, U),
            "value": floats(B, S, U),
            "mask": MASK[:, None, None],
        },
        {
            "query": [*wrong(B, T, U), floats(3, T, U)],
            "key": [*GIVEN, floats(B, S, U).double(), floats(B, 4, U), None],
            "value": [*GIVEN, floats(B, S, U).double(), floats(B, 4, U)],
            "mask": MASKS,
        },
    ),
    "MultiHeadAttention.project": (
        HEADS.project,
        {"key": floats(B, S, U), "value": floats(B, S, U)},
        {"key": wrong(B, S, U), "value": [*GIVEN, floats(B, 4, U)]},
    ),
    "MultiHeadAttention.attend": (
        HEADS.attend,
        {"query": WIDE, "memory": MEMORY, "mask": MASK[:, None, None]},
        {"query": wrong(B, T, U), "memory": [*THINGS, None, (), WIDE], "mask": MASKS},
    ),
    "MultiHeadAttention.extend": (
        HEADS.extend,
        {"inputs": WIDE, "past": MEMORY},
        {"inputs": [*wrong(B, T, U), floats(3, T, U)], "past": [*THINGS, 3, (), WIDE]},
    ),
    "split_heads": (
        split_heads,
        {"vectors": WIDE, "num_heads": H},
        {
            "vectors": [x for x in FLOATS if getattr(x, "shape", 0) != (13, 17, 19)],
            "num_heads": [*COUNTS, 4],
        },
    ),
    "join_heads": (join_heads, {"heads": floats(B, H, S, D)}, {"heads": FLOATS}),
    "scaled_dot": (
        scaled_dot,
        {
            "query": floats(B, H, T, U),
            "key": floats(B, H, S, U),
            "value": floats(B, H, S, D),
            "mask": MASK[:, None, None],
            "dropout": 0.1,
        },
        {
            "query": [*FLOATS, floats(B, H, T, D), floats(1, H, T, U), floats(H, T, U)],
            "key": [*FLOATS, floats(B, H, S, D), floats(B, H, 4, U), floats(B, 1, S, U)],
            "value": [*FLOATS, floats(B, H, 4, D), floats(B, H, S, D).double()],
            "mask": MASKS,
            "dropout": SHARES,
        },
    ),
    "HardAttention": (
        HardAttention,
        {"score": DotScore(U, U)},
        {"score": [*THINGS, None, "dot"]},
    ),
    "draw": (
        draw,
        {"weights": torch.full((B, T, S), 1 / S)},
        {"weights": [*[x for x in FLOATS if getattr(x, "shape", 0) != (13, 17, 19)], -WIDE]},
    ),
    "reinforce_loss": (
        reinforce_loss,
        {
            "reward": floats(B),
            "choices": DRAWN,
            "baseline": 0.5,
            "entropy_weight": 0.1,
            "mask": torch.ones(B, T).bool(),
        },
        {
            "reward": [*FLOATS, floats(3)],
            "choices": [*LISTS, [], [3], DRAWN[0]],
            "baseline": [*THINGS, None, floats(3)],
            "entropy_weight": [*THINGS, None, []],
            "mask": MASKS,
        },
    ),
    "MovingBaseline": (MovingBaseline, {"keep": 0.5}, {"keep": SHARES}),
    "MovingBaseline.update": (
        MovingBaseline().update,
        {"reward": floats(B)},
        {"reward": [*THINGS, None, 3, [1.0], torch.zeros(0), torch.ones(2).long()]},
    ),
    "LocalAttention": (
        LocalAttention,
        {"score": DotScore(U, U), "window": 2},
        {"score": [*THINGS, None], "window": COUNTS},
    ),
    "LocalAttention()": (
        LocalAttention(DotScore(U, U), 2),
        {
            "query": WIDE,
            "keys": floats(B, S, U),
            "values": floats(B, S, D),
            "mask": MASK[:, None],
            "start": 1,
        },
        {
            "query": [*wrong(B, T, U), floats(3, T, U)],
            "keys": [*wrong(B, S, U), floats(B, 4, U)],
            "values": [*wrong(B, S, D), floats(B, 4, D)],
            "mask": MASKS,
            "start": [*THINGS, None, -1, 2.5, math.nan, [], floats(3), floats(B)],
        },
    ),
    "sinusoids": (
        sinusoids,
        {"positions": torch.arange(3), "size": D},
        {"positions": [*THINGS, None, [1]], "size": COUNTS},
    ),
    "rotate": (
        rotate,
        {"vectors": floats(B, H, T, U), "start": 2},
        {
            "vectors": [*FLOATS, floats(B, H, T, D)],
            "start": STARTS,
        },
    ),
    "SinusoidalPositions": (
        SinusoidalPositions,
        {"size": D, "join": "add"},
        {"size": COUNTS, "join": CHOICES},
    ),
    "LearnedPositions": (
        LearnedPositions,
        {"max_length": S, "size": D},
        {"max_length": COUNTS, "size": COUNTS},
    ),
    **{
        type(layer).__name__ + "()": (
            layer,
            {"vectors": floats(B, T, D), "start": 0},
            {"vectors": FLOATS, "start": STARTS},
        )
        for layer in (SinusoidalPositions(D), LearnedPositions(S, D))
    },
    **{
        norm.__name__: (norm, {"size": D, "eps": 1e-5}, {"size": COUNTS, "eps": POSITIVES})
        for norm in (LayerNorm, RMSNorm, BatchNorm)
    },
    **{
        norm.__name__ + "()": (norm(D), {"vectors": floats(B, S, D)}, {"vectors": FLOATS})
        for norm in (LayerNorm, RMSNorm)
    },
    "BatchNorm()": (
        BatchNorm(D),
        {"vectors": floats(B, S, D), "mask": MASK},
        {"vectors": wrong(B, S, D), "mask": MASKS},
    ),
    "FeedForward": (
        FeedForward,
        {"d_model": U, "dim_feedforward": D, "activation": "relu"},
        {"d_model": COUNTS, "dim_feedforward": COUNTS, "activation": CHOICES},
    ),
    "FeedForward()": (FeedForward(U, D), {"vectors": WIDE}, {"vectors": wrong(B, T, U)}),
    "Residual": (
        Residual,
        {"d_model": D, "dropout": 0.1, "norm_first": True, "norm": "rms"},
        {"d_model": COUNTS, "dropout": SHARES, "norm_first": FLAGS, "norm": CHOICES},
    ),
    "ConvolutionBlock": (
        ConvolutionBlock,
        {"d_model": D, "kernel_size": 3, "dilation": 2, "dropout": 0.1, "causal": False},
        {
            "d_model": COUNTS,
            "kernel_size": [*COUNTS, 2],
            "dilation": COUNTS,
            "dropout": SHARES,
        },
    ),
    "ConvolutionBlock()": (
        ConvolutionBlock(D, 3),
        {"vectors": floats(B, S, D), "mask": MASK},
        {"vectors": [*wrong(B, S, D), floats(B, 0, D)], "mask": MASKS},
    ),
    "ConvolutionBlock.step": (
        ConvolutionBlock(D, 3).step,
        {"vectors": floats(B, 1, D), "past": floats(B, 2, D)},
        {
            "vectors": [*wrong(B, 1, D), floats(B, 0, D)],
            "past": [*GIVEN, floats(B, 3, D), floats(3, 2, D)],
        },
    ),
    "rename": (
        rename,
        {"weights": {"norm1.bias": floats(D)}, "names": ENCODER_NAMES},
        {"weights": [object(), 3, None, {"a": 1}, {3: 1}], "names": [object(), 3, None, {}]},
    ),
    **{layer.__name__: (layer, SIZES, WRONG_SIZES) for layer in (EncoderLayer, DecoderLayer)},
    "EncoderLayer()": (
        EncoderLayer(U, H, D),
        {"vectors": WIDE, "mask": torch.ones(B, 1, 1, T).bool()},
        {"vectors": wrong(B, T, U), "mask": MASKS},
    ),
    "DecoderLayer()": (
        DecoderLayer(U, H, D),
        {
            "vectors": WIDE,
            "memory": MEMORY,
            "mask": torch.ones(B, 1, 1, T).bool(),
            "memory_mask": MASK[:, None, None],
        },
        {
            "vectors": wrong(B, T, U),
            "memory": [*THINGS, None, (), WIDE],
            "mask": MASKS,
            "memory_mask": MASKS,
        },
    ),
    **{
        family.__name__: (
            family,
            {
                "source_size": V,
                "target_size": V,
                "num_encoder_layers": 1,
                "num_decoder_layers": 1,
                "tie": "all",
                "positions": "learned",
                "norm": "rms",
                "norm_first": False,
                "max_length": 9,
                **SIZES,
            },
            {
                "source_size": [*COUNTS, V + 1],
                "target_size": [*COUNTS, V + 1],
                "num_encoder_layers": COUNTS,
                "num_decoder_layers": COUNTS,
                "tie": [x for x in CHOICES if x is not None],
                "positions": CHOICES,
                "norm": CHOICES,
                "norm_first": FLAGS,
                "max_length": COUNTS,
                **WRONG_SIZES,
            },
        )
        for family in (Transformer, UniversalTransformer)
    },
    "Transformer()": (MODEL, {"batch": BATCH}, {"batch": [*THINGS, None, 3, SOURCE, []]}),
    "Transformer.start": (
        MODEL.start,
        {"source": SOURCE, "mask": MASK},
        {"source": [*TOKENS, torch.full((B, 513), 3)], "mask": MASKS},
    ),
    "Transformer.step": (
        MODEL.step,
        {"state": STATE, "last_tokens": torch.tensor([1, 1])},
        {
            "state": [*THINGS, None, (), MEMORY],
            "last_tokens": [
                *TOKENS,
                torch.tensor([1]),
                torch.tensor([1, V]),
                torch.tensor([1, -1]),
            ],
        },
    ),
}
SAME = {  # the inner layer's word for the same thing
    "nhead": ["num_heads"],
    "d_model": ["embed_dim"],
    "vectors": ["query"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
