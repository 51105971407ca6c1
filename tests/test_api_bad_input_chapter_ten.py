"""The walk of `nonsense.py` through pre-training on facts: tokens, gaps, names, and their view."""

import math

import torch
from torch import nn

from gates2heads.data.batches.joined import Markers
from gates2heads.data.corpora.fact_examples import (
    Labelled,
    answer_examples,
    inference_examples,
    slot_examples,
    truth_examples,
)
from gates2heads.data.corpora.wordings import split_of_wording, territory_code, wordings
from gates2heads.data.tokens.bilingual import (
    BilingualTokenizer,
    bilingual_offsets,
    split_bilingual,
    write_bilingual,
)
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.decoding.filling import (
    ObservedGaps,
    ObservedLine,
    find_names,
    observe_gaps,
    observe_line,
)
from gates2heads.display.engine.export import Exported
from gates2heads.display.widgets import FillTheMask, MaskExample
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.by_name import pretraining_model
from gates2heads.models.pretraining.filling import fill_gaps
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.pretraining.heads import TokenHead
from gates2heads.training.fact_contexts import likeness, states_of, two_roles, wording
from gates2heads.training.fact_pretraining import fact_batches, fact_markers, untrained
from gates2heads.training.fact_questions import fill_names, fill_tokens
from gates2heads.training.fact_uses import UseReader, learn_use, use_batch
from tests.nonsense import (
    CHOICES,
    COUNTS,
    FLAGS,
    LISTS,
    MASK,
    MASKS,
    SEEDS,
    SOURCE,
    THINGS,
    TOKENS,
    V,
    first_drawn,
    floats,
    through,
    walk,
)

TOKENIZER = BilingualTokenizer.from_texts(["a b 法 国", "c"])
SIZE = Markers.of(TOKENIZER.vocabulary).size
TINY = {"d_model": 4, "nhead": 1, "num_layers": 1, "max_length": 16}
torch.manual_seed(0)
READER, WRITER = BERT(SIZE, **TINY).eval(), GPT(SIZE, **TINY).eval()
WORDS = [object(), None, 3, [], "\udc80"]
FACTS = wordings("train")[:24]
FACTUAL = BERT(fact_markers().size, **TINY | {"max_length": 64}).eval()
TEXTS = [object(), None, 3, 2.5, [], ["ab"]]
MODELS = [*THINGS, None, 3, nn.Linear(1, 1), BERT]
TOKENIZERS = [*THINGS, None, 3, TOKENIZER.vocabulary, BilingualTokenizer]
DOUBLES = two_roles([one for one in wordings("train") if one.locale == "en"])
NO_DOUBLES = [*THINGS, None, 3, [], [3], FACTS]
DRAWS = [*SEEDS, -1, None, []]
HEAD = TokenHead(4, 4)
NO_FACTS = [*THINGS, None, 3, [], [3], [None], "facts", {}, FACTS[0]]
ONE = MaskExample("a b", [1], "x")
EXAMPLES = [*LISTS, "ab", b"ab", [], [3], ["ab"], [("ab", [1])]]
EXAMPLES += [
    [one]
    for one in [
        *(ONE._replace(text=text) for text in (object(), None, 3, "\ud800")),
        *(ONE._replace(hidden=places) for places in (3, None, "1", [None], [-1], [0.5], ["1"])),
        *(ONE._replace(label=label) for label in (object(), None, 3, "\udc80")),
    ]
]
SEEN = ObservedGaps(["a", "b"], [1], -floats(1, 3).abs(), [*"abc"])
LINE = ObservedLine(["a"], ["c"], -floats(2).abs(), True)
MODEL = Exported("small", "{}", b"\x00\x01")
RECORDED = [*THINGS, None, 3, [], [SEEN], [LINE, LINE], [SEEN, None], [3, LINE]]
RECORDED += [
    [SEEN._replace(**wrong), LINE]
    for wrong in [
        *({"tokens": tokens} for tokens in (3, None, "ab", [3], ["\ud800", "b"])),
        *({"hidden": hidden} for hidden in ([0], [], [0, 1])),
        *({"log_probs": rows} for rows in (3, None, "a", floats(2, 3), floats(3), floats(1, 2))),
    ]
]
RECORDED += [
    [SEEN, LINE._replace(**wrong)]
    for wrong in (
        {"tokens": ["b"]},
        {"written": [3]},
        {"written": 3},
        {"written": ["\ud800"]},
        {"log_probs": None},
    )
]
ENTRIES = {
    "Markers.of": (
        Markers.of,
        {"vocabulary": TOKENIZER.vocabulary},
        {"vocabulary": TOKENIZERS[:5]},
    ),
    "BilingualTokenizer": (
        BilingualTokenizer,
        {"vocabulary": WordVocabulary({"a": 1})},
        {"vocabulary": [*THINGS, None, 3, [], ["a"]]},
    ),
    "BilingualTokenizer.from_texts": (
        BilingualTokenizer.from_texts,
        {"texts": ["a b"]},
        {"texts": [*LISTS, "ab", [], [3], [" "]]},
    ),
    "BilingualTokenizer.encode": (TOKENIZER.encode, {"text": "a"}, {"text": [*TEXTS, "", " "]}),
    "BilingualTokenizer.decode": (
        TOKENIZER.decode,
        {"numbers": [4, 5]},
        {"numbers": [*LISTS, "ab", [0.5], [-1], [99]]},
    ),
    "split_bilingual": (split_bilingual, {"text": "a b"}, {"text": TEXTS}),
    "bilingual_offsets": (bilingual_offsets, {"text": "a b"}, {"text": TEXTS}),
    "write_bilingual": (
        write_bilingual,
        {"tokens": ["a", "b"]},
        {"tokens": [*LISTS, "ab", [3], [None]]},
    ),
    "wordings": (wordings, {"split": "test"}, {"split": CHOICES}),
    "split_of_wording": (
        split_of_wording,
        {"first": FACTS[0], "second": FACTS[1]},
        {"first": [*THINGS, None, 3], "second": [*THINGS, None, 3]},
    ),
    "territory_code": (territory_code, {"fact": FACTS[0]}, {"fact": [*THINGS, None, 3, FACTS]}),
    "pretraining_model": (
        through(pretraining_model, lambda **given: pretraining_model(**given, **TINY)),
        {"kind": "bert", "vocabulary_size": 7},
        {"kind": CHOICES, "vocabulary_size": COUNTS},
    ),
    "fill_gaps": (
        fill_gaps,
        {"model": BERT(V, **TINY), "tokens": SOURCE, "gaps": MASK, "markers": Markers(V - 1)}
        | {"segments": SOURCE - 3, "mask": MASK},
        {"model": MODELS, "tokens": TOKENS, "gaps": [*MASKS, ~MASK], "markers": [*THINGS, None, 3]}
        | {"segments": [one for one in TOKENS if one is not None], "mask": MASKS},
    ),
    "observe_gaps": (
        observe_gaps,
        {"model": READER, "text": "a b", "hidden": [1], "tokenizer": TOKENIZER},
        {"model": MODELS, "text": [*TEXTS, ""], "tokenizer": TOKENIZERS}
        | {"hidden": [*LISTS, [], [2], [-1], [None], [0.5], "1"]},
    ),
    "observe_line": (
        observe_line,
        {"model": WRITER, "text": "a b", "length": 1, "tokenizer": TOKENIZER, "max_length": 3},
        {"model": MODELS, "text": [*TEXTS, ""], "tokenizer": TOKENIZERS}
        | {"length": [*THINGS, None, -1, 3, 0.5, math.nan], "max_length": COUNTS},
    ),
    "find_names": (
        find_names,
        {"tokens": ["a", "b"], "names": ["a b"]},
        {"tokens": [*LISTS, "ab"], "names": [*LISTS, "ab", [3], [None]]},
    ),
    "fact_batches": (
        first_drawn(fact_batches),
        {"sentences": FACTS, "seed": 1},
        {"sentences": NO_FACTS, "seed": [*SEEDS, -1, None, []]},
    ),
    "untrained": (untrained, {"kind": "gpt", "seed": 1}, {"kind": CHOICES, "seed": SEEDS}),
    "fill_names": (
        fill_names,
        {"model": FACTUAL, "facts": FACTS[:2]},
        {"model": [*MODELS, READER], "facts": NO_FACTS},
    ),
    "fill_tokens": (
        fill_tokens,
        {"model": FACTUAL, "facts": FACTS[:2]},
        {"model": [*MODELS, READER, WRITER], "facts": NO_FACTS},
    ),
    "slot_examples": (slot_examples, {"facts": FACTS}, {"facts": NO_FACTS}),
    **{
        make.__name__: (make, {"facts": FACTS, "seed": 1}, {"facts": NO_FACTS, "seed": DRAWS})
        for make in (truth_examples, inference_examples, answer_examples)
    },
    "two_roles": (two_roles, {"facts": FACTS}, {"facts": NO_FACTS}),
    "states_of": (
        states_of,
        {"model": FACTUAL, "occurrences": DOUBLES[:2]},
        {"model": [*MODELS, READER, WRITER], "occurrences": NO_DOUBLES},
    ),
    "wording": (wording, {"fact": FACTS[0]}, {"fact": [*THINGS, None, 3, FACTS]}),
    "likeness": (
        likeness,
        {"states": floats(2, len(DOUBLES), 3), "occurrences": DOUBLES},
        {"states": [*THINGS, None, 3, floats(2, 3)], "occurrences": NO_DOUBLES},
    ),
    "use_batch": (
        use_batch,
        {"examples": [Labelled("a", None, (1,))]},
        {"examples": [*LISTS, "ab", [], [3], ["ab"]]},
    ),
    "UseReader": (
        UseReader,
        {"encoder": FACTUAL, "head": HEAD},
        {"encoder": MODELS, "head": MODELS},
    ),
    "UseReader.forward": (
        UseReader(FACTUAL, HEAD),
        {"batch": use_batch([Labelled("a b", None, (1, 2))])},
        {"batch": [*THINGS, None, 3, FACTS, SOURCE]},
    ),
    "learn_use": (
        learn_use,
        {"name": "slots", "encoder": FACTUAL, "frozen": True, "steps": 2, "seed": 1},
        {"name": CHOICES, "encoder": [*MODELS, READER, WRITER], "steps": COUNTS, "seed": SEEDS}
        | {"frozen": FLAGS},
    ),
    "FillTheMask": (
        FillTheMask,
        {"models": {"BERT": MODEL, "GPT": MODEL}, "examples": [ONE], "recorded": [SEEN, LINE]}
        | {"spans": [(0, 1)], "title": "Gaps", "label": "Type", "hint": "Try", "about": "two"},
        {
            "models": [*THINGS, None, 3, [], {}, {3: MODEL}, {"a": None}, {"\udc80": MODEL}],
            "examples": EXAMPLES,
            "recorded": RECORDED,
            "spans": [*LISTS, "ab", [3], [(1,)], [(0, 99)], [(-1, 1)], [(0.5, 1)], [None]],
            **dict.fromkeys(("title", "label", "hint", "about"), WORDS),
        },
    ),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
