"""Generators: all three go on where they stood."""

import random

import numpy as np
import torch

from gates2heads.training.resuming.generators import generator_states, set_generator_states
from gates2heads.training.resuming.training_checkpoints import as_bytes, from_bytes


def draw():
    return [torch.rand(()).item(), np.random.rand(), random.random()]  # noqa: NPY002


def test_all_draw_again_what_they_drew_through_a_checkpoints_bytes():
    random.gauss(0, 1)  # Python and NumPy keep the second of two such numbers for later
    np.random.normal()  # noqa: NPY002
    kept = from_bytes(as_bytes(generator_states()))
    first = [*draw(), random.gauss(0, 1), np.random.normal()]  # noqa: NPY002
    assert draw() != first[:3]
    set_generator_states(kept)
    assert [*draw(), random.gauss(0, 1), np.random.normal()] == first  # noqa: NPY002
