"""Every public entry of the lower floors, walked with nonsense, answers in the library's own words.

For each argument there are values that must be refused. The refusal must be a ValueError or a
TypeError that the library itself raised (not an IndexError or RuntimeError that came up from
inside torch), in one line that names an argument. Odd values, such as NaN, may also be answered.
"""

import math
import traceback
from datetime import date
from pathlib import Path

import pytest
import torch
from torch import nn

import gates2heads
from gates2heads.data.batching import batches, collate, endless_batches, pad
from gates2heads.data.checks import check_count, check_positive, check_share
from gates2heads.data.corpora import date_lists, dates, days_of, split_of, write_date
from gates2heads.data.tokenizers import CharacterTokenizer
from gates2heads.data.vocabulary import Vocabulary
from gates2heads.decoding.search import greedy
from gates2heads.layers.attention import SCORES, AdditiveScore, Attention, GaussianScore
from gates2heads.layers.masks import masked_softmax
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import GRU, GRUCell
from gates2heads.models.seq2seq import Decoder, Encoder, EncoderDecoder
from gates2heads.training.checkpoints import TrainingCheckpoint
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy, sequence_loss
from gates2heads.training.schedules import warmup_linear

PACKAGE = str(Path(gates2heads.__file__).parent)
B, T, S, D, U, V = 2, 3, 5, 7, 6, 11
HUGE = 10**30

THINGS = [object(), "nonsense", {"a": 1}]
COUNTS = [*THINGS, None, 0, -1, 2.5, math.nan, math.inf, [], True, torch.ones(2)]
POSITIVES = [*THINGS, None, 0, -0.5, math.nan, math.inf, [], True]
SHARES = [*THINGS, None, -0.1, 1.1, math.nan, math.inf]
FLOATS = [*THINGS, None, 3, [1.0], torch.zeros(B, dtype=torch.long), torch.tensor(1.0)]
FLOATS += [torch.zeros(0), torch.zeros(2, 2, 2, 2, 2), torch.zeros(13, 17, 19), torch.zeros(13, 17)]
TOKENS = [*THINGS, None, 3, [[3]], torch.zeros(B, S), torch.tensor(3), torch.zeros(0, 0).long()]
TOKENS += [torch.full((B, S), V), torch.full((B, S), -1), torch.full((B, S), 2**62)]
TOKENS += [torch.zeros(2, 2, 2).long(), torch.zeros(B, 0).long(), torch.zeros(B, S).bool()]
MASKS = [
    *THINGS,
    True,
    [True],
    torch.ones(B, S),
    torch.ones(B, S).long(),
    torch.ones(13, 17).bool(),
]
MASKS += [torch.ones(0, 13).bool(), torch.ones(1, 1, 1, 1, 1).bool()]
LISTS = [object(), 3, None, 2.5]

MODEL = EncoderDecoder(V, V, embedding_size=D, hidden_size=U)
SOURCE = torch.full((B, S), 3)
BATCH = collate([([3, 4, 2], [5, 2]), ([3, 2], [5, 6, 2])])
VOCABULARY = Vocabulary.from_texts(["abc"])
TOKENIZER = CharacterTokenizer(VOCABULARY)


class Point(nn.Linear):
    def __init__(self):
        super().__init__(1, 1)


class Number:
    def to(self, device):
        return self


def point_loss(model, batch):
    return model.weight.sum()


def floats(*shape):
    return torch.randn(*shape)


def step(state, last_tokens):
    return torch.zeros(len(last_tokens), V).log_softmax(-1), state


def first(stream):
    return next(iter(stream))


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
        {"sequences": [[3], [4, 5]]},
        {"sequences": [*THINGS, *LISTS, [], [[]], [[3], []], [["a"]], [[2.5]], [[HUGE]], [[[3]]]]},
    ),
    "collate": (
        collate,
        {"pairs": [([3], [4])]},
        {
            "pairs": [
                *LISTS,
                [],
                [3],
                [None],
                [([3],)],
                [([3], [4], [5])],
                [("a", "b")],
                [([], [3])],
            ]
        },
    ),
    "batches": (
        lambda **given: first(batches(**given)),
        {"pairs": [([3], [4])], "batch_size": 1},
        {"pairs": [*LISTS, [], [3], "ab"], "batch_size": COUNTS},
    ),
    "endless_batches": (
        lambda **given: first(endless_batches(**given)),
        {"pairs": [([3], [4])], "batch_size": 1},
        {"pairs": [*LISTS, [], [3], "ab"], "batch_size": COUNTS},
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
        {"split": "train", "size": 3, "locales": ["en"], "forms": ["full"]},
        {
            "split": [*THINGS, None, []],
            "size": COUNTS,
            "locales": [*LISTS, "en", []],
            "forms": [*LISTS, "full", [], ["short"], [None], [[]]],
        },
    ),
    "date_lists": (
        date_lists,
        {"split": "train", "size": 3, "count": 2},
        {"split": [*THINGS, None], "size": COUNTS, "count": COUNTS},
    ),
    "check_count": (
        lambda value: check_count("value", value),
        {"value": 3},
        {"value": COUNTS},
    ),
    "check_positive": (
        lambda value: check_positive("value", value),
        {"value": 0.5},
        {"value": POSITIVES},
    ),
    "check_share": (lambda value: check_share("value", value), {"value": 0.5}, {"value": SHARES}),
    "masked_softmax": (
        masked_softmax,
        {"scores": floats(B, S), "mask": torch.ones(B, S).bool()},
        {"scores": [*THINGS, None, 3, [1.0], torch.ones(B, S).long()], "mask": MASKS},
    ),
    "record": (lambda model: record(model).__enter__(), {"model": Point()}, {"model": THINGS}),
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
        lambda hidden_size: AdditiveScore(U, U, hidden_size),
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
    "greedy": (
        greedy,
        {"step": step, "state": None, "bos": torch.tensor([1, 1]), "eos": 2, "max_length": 3},
        {
            "step": [*THINGS, None, lambda s, t: 3, lambda s, t: None, lambda s, t: (floats(3), s)],
            "bos": [*THINGS, None, [], 2.5, -1, torch.ones(2), torch.zeros(0).long()],
            "max_length": COUNTS,
        },
    ),
    "cross_entropy": (
        cross_entropy,
        {
            "logits": floats(B, S, V),
            "target": SOURCE,
            "mask": torch.ones(B, S).bool(),
            "label_smoothing": 0.1,
        },
        {
            "logits": [*FLOATS, floats(B, S, V).long(), floats(B, S, 2)],
            "target": TOKENS,
            "mask": [*MASKS, torch.zeros(B, S).bool()],
            "label_smoothing": SHARES,
        },
    ),
    "warmup_linear": (
        warmup_linear,
        {"total": 9, "warmup": 2, "decay": 0.5},
        {
            "total": COUNTS,
            "warmup": [*THINGS, None, -1, 2.5, math.nan, 8, HUGE],
            "decay": SHARES,
        },
    ),
    "TrainingCheckpoint": (
        TrainingCheckpoint,
        {"path": "run.pt", "every": 5},
        {"path": [None, 3, object(), [], "."], "every": COUNTS},
    ),
    "fit": (
        lambda **given: fit(**given, progress=False),
        {
            "model": Point(),
            "batches": [Number()] * 2,
            "steps": 2,
            "loss": point_loss,
            "learning_rate": 0.1,
            "clip": 1.0,
            "checkpoint": None,
            "schedule": None,
            "evaluate": None,
            "evaluate_at": (),
        },
        {
            "model": [*THINGS, None],
            "batches": [*LISTS, [], [3, 3], [None, None], ["a", "b"], [Number()]],
            "steps": COUNTS,
            "loss": [*THINGS, None, lambda m, b: 3, lambda m, b: None, lambda m, b: floats(2)],
            "learning_rate": POSITIVES,
            "clip": POSITIVES,
            "checkpoint": ["run.pt", 3, object()],
            "schedule": [3, "linear", object()],
            "evaluate": [3, "em", object()],
            "evaluate_at": [3, None, 2.5, object()],
        },
    ),
}
WALK = [(name, argument) for name, (_, _, wrong) in ENTRIES.items() for argument in wrong]


@pytest.mark.parametrize("name", ENTRIES)
def test_the_good_arguments_are_good(name):
    call, good, wrong = ENTRIES[name]
    call(**good)
    assert set(wrong) <= set(good)


def complaint(call, given, argument):
    """What is wrong with the refusal of this call, or None."""
    try:
        call(**given)
    except (TypeError, ValueError) as error:
        where, sentence = traceback.extract_tb(error.__traceback__)[-1], str(error)
        if not (where.filename.startswith(PACKAGE) and where.line.startswith("raise")):
            return f"came up from inside, {where.filename}: {sentence}"
        names = {*given, *PARTS.get(argument, ())}
        if "\n" in sentence or not any(name in sentence for name in names):
            return f"is not one line that names an argument: {sentence}"
        return None
    except Exception as error:
        return f"is a {type(error).__name__}: {error}"
    return "did not happen"


PARTS = {"pairs": ["sequences"], "texts": ["tokens"]}  # what a message may name instead


@pytest.mark.parametrize(("name", "argument"), WALK)
def test_nonsense_is_refused_in_the_librarys_own_words(name, argument):
    call, good, wrong = ENTRIES[name]
    for value in wrong[argument]:
        fault = complaint(call, {**good, argument: value}, argument)
        assert fault is None, f"the refusal of {argument}={value!r} {fault}"


ODD = {
    "masked_softmax": {"scores": [floats(B, 0), torch.full((B, S), math.nan), torch.tensor(1.0)]},
    "GRU()": {"inputs": [torch.full((B, S, D), math.nan), floats(B, S, D) * 1e38]},
    "Attention(additive)": {"query": [floats(B, 0, U), torch.full((B, T, U), math.nan)]},
    "cross_entropy": {"logits": [torch.full((B, S, V), math.nan), torch.full((B, S, V), math.inf)]},
    "dates": {"size": [1]},
    "warmup_linear": {"total": [HUGE]},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_answered_or_refused_but_never_crash(name):
    call, good, _ = ENTRIES[name]
    for argument, values in ODD[name].items():
        for value in values:
            given = {**good, argument: value}
            if name == "masked_softmax":
                given["mask"] = None
            try:
                answer = call(**given)
            except (TypeError, ValueError) as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                assert where.filename.startswith(PACKAGE)
            else:
                assert answer is not None


def test_a_loss_of_nan_logits_is_nan_so_that_training_stops():
    logits = torch.full((B, S, V), math.nan)
    assert cross_entropy(logits, SOURCE).isnan()


def test_sequence_loss_refuses_what_is_no_batch():
    with pytest.raises(TypeError, match="batch must be a Batch"):
        sequence_loss(MODEL, SOURCE)
