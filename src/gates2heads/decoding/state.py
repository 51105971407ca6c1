"""The state of a step function: rows are copied, put in another order and dropped.

A state is any nest of tuples, named tuples, lists and dicts of tensors, every tensor with the
batch first. Numbers, words, None and tensors without axes are the same for all rows. A part that
has a method `select_rows(rows)` reorders itself: a cache may only note the new order, and copy
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
        size: how many rows the state has.
        keep: `id` of the tensors that stay as they are, because their rows would only change
            places with equals.

    Raises:
        TypeError: the state holds what is neither a nest nor a tensor nor a plain value.
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
    """Refuse a state that has not one row for each of `rows` (B,), or that cannot be reordered.

    Raises:
        TypeError, ValueError: as for `select`.
    """
    select(state, rows[:0], len(rows))


class Carrier:
    """Carries the state of a search in which every source has several rows.

    The rows of one source begin as copies of one another. A tensor that the step function hands
    on unchanged, such as the keys and values of the source, is therefore equal in all of them,
    and stays as it is when they change places within their source. Putting it in order would
    copy the largest part of a Transformer's state at each step for nothing.

    Args:
        state: with one row for each source.
    """

    def __init__(self, state: Any):
        self.state = state
        self._shared = tensors(state)

    def moved_on(self, state: Any) -> None:
        """Take the state that the step function returned for `self.state`."""
        known = {id(tensor) for tensor in self._shared}
        self._shared = [tensor for tensor in tensors(state) if id(tensor) in known]
        self.state = state

    def select(self, rows: Tensor, size: int, *, within: bool) -> None:
        """Reorder to `rows` out of `size`.

        Args:
            rows: (R,) long.
            size: how many rows the state has now.
            within: True if each new row stands where an old row of the same source stood.
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
