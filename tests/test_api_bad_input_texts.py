"""The walk of `nonsense.py` through texts: where they come from, and how they are cut."""

import math
from tempfile import mkdtemp

import torch

from gates2heads.checks.values import check_choice, check_flag, check_number
from gates2heads.data.batches.joined import join
from gates2heads.data.batches.windows import (
    cut_blocks,
    join_sentences,
    keep_probabilities,
    subsample,
    windows,
)
from gates2heads.data.corpora.cldr_facts import facts, names
from gates2heads.data.corpora.docstrings import docstrings
from gates2heads.data.corpora.download import fetch
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.data.corpora.python_marks import mark_source
from gates2heads.data.corpora.python_source import (
    known_characters,
    passage_starts,
    passages,
    python_source,
)
from gates2heads.data.corpora.shakespeare import tiny_shakespeare
from gates2heads.data.corpora.word_tests import word_similarity
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.merge_dropout import MergeDropout
from gates2heads.data.tokens.spans import check_spans
from gates2heads.data.tokens.words import WordTokenizer, WordVocabulary, split_words
from tests.nonsense import (
    CHOICES,
    COUNTS,
    FLAGS,
    HUGE,
    LISTS,
    POSITIVES,
    SHARES,
    THINGS,
    TOKENIZER,
    first,
    through,
    walk,
)

TEXTS = [object(), None, 3, 2.5, b"a", ["a"]]
NOT_TEXTS = [*LISTS, "ab", [3], [None], [b"a"]]
WORDS = WordVocabulary({"a": 2, "b": 1})
WORD_TOKENIZER = WordTokenizer(WORDS)
BPE = BPETokenizer.train(["ab"], 259)
TEXT = join_sentences([[3, 4], [5]])
NO_TEXTS = [*THINGS, None, 3, [], (), TEXT.tokens]
GENERATOR = torch.Generator()
SAVED = f"{mkdtemp()}/tokenizer.json"
BPE.save(SAVED)
RIGHTS = {"tinyshakespeare.txt", "men", "test"}
NUMBERS = [*LISTS, [999], [-1], [HUGE], [2.5], [math.nan], ["3"], torch.ones(2)]


def offline(ask):
    """Do not ask for what is right, since that would be downloaded."""
    return through(
        ask, lambda **given: None if RIGHTS.intersection(map(str, given.values())) else ask(**given)
    )


ENTRIES = {
    "check_number": (
        through(check_number, lambda value: check_number("value", value)),
        {"value": 0.5},
        {"value": [*THINGS, None, True, [], math.nan, math.inf, -math.inf]},
    ),
    "check_flag": (
        through(check_flag, lambda value: check_flag("value", value)),
        {"value": True},
        {"value": FLAGS},
    ),
    "check_choice": (
        through(check_choice, lambda value: check_choice("value", value, ("a", "b"))),
        {"value": "a"},
        {"value": CHOICES},
    ),
    "check_spans": (
        through(check_spans, lambda spans: check_spans("spans", spans)),
        {"spans": [(0, 1)]},
        {"spans": [*LISTS, "ab", [3], [(1, 1)], [(1, 2, 3)], [("a", "b")]]},
    ),
    "CharacterTokenizer.from_texts": (
        CharacterTokenizer.from_texts,
        {"texts": ["ab"]},
        {"texts": [*LISTS, [3], [None]]},
    ),
    "CharacterTokenizer.encode": (TOKENIZER.encode, {"text": "ab"}, {"text": [*TEXTS, "", "z"]}),
    "WordVocabulary": (
        WordVocabulary,
        {"counts": {"a": 2, "b": 1}, "min_count": 1, "max_size": 2},
        {
            "counts": [*LISTS, [], {}, {3: 1}, {"a": "b"}, {"<eos>": 1}, {"a": math.nan}],
            "min_count": COUNTS,
            "max_size": [x for x in COUNTS if x is not None],
        },
    ),
    "WordVocabulary.from_texts": (
        WordVocabulary.from_texts,
        {"texts": [["a"]]},
        {"texts": [*LISTS, "ab", ["ab"], [3], [[3]], [[["a"]]]]},
    ),
    "WordVocabulary.encode": (WORDS.encode, {"tokens": ["a", "z"]}, {"tokens": [*LISTS, "a", [3]]}),
    "WordTokenizer": (
        WordTokenizer,
        {"vocabulary": WORDS, "lower": True},
        {"vocabulary": [*THINGS, None, TOKENIZER.vocabulary], "lower": FLAGS},
    ),
    "WordTokenizer.from_texts": (
        WordTokenizer.from_texts,
        {"texts": ["a b"], "lower": False, "min_count": 1, "max_size": 1},
        {"texts": NOT_TEXTS, "lower": FLAGS, "min_count": COUNTS},
    ),
    "WordTokenizer.encode": (WORD_TOKENIZER.encode, {"text": "a"}, {"text": [*TEXTS, "", " "]}),
    "WordTokenizer.decode": (WORD_TOKENIZER.decode, {"numbers": [3]}, {"numbers": NUMBERS}),
    "split_words": (split_words, {"text": "a b"}, {"text": TEXTS}),
    "BPETokenizer": (
        BPETokenizer,
        {"tokenizer": BPE._tokenizer},
        {"tokenizer": [*THINGS, None, 3]},
    ),
    "BPETokenizer.train": (
        BPETokenizer.train,
        {"texts": ["ab"], "vocabulary_size": 259, "min_frequency": 2},
        {
            "texts": [*LISTS, "ab", [], [3], [None]],
            "vocabulary_size": [*COUNTS, 258],
            "min_frequency": COUNTS,
        },
    ),
    "BPETokenizer.encode": (
        BPE.encode,
        {"text": "ab"},
        {"text": [*TEXTS, ""]},
    ),
    "BPETokenizer.encode_all": (
        BPE.encode_all,
        {"texts": ["ab"]},
        {"texts": [*LISTS, "ab", [3], [""]]},
    ),
    "BPETokenizer.words": (BPE.words, {"text": "ab"}, {"text": [*TEXTS, ""]}),
    "MergeDropout": (
        MergeDropout,
        {"tokenizer": BPE, "dropout": 0.1, "seed": 0, "splits": 2},
        {
            "tokenizer": [*THINGS, None, 3],
            "dropout": SHARES,
            "seed": ["a", 2.5, None],
            "splits": COUNTS,
        },
    ),
    "MergeDropout.encode": (MergeDropout(BPE).encode, {"text": "ab"}, {"text": [*TEXTS, ""]}),
    "BPETokenizer.pieces": (BPE.pieces, {"text": "ab"}, {"text": [*TEXTS, ""]}),
    "BPETokenizer.decode": (BPE.decode, {"numbers": [3]}, {"numbers": NUMBERS}),
    "BPETokenizer.load": (
        BPETokenizer.load,
        {"path": SAVED},
        {"path": [object(), None, 3, [], "nonsense", ".", __file__]},
    ),
    "BPETokenizer.save": (
        through(BPETokenizer.save, lambda path: isinstance(path, str) or BPE.save(path)),
        {"path": SAVED},  # no other string, since each is the name of some file
        {"path": [object(), None, 3, []]},
    ),
    "BPETokenizer.from_json": (
        BPETokenizer.from_json,
        {"text": BPE.to_json()},
        {"text": [*TEXTS, "", "{}", "nonsense"]},
    ),
    "names": (
        names,
        {"kind": "languages", "locale": "zh"},
        {"kind": CHOICES, "locale": [*CHOICES, "de"]},
    ),
    "facts": (
        facts,
        {"split": "test", "locales": ["en"], "relations": ["name"]},
        {
            "split": CHOICES,
            "locales": [*LISTS, "en", ["de"], [None]],
            "relations": [*LISTS, "name", ["age"], [None]],
        },
    ),
    "python_source": (python_source, {"split": "test"}, {"split": CHOICES}),
    "known_characters": (known_characters, {"text": "ab"}, {"text": TEXTS}),
    **{
        cut.__name__: (cut, {"text": "ab", "length": 1}, {"text": TEXTS, "length": COUNTS})
        for cut in (passages, passage_starts)
    },
    "mark_source": (mark_source, {"text": "f(x)\n"}, {"text": [*TEXTS, "", "x = (\n"]}),
    "docstrings": (
        docstrings,
        {"split": "test", "packages": ["iniconfig"]},
        {"split": CHOICES, "packages": [*LISTS, "numpy", [], ["no package"], [None]]},
    ),
    **{
        ask.__name__: (offline(ask), {argument: right}, {argument: CHOICES})
        for ask, argument, right in [
            (fetch, "name", "tinyshakespeare.txt"),
            (word_similarity, "name", "men"),
            (multi30k, "split", "test"),
            (tiny_shakespeare, "split", "test"),
        ]
    },
    "Joined.place": (
        join([3, 4], [5]).place,
        {"spans": [(0, 1)], "text": 1},
        {"spans": [*LISTS, "ab", [3], [("a", "b")]], "text": [*THINGS, None, 2, -1, 0.5]},
    ),
    "join_sentences": (
        join_sentences,
        {"sentences": [[3, 4], [5]]},
        {"sentences": [*LISTS, "ab", [], [[]], [3], [["a"]], [[2.5]]]},
    ),
    "keep_probabilities": (
        keep_probabilities,
        {"counts": torch.tensor([3, 2, 1]), "threshold": 0.1},
        {
            "counts": [*THINGS, None, [1], torch.zeros(3), -torch.ones(3), torch.ones(2, 2)],
            "threshold": POSITIVES,
        },
    ),
    "subsample": (
        subsample,
        {"text": TEXT, "keep": torch.ones(6), "generator": GENERATOR},
        {
            "text": NO_TEXTS,
            "keep": [
                *THINGS,
                None,
                3,
                [1.0],
                torch.ones(5),
                torch.ones(6, 2),
                torch.ones(6) * 2,
                HUGE,
            ],
            "generator": [*THINGS, 3],
        },
    ),
    "cut_blocks": (
        cut_blocks,
        {"text": TEXT, "width": 2, "window": 1, "generator": GENERATOR},
        {"text": NO_TEXTS, "width": COUNTS, "window": COUNTS, "generator": [*THINGS, 3]},
    ),
    "windows": (
        through(windows, lambda **given: first(windows(**given))),
        {"text": TEXT, "window": 1, "batch_size": 2, "seed": 3},
        {"text": NO_TEXTS, "window": COUNTS, "batch_size": COUNTS, "seed": [*THINGS, 2.5, []]},
    ),
}
SAME = {
    "texts": ["text", "tokens", "counts"],
    "min_count": ["counts"],
    "counts": ["tokens"],
    "sentences": ["sequences"],
}  # the inner word

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
