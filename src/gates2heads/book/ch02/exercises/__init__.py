"""Chapter 2, Word vectors: the checks of its exercises."""

from gates2heads.book.ch02.exercises.tables import (
    check_fourth,
    check_glove_loss,
    check_ppmi,
    fourth,
    glove_loss,
    ppmi,
)
from gates2heads.book.ch02.exercises.training import (
    PATH,
    center_gradient,
    check_center_gradient,
    check_negative_loss,
    check_path,
    negative_loss,
)

__all__ = [
    "PATH",
    "center_gradient",
    "check_center_gradient",
    "check_fourth",
    "check_glove_loss",
    "check_negative_loss",
    "check_path",
    "check_ppmi",
    "fourth",
    "glove_loss",
    "negative_loss",
    "ppmi",
]
