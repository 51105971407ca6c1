"""A model and its input on two devices, the commonest mistake: one sentence that names both.

The device "meta", which holds shapes and no numbers, stands for a graphics card: every machine has
it. Each call has all its arguments on the model's device, and then one of them on the other.
"""

import pytest
import torch
from torch import Tensor

from gates2heads.data.batches.pairs import Batch, collate
from gates2heads.data.batches.windows import Windows
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
from gates2heads.models.pretraining.heads import PairHead, SentenceHead
from gates2heads.models.transformer.non_autoregressive import NonAutoregressiveTransformer
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.models.translation.by_name import convolutional_translator, recurrent_translator
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.models.words.outputs import OUTPUTS
from gates2heads.models.words.word2vec import Word2Vec

B, S, T, D, V = 2, 5, 3, 6, 11
QUERY, KEYS, MASK = torch.randn(B, T, D), torch.randn(B, S, D), torch.ones(B, S).bool()
TOKENS, LAST = torch.full((B, S), 3), torch.full((B,), 3)
HIDDEN, COUNTS = torch.randn(B, D), torch.ones(V)
SIZES = {"d_model": D, "nhead": 2, "num_layers": 1, "dim_feedforward": 7}
TRANSLATORS = {"num_encoder_layers": 1, "num_decoder_layers": 1, "dim_feedforward": 7}
TRANSLATORS |= {"d_model": D, "nhead": 2}


def misplaced(argument, *, wanted="cpu", got="meta"):
    """Expect the sentence about an argument on another device than what reads it."""
    like = "(the layer|what goes with it)"
    sentence = rf"^{argument} must be on {wanted} like {like}, got a tensor on {got}$"
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
    "PairHead": (PairHead(D, 2), {"first": KEYS, "second": KEYS}),
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


def elsewhere(batch):
    return {
        name: Batch(**{**vars(batch), name: getattr(batch, name).to("meta")})
        for name in ("source", "source_mask", "target_in")
    }


MODELS = {
    "EncoderDecoder": EncoderDecoder(V, V, embedding_size=D, hidden_size=6),
    "recurrent_translator": recurrent_translator(V, V, embedding_size=D, hidden_size=6),
    "convolutional_translator": convolutional_translator(V, V, embedding_size=D, hidden_size=6),
    "Transformer": Transformer(V, V, **TRANSLATORS),
    "UniversalTransformer": UniversalTransformer(V, V, **TRANSLATORS),
    "NonAutoregressiveTransformer": NonAutoregressiveTransformer(V, V, slots=7, **TRANSLATORS),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_translator_names_what_lies_elsewhere(name):
    model, batch = MODELS[name], collate([([3, 4, 2], [5, 2]), ([3, 2], [5, 6, 2])])
    model(batch)
    for argument, moved in elsewhere(batch).items():
        word = "mask" if argument == "source_mask" else argument
        with misplaced(word):
            model(moved)
    state = model.start(batch.source, mask=batch.source_mask)
    with misplaced("last_tokens"):
        model.step(state, LAST.to("meta"))
    with misplaced("source"):
        model.start(batch.source.to("meta"))


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


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_model_of_words_names_what_lies_elsewhere(output):
    model = Word2Vec(COUNTS, D, output=output)
    batch = Windows(LAST, TOKENS, MASK)
    for name in Windows._fields:
        with misplaced(name):
            model(batch._replace(**{name: getattr(batch, name).to("meta")}))
    with misplaced("target"):
        model.output(HIDDEN, LAST.to("meta"))


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
