"""The benchmarks' fixtures, and the one table at the end of a run."""

import shlex
from pathlib import Path

import pytest
import torch

from benchmarks.ratios import Row, fewest_seconds, store, table

ROWS = pytest.StashKey[list[Row]]()


def pytest_addoption(parser):
    """Store nothing unasked: a try of one benchmark shall not change the numbers of a page."""
    parser.addoption("--store", type=Path, help="write the ratios to this JSON file")


def pytest_configure(config):
    """Begin with an empty table."""
    config.stash[ROWS] = []


@pytest.fixture
def note(request):
    """Give a function that keeps a row and fails its own test, no other, if the aim is missed."""

    def keep(case, against, quantity, ours, reference, **aim):
        row = Row(case, against, quantity, ours, reference, **aim)
        request.config.stash[ROWS].append(row)
        assert row.met is not False, f"{case}: ratio {row.ratio:.3f}, the aim is {row.aim}"

    return keep


@pytest.fixture
def in_turn(note, benchmark):
    """Give a function that measures both sides in one thread and notes their seconds.

    With `work`, a number and its unit, the row tells units a second instead. pytest-benchmark adds
    its own statistics of our side, for `--benchmark-json` and its history.
    """

    def compare(case, against, ours, theirs, *, rounds, work=None, **aim):
        torch.set_num_threads(1)
        own, reference = fewest_seconds(ours, theirs, rounds)
        benchmark.extra_info.update({"reference_seconds": reference, "ratio": own / reference})
        benchmark.pedantic(ours, rounds=min(rounds, 3))
        if work is None:
            note(case, against, "seconds", own, reference, **aim)
        else:
            number, unit = work
            note(case, against, f"{unit} a second", number / own, number / reference, **aim)

    return compare


def pytest_terminal_summary(terminalreporter, config):
    """Print the table; store it if asked to."""
    rows = config.stash[ROWS]
    if not rows:
        return
    terminalreporter.section("ours against the reference")
    for line in table(rows):
        terminalreporter.write_line(line)
    if path := config.getoption("--store"):
        command = shlex.join(["python", "-m", "pytest", *config.invocation_params.args])
        store(rows, path, command)
        terminalreporter.write_line(f"stored in {path}")
