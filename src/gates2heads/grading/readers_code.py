"""Inspection of a reader's function without its source: whether it is empty, where it failed.

The source is not always available: a cell may have been pasted into a console.
"""

import dis
import traceback
from collections.abc import Callable
from inspect import unwrap

_IDLE = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "POP_TOP"}
LONGEST = 200  # characters of a foreign error message


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
    """Describe an error in one line: its kind, its message, and the line of the reader's function.

    Args:
        error: as it was caught.
        function: the reader's function; None if it is not known.
    """
    try:
        words = " ".join(str(error).split())
    except Exception:  # a message that cannot be printed is left out
        words = ""
    words = words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
    message = f"{type(error).__name__}: {words}" if words else type(error).__name__
    place = where(error, function) if function is not None else ""
    return f"{message} ({place})" if place else message


def where(error: BaseException, function: Callable) -> str:
    """Find the line of a function, or of one in the same file, in which an error arose.

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
