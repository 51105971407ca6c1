"""The one way in which a sentence shows a value: a line, short, whatever the value is."""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from reprlib import Repr
from typing import Any

import numpy as np
from torch import Tensor

MOST = 60  # characters: the sentence should stay longer than what it shows
MOST_NAMES = 150  # characters of the names that there are to choose from
BITS = 128  # a whole number beyond these is told by its size; Python refuses to print the largest


def shown(value: Any) -> str:
    r"""Show a value in one line of at most 60 characters.

    Tensors and arrays are told by dtype and shape, since their numbers fill lines and may lie on a
    device that holds none. Huge whole numbers are told by their size. All else is its `repr`, its
    lines joined and cut, so that a long value does not bury the sentence around it. A value whose
    own `repr` fails is told by its type: that error would hide the one that is to be told.

    Returns:
        such as `'one\ntwo'`, `[1, 2, 3]` or `a torch.float32 tensor of shape (2, 3)`.
    """
    line = in_line(" ".join(_SHORT.repr(value).split()))
    return line if len(line) <= MOST else f"{line[: MOST - 1]}…"


def in_line(words: Any) -> str:
    """Words, such as a path, whole and in one line: what does not print stands there escaped."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(words))


def choices(names: Sequence[str], wanted: Any) -> str:
    """The names that there are; where these are too many for a sentence, those like the wanted one.

    Returns:
        such as `a, b, c`, or `ladder, leaderboard and 36 others`.
    """
    line = ", ".join(names) or "there is none yet"
    if len(line) <= MOST_NAMES:
        return line
    near = get_close_matches(str(wanted)[:MOST], names, n=3, cutoff=0)
    return f"{', '.join(near)} and {len(names) - len(near)} others"


class _Short(Repr):
    """Python's short `repr`, which goes into lists, for arrays and huge numbers too."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = MOST + 1  # the cut is made at the end
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = MOST // 3
        self.maxlevel = 3  # a list that holds itself many times would never end

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, Tensor):
            return f"a {x.dtype} tensor of shape {tuple(x.shape)}"
        if isinstance(x, np.ndarray):
            return f"a numpy {x.dtype} array of shape {x.shape}"
        if isinstance(x, int) and x.bit_length() > BITS:
            return f"a whole number of {x.bit_length()} bits"
        if type(x) in (str, bytes):  # cut at its end, not in its middle
            return repr(x[: MOST + 1])
        return super().repr1(x, level)

    def repr_dict(self, x: dict, level: int) -> str:  # in its own order
        if level <= 0:
            return "{...}"
        return f"{{{', '.join(self._pairs(x, level - 1))}}}"

    def repr_instance(self, x: Any, level: int) -> str:
        try:
            return repr(x)
        except Exception:  # whatever the caller's own class raises
            return f"<{type(x).__name__}>"

    def _pairs(self, x: dict, level: int) -> list[str]:
        pairs = islice(x.items(), self.maxdict)
        return [f"{self.repr1(key, level)}: {self.repr1(value, level)}" for key, value in pairs]


_SHORT = _Short()
