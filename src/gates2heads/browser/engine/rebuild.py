"""The models that are distributed with the library, with everything that a page needs."""

from gates2heads.training.cards import Rebuilt, rebuild
from gates2heads.training.checkpoints import shipped_weights

__all__ = ["Rebuilt", "rebuild", "shipped"]


def shipped(name: str) -> Rebuilt:
    """A model that is distributed with the library, in evaluation mode.

    Args:
        name: of its file, such as "translator" or "dates_dot".

    Raises:
        ValueError: no model has this name.
    """
    return rebuild(shipped_weights(name))
