"""What can be told of a reader's function without its source: whether it is empty, where it broke.

Source is not always there: a cell may have been pasted into a console.
"""

import dis
import traceback
from collections.abc import Callable
from inspect import unwrap

_IDLE = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "POP_TOP"}
LONGEST = 200  # characters of somebody else's error message


def is_stub(answer: object) -> bool:
    """Whether an answer is a function without a body: `...`, `pass`, `return ...`, a docstring."""
    code = getattr(answer, "__code__", None)
    if code is None:
        return False
    steps = list(dis.get_instructions(code))
    if not {step.opname for step in steps} <= _IDLE:
        return False
    return [step.argval for step in steps if "CONST" in step.opname][-1] in (None, ...)


def said_by(error: BaseException, function: Callable | None = None) -> str:
    """Tell an error in one line: its kind, its message, and the line of the reader's function.

    Args:
        error: as it was caught.
        function: the reader's; None if it is not known which.
    """
    try:
        words = " ".join(str(error).split())
    except Exception:  # a message that cannot be told is left out
        words = ""
    words = words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
    told = f"{type(error).__name__}: {words}" if words else type(error).__name__
    place = where(error, function) if function is not None else ""
    return f"{told} ({place})" if place else told


def where(error: BaseException, function: Callable) -> str:
    """Say in which line of a function, or of one that stands beside it, an error arose.

    Returns:
        such as "line 3 of `pool`", the line with `def` being the first; "" if it cannot be known.
    """
    code = getattr(unwrap(function), "__code__", None)
    if code is None:
        return ""
    frames = traceback.walk_tb(error.__traceback__)
    found = [
        (frame.f_code, line)
        for frame, line in frames
        if frame.f_code.co_filename == code.co_filename
    ]
    if not found:
        return ""
    inner, line = found[-1]
    name = "your function" if inner.co_name.startswith("<") else f"`{inner.co_name}`"
    return f"line {line - inner.co_firstlineno + 1} of {name}"
