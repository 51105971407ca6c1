"""How fast this machine is just now: the seconds of one fixed piece of work, to measure others by.

Seconds say little by themselves: machines differ, and other programs share the cores. Told as
multiples of this loop, timed beside them in the same run, they can be compared.
"""

import time

STEPS = 10_000_000  # about half a second on a quiet core of 2026


def calibrate() -> float:
    """Return the seconds that the loop takes now."""
    begin, total = time.perf_counter(), 0
    for number in range(STEPS):
        total += number & 7
    return time.perf_counter() - begin


def beside(seconds: float, calibration: float) -> str:
    """Format a time in seconds and in loops: `62.0 s =   41 × calibration`."""
    return f"{seconds:7.1f} s = {seconds / calibration:5.0f} × calibration"
