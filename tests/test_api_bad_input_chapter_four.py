"""The walk of `nonsense.py` through the small models and the held decoders of chapter 4."""

import torch

from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.held import observe_forcing, run_held
from gates2heads.exercises.drifting import drift, forcing_loss, wrong_tokens
from gates2heads.exercises.faulty_teacher import faulty_pair
from gates2heads.exercises.position_by_position import (
    Tagger,
    at_their_places,
    tagged,
    tagging_loss,
)
from gates2heads.models.translation.seq2seq import EncoderDecoder
from tests.nonsense import CHOICES, COUNTS, SEEDS, THINGS, walk

SIDE = CharacterTokenizer(Vocabulary("0123456789-"))
SIZE = len(SIDE.vocabulary)
BATCH = collate([(SIDE.encode("12"), SIDE.encode("1")), (SIDE.encode("3"), SIDE.encode("2"))])
BATCHES = [*THINGS, None, 3, [], "batch"]
MODULES = [*THINGS, None, 3, Tagger]
SIDES = [*THINGS, None, 3, "target"]
TAGGER = Tagger(SIZE, SIZE, embedding_size=3, hidden_size=4)
FAULTY = faulty_pair(SIZE, SIZE)
HELD = [3, "a", [1], {-1: "0"}, {"a": "0"}, {0: 3}, {0: "nonsense"}, {0.5: "0"}]


def pair(written="1-2"):
    """An encoder–decoder that writes one thing whatever it reads."""
    model = EncoderDecoder(SIZE, SIZE, embedding_size=3, hidden_size=4, score=None).eval()
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    model.decoder.readout.bias.data[SIDE.vocabulary.eos] = 1.0
    return model


def copying(state, last):
    """A step that says what it has read."""
    return torch.eye(5)[last.clamp(0, 4)].log_softmax(dim=-1), state


EMPTY = collate([([3, 2], [2]), ([4, 2], [2])])  # what `pair` writes right
BEGIN = torch.tensor([1, 3])

ENTRIES = {
    "Tagger": (
        Tagger,
        {"source_size": 5, "target_size": 7, "reads": "forwards"}
        | {"embedding_size": 3, "hidden_size": 4},
        {
            **dict.fromkeys(("source_size", "target_size"), COUNTS),
            **dict.fromkeys(("embedding_size", "hidden_size"), COUNTS),
            "reads": CHOICES,
        },
    ),
    "Tagger.forward": (TAGGER.forward, {"batch": BATCH}, {"batch": BATCHES}),
    "at_their_places": (at_their_places, {"batch": BATCH}, {"batch": BATCHES}),
    "tagging_loss": (
        tagging_loss,
        {"model": TAGGER, "batch": BATCH},
        {"model": MODULES, "batch": BATCHES},
    ),
    "tagged": (
        tagged,
        {"model": TAGGER, "batch": BATCH, "target": SIDE},
        {"model": MODULES, "batch": BATCHES, "target": SIDES},
    ),
    "run_held": (
        run_held,
        {"step": copying, "state": 0, "bos": BEGIN, "length": 3}
        | {"held": {1: torch.tensor([2, 2])}, "watch": lambda state, said: None},
        {
            "step": [*THINGS, None, 3, "step"],
            "bos": [*THINGS, None, 3, [1], BEGIN[None], BEGIN.float()],
            "length": COUNTS,
            "held": [3, "a", [1], {3: BEGIN}, {-1: BEGIN}, {"a": BEGIN}, {0: 3}, {0: BEGIN[:1]}],
            "watch": [3, "watch", []],
        },
    ),
    "observe_forcing": (
        observe_forcing,
        {"model": pair(), "text": "12", "source": SIDE, "target": SIDE}
        | {"held": {0: "3"}, "taught": "1-2", "max_length": 5},
        {
            "model": MODULES,
            "text": [*THINGS, None, 3, "", "x"],
            "source": SIDES,
            "target": SIDES,
            "held": HELD,
            "taught": [3, [], "x", object()],
            "max_length": COUNTS,
        },
    ),
    "forcing_loss": (
        forcing_loss,
        {"share": lambda step: 0.5, "seed": 1},
        {"share": [*THINGS, None, 0.5, "half"], "seed": SEEDS},
    ),
    "wrong_tokens": (
        wrong_tokens,
        {"tokens": torch.tensor([3, 13]), "digits": torch.arange(3, 13)}
        | {"generator": torch.Generator()},
        {
            "tokens": [*THINGS, None, 3, [3], torch.ones(2), torch.ones(2, 2).long()],
            "digits": [*THINGS, None, 3, [3], torch.ones(2), torch.ones(0).long()],
            "generator": [*THINGS, 3, "generator"],
        },
    ),
    "drift": (
        drift,
        {"model": pair(), "batch": EMPTY, "digits": torch.arange(3, 13), "seed": 1},
        {
            "model": MODULES,
            "batch": [*BATCHES, BATCH],
            "digits": [*THINGS, None, 3, [3], torch.ones(2), torch.ones(0).long()],
            "seed": SEEDS,
        },
    ),
    "faulty_pair": (
        faulty_pair,
        {"source_size": 5, "target_size": 7},
        {"source_size": COUNTS, "target_size": COUNTS},
    ),
    "FaultyPair.forward": (FAULTY.forward, {"batch": BATCH}, {"batch": BATCHES}),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
