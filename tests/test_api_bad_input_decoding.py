"""The walk of `nonsense.py` through the searches, their rules, their states and their trees."""

import math
from functools import partial

import torch
from torch import nn

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.decoding.beam import beam
from gates2heads.decoding.beam_by_definition import beam_by_definition
from gates2heads.decoding.exact import exact
from gates2heads.decoding.exhaustive import exhaustive
from gates2heads.decoding.gates import observe_gates
from gates2heads.decoding.lengths import Power, Wu, check_rule
from gates2heads.decoding.observation import observe, observe_heads
from gates2heads.decoding.sampling import keep_top_k, keep_top_p, sample, temper
from gates2heads.decoding.search import greedy
from gates2heads.decoding.searches import compare, watch
from gates2heads.decoding.state import check_state, select
from gates2heads.decoding.steps import begin
from gates2heads.decoding.trace import Tree, check_trace
from gates2heads.decoding.translation import align, align_heads, translate, write
from gates2heads.decoding.walk import logit_lens
from gates2heads.decoding.walk import walk as walk_through
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.seq2seq import EncoderDecoder
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
    U,
    V,
    floats,
    through,
    walk,
)

BOS = torch.tensor([1, 1])
LOG_PROBS = floats(B, V).log_softmax(-1)
ROWS = torch.tensor([1, 0])
STEPS = [*THINGS, None, 3, lambda s, t: 3, lambda s, t: None, lambda s, t: (floats(3), s)]
STEPS += [lambda s, t: (LOG_PROBS * math.nan, s), lambda s, t: (-LOG_PROBS, s)]
STEPS += [lambda s, t: (LOG_PROBS[:, :2].long(), s), lambda s, t: (LOG_PROBS[:1], s)]
TOKENS = [*THINGS, 2.5, -1, math.nan, [], HUGE, True]
BEGINS = [*THINGS, None, [], 2.5, -1, HUGE, torch.ones(2), torch.zeros(0).long(), BOS[None]]
ALPHAS = [*THINGS, None, math.nan, math.inf, -math.inf, [], True]
LOGITS = [*THINGS, None, 3, [0.0], torch.zeros(0), LOG_PROBS * math.nan, LOG_PROBS.long()]
LOGITS += [torch.tensor(0.0), LOG_PROBS + math.inf, LOG_PROBS - math.inf]
NO_TREES = [*THINGS, 3, [], Tree]
NO_COUNTS = [*THINGS, -1, 2.5, math.nan, math.inf, [], True, torch.ones(2), HUGE]
PREFIXES = [
    *THINGS,
    3,
    [0.5],
    [-1],
    [None],
    [HUGE],
    [V],
    [3, 3, 3],
    [2, 3],
    [[3]],
    torch.ones(B, 1),
]
PREFIXES += [torch.ones(1), torch.ones(3, 1).long(), torch.full((B, 1), -1)]
RULES = [*THINGS, 0.5, Power, Power(1e9), Power(-1e9)]
TINY = {"d_model": 4, "nhead": 2, "num_layers": 1}
WRITER = EncoderDecoder(6, 6, embedding_size=5, hidden_size=4)


def step(state, last_tokens):
    return torch.zeros(len(last_tokens), V).log_softmax(-1), state


def grown():
    tree = Tree(2)
    greedy(step, None, bos=BOS, eos=2, max_length=2, trace=tree)
    return tree


SEARCH = {
    "step": step,
    "state": None,
    "bos": BOS,
    "eos": 2,
    "max_length": 2,
    "prefix": [3],
    "pad": 0,
    "trace": Tree(2),
}
WRONG_SEARCH = {
    "step": STEPS,
    "bos": BEGINS,
    "eos": [*TOKENS, V],
    "max_length": COUNTS,
    "prefix": PREFIXES,
    "pad": [*TOKENS, None],
    "trace": NO_TREES,
}
UNFORCED = {name: right for name, right in SEARCH.items() if name != "prefix"}
ALONE = {name: SEARCH[name] for name in ("step", "state", "eos", "max_length")} | {"bos": 0}
TREE = grown()
WRONG_SOURCES = [*THINGS, None, -1, 2, 0.5, []]
SIDES = {"source": TOKENIZER, "target": TOKENIZER}
TRANSLATION = {"model": WRITER, "texts": ["ab"], **SIDES}
TOKENIZERS = [*THINGS, None, 3, TOKENIZER.vocabulary, CharacterTokenizer, nn.Linear(1, 1)]
WRONG_SIDES = {"source": TOKENIZERS, "target": TOKENIZERS}
WRONG_TRANSLATION = {
    "model": [*THINGS, None, 3, nn.Linear(1, 1), EncoderDecoder, WRITER.decoder, GPT(6, **TINY)],
    "texts": [*THINGS, *LISTS, [], [3], [None], [""], ["z"], {"ab"}, (x for x in "ab")],
    **WRONG_SIDES,
}

HEADS = Transformer(*2 * [len(TOKENIZER.vocabulary)], d_model=4, nhead=2, dim_feedforward=5)
GATED = RecurrentLanguageModel(6, embedding_size=5, hidden_size=4)
DEEP = RecurrentLanguageModel(6, embedding_size=5, hidden_size=4, num_layers=2)
CIRCLE = []
CIRCLE.append(CIRCLE)

ENTRIES = {
    "greedy": (greedy, SEARCH, WRONG_SEARCH),
    "sample": (
        sample,
        {
            **SEARCH,
            "temperature": 0.5,
            "top_k": 3,
            "top_p": 0.9,
            "generator": torch.Generator(),
        },
        {
            "temperature": POSITIVES,
            "top_k": [x for x in COUNTS if x is not None],
            "top_p": [x for x in SHARES if x is not None],
            "generator": [*THINGS, 3],
        },
    ),
    "beam": (
        beam,
        {
            **SEARCH,
            "width": 3,
            "n_best": 2,
            "length_rule": Wu(),
            "refill": True,
            "early_stopping": False,
        },
        {
            **WRONG_SEARCH,
            "state": [object(), floats(3, 2), [floats(1)]],
            "width": [*COUNTS, 1],
            "n_best": [*COUNTS, 4],
            "length_rule": RULES,
            "refill": FLAGS,
            "early_stopping": FLAGS,
        },
    ),
    "beam_by_definition": (
        beam_by_definition,
        {
            **{name: SEARCH[name] for name in ("step", "state", "eos", "max_length")},
            "bos": 0,
            "width": 3,
            "n_best": 2,
            "length_rule": Wu(),
            "refill": True,
            "prefix": [3],
        },
        {
            **{name: WRONG_SEARCH[name] for name in ("eos", "max_length")},
            "prefix": [wrong for wrong in PREFIXES if wrong != [V]],  # there is none: none is found
            "step": STEPS[:-1],  # the last is right for one source
            "bos": [*BEGINS, BOS],
            "state": [object(), floats(3, 2), [floats(2)]],
            "width": [*COUNTS, 1],
            "n_best": [*COUNTS, 4],
            "length_rule": RULES,
            "refill": FLAGS,
        },
    ),
    "exhaustive": (
        exhaustive,
        {**UNFORCED, "n_best": 2, "length_rule": Power(), "limit": 500},
        {
            **{name: wrong for name, wrong in WRONG_SEARCH.items() if name != "prefix"},
            "state": [object(), floats(3, 2), [floats(1)]],
            "n_best": COUNTS,
            "length_rule": RULES,
            "limit": [*COUNTS, 7],
        },
    ),
    "exact": (
        exact,
        {**ALONE, "bar": -3.0, "limit": 9, "rows": 2},
        {
            **{name: WRONG_SEARCH[name] for name in ("eos", "max_length")},
            "step": STEPS[:-1],  # the last is right for one source
            "bos": [*BEGINS, BOS],
            "state": [object(), floats(3, 2), [floats(2)]],
            "bar": ALPHAS,
            "limit": COUNTS,
            "rows": COUNTS,
        },
    ),
    "compare": (
        compare,
        {**ALONE, "width": 3, "length_rule": Wu(), "prefix": [3], "pruned": 2},
        {
            **{name: WRONG_SEARCH[name] for name in ("eos", "max_length", "prefix")},
            "step": STEPS[:-1],  # the last is right for one source
            "bos": [*BEGINS, BOS],
            "state": [object(), floats(3, 2), [floats(2)]],
            "width": COUNTS,
            "length_rule": RULES,
            "pruned": NO_COUNTS,
        },
    ),
    "watch": (
        watch,
        {**SIDES, "model": WRITER, "text": "ab", "max_length": 2},
        {
            **WRONG_SIDES,
            "model": WRONG_TRANSLATION["model"],
            "text": [*THINGS[:1], ["ab"], [], None, 3, "", "z"],
            "max_length": COUNTS,
        },
    ),
    "begin": (
        begin,
        {"step": step, "bos": BOS, "eos": 2, "max_length": 2, "pad": 0},
        {
            "step": [*THINGS, None, 3],
            "bos": BEGINS,
            "eos": TOKENS,
            "max_length": COUNTS,
            "pad": [*TOKENS, None],
        },
    ),
    **{rule.__name__: (rule, {"alpha": 0.5}, {"alpha": ALPHAS}) for rule in (Power, Wu)},
    "check_rule": (
        partial(check_rule, max_length=9),
        {"rule": Power()},
        {"rule": RULES},
    ),
    "temper": (
        temper,
        {"log_probs": LOG_PROBS, "temperature": 0.5},
        {"log_probs": LOGITS, "temperature": POSITIVES},
    ),
    "keep_top_k": (
        keep_top_k,
        {"log_probs": LOG_PROBS, "k": 2},
        {"log_probs": LOGITS, "k": COUNTS},
    ),
    "keep_top_p": (
        keep_top_p,
        {"log_probs": LOG_PROBS, "p": 0.5},
        {"log_probs": LOGITS, "p": SHARES},
    ),
    "select": (
        partial(select, rows=ROWS, size=B),
        {"state": {"hidden": floats(B, U), "steps": 3}},
        {"state": [object(), floats(3), [floats(3)], {"a": object()}, CIRCLE]},
    ),
    "check_state": (
        partial(check_state, rows=ROWS),
        {"state": floats(B, U)},
        {"state": [object(), CIRCLE]},
    ),
    "Tree": (Tree, {"branches": 3, "pruned": 2}, {"branches": COUNTS, "pruned": NO_COUNTS}),
    "Tree.tokens": (
        TREE.tokens,
        {"source": 0, "node": 1},
        {"source": WRONG_SOURCES, "node": [*THINGS, None, -1, 99, 0.5]},
    ),
    "Tree.complete": (TREE.complete, {"source": 1}, {"source": WRONG_SOURCES}),
    "Tree.plain": (TREE.plain, {"source": 1}, {"source": WRONG_SOURCES}),
    "write": (
        write,
        {**TRANSLATION, "max_length": 2, "width": 2, "length_rule": Power()},
        {**WRONG_TRANSLATION, "max_length": COUNTS, "width": COUNTS, "length_rule": RULES},
    ),
    "translate": (
        translate,
        {**TRANSLATION, "max_length": 2},
        {**WRONG_TRANSLATION, "max_length": COUNTS},
    ),
    "align": (
        align,
        {**TRANSLATION, "max_length": 2, "layer": "decoder.attention"},
        {**WRONG_TRANSLATION, "max_length": COUNTS, "layer": [*THINGS, None, 3, []]},
    ),
    "observe": (
        observe,
        {**SIDES, "model": WRITER, "text": "ab", "max_length": 2, "layer": "decoder.attention"},
        {
            **WRONG_SIDES,
            "model": WRONG_TRANSLATION["model"],
            "text": [*THINGS, ["ab"], [], None, 3],
            "max_length": COUNTS,
            "layer": [thing for thing in [*THINGS, None, 3, []] if not isinstance(thing, str)],
        },
    ),
    "align_heads": (
        align_heads,
        {**SIDES, "model": HEADS, "text": "ab", "max_length": 2},
        {
            **WRONG_SIDES,
            "model": [*WRONG_TRANSLATION["model"], WRITER, Transformer],
            "text": [*THINGS, ["ab"], [], None, 3, "", "z"],
            "max_length": COUNTS,
        },
    ),
    "observe_heads": (
        observe_heads,
        {**SIDES, "model": HEADS, "text": "ab", "max_length": 2},
        {
            **WRONG_SIDES,
            "model": [*WRONG_TRANSLATION["model"], WRITER, Transformer],
            "text": [*THINGS, ["ab"], [], None, 3, "", "z"],
            "max_length": COUNTS,
        },
    ),
    "observe_gates": (
        observe_gates,
        {"model": GATED, "text": "ab", "tokenizer": SIDES["source"]},
        {
            "model": [*THINGS, None, 3, WRITER, HEADS, DEEP],
            "text": [*THINGS, ["ab"], [], None, 3, "", "z"],
            "tokenizer": TOKENIZERS,
        },
    ),
    "walk": (
        walk_through,
        {**SIDES, "model": HEADS, "text": "ab", "top": 2, "max_length": 2},
        {
            **WRONG_SIDES,
            "model": [*WRONG_TRANSLATION["model"], WRITER, Transformer],
            "text": [*THINGS, ["ab"], [], None, 3, "", "z"],
            "top": [*COUNTS, 99],
            "max_length": COUNTS,
        },
    ),
    "logit_lens": (
        logit_lens,
        {"model": HEADS, "vectors": floats(3, 2, 4)},
        {
            "model": [*THINGS, None, 3, nn.Linear(1, 1), WRITER, Transformer],
            "vectors": [*THINGS, None, 3, [0.5], floats(2, 3), torch.ones(2, 4).long()],
        },
    ),
    "check_trace": (
        through(check_trace, lambda trace: check_trace(trace, BOS)),
        {"trace": Tree()},
        {"trace": NO_TREES},
    ),
}
SAME = {
    "rule": ["length_rule"],
    "texts": ["text"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
