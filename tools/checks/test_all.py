"""Run every check of the book, one after the other, and end with one summary.

    python tools/checks/test_all.py [NAME …]

A step that fails does not stop the next ones. The Makefile calls this with the network cut. How
long a step took is printed, in seconds and beside a calibrating loop, and fails nothing: the
time-outs are there for what hangs. Whoever ends the run early (SIGTERM) gets the summary so far,
with the step that was running.

Why not nox, which runs commands one after the other too: it is kept well, but tells neither how
many tests passed, failed and were skipped in all, nor a step's seconds beside a calibration, and
the environments are the Makefile's.
"""

from __future__ import annotations

import argparse
import codecs
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.checks.calibration import beside, calibrate  # noqa: E402

HERE = sys.executable
NBVAL = ["-p", "tools.notebooks.notebook_report", "--nbval", "--nbval-current-env"]
# Half an hour means that a cell hangs, however slow the machine.
NBVAL += ["--nbval-cell-timeout=1800", "--nbval-kernel-startup-timeout=600"]
TWO_AT_A_TIME = ["-n", "2", "--dist", "loadfile"]
SUMMARY = re.compile(r"^=+ .*\d+ (?:passed|failed|error|skipped|deselected).* in [\d.]+s.*=+$")
FAULT = re.compile(r"^(?:FAILED|ERROR) .*::")
COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped)")
NO_TESTS = 5
WEEKLY = {"rounding"}  # runs only where it is named
STARTED = time.monotonic()


@dataclass
class Step:
    """One command, and how it went."""

    name: str
    command: list[str]
    seconds: float = 0.0
    calibration: float = 0.0
    code: int | None = None  # None while it runs
    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # a line for each test that failed


def steps() -> list[Step]:
    """List the checks in their order."""
    make = os.environ.get("MAKE", "make")
    pytest = [HERE, "-m", "pytest", "-q", "--color=no", "-rfEs"]
    unit, live, timed = "not browser and not book", "browser and not timed", "browser and timed"
    return [
        Step("style", [make, "--no-print-directory", "lint"]),
        Step("library", [*pytest, "-n", "2", "--parity", "-m", unit, "tests"]),
        Step("build", [make, "--no-print-directory", "rebuild"]),
        # -rP shows what the tests print of the pages, such as their weight.
        Step("pages", [*pytest, "-rfEsP", "-n", "2", "-m", "book", "tests/built"]),
        Step("browser", [*pytest, *TWO_AT_A_TIME, "-m", live, "tests/chromium"]),
        # Nothing beside it, so that what it prints is the page's time and not its neighbour's.
        Step("times", [*pytest, "-s", "-m", timed, "tests/chromium"]),
        Step("notebooks", [*pytest, *NBVAL, *TWO_AT_A_TIME, "chapters"]),
        Step("colab versions", [HERE, "tools/checks/colab_environment.py", "--check"]),
        Step("rounding", [HERE, "tools/notebooks/rounding.py"]),
    ]


def run(step: Step) -> None:
    """Run one step, show its output as it comes, keep pytest's closing lines."""
    after = (time.monotonic() - STARTED) / 60
    print(f"\n──── {step.name}, after {after:.1f} min: {' '.join(step.command)}", flush=True)
    before, begin = calibrate(), time.monotonic()
    step.calibration = before
    with subprocess.Popen(
        step.command,
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "300"},  # the width at which pytest cuts a message
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            for line in echoed(process.stdout.fileno()):
                if SUMMARY.match(line) or re.match(r"^\d+ (passed|failed|error).* in ", line):
                    step.lines.append(line)
                if FAULT.match(line):
                    step.faults.append(line)
        except SystemExit:
            process.terminate()
            raise
        finally:
            step.seconds = time.monotonic() - begin
    step.code = process.returncode
    step.calibration = (before + calibrate()) / 2


def echoed(descriptor: int) -> Iterator[str]:
    """Show what arrives as it comes, a test's dot before its line ends; yield whole lines."""
    decoder, line = codecs.getincrementaldecoder("utf-8")("replace"), ""
    while data := os.read(descriptor, 65_536):
        text = decoder.decode(data)
        print(text, end="", flush=True)
        *lines, line = (line + text).split("\n")
        yield from map(str.strip, lines)
    yield line.strip()


def report(done: list[Step]) -> int:
    """Print a table, the names of what failed and the totals; return the exit status."""
    print(f"\n──── summary (network: {os.environ.get('GATES2HEADS_NETWORK', 'on')})")
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for step in done:
        states = {0: "ok", None: "UNFINISHED", NO_TESTS: "NO TESTS"}
        state = states.get(step.code, f"FAILED ({step.code})")
        print(f"{step.name:16} {state:12} {beside(step.seconds, step.calibration)}")
        if step.code != 0 and not step.lines:
            total["failed"] += 1
    for step in done:
        for line in step.faults + step.lines:
            print(line)
        for line in step.lines:
            for number, kind in COUNT.findall(line):
                total["failed" if kind.startswith("error") else kind] += int(number)
    print(f"{sum(step.seconds for step in done) / 60:.1f} minutes in all")
    print(", ".join(f"{number} {kind}" for kind, number in total.items()), flush=True)
    return int(any(step.code != 0 for step in done))


def main() -> None:
    """Run the steps that are named, or all but the weekly ones."""
    every = steps()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {[s.name for s in every]}")
    wanted = set(parser.parse_args().names)
    if unknown := wanted - {step.name for step in every}:
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    wanted = wanted or {step.name for step in every} - WEEKLY
    chosen = [step for step in every if step.name in wanted]
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    begun: list[Step] = []
    try:
        for step in chosen:
            begun.append(step)
            run(step)
    finally:
        code = report(begun)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
