"""The models that come with the library, with all that a page needs of them."""

from gates2heads.training.cards import Rebuilt, rebuild
from gates2heads.training.checkpoints import shipped_weights

__all__ = ["Rebuilt", "rebuild", "shipped"]


def shipped(name: str) -> Rebuilt:
    """A model that comes with the library, in evaluation mode.

    Args:
        name: of its weights file, such as "translator" or "dates_dot".

    Raises:
        ValueError: there is none of this name.
    """
    return rebuild(shipped_weights(name))
