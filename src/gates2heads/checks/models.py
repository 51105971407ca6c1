"""Checks of what a model reads, and of what a search hands to its step function."""

from typing import Any

from torch import Tensor

from gates2heads.checks.tensors import check_tokens


def check_state(state: Any, kind: type) -> None:
    """Refuse a state that is not of the model's own kind.

    Raises:
        TypeError: with a sentence that says where a state comes from.
    """
    if not isinstance(state, kind):
        raise TypeError(f"state must come from `start` or `step`, got {type(state).__name__}")


def check_length(name: str, length: int, most: int) -> None:
    """Refuse what has more tokens than the model has places for.

    Raises:
        ValueError: with a sentence that names the argument.
    """
    if length > most:
        raise ValueError(f"{name} must be at most {most} tokens long, got {length}")


def check_row(name: str, tokens: Tensor, batch_size: int, vocabulary_size: int) -> None:
    """Refuse what is not a row of token numbers, (B,).

    Raises:
        TypeError: it is no integer tensor.
        ValueError: its shape is not (B,), or a number is outside the vocabulary.
    """
    shape = (batch_size,)
    if isinstance(tokens, Tensor) and tokens.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, one token a sequence, got {tuple(tokens.shape)}"
        )
    # `unsqueeze` where an index would do: old versions of torch do not index sparse tensors.
    column = tokens.unsqueeze(1) if isinstance(tokens, Tensor) else tokens
    check_tokens(name, column, vocabulary_size)


def check_last_tokens(last_tokens: Tensor, batch_size: int, vocabulary_size: int) -> None:
    """Refuse what is not one token number for each of the state's sequences, (B,)."""
    check_row("last_tokens", last_tokens, batch_size, vocabulary_size)
