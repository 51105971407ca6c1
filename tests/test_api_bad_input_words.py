"""The walk of test_api_bad_input.py through words, texts, their models, and how they are judged."""

import math

import numpy as np
import torch

from gates2heads.data.batches.pairs import endless_token_batches, token_batches
from gates2heads.data.corpora.cldr_facts import is_named, name_pairs, split_of_territory
from gates2heads.data.corpora.prose import paragraphs, sentences
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.layers.attention.scores import DotScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.recurrent.by_name import recurrent_layer
from gates2heads.metrics.bleu import sentence_bleu
from gates2heads.metrics.chrf import sentence_chrf
from gates2heads.metrics.ngrams import ngrams
from gates2heads.metrics.significance import bootstrap_interval
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.models.translation.decoders import BahdanauDecoder, LuongDecoder, PlainDecoder
from gates2heads.models.translation.encoders import ConvolutionalEncoder, RecurrentEncoder
from gates2heads.models.words.outputs import (
    FullSoftmax,
    HierarchicalSoftmax,
    NegativeSampling,
    noise_distribution,
)
from gates2heads.models.words.word2vec import Word2Vec
from tests.nonsense import (
    COUNTS,
    HUGE,
    LISTS,
    SHARES,
    THINGS,
    TOKENIZER,
    first,
    through,
    walk,
)

OFTEN = torch.tensor([3, 2, 1])
WRONG_OFTEN = [*THINGS, None, 3, [3, 2, 1], OFTEN[:0], -OFTEN, OFTEN[:, None], OFTEN * math.nan]
POWERS = [*THINGS, None, -1, math.nan, math.inf, []]
WORDS = [*THINGS, None, 3, []]
TEXTS = [object(), None, 3, ["a"]]
PAIRS = [*LISTS, "ab", [3], [(3, 4)], [([3],)]]
NUMBERS = [x for x in COUNTS if not isinstance(x, torch.Tensor)]
SIZES = {"vocabulary_size": 11, "embedding_size": 7, "hidden_size": 6}
WRONG_SIZES = dict.fromkeys(SIZES, COUNTS)
SEGMENT = {"hypothesis": "a b", "references": ["a b"]}
WRONG_SEGMENT = {"hypothesis": [*LISTS, [3]], "references": [*LISTS, [], [3]]}
OUTPUT = {"counts": OFTEN, "vector_size": 7}
WRONG_OUTPUT = {"counts": WRONG_OFTEN, "vector_size": COUNTS}

ENTRIES = {
    **{
        family.__name__: (
            through(family, lambda family=family, **given: first(family(**given))),
            {"pairs": [([3], [4])], "token_budget": 9, "seed": 7},
            {"pairs": [*PAIRS, []], "token_budget": COUNTS, "seed": [*THINGS, 2.5, HUGE, True]},
        )
        for family in (token_batches, endless_token_batches)
    },
    "encode_pairs": (
        encode_pairs,
        {"pairs": [("a", "b")], "source": TOKENIZER, "target": TOKENIZER},
        {
            "pairs": [*LISTS, "ab", [3], [("a",)]],
            "source": [*THINGS, None],
            "target": [*THINGS, None],
        },
    ),
    "is_named": (
        is_named,
        {"kind": "territories", "code": "FR"},
        {"kind": WORDS, "code": TEXTS},
    ),
    "name_pairs": (name_pairs, {"kind": "currencies"}, {"kind": WORDS}),
    "split_of_territory": (split_of_territory, {"code": "FR"}, {"code": TEXTS}),
    "paragraphs": (paragraphs, {"docstring": "A word."}, {"docstring": TEXTS}),
    "sentences": (sentences, {"paragraph": "One. Two."}, {"paragraph": TEXTS}),
    "ngrams": (
        ngrams,
        {"tokens": ["a"], "order": 1},
        {"tokens": LISTS, "order": NUMBERS[:-1]},  # none is too long: there are no such runs
    ),
    "sentence_bleu": (sentence_bleu, SEGMENT, WRONG_SEGMENT),
    "sentence_chrf": (sentence_chrf, SEGMENT, WRONG_SEGMENT),
    "bootstrap_interval": (
        bootstrap_interval,
        {
            "statistics": np.ones((5, 2)),
            "score": lambda total: float(total[0]),
            "resamples": 7,
            "confidence": 0.9,
            "seed": 1,
        },
        {
            "statistics": [*THINGS, None, [], np.full((2, 2), math.nan)],
            "score": [*THINGS, None, lambda total: "a"],
            "resamples": NUMBERS,
            "confidence": [*SHARES, 0, 1],
            "seed": [-1, "a", 2.5],
        },
    ),
    "recurrent_layer": (
        recurrent_layer,
        {"cell": "gru", "input_size": 7, "hidden_size": 6, "num_layers": 2},
        {"cell": WORDS, "input_size": COUNTS, "hidden_size": COUNTS, "num_layers": COUNTS},
    ),
    **{part.__name__: (part, SIZES, WRONG_SIZES) for part in (RecurrentEncoder, PlainDecoder)},
    **{
        part.__name__: (
            part,
            {**SIZES, "attention": Attention(DotScore(6, 6))},
            {**WRONG_SIZES, "attention": [*THINGS, None]},
        )
        for part in (LuongDecoder, BahdanauDecoder)
    },
    "ConvolutionalEncoder": (
        ConvolutionalEncoder,
        {**SIZES, "hidden_size": 7},
        WRONG_SIZES,
    ),
    "RecurrentLanguageModel": (
        RecurrentLanguageModel,
        {**SIZES, "cell": "lstm", "num_layers": 2, "dropout": 0.1},
        {**WRONG_SIZES, "cell": WORDS, "num_layers": COUNTS, "dropout": SHARES},
    ),
    "TransformerLanguageModel": (
        TransformerLanguageModel,
        {"vocabulary_size": 11, "d_model": 6, "nhead": 2, "num_layers": 1, "max_length": 7},
        {
            "vocabulary_size": COUNTS,
            "d_model": COUNTS,
            "nhead": COUNTS,
            "num_layers": COUNTS,
            "max_length": COUNTS,
        },
    ),
    "FullSoftmax": (FullSoftmax, OUTPUT, WRONG_OUTPUT),
    "HierarchicalSoftmax": (HierarchicalSoftmax, OUTPUT, WRONG_OUTPUT),
    "NegativeSampling": (
        NegativeSampling,
        {**OUTPUT, "negatives": 2, "power": 0.75},
        {**WRONG_OUTPUT, "negatives": COUNTS, "power": POWERS},
    ),
    "Word2Vec": (
        Word2Vec,
        {**OUTPUT, "architecture": "cbow", "output": "softmax"},
        {**WRONG_OUTPUT, "architecture": WORDS, "output": WORDS},
    ),
    "noise_distribution": (
        noise_distribution,
        {"counts": OFTEN, "power": 0.75},
        {"counts": WRONG_OFTEN, "power": POWERS},
    ),
}

SAME = {"nhead": ["num_heads"], "d_model": ["embed_dim"]}  # the inner layer's word

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
