"""The state of a step function: rows are copied, reordered and dropped.

A state is any nesting of tuples, named tuples, lists and dicts of tensors, every tensor with the
batch first. Numbers, words, None and tensors without axes are the same for all rows. A part that
has a method `select_rows(rows)` reorders itself: a cache may only store the new order, and copy
once when it next grows.
"""

from collections.abc import Collection
from typing import Any

from torch import Tensor


def tensors(state: Any) -> list[Tensor]:
    """All tensors of a state, in order; not those of parts that reorder themselves."""
    if isinstance(state, Tensor):
        return [state]
    if hasattr(state, "select_rows"):
        return []
    if isinstance(state, dict):
        state = list(state.values())
    if isinstance(state, tuple | list):
        return [tensor for part in state for tensor in tensors(part)]
    return []


def select(state: Any, rows: Tensor, size: int, *, keep: Collection[int] = ()) -> Any:
    """A state whose row i is row `rows[i]` of the given one; rows may repeat or be missing.

    Args:
        state: with tensors of `size` rows.
        rows: (R,) long.
        size: the number of rows of the state.
        keep: `id` of the tensors that stay as they are, because their rows would only be swapped
            with equal ones.

    Raises:
        TypeError: the state contains something other than nestings, tensors and plain values.
        ValueError: a tensor does not have `size` rows.
    """
    if isinstance(state, Tensor):
        if not state.dim() or id(state) in keep:
            return state
        if len(state) != size:
            raise ValueError(
                f"state must hold tensors with the batch first, {size} rows here, got one of "
                f"shape {tuple(state.shape)}"
            )
        return state.index_select(0, rows.to(state.device))
    if hasattr(state, "select_rows"):
        return state.select_rows(rows)
    if isinstance(state, dict):
        return {name: select(part, rows, size, keep=keep) for name, part in state.items()}
    if isinstance(state, tuple | list):
        parts = [select(part, rows, size, keep=keep) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)
    if state is None or isinstance(state, int | float | str):
        return state
    raise TypeError(
        "state must be made of tensors, tuples, lists, dicts and plain values, got "
        f"{type(state).__name__}"
    )


def check_state(state: Any, rows: Tensor) -> None:
    """Reject a state that does not have one row for each of `rows` (B,) or cannot be reordered.

    Raises:
        TypeError, ValueError: as for `select`.
    """
    select(state, rows[:0], len(rows))


class Carrier:
    """Carries the state of a search in which every source has several rows.

    The rows of one source begin as copies of one another. A tensor that the step function passes on
    unchanged, such as the keys and values of the source, is therefore equal in all of them, and is
    not reordered when they are permuted within their source. Reordering it would needlessly copy
    the largest part of a Transformer's state at each step.

    Args:
        state: with one row for each source.
    """

    def __init__(self, state: Any):
        self.state = state
        self._shared = tensors(state)

    def moved_on(self, state: Any) -> None:
        """Accept the state that the step function returned for `self.state`."""
        known = {id(tensor) for tensor in self._shared}
        self._shared = [tensor for tensor in tensors(state) if id(tensor) in known]
        self.state = state

    def select(self, rows: Tensor, size: int, *, within: bool) -> None:
        """Reorder to `rows` out of `size`.

        Args:
            rows: (R,) long.
            size: the current number of rows of the state.
            within: True if each new row replaces an old row of the same source.
        """
        if within:
            keep = {id(tensor) for tensor in self._shared}
            self.state = select(self.state, rows, size, keep=keep)
            return
        shared = {id(tensor) for tensor in self._shared}
        places = [id(tensor) in shared for tensor in tensors(self.state)]
        self.state = select(self.state, rows, size)
        copies = tensors(self.state)
        self._shared = [copy for copy, is_shared in zip(copies, places, strict=True) if is_shared]
