"""The walk of `nonsense.py` through the models of words, of texts, and of translations."""

import math
from copy import deepcopy

import torch

from gates2heads.data.batches.windows import join_sentences, windows
from gates2heads.layers.attention.scores import DotScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.language.ngram import AddK, KneserNey
from gates2heads.models.transformer.non_autoregressive import (
    NonAutoregressiveLanguageModel,
    NonAutoregressiveTransformer,
)
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    LuongDecoder,
    PlainDecoder,
)
from gates2heads.models.translation.encoders import ConvolutionalEncoder, RecurrentEncoder
from gates2heads.models.translation.forcing import (
    exponential_share,
    linear_share,
    sigmoid_share,
    unroll,
)
from gates2heads.models.translation.seq2seq import Decoder, EncoderDecoder, SequenceToSequence
from gates2heads.models.words.glove import GloVe, cooccurrences, train_glove
from gates2heads.models.words.huffman import HuffmanTree
from gates2heads.models.words.outputs import FullSoftmax, HierarchicalSoftmax, NegativeSampling
from gates2heads.models.words.training import expected_loss, train_negative_sampling
from gates2heads.models.words.word2vec import Word2Vec
from tests.nonsense import (
    BATCH,
    CHOICES,
    COUNTS,
    FLAGS,
    FLOATS,
    HUGE,
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
    U,
    V,
    floats,
    through,
    walk,
)

LAST = [*TOKENS, torch.tensor([1]), torch.tensor([1, V]), torch.tensor([1, -1])]
OPTIONAL = [x for x in COUNTS if x is not None]
NO_TEXTS = [*THINGS, None, 3, [], (), SOURCE]
STATES = [*THINGS, None, 3, (), [], SOURCE]
BATCHES = [*THINGS, None, 3, [], (), SOURCE]
SEEDS = [*THINGS, None, -1, 2.5, [], HUGE]
STEPS = [*THINGS, None, -1, 2.5, math.nan, []]
CORPUS = [[3, 4, 2], [3, 2]]
TEXT = join_sentences([[3, 4, 5], [5, 6]])
OFTEN = torch.arange(1.0, V + 1)
WINDOWS = next(iter(windows(TEXT, window=1, batch_size=5)))
SMALL = {"d_model": 6, "nhead": 2, "num_layers": 1, "dim_feedforward": 7, "max_length": 9}
RECURRENT, NGRAM = RecurrentLanguageModel(V, hidden_size=U), KneserNey(CORPUS, V, 2)
TRANSFORMER, SLOTS = (
    TransformerLanguageModel(V, **SMALL),
    NonAutoregressiveLanguageModel(V, **SMALL),
)
DEPTHS = {"num_encoder_layers": 1, "num_decoder_layers": 1, "dim_feedforward": 7}
PARALLEL = NonAutoregressiveTransformer(V, V, slots=5, d_model=6, nhead=2, **DEPTHS)
WRITER = Transformer(V, V, d_model=6, nhead=2, **DEPTHS)
SEQ2SEQ = EncoderDecoder(V, V, embedding_size=D, hidden_size=U)
READER = RecurrentEncoder(V, D, U)
SKIP_GRAM, GLOVE = Word2Vec(OFTEN, 7), GloVe(V, 7)
TABLE = cooccurrences(TEXT)
NO_TABLES = [*THINGS, None, 3, [], (), TEXT]
NO_WINDOWS = [*THINGS, None, 3, (), TEXT, WINDOWS._replace(mask=WINDOWS.mask.long())]
NO_WINDOWS += [WINDOWS._replace(center=WINDOWS.center + V), WINDOWS._replace(mask=WINDOWS.mask[:1])]
HIDDEN, TARGET = floats(B, 7), torch.tensor([3, 4])
TARGETS = [*THINGS, None, 3, [3], TARGET.float(), TARGET + V, -TARGET, TARGET[:1], TARGET[None]]
WRONG_MODEL_SIZES = {
    "vocabulary_size": COUNTS,
    "d_model": COUNTS,
    "nhead": [*COUNTS, 4],
    "num_layers": COUNTS,
    "dim_feedforward": COUNTS,
    "dropout": SHARES,
    "activation": CHOICES,
    "norm_first": FLAGS,
    "norm": CHOICES,
    "tie": FLAGS,
    "positions": CHOICES,
    "max_length": COUNTS,
}
MODEL_SIZES = {
    **SMALL,
    "vocabulary_size": V,
    "dropout": 0.1,
    "activation": "gelu",
    "norm_first": False,
    "norm": "rms",
    "tie": False,
    "positions": "learned",
}
SIZES = {"vocabulary_size": V, "embedding_size": D, "hidden_size": U, "dropout": 0.1}
WRONG_SIZES = {
    "vocabulary_size": COUNTS,
    "embedding_size": COUNTS,
    "hidden_size": COUNTS,
    "dropout": SHARES,
}
RECURRENT_SIZES = {**SIZES, "cell": "lstm", "num_layers": 2}
WRONG_RECURRENT = {**WRONG_SIZES, "cell": CHOICES, "num_layers": COUNTS}
ATTENTION = Attention(DotScore(U, U))
ATTENTIONS = [*THINGS, None, "dot", Attention(DotScore(D, D))]


def decode(state, last_tokens):
    return torch.zeros(len(last_tokens), V), state


def quietly(train):
    return through(train, lambda **given: train(**deepcopy(given), progress=False))


ENTRIES = {
    "HuffmanTree": (
        HuffmanTree,
        {"counts": OFTEN},
        {"counts": [*THINGS, None, 3, [1, 2], torch.ones(1), torch.zeros(3), -OFTEN, OFTEN[None]]},
    ),
    "HuffmanTree.path": (
        HuffmanTree(OFTEN).path,
        {"word": 3},
        {"word": [object(), None, 2.5, -1, V, "a", True]},
    ),
    "HuffmanTree.expected_length": (
        HuffmanTree(OFTEN).expected_length,
        {"counts": OFTEN},
        {"counts": [*THINGS, None, 3, [1], torch.ones(1), -OFTEN]},
    ),
    **{
        f"{output.__name__}.log_probs": (
            output(OFTEN, 7).log_probs,
            {"hidden": HIDDEN},
            {"hidden": FLOATS},
        )
        for output in (FullSoftmax, HierarchicalSoftmax)
    },
    **{
        f"{output.__name__}()": (
            output(OFTEN, 7),
            {"hidden": HIDDEN, "target": TARGET},
            {"hidden": FLOATS, "target": TARGETS},
        )
        for output in (FullSoftmax, HierarchicalSoftmax)
    },
    "NegativeSampling()": (
        NegativeSampling(OFTEN, 7),
        {"hidden": HIDDEN, "target": TARGET, "noise": TARGET[:, None]},
        {
            "hidden": FLOATS,
            "target": TARGETS,
            "noise": [*THINGS, 3, [3], TARGET, TARGET[:, None] + V, TARGET[:, None].float()],
        },
    ),
    "Word2Vec.predictions": (SKIP_GRAM.predictions, {"batch": WINDOWS}, {"batch": NO_WINDOWS}),
    "Word2Vec()": (SKIP_GRAM, {"batch": WINDOWS}, {"batch": NO_WINDOWS}),
    "train_negative_sampling": (
        quietly(train_negative_sampling),
        {
            "model": SKIP_GRAM,
            "text": TEXT,
            "epochs": 1,
            "window": 1,
            "threshold": 0.1,
            "learning_rate": 0.1,
            "batch_size": 9,
            "workers": 1,
            "seed": 0,
        },
        {
            "model": [*THINGS, None, GLOVE, Word2Vec(OFTEN, 7, output="softmax")],
            "text": NO_TEXTS,
            "epochs": COUNTS,
            "window": COUNTS,
            "threshold": POSITIVES,
            "learning_rate": POSITIVES,
            "batch_size": COUNTS,
            "workers": COUNTS,
            "seed": SEEDS,
        },
    ),
    "expected_loss": (
        expected_loss,
        {"model": SKIP_GRAM, "text": TEXT, "window": 2},
        {"model": [*THINGS, None, GLOVE], "text": NO_TEXTS, "window": COUNTS},
    ),
    "cooccurrences": (
        cooccurrences,
        {"text": TEXT, "window": 2, "weighted": False},
        {"text": NO_TEXTS, "window": COUNTS, "weighted": FLAGS},
    ),
    "Cooccurrences.dense": (TABLE.dense, {"size": V}, {"size": [*COUNTS, 2]}),
    "GloVe": (
        GloVe,
        {"vocabulary_size": V, "vector_size": 7, "ceiling": 9.0, "power": 0.5},
        {
            "vocabulary_size": COUNTS,
            "vector_size": COUNTS,
            "ceiling": POSITIVES,
            "power": POSITIVES,
        },
    ),
    "GloVe()": (GLOVE, {"pairs": TABLE}, {"pairs": NO_TABLES}),
    "GloVe.weight": (GLOVE.weight, {"count": OFTEN}, {"count": [*THINGS, None, 3, [1.0]]}),
    "train_glove": (
        quietly(train_glove),
        {
            "model": GLOVE,
            "table": TABLE,
            "epochs": 1,
            "batch_size": 9,
            "learning_rate": 0.1,
            "seed": 0,
        },
        {
            "model": [*THINGS, None, SKIP_GRAM],
            "table": NO_TABLES,
            "epochs": COUNTS,
            "batch_size": COUNTS,
            "learning_rate": POSITIVES,
            "seed": SEEDS,
        },
    ),
    "AddK": (
        AddK,
        {"texts": CORPUS, "vocabulary_size": V, "order": 2, "k": 0.5},
        {
            "texts": [*LISTS, "ab", [], [[]], [3], [["a"]], [[2.5]], [[V]], [[-1]], [[HUGE]]],
            "vocabulary_size": COUNTS,
            "order": COUNTS,
            "k": POSITIVES,
        },
    ),
    "KneserNey": (
        KneserNey,
        {"texts": CORPUS, "vocabulary_size": V, "order": 2, "discount": 0.5},
        {
            "texts": [*LISTS, "ab", [], [[]], [3], [["a"]], [[2.5]], [[V]], [[-1]]],
            "vocabulary_size": COUNTS,
            "order": COUNTS,
            "discount": [x for x in SHARES if x is not None],
        },
    ),
    "NgramModel.probs": (
        NGRAM.probs,
        {"context": [3]},
        {"context": [*LISTS, "ab", [[3]], [2.5], [V], [-1], [HUGE]]},
    ),
    **{
        f"{type(model).__name__}.start": (model.start, {"batch_size": B}, {"batch_size": COUNTS})
        for model in (RECURRENT, TRANSFORMER, NGRAM, SLOTS)
    },
    **{
        f"{type(model).__name__}.step": (
            model.step,
            {"state": model.start(B), "last_tokens": torch.tensor([1, 1])},
            {"state": STATES, "last_tokens": LAST},
        )
        for model in (RECURRENT, TRANSFORMER, NGRAM, SLOTS)
    },
    **{
        f"{type(model).__name__}.log_probs": (
            model.log_probs,
            {"tokens": SOURCE, "mask": MASK},
            {"tokens": TOKENS, "mask": MASKS},
        )
        for model in (RECURRENT, TRANSFORMER, NGRAM, SLOTS)
    },
    "NeuralLanguageModel.logits": (TRANSFORMER.logits, {"tokens": SOURCE}, {"tokens": TOKENS}),
    "NeuralLanguageModel()": (TRANSFORMER, {"batch": BATCH}, {"batch": BATCHES}),
    "RecurrentLanguageModel": (RecurrentLanguageModel, RECURRENT_SIZES, WRONG_RECURRENT),
    "TransformerLanguageModel": (TransformerLanguageModel, MODEL_SIZES, WRONG_MODEL_SIZES),
    "NonAutoregressiveLanguageModel": (
        NonAutoregressiveLanguageModel,
        MODEL_SIZES,
        WRONG_MODEL_SIZES,
    ),
    "NonAutoregressiveTransformer": (
        NonAutoregressiveTransformer,
        {"source_size": V, "target_size": V, "slots": 5, "d_model": 6, "nhead": 2, **DEPTHS},
        {"source_size": COUNTS, "target_size": COUNTS, "slots": [*COUNTS, 1000]},
    ),
    "NonAutoregressiveTransformer()": (PARALLEL, {"batch": BATCH}, {"batch": BATCHES}),
    "NonAutoregressiveTransformer.start": (
        PARALLEL.start,
        {"source": SOURCE, "mask": MASK},
        {"source": TOKENS, "mask": MASKS},
    ),
    "NonAutoregressiveTransformer.step": (
        PARALLEL.step,
        {"state": PARALLEL.start(SOURCE), "last_tokens": torch.tensor([1, 1])},
        {"state": STATES, "last_tokens": LAST},
    ),
    "Transformer.encode": (
        WRITER.encode,
        {"source": SOURCE, "mask": MASK},
        {"source": TOKENS, "mask": MASKS},
    ),
    "Transformer.readout": (WRITER.readout, {"vectors": floats(B, S, 6)}, {"vectors": FLOATS}),
    "RecurrentEncoder": (
        RecurrentEncoder,
        {**RECURRENT_SIZES, "bidirectional": True},
        {**WRONG_RECURRENT, "hidden_size": [*COUNTS, 7], "bidirectional": FLAGS},
    ),
    "ConvolutionalEncoder": (
        ConvolutionalEncoder,
        {**SIZES, "kernel_size": 3, "dilations": (1, 2), "max_length": 9},
        {
            **WRONG_SIZES,
            "kernel_size": [*COUNTS, 2],
            "dilations": [*LISTS, "12", (), ["a"], [0]],
            "max_length": COUNTS,
        },
    ),
    "PlainDecoder": (
        PlainDecoder,
        {**RECURRENT_SIZES, "fed_size": 3},
        {**WRONG_RECURRENT, "fed_size": STEPS},
    ),
    "ChoDecoder": (
        ChoDecoder,
        {**RECURRENT_SIZES, "maxout_size": 3},
        {**WRONG_RECURRENT, "maxout_size": OPTIONAL},
    ),
    "LuongDecoder": (
        LuongDecoder,
        {**RECURRENT_SIZES, "attention": ATTENTION, "input_feeding": False},
        {**WRONG_RECURRENT, "attention": ATTENTIONS, "input_feeding": FLAGS},
    ),
    "BahdanauDecoder": (
        BahdanauDecoder,
        {**SIZES, "attention": ATTENTION, "maxout_size": 3, "reset_after": True},
        {
            **WRONG_SIZES,
            "attention": ATTENTIONS,
            "maxout_size": OPTIONAL,
            "reset_after": FLAGS,
        },
    ),
    "Decoder": (
        Decoder,
        {"vocabulary_size": V, "embedding_size": D, "hidden_size": U, "attention": ATTENTION},
        {"attention": [x for x in ATTENTIONS if x is not None]},
    ),
    "SequenceToSequence": (
        SequenceToSequence,
        {"encoder": READER, "decoder": PlainDecoder(V, D, U), "max_length": 9},
        {
            "encoder": [*THINGS, None, 3, RecurrentEncoder(V, D, 2)],
            "decoder": [*THINGS, None, 3, READER, PlainDecoder(V, D, 2)],
            "max_length": COUNTS,
        },
    ),
    "SequenceToSequence()": (
        SEQ2SEQ,
        {"batch": BATCH, "forced": 0.5, "own": "drawn", "generator": torch.Generator()},
        {"batch": BATCHES, "forced": SHARES, "own": CHOICES, "generator": [*THINGS, 3]},
    ),
    "unroll": (
        unroll,
        {
            "step": decode,
            "state": None,
            "target_in": SOURCE,
            "forced": 0.5,
            "own": "drawn",
            "generator": torch.Generator(),
        },
        {
            "step": [*THINGS, None, 3],
            "target_in": [*THINGS, None, 3, [[3]], floats(B, S), SOURCE[0], SOURCE[:, :0]],
            "forced": SHARES,
            "own": CHOICES,
            "generator": [*THINGS, 3],
        },
    ),
    "linear_share": (
        linear_share,
        {"step": 3, "slope": 0.1, "floor": 0.2},
        {"step": STEPS, "slope": POSITIVES, "floor": SHARES},
    ),
    "exponential_share": (
        exponential_share,
        {"step": 3, "base": 0.5},
        {"step": STEPS, "base": SHARES},
    ),
    "sigmoid_share": (
        sigmoid_share,
        {"step": 3, "scale": 2.0},
        {"step": STEPS, "scale": [*POSITIVES, 0.5]},
    ),
}
SAME = {  # the inner part's word
    "nhead": ["num_heads"],
    "d_model": ["embed_dim"],
    "batch": ["center", "context", "mask"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
