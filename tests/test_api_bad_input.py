"""Every public entry of the lower floors, walked with nonsense, answers in the library's own words.

See `nonsense.py` for what a walk is.
"""

import math
from datetime import date

import numpy as np
import torch
from torch import nn

from gates2heads.checks.values import check_count, check_positive, check_share
from gates2heads.data.batches.pairs import batches, chunks, collate, endless_batches, pad
from gates2heads.data.corpora.dates import date_lists, dates, days_of, split_of, write_date
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.layers.attention.scores import SCORES, AdditiveScore, GaussianScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.masks import masked_softmax
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import GRU, GRUCell
from gates2heads.models.translation.seq2seq import Decoder, Encoder, EncoderDecoder
from tests.nonsense import (
    BATCH,
    COUNTS,
    FLOATS,
    HUGE,
    LISTS,
    MASKS,
    POSITIVES,
    SHARES,
    SOURCE,
    THINGS,
    TOKENIZER,
    TOKENS,
    B,
    D,
    S,
    T,
    U,
    V,
    first,
    floats,
    through,
    walk,
)

MODEL = EncoderDecoder(V, V, embedding_size=D, hidden_size=U)
VOCABULARY = TOKENIZER.vocabulary
NUMBERS = [*THINGS, None, 2.5, math.nan, [], True, torch.ones(2), HUGE]
WRONG_PAIRS = [*LISTS, [], [3], [None], [([3],)], [([3], [4], [5])], [("a", "b")], [([], [3])]]


# name: (call, good arguments, {argument: values that must be refused})
ENTRIES = {
    "Vocabulary": (Vocabulary, {"tokens": ["a"]}, {"tokens": [*LISTS, ["a", "a"], ["<eos>"], [3]]}),
    "from_texts": (
        Vocabulary.from_texts,
        {"texts": ["a"]},
        {"texts": [*LISTS, [3], [None], [["a", 3]], [[["a"]]]]},
    ),
    "Vocabulary.encode": (
        VOCABULARY.encode,
        {"tokens": ["a"]},
        {"tokens": [*LISTS, ["z"], [3], [["a"]], "z"]},
    ),
    "Vocabulary.decode": (
        VOCABULARY.decode,
        {"numbers": [3]},
        {"numbers": [*LISTS, [99], [-1], [HUGE], [2.5], [math.nan], ["3"], torch.ones(2)]},
    ),
    "CharacterTokenizer": (CharacterTokenizer, {"vocabulary": VOCABULARY}, {"vocabulary": THINGS}),
    "CharacterTokenizer.encode": (
        TOKENIZER.encode,
        {"text": "abc"},
        {"text": [object(), None, 3, "", "z", b"a", ["a"], "a" * 999 + "z"]},
    ),
    "CharacterTokenizer.decode": (TOKENIZER.decode, {"numbers": [3]}, {"numbers": [*LISTS, [99]]}),
    "pad": (
        pad,
        {"sequences": [[3], [4, 5]], "pad_id": 0},
        {
            "sequences": [
                *THINGS,
                *LISTS,
                [],
                [[]],
                [[3], []],
                [["a"]],
                [[2.5]],
                [[HUGE]],
                [[[3]]],
            ],
            "pad_id": NUMBERS,
        },
    ),
    "collate": (collate, {"pairs": [([3], [4])]}, {"pairs": WRONG_PAIRS}),
    "batches": (
        through(batches, lambda **given: first(batches(**given))),
        {"pairs": [([3], [4])], "batch_size": 1, "seed": 7},
        {
            "pairs": [*THINGS, *WRONG_PAIRS],
            "batch_size": COUNTS,
            "seed": [x for x in NUMBERS if x is not None],
        },
    ),
    "endless_batches": (
        through(endless_batches, lambda **given: first(endless_batches(**given))),
        {"pairs": [([3], [4])], "batch_size": 1, "seed": 7},
        {"pairs": [*THINGS, *WRONG_PAIRS], "batch_size": COUNTS, "seed": NUMBERS},
    ),
    "chunks": (
        chunks,
        {"numbers": [3, 4, 5], "length": 2, "step": 1},
        {
            "numbers": [*THINGS, *LISTS, [], [3], ["a", "b"], [3, 2.5], b"ab"],
            "length": [*COUNTS, 1],
            "step": [x for x in COUNTS if x is not None],
        },
    ),
    "split_of": (split_of, {"day": date(2024, 3, 9)}, {"day": [*THINGS, None, 3, "2024-03-09"]}),
    "days_of": (days_of, {"split": "test"}, {"split": [*THINGS, None, 3, [], ""]}),
    "write_date": (
        write_date,
        {"day": date(2024, 3, 9), "locale": "en", "form": "full"},
        {"day": [*THINGS, None, 3], "form": [*THINGS, None, [], "short"]},
    ),
    "dates": (
        dates,
        {"split": "train", "size": 3, "locales": ["en"], "forms": ["full"], "seed": 7},
        {
            "split": [*THINGS, None, []],
            "size": COUNTS,
            "locales": [*LISTS, "en", []],
            "forms": [*LISTS, "full", [], ["short"], [None], [[]], [np.array(["full", "long"])]],
            "seed": [*THINGS, None, 2.5, [10**5000], 2**64],
        },
    ),
    "date_lists": (
        date_lists,
        {
            "split": "train",
            "size": 3,
            "count": 2,
            "locales": ["en"],
            "forms": ["full"],
            "seed": 7,
        },
        {"split": [*THINGS, None], "size": COUNTS, "count": COUNTS, "locales": [*LISTS, "en", []]},
    ),
    "check_count": (
        through(check_count, lambda value: check_count("value", value)),
        {"value": 3},
        {"value": COUNTS},
    ),
    "check_positive": (
        through(check_positive, lambda value: check_positive("value", value)),
        {"value": 0.5},
        {"value": POSITIVES},
    ),
    "check_share": (
        through(check_share, lambda value: check_share("value", value)),
        {"value": 0.5},
        {"value": SHARES},
    ),
    "masked_softmax": (
        masked_softmax,
        {"scores": floats(B, S), "mask": torch.ones(B, S).bool()},
        {"scores": [*THINGS, None, 3, [1.0], torch.ones(B, S).long()], "mask": MASKS},
    ),
    "record": (
        through(record, lambda model: record(model).__enter__()),
        {"model": nn.Linear(1, 1)},
        {"model": THINGS},
    ),
    "GRUCell": (
        GRUCell,
        {"input_size": D, "hidden_size": U},
        {"input_size": COUNTS, "hidden_size": COUNTS},
    ),
    "GRUCell()": (
        GRUCell(D, U),
        {"inputs": floats(B, D), "hidden": floats(B, U)},
        {
            "inputs": [*FLOATS, floats(B, D).double(), floats(3, D)],
            "hidden": [*FLOATS, floats(B, U).double(), floats(3, U)],
        },
    ),
    "GRU": (
        GRU,
        {"input_size": D, "hidden_size": U, "num_layers": 2},
        {"input_size": COUNTS, "hidden_size": COUNTS, "num_layers": COUNTS},
    ),
    "GRU()": (
        GRU(D, U, bidirectional=True),
        {"inputs": floats(B, S, D), "mask": torch.ones(B, S).bool(), "initial": floats(2, B, U)},
        {
            "inputs": [*FLOATS, floats(B, 0, D), floats(B, S, D).double()],
            "mask": MASKS,
            "initial": [x for x in FLOATS if x is not None] + [floats(2, B, U).double()],
        },
    ),
    **{
        f"{name} score": (
            score,
            {"query_size": U, "key_size": U},
            {"query_size": COUNTS, "key_size": COUNTS},
        )
        for name, score in SCORES.items()
    },
    "AdditiveScore": (
        through(AdditiveScore, lambda hidden_size: AdditiveScore(U, U, hidden_size)),
        {"hidden_size": U},
        {"hidden_size": [x for x in COUNTS if x is not None]},
    ),
    "GaussianScore": (
        GaussianScore,
        {"size": U, "bandwidth": 1.0},
        {"size": COUNTS, "bandwidth": POSITIVES},
    ),
    "Attention": (Attention, {"score": AdditiveScore(U, U)}, {"score": [*THINGS, None, "dot"]}),
    "project_keys": (
        Attention(AdditiveScore(U, D)).project_keys,
        {"keys": floats(B, S, D)},
        {"keys": [*FLOATS, floats(B, S, D).double()]},
    ),
    **{
        f"Attention({name})": (
            Attention(SCORES[name](U, U)),
            {
                "query": floats(B, T, U),
                "keys": floats(B, S, U),
                "values": floats(B, S, D),
                "mask": torch.ones(B, 1, S).bool(),
            },
            {
                "query": [*FLOATS, floats(B, T, U).double(), floats(1, T, U)],
                "keys": [*FLOATS, floats(B, S, U).double(), floats(1, S, U), floats(B, 4, U)],
                "values": [*FLOATS, floats(B, S, D).double(), floats(B, 4, D)],
                "mask": MASKS,
            },
        )
        for name in SCORES
    },
    **{
        part.__name__: (
            part,
            {"vocabulary_size": V, "embedding_size": D, "hidden_size": U},
            {
                "vocabulary_size": COUNTS,
                "embedding_size": COUNTS,
                "hidden_size": COUNTS,
            },
        )
        for part in (Encoder, Decoder)
    },
    "EncoderDecoder": (
        EncoderDecoder,
        {
            "source_size": V,
            "target_size": V,
            "embedding_size": D,
            "hidden_size": U,
            "score": "dot",
            "max_length": 9,
        },
        {
            "source_size": COUNTS,
            "target_size": COUNTS,
            "embedding_size": COUNTS,
            "hidden_size": [*COUNTS, 7],
            "score": [*THINGS, [], 3, ""],
            "max_length": COUNTS,
        },
    ),
    "EncoderDecoder()": (
        MODEL,
        {"batch": BATCH},
        {"batch": [*THINGS, None, 3, SOURCE, [], ([3], [3])]},
    ),
    "EncoderDecoder.start": (
        MODEL.start,
        {"source": SOURCE, "mask": torch.ones(B, S).bool()},
        {"source": [*TOKENS, torch.full((B, 513), 3)], "mask": MASKS},
    ),
    "EncoderDecoder.step": (
        MODEL.step,
        {"state": MODEL.start(SOURCE), "last_tokens": torch.tensor([1, 1])},
        {
            "state": [*THINGS, None, (), (floats(B, U), None)],
            "last_tokens": [
                *TOKENS,
                torch.tensor([1]),
                torch.tensor([1, V]),
                torch.tensor([1, -1]),
            ],
        },
    ),
}
SAME = {
    "pairs": ["sequences"],
    "texts": ["tokens"],
    "form": ["forms"],
    "locale": ["locales"],
}  # the inner word

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
