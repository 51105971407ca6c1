"""The walk of `nonsense.py` through the small Transformers of chapter 7."""

import torch

from gates2heads.exercises.faulty_step import faulty_writer, write_anew
from gates2heads.exercises.taking_away import changed_transformer, loss_for
from gates2heads.models.transformer.transformer import Transformer
from tests.nonsense import CHOICES, COUNTS, MASKS, THINGS, walk

SIZES = {"d_model": 8, "nhead": 2, "dim_feedforward": 8}
MODEL = Transformer(7, 7, num_encoder_layers=1, num_decoder_layers=1, **SIZES).eval()

ENTRIES = {
    "changed_transformer": (changed_transformer, {"change": "no norms"}, {"change": CHOICES}),
    "loss_for": (loss_for, {"change": "few dates, smoothed"}, {"change": CHOICES}),
    "faulty_writer": (
        faulty_writer,
        {"model": MODEL},
        {"model": [*THINGS, None, 3, torch.nn.Linear(2, 3)]},
    ),
    "write_anew": (
        write_anew,
        {
            "model": MODEL,
            "source": torch.full((2, 3), 4),
            "mask": torch.ones(2, 3).bool(),
            "max_length": 2,
        },
        {"max_length": COUNTS, "mask": MASKS, "source": [None, 3, torch.full((2, 3), 99)]},
    ),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
