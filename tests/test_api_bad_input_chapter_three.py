"""The walk of `nonsense.py` through what chapter 3 brought."""

import math

import torch
from torch import nn

from gates2heads.decoding.next_token import Foreseen, foresee
from gates2heads.decoding.sampling import narrow
from gates2heads.display.engine.export import Exported
from gates2heads.display.widgets import Column, NextToken
from gates2heads.exercises.faulty_counting import (
    Reader,
    date_texts,
    reported_perplexity,
    train_reader,
)
from gates2heads.models.language.context import ContextModel, token_lists
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.models.language.ngram import AddK, KneserNey, MaximumLikelihood
from gates2heads.models.language.pruned import (
    PrunedCounts,
    PrunedKneserNey,
    PrunedMaximumLikelihood,
)
from tests.nonsense import (
    COUNTS,
    FLAGS,
    HUGE,
    LISTS,
    POSITIVES,
    SHARES,
    THINGS,
    TOKENIZER,
    B,
    V,
    floats,
    walk,
)

TEXTS = [[3, 4, 2], [3, 5, 4, 2]]
NO_TEXTS = [*LISTS, "ab", [], [[]], [3], [["a"]], [[2.5]], [[V]], [[-1]], [[HUGE]]]
WHOLE = KneserNey(TEXTS, V, 2)
KEPT = PrunedKneserNey.of(WHOLE, least=1)
PRUNED = {"tensors": dict(KEPT.named_buffers()), **KEPT.settings()}
NO_TENSORS = [*THINGS, None, 3, [], {}, {name: 3 for name in PRUNED["tensors"]}]
NO_DISCOUNTS = [object(), None, 3, "ab", [], [3], [["a"]], [[0.5]], [[0.5] * 4]]
WRONG_COUNTS = {"tensors": NO_TENSORS, "vocabulary_size": COUNTS, "discounts": NO_DISCOUNTS}
LOG_PROBS = floats(B, V).log_softmax(-1)
SIZE = len(TOKENIZER.vocabulary)
torch.manual_seed(0)
READER = Reader(RecurrentLanguageModel(SIZE, hidden_size=4).eval(), TOKENIZER, True)
MODEL = Exported("small", "{}", b"\x00\x01")
SEEN = foresee(AddK([[3, 4, 2]], SIZE, 2), "ab", TOKENIZER)
COLUMN = Column("a", MODEL, SEEN, 0)
WORDS = [*THINGS[:1], None, 3, [], {}]
WRONG_COLUMNS = [
    COLUMN._replace(name=3),
    COLUMN._replace(model=3),
    COLUMN._replace(foreseen=3),
    COLUMN._replace(place=-1),
    tuple(COLUMN),
]

ENTRIES = {
    "ContextModel": (
        ContextModel,
        {"vocabulary_size": V, "order": 2},
        {"vocabulary_size": COUNTS, "order": COUNTS},
    ),
    "token_lists": (
        token_lists,
        {"texts": TEXTS, "vocabulary_size": V, "written": True},
        {"texts": NO_TEXTS, "vocabulary_size": COUNTS, "written": FLAGS},
    ),
    "MaximumLikelihood": (
        MaximumLikelihood,
        {"texts": TEXTS, "vocabulary_size": V, "order": 2},
        {"texts": NO_TEXTS, "vocabulary_size": COUNTS, "order": COUNTS},
    ),
    **{
        kind.__name__: (kind, PRUNED, WRONG_COUNTS)
        for kind in (PrunedCounts, PrunedKneserNey, PrunedMaximumLikelihood)
    },
    "PrunedKneserNey.of": (
        PrunedKneserNey.of,
        {"model": WHOLE, "least": 2},
        {"model": [*THINGS, None, 3, nn.Linear(1, 1), KEPT, AddK(TEXTS, V)], "least": COUNTS},
    ),
    "foresee": (
        foresee,
        {"model": AddK([[3, 4, 2]], SIZE, 2), "text": "ab", "tokenizer": TOKENIZER},
        {
            "model": [*THINGS, None, 3, nn.Linear(1, 1), AddK],
            "text": [object(), None, 3, ["ab"], "z"],
            "tokenizer": [*THINGS, None, 3, TOKENIZER.vocabulary],
        },
    ),
    "narrow": (
        narrow,
        {"log_probs": LOG_PROBS, "temperature": 0.5, "top_k": 2, "top_p": 0.5},
        {
            "log_probs": [*THINGS, None, 3, torch.zeros(0), LOG_PROBS * math.nan],
            "temperature": POSITIVES,
            "top_k": [one for one in COUNTS if one is not None],
            "top_p": [one for one in SHARES if one is not None],
        },
    ),
    "date_texts": (
        date_texts,
        {"split": "test", "size": 2},
        {"split": [*THINGS, None, 3], "size": COUNTS},
    ),
    "train_reader": (
        train_reader,
        {"faulty": True, "steps": 1},
        {"faulty": FLAGS, "steps": COUNTS},
    ),
    "reported_perplexity": (
        reported_perplexity,
        {"reader": READER, "texts": ["ab", "c"], "batch_size": 2},
        {
            "reader": [*THINGS, None, 3],
            "texts": [object(), None, 3, [], [3], ["z"]],
            "batch_size": COUNTS,
        },
    ),
    "NextToken": (
        NextToken,
        {"columns": [COLUMN], "examples": ["ab"], "labels": ["x"], "source": 0}
        | {"title": "Next", "label": "Type", "hint": "Try", "about": "six weights"},
        {
            "columns": [*LISTS, "ab", [], [3], [None], *([one] for one in WRONG_COLUMNS)],
            "examples": [*LISTS, "ab", b"ab", [], [3], [None], ["\ud800"], ["ba"]],
            "labels": [3, object(), 2.5, "ab", [], [3], ["\ud800"], ["a", "b"]],
            **dict.fromkeys(("title", "label", "hint", "about"), WORDS),
            "source": [-1, 1, 2.5, "a", None],
        },
    ),
}
assert isinstance(SEEN, Foreseen)

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
