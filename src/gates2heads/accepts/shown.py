"""The display of values in error messages: one short line for any value."""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from reprlib import Repr
from typing import Any

import numpy as np
from torch import Tensor

MOST = 60  # characters: the message should be longer than the displayed value
MOST_NAMES = 150  # characters of the list of valid names
BITS = 128  # a larger whole number is described by its size; Python does not print the largest


def shown(value: Any) -> str:
    r"""Show a value in one line of at most 60 characters.

    Tensors and arrays are described by dtype and shape, since their numbers fill lines and may be
    on the device "meta". Huge whole numbers are described by their size. Everything else is shown
    by its `repr`, in one line and truncated, so that a long value does not obscure the message. A
    value whose `repr` fails is described by its type: that error would hide the reported one.

    Returns:
        such as `'one\ntwo'`, `[1, 2, 3]` or `a torch.float32 tensor of shape (2, 3)`.
    """
    line = in_line(" ".join(_SHORT.repr(value).split()))
    return line if len(line) <= MOST else f"{line[: MOST - 1]}…"


def in_line(words: Any) -> str:
    """Words, such as a path, complete and in one line: unprintable characters are escaped."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(words))


def choices(names: Sequence[str], wanted: Any) -> str:
    """The valid names; if these are too many for a sentence, those similar to the given one.

    Returns:
        such as `a, b, c`, or `ladder, leaderboard and 36 others`.
    """
    line = ", ".join(names) or "there is none yet"
    if len(line) <= MOST_NAMES:
        return line
    near = get_close_matches(str(wanted)[:MOST], names, n=3, cutoff=0)
    return f"{', '.join(near)} and {len(names) - len(near)} others"


class _Short(Repr):
    """Python's short `repr`, which recurses into lists, for arrays and huge numbers too."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = MOST + 1  # truncated at the end
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = MOST // 3
        self.maxlevel = 3  # a list that contains itself would never end

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, Tensor):
            return f"a {x.dtype} tensor of shape {tuple(x.shape)}"
        if isinstance(x, np.ndarray):
            return f"a numpy {x.dtype} array of shape {x.shape}"
        if isinstance(x, int) and x.bit_length() > BITS:
            return f"a whole number of {x.bit_length()} bits"
        if type(x) in (str, bytes):  # truncated at its end, not in its middle
            return repr(x[: MOST + 1])
        return super().repr1(x, level)

    def repr_dict(self, x: dict, level: int) -> str:  # in its own order
        if level <= 0:
            return "{...}"
        return f"{{{', '.join(self._pairs(x, level - 1))}}}"

    def repr_instance(self, x: Any, level: int) -> str:
        try:
            return repr(x)
        except Exception:  # any error of the caller's own class
            return f"<{type(x).__name__}>"

    def _pairs(self, x: dict, level: int) -> list[str]:
        pairs = islice(x.items(), self.maxdict)
        return [f"{self.repr1(key, level)}: {self.repr1(value, level)}" for key, value in pairs]


_SHORT = _Short()
