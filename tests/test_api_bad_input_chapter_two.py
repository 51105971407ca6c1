"""The walk of `nonsense.py` through word classes, tables of vectors, and what they are asked."""

import math

import torch

from gates2heads.data.batches.windows import join_sentences
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.display.engine.export import Exported
from gates2heads.display.widgets import EmbeddingMap
from gates2heads.display.word_diagrams import word_tree
from gates2heads.exercises.faulty_words import small_words
from gates2heads.exercises.small_language import kinds_of, small_language
from gates2heads.metrics.word_questions import ask_words, flat_map
from gates2heads.metrics.word_vectors import WordVectors
from gates2heads.models.words.brown import brown_classes, merge_losses, mutual_information
from gates2heads.models.words.table import WordTable
from tests.nonsense import COUNTS, FLAGS, FLOATS, LISTS, SEEDS, THINGS, floats, walk

WORDS = ["a", "b", "c", "d", "e"]
OFTEN = torch.tensor([5, 4, 3, 2, 1])
WRONG_OFTEN = [*THINGS, None, 3, [3, 2, 1], OFTEN[:0], -OFTEN, OFTEN[:, None], OFTEN * math.nan]
WRONG_TEXTS = [*THINGS, None, 3, [[1, 2]]]
TABLES = [*THINGS, None, 3, [[1]], OFTEN, torch.ones(2, 3), -torch.ones(2, 2)]
WRONG_WORDS = [object(), None, 3, "ab", [3], ["a", "a", "b", "c", "d"], ["a"]]
VECTORS = WordVectors(WORDS, floats(5, 7))
ANSWER = ask_words(VECTORS, ["a"], count=3)
OTHERS = [ask_words(VECTORS, words) for words in (["b"], ["a", "b"])]
MODEL = Exported("small", "{}", b"\x00\x01")
SAID = [object(), None, 3, [], "\udc80"]
PLANES = [x for x in FLOATS if not (isinstance(x, torch.Tensor) and x.dim() == 2)]

ENTRIES = {
    "brown_classes": (
        brown_classes,
        {"text": join_sentences([[0, 1, 2], [3, 4]]), "counts": OFTEN, "classes": 2},
        {"text": WRONG_TEXTS, "counts": [*WRONG_OFTEN, OFTEN[:3]], "classes": COUNTS},
    ),
    "mutual_information": (mutual_information, {"table": torch.ones(3, 3)}, {"table": TABLES}),
    "merge_losses": (merge_losses, {"table": torch.ones(3, 3)}, {"table": TABLES}),
    "WordTable": (
        WordTable,
        {"words": WORDS, "counts": OFTEN, "vector_size": 7},
        {"words": WRONG_WORDS, "counts": [*WRONG_OFTEN, OFTEN[:3]], "vector_size": COUNTS},
    ),
    "WordTable.of": (
        WordTable.of,
        {"words": WORDS, "counts": OFTEN, "vectors": floats(5, 7)},
        {"words": WRONG_WORDS, "counts": WRONG_OFTEN, "vectors": [*FLOATS, floats(3, 7)]},
    ),
    "towards": (
        VECTORS.towards,
        {"a": "a", "b": "b", "count": 2, "exclude": True},
        {"a": ["z", *SAID], "b": ["z", *SAID], "count": COUNTS, "exclude": FLAGS},
    ),
    "analogy": (
        VECTORS.analogy,
        {"a": "a", "b": "b", "c": "c", "count": 2, "exclude": False},
        {"exclude": FLAGS},
    ),
    "analogy_accuracy": (
        VECTORS.analogy_accuracy,
        {"questions": [("a", "b", "c", "d")], "exclude": False},
        {"exclude": FLAGS},
    ),
    "flat_map": (flat_map, {"vectors": floats(5, 3)}, {"vectors": PLANES}),
    "ask_words": (
        ask_words,
        {"vectors": VECTORS, "words": ["a", "b"], "count": 2, "exclude": True},
        {
            "vectors": [*THINGS, None, 3, floats(5, 7)],
            "words": [*LISTS, "ab", [], [3], ["z"], ["a", "b", "c", "d"]],
            "count": COUNTS,
            "exclude": FLAGS,
        },
    ),
    "word_tree": (
        word_tree,
        {"paths": {"a": [(0, 1)], "b": [(0, -1)]}, "shown_word": "a"},
        {
            "paths": [*THINGS, None, 3, [], {}, {"a": 3}, {"a": [(0, 1)]}, {3: [(0, 1)]}],
            "shown_word": [*SAID, "z"],
        },
    ),
    "small_language": (
        small_language,
        {"count": 3, "seed": 1},
        {"count": COUNTS, "seed": [*SEEDS, -1, None]},
    ),
    "kinds_of": (
        kinds_of,
        {"vocabulary": WordVocabulary.from_texts(small_language(300))},
        {"vocabulary": [*THINGS, None, 3, WordVocabulary({"a": 1})]},
    ),
    "small_words": (
        small_words,
        {"faulty": False, "epochs": 1},
        {"faulty": FLAGS, "epochs": COUNTS},
    ),
    "EmbeddingMap": (
        EmbeddingMap,
        {"models": {"x": MODEL}, "examples": ["a"], "recorded": ANSWER, "labels": ["one"]}
        | {"title": "Map", "label": "Type", "hint": "Try", "about": "five words"},
        {
            "models": [*THINGS, None, 3, [], {}, {3: MODEL}, {"a": None}, {"\udc80": MODEL}],
            "examples": [*LISTS, "a", b"ab", [], [3], [None], ["\ud800"], ["b"], ["a b"]],
            "recorded": [*THINGS, None, 3, [], *OTHERS],
            "labels": [3, object(), 2.5, "ab", [], [3], ["\ud800"], ["a", "b"]],
            **dict.fromkeys(("title", "label", "hint", "about"), SAID),
        },
    ),
}

WORD = dict.fromkeys(("a", "b", "c", "words"), ("word",))
test_good_arguments_are_good, test_nonsense_is_refused = walk(ENTRIES, WORD)
