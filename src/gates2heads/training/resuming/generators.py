"""The random generators that a run may use: those of PyTorch, NumPy and Python."""

import random
from typing import Any

import numpy as np
import torch


def generator_states() -> dict[str, Any]:
    """The states of all generators, as values that a checkpoint can store."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 (the one that all code shares)
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [name, keys.tolist(), *rest],
        "python": random.getstate(),
    }


def set_generator_states(states: dict[str, Any]) -> None:
    """Restore the states of all generators; that of a GPU only if there is one.

    Args:
        states: from `generator_states`.
    """
    torch.set_rng_state(states["torch"])
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    torch.cuda.set_rng_state_all(states["cuda"][:there])
    name, keys, *rest = states["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))  # noqa: NPY002
    random.setstate(states["python"])
