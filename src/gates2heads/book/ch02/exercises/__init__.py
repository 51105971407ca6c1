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
    check_context_gradient,
    check_negative_loss,
    check_path,
    context_gradient,
    negative_loss,
)

__all__ = [
    "PATH",
    "check_context_gradient",
    "check_fourth",
    "check_glove_loss",
    "check_negative_loss",
    "check_path",
    "check_ppmi",
    "context_gradient",
    "fourth",
    "glove_loss",
    "negative_loss",
    "ppmi",
]
