"""The walk of test_api_bad_input.py through the pre-training room, its data and its losses."""

import math

import torch

from gates2heads.data.batches.joined import Markers, collate_joined, join, next_sentence_pairs
from gates2heads.data.tokens.spans import character_offsets, token_spans, word_offsets
from gates2heads.models.pretraining.answers import (
    AnswerHead,
    AnswerLogits,
    best_answers,
    crossed_answers,
)
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo, LayerMix
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.pretraining.heads import PairHead, SentenceHead, TokenHead, summarise
from gates2heads.models.pretraining.masking import (
    choose_units,
    hide,
    mask_tokens,
    span_units,
    token_units,
    word_units,
)
from gates2heads.models.pretraining.stack import TokenStack
from gates2heads.training.pretraining_losses import (
    answer_loss,
    label_loss,
    masked_loss,
    next_token_loss,
    pretraining_loss,
    two_way_loss,
)
from tests.nonsense import (
    CHOICES,
    COUNTS,
    FLAGS,
    LISTS,
    MASK,
    MASKS,
    SHARES,
    SOURCE,
    THINGS,
    TOKENS,
    B,
    S,
    U,
    V,
    walk,
)
from tests.nonsense import FLOATS as ALL_FLOATS

H = 2
SIZES = {"d_model": U, "nhead": H, "num_layers": 1, "max_length": 7}
MARKERS = Markers(V - 1)
BERT_MODEL, GPT_MODEL, ELMO = BERT(V, **SIZES), GPT(V, **SIZES), ELMo(V, hidden_size=U)
MASKED = mask_tokens(SOURCE, markers=MARKERS)
LOGITS = AnswerLogits(torch.zeros(B, S), torch.zeros(B, S))
VECTORS = torch.zeros(B, S, U)
UNITS = token_units(MASK)
GENERATOR = torch.Generator()
PLACES = torch.zeros(B).long()
BOOLS = [*MASKS, None]
OPTIONAL = [x for x in COUNTS if x is not None]
FLOATS = [*ALL_FLOATS, VECTORS.double()]
TEXTS = [*THINGS, 3, 2.5, [], [0.5], [None], [-1]]
SPANS = [*THINGS, 3, [3], [(1, 1)], [(2, 1)], [(-1, 1)], [("a", 1)], [(0, 1, 2)], [None]]
LABELS = [*THINGS, None, 3, [0, 0], PLACES.float(), PLACES + S, PLACES - 1, PLACES[:1]]
LABELS += [torch.zeros(B, S).long(), torch.tensor(0)]
WRONG_LOGITS = [*THINGS, None, 3, (), VECTORS]
WRONG_LOGITS += [AnswerLogits(None, None), AnswerLogits(VECTORS, VECTORS)]
WRONG_MASKED = [*THINGS, None, SOURCE, (), MASKED._replace(chosen=~MASK)]
STATES = [*THINGS, None, (), PLACES]
MODEL_SIZES = {
    "vocabulary_size": COUNTS,
    "d_model": COUNTS,
    "nhead": [*COUNTS, 4],
    "num_layers": COUNTS,
    "dim_feedforward": OPTIONAL,
    "dropout": SHARES,
    "max_length": COUNTS,
}
GOOD_SIZES = {"vocabulary_size": V, "dim_feedforward": 3, "dropout": 0.1, **SIZES}
MODELS = [*THINGS, None, 3, str, lambda: None, lambda *_, **__: torch.zeros(B, S)]
READ = {"tokens": SOURCE, "mask": MASK}
WRONG_READ = {"tokens": TOKENS, "mask": MASKS}

ENTRIES = {
    "Markers": (Markers, {"words": V, "specials": 3}, {"words": COUNTS, "specials": COUNTS}),
    "Markers.ordinary": (
        MARKERS.ordinary,
        {"tokens": SOURCE},
        {"tokens": [*THINGS, None, 3, VECTORS]},
    ),
    "join": (
        join,
        {"first": [3, 4], "second": [5], "max_length": 7},
        {"first": [*TEXTS, None], "second": TEXTS, "max_length": [*OPTIONAL, 4]},
    ),
    "collate_joined": (
        collate_joined,
        {"examples": [join([3])]},
        {"examples": [*LISTS, *THINGS, [], [[3]]]},
    ),
    "next_sentence_pairs": (
        next_sentence_pairs,
        {"documents": [["a", "b"], ["c"]], "seed": 0},
        {"documents": [*LISTS, *THINGS, [], ["ab", "c"], [["a"]], [["a"], []]], "seed": [-1, "a"]},
    ),
    "character_offsets": (character_offsets, {"text": "ab"}, {"text": [*LISTS, [], b"ab"]}),
    "word_offsets": (word_offsets, {"text": "ab"}, {"text": [*LISTS, [], b"ab"]}),
    "token_spans": (
        token_spans,
        {"spans": [(0, 2)], "offsets": [(0, 2), (2, 3)]},
        {"spans": [*SPANS, None, [(7, 9)]], "offsets": [*SPANS, None]},
    ),
    "token_units": (token_units, {"allowed": MASK}, {"allowed": [*THINGS, None, 3, SOURCE]}),
    "word_units": (
        word_units,
        {"allowed": MASK, "begins": MASK},
        {"allowed": [*THINGS, None, SOURCE, MASK[0]], "begins": [*BOOLS, MASK[:1]]},
    ),
    "span_units": (
        span_units,
        {"allowed": MASK, "spans": [[(0, 2)], []]},
        {
            "allowed": [*THINGS, None, SOURCE, MASK[0]],
            "spans": [*THINGS, None, 3, [], [[]], [[3], []], [[(0, 9)], []], [[(0, 2)] * 2, []]],
        },
    ),
    "choose_units": (
        choose_units,
        {"units": UNITS, "share": 0.15, "generator": GENERATOR},
        {
            "units": [*THINGS, None, VECTORS, UNITS[0], UNITS + 1, UNITS - 2],
            "share": SHARES,
            "generator": [3],
        },
    ),
    "hide": (
        hide,
        {
            "tokens": SOURCE,
            "units": UNITS,
            "chosen": MASK,
            "markers": MARKERS,
            "generator": GENERATOR,
        },
        {
            "tokens": [*TOKENS, torch.ones_like(SOURCE)],
            "units": [*THINGS, None, VECTORS, UNITS + 1, UNITS[:, :1]],
            "chosen": [*BOOLS, MASK[:1]],
            "markers": CHOICES,
        },
    ),
    "mask_tokens": (
        mask_tokens,
        {
            "tokens": SOURCE,
            "markers": MARKERS,
            "units": UNITS,
            "share": 0.15,
            "generator": GENERATOR,
        },
        {
            "tokens": TOKENS,
            "markers": CHOICES,
            "units": [*THINGS, 3, VECTORS, UNITS[:1]],
            "share": SHARES,
        },
    ),
    "TokenStack": (
        TokenStack,
        {**GOOD_SIZES, "norm_first": True},
        {**MODEL_SIZES, "norm_first": FLAGS},
    ),
    "BERT": (BERT, GOOD_SIZES, MODEL_SIZES),
    "GPT": (GPT, {**GOOD_SIZES, "norm_first": True}, {**MODEL_SIZES, "norm_first": FLAGS}),
    "ELMo": (
        ELMo,
        {"vocabulary_size": V, "hidden_size": U, "num_layers": 2, "dropout": 0.1},
        {
            "vocabulary_size": COUNTS,
            "hidden_size": COUNTS,
            "num_layers": COUNTS,
            "dropout": SHARES,
        },
    ),
    **{
        f"{type(model).__name__}.{name}": (getattr(model, name), READ, WRONG_READ)
        for model in (BERT_MODEL, GPT_MODEL, ELMO)
        for name in ("forward", "states", "encode")
    },
    "BERT(segments)": (
        BERT_MODEL,
        {**READ, "segments": torch.zeros_like(SOURCE)},
        {"segments": [x for x in TOKENS if x is not None] + [SOURCE]},
    ),
    "BERT.states(segments)": (
        BERT_MODEL.states,
        {**READ, "segments": torch.zeros_like(SOURCE)},
        {"segments": [x for x in TOKENS if x is not None] + [SOURCE]},
    ),
    "BERT.encode(segments)": (
        BERT_MODEL.encode,
        {**READ, "segments": torch.zeros_like(SOURCE)},
        {"segments": [x for x in TOKENS if x is not None] + [SOURCE]},
    ),
    "BERT.readout": (BERT_MODEL.readout, {"vectors": VECTORS}, {"vectors": FLOATS}),
    "BERT.follows": (BERT_MODEL.follows, {"vectors": VECTORS}, {"vectors": FLOATS}),
    "GPT.readout": (GPT_MODEL.readout, {"vectors": VECTORS}, {"vectors": FLOATS}),
    "GPT.start": (
        GPT_MODEL.start,
        {"batch_size": B, "prompt": SOURCE},
        {"batch_size": COUNTS, "prompt": [x for x in TOKENS if x is not None] + [SOURCE[:1]]},
    ),
    "GPT.step": (
        GPT_MODEL.step,
        {"state": GPT_MODEL.start(B), "last_tokens": PLACES},
        {"state": STATES, "last_tokens": [*TOKENS, PLACES[:1], PLACES + V, PLACES - 1]},
    ),
    "LayerMix": (LayerMix, {"layers": 3}, {"layers": COUNTS}),
    "LayerMix()": (LayerMix(3), {"states": torch.zeros(3, B, S, U)}, {"states": FLOATS}),
    "summarise": (
        summarise,
        {"vectors": VECTORS, "read": "mean", "mask": MASK},
        {
            "vectors": [*ALL_FLOATS, VECTORS[:, :0]],
            "read": CHOICES,
            "mask": [*MASKS, ~MASK],
        },
    ),
    **{
        family.__name__: (
            family,
            {"width": U, "classes": 2, "dropout": 0.1},
            {"width": COUNTS, "classes": [*COUNTS, 1], "dropout": SHARES},
        )
        for family in (SentenceHead, PairHead, TokenHead)
    },
    "SentenceHead(read)": (
        SentenceHead,
        {"width": U, "classes": 2, "read": "last"},
        {"read": CHOICES},
    ),
    "PairHead(read)": (PairHead, {"width": U, "classes": 2, "read": "mean"}, {"read": CHOICES}),
    "SentenceHead()": (
        SentenceHead(U, 2, read="last"),
        {"vectors": VECTORS, "mask": MASK},
        {"vectors": FLOATS, "mask": MASKS},
    ),
    "PairHead()": (
        PairHead(U, 2),
        {"first": VECTORS, "second": VECTORS, "first_mask": MASK, "second_mask": MASK},
        {
            "first": [*FLOATS, VECTORS[:1]],
            "second": [*FLOATS, VECTORS[:1]],
            "first_mask": MASKS,
            "second_mask": MASKS,
        },
    ),
    "TokenHead()": (TokenHead(U, 2), {"vectors": VECTORS}, {"vectors": FLOATS}),
    "AnswerHead": (AnswerHead, {"width": U}, {"width": COUNTS}),
    "AnswerHead()": (AnswerHead(U), {"vectors": VECTORS}, {"vectors": FLOATS}),
    "best_answers": (
        best_answers,
        {"logits": LOGITS, "allowed": MASK, "max_length": 3, "null": 0, "threshold": 0.0},
        {
            "logits": WRONG_LOGITS,
            "allowed": MASKS,
            "max_length": OPTIONAL,
            "null": [*THINGS, -1, 2.5, math.nan, [], True, S],
            "threshold": [*THINGS, None, [], math.nan, True],
        },
    ),
    "crossed_answers": (
        crossed_answers,
        {"logits": LOGITS, "allowed": MASK},
        {"logits": WRONG_LOGITS, "allowed": MASKS},
    ),
    "masked_loss": (
        masked_loss,
        {
            "model": BERT_MODEL,
            "masked": MASKED,
            "segments": torch.zeros_like(SOURCE),
            "mask": MASK,
        },
        {"model": [*MODELS, GPT_MODEL, ELMO], "masked": WRONG_MASKED, "mask": MASKS},
    ),
    "pretraining_loss": (
        pretraining_loss,
        {
            "model": BERT_MODEL,
            "segments": torch.zeros_like(SOURCE),
            "masked": MASKED,
            "follows": PLACES.bool(),
            "mask": MASK,
        },
        {
            "model": [*MODELS, GPT_MODEL, ELMO],
            "masked": WRONG_MASKED,
            "follows": [*THINGS, None, PLACES, [True], MASK, MASK[0, :1]],
            "mask": MASKS,
        },
    ),
    "next_token_loss": (
        next_token_loss,
        {"model": GPT_MODEL, **READ},
        {"model": [*MODELS, BERT_MODEL, ELMO], **WRONG_READ},
    ),
    "two_way_loss": (
        two_way_loss,
        {"model": ELMO, **READ},
        {"model": [*MODELS, BERT_MODEL, GPT_MODEL, lambda t, mask: (t, t)], **WRONG_READ},
    ),
    "label_loss": (
        label_loss,
        {"logits": torch.zeros(B, S), "labels": PLACES},
        {"logits": [*THINGS, None, 3, VECTORS, SOURCE, torch.zeros(B, 0)], "labels": LABELS},
    ),
    "answer_loss": (
        answer_loss,
        {"logits": LOGITS, "first": PLACES, "last": PLACES, "allowed": MASK},
        {"logits": WRONG_LOGITS, "first": LABELS, "last": LABELS, "allowed": [*MASKS, ~MASK]},
    ),
}
SAME = {  # the inner part's word for the same thing
    "nhead": ["num_heads"],
    "d_model": ["embed_dim"],
    "model": ["tokens"],
    "first": ["vectors"],
    "second": ["vectors"],
    "first_mask": ["mask"],
    "second_mask": ["mask"],
    "follows": ["labels"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
