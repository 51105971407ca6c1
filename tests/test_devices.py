"""A model and its input on two devices, the commonest mistake: one sentence that names both.

The device "meta", which holds shapes and no numbers, stands for a graphics card: every machine has
it. Each call has all its arguments on the model's device, and then one of them on the other.
"""

import pytest
import torch
from torch import Tensor

from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.attention.scores import AdditiveScore, DotScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.blocks import ConvolutionBlock, FeedForward
from gates2heads.layers.masks import masked_softmax
from gates2heads.layers.norms import BatchNorm, LayerNorm, RMSNorm
from gates2heads.layers.positions import LearnedPositions
from gates2heads.layers.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from gates2heads.layers.transformer_layers import DecoderLayer, EncoderLayer
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo, LayerMix
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.pretraining.heads import SentenceHead

B, S, T, D, V = 2, 5, 3, 6, 11
QUERY, KEYS, MASK = torch.randn(B, T, D), torch.randn(B, S, D), torch.ones(B, S).bool()
TOKENS, LAST = torch.full((B, S), 3), torch.full((B,), 3)
HIDDEN, COUNTS = torch.randn(B, D), torch.ones(V)
SIZES = {"d_model": D, "nhead": 2, "num_layers": 1, "dim_feedforward": 7}
TRANSLATORS = {"num_encoder_layers": 1, "num_decoder_layers": 1, "dim_feedforward": 7}
TRANSLATORS |= {"d_model": D, "nhead": 2}


def misplaced(argument, *, wanted="cpu", got="meta"):
    """Expect the sentence about an argument on another device than what reads it."""
    sentence = rf"^{argument} must"
    return pytest.raises(ValueError, match=sentence)


LAYERS = {
    "dot": (Attention(DotScore(D, D)), {"query": QUERY, "keys": KEYS, "values": KEYS}),
    "additive": (Attention(AdditiveScore(D, D)), {"query": QUERY, "keys": KEYS, "values": KEYS}),
    "attention": (
        Attention(DotScore(D, D)),
        {"query": QUERY, "keys": KEYS, "values": KEYS, "mask": torch.ones(B, T, S).bool()},
    ),
    "local": (
        LocalAttention(AdditiveScore(D, D), 2),
        {"query": QUERY, "keys": KEYS, "values": KEYS, "mask": torch.ones(B, T, S).bool()},
    ),
    "heads": (
        MultiHeadAttention(D, 2),
        {"query": QUERY, "key": KEYS, "value": KEYS, "mask": torch.ones(T, S).bool()},
    ),
    "EncoderLayer": (EncoderLayer(D, 2, 7), {"vectors": KEYS, "mask": torch.ones(S, S).bool()}),
    "FeedForward": (FeedForward(D, 7), {"vectors": KEYS}),
    "ConvolutionBlock": (ConvolutionBlock(D, 3), {"vectors": KEYS, "mask": MASK}),
    "LayerNorm": (LayerNorm(D), {"vectors": KEYS}),
    "RMSNorm": (RMSNorm(D), {"vectors": KEYS}),
    "BatchNorm": (BatchNorm(D), {"vectors": KEYS, "mask": MASK}),
    "LearnedPositions": (LearnedPositions(S, D), {"vectors": KEYS}),
    "GRU": (GRU(D, 7), {"inputs": KEYS, "mask": MASK, "initial": torch.zeros(1, B, 7)}),
    "LSTM": (LSTM(D, 7), {"inputs": KEYS, "mask": MASK}),
    "RNN": (RNN(D, 7), {"inputs": KEYS, "mask": MASK}),
    "GRUCell": (GRUCell(D, D), {"inputs": HIDDEN, "hidden": HIDDEN}),
    "LSTMCell": (LSTMCell(D, D), {"inputs": HIDDEN, "hidden": HIDDEN, "cell": HIDDEN}),
    "RNNCell": (RNNCell(D, D), {"inputs": HIDDEN, "hidden": HIDDEN}),
    "LayerMix": (LayerMix(2), {"states": torch.randn(2, B, S, D)}),
    "SentenceHead": (SentenceHead(D, 2, read="mean"), {"vectors": KEYS, "mask": MASK}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_names_the_argument_that_lies_elsewhere(name):
    layer, given = LAYERS[name]
    layer(**given)
    for argument, tensor in given.items():
        if argument == "query" and not list(layer.parameters()):
            continue  # without weights, the query says where the others should be
        with misplaced("(vectors|query)" if argument == "vectors" else argument):
            layer(**{**given, argument: tensor.to("meta")})


READERS = {
    "GPT": GPT(V, **SIZES),
    "BERT": BERT(V, **SIZES),
    "ELMo": ELMo(V, hidden_size=D, num_layers=1),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_names_what_lies_elsewhere(name):
    model = READERS[name]
    with misplaced("tokens"):
        model.encode(TOKENS.to("meta"))
    with misplaced("mask"):
        model.encode(TOKENS, mask=MASK.to("meta"))
    on_meta = type(model)(V, **({"hidden_size": D, "num_layers": 1} if name == "ELMo" else SIZES))
    with misplaced("tokens", wanted="meta", got="cpu"):
        on_meta.to("meta").encode(TOKENS)


@pytest.mark.parametrize("kind", [RecurrentLanguageModel, TransformerLanguageModel])
def test_a_language_model_names_what_lies_elsewhere(kind):
    model = kind(V)
    with misplaced("tokens"):
        model.log_probs(TOKENS.to("meta"))
    with misplaced("mask"):
        model.log_probs(TOKENS, mask=MASK.to("meta"))
    with misplaced("last_tokens"):
        model.step(model.start(B), LAST.to("meta"))


def test_a_softmax_names_what_lies_elsewhere():
    logits = torch.randn(B, S, V)
    with misplaced("mask"):
        masked_softmax(logits, mask=torch.ones(V, device="meta").bool())


def test_shapes_can_be_asked_of_a_layer_without_numbers():
    """All on meta is one device: the layers answer, with a shape."""
    for layer in (EncoderLayer(D, 2, 7), GRU(D, 7), LayerNorm(D), LearnedPositions(S, D)):
        answer = layer.to("meta")(KEYS.to("meta"))
        answer = answer if isinstance(answer, Tensor) else answer[0]
        assert answer.is_meta
        assert answer.shape[:2] == (B, S)


def test_the_decoder_layer_names_memory_elsewhere():
    layer = DecoderLayer(D, 2, 7)
    for argument in ("vectors", "memory"):
        given = {"vectors": QUERY, "memory": layer.cross_attn.project(KEYS)}
        layer(**given)
        moved = given[argument]
        moved = (
            moved.to("meta")
            if isinstance(moved, Tensor)
            else type(moved)(*(part.to("meta") for part in moved))
        )
        with misplaced(r"\w+"):
            layer(**{**given, argument: moved})
