"""Call every public entry with generated nonsense, and tell what does not answer in our own words.

    python tools/attack.py [--seed 1] [--number 20000] [--first 0] [--entries PATTERN]

A call has one or two wrong arguments, drawn from `nasty_values.py`; the entries and their good
arguments are those of `tests/test_api_bad_input*.py`. A finding is a call that raises anything but
one line of the library's own, as `tests/nonsense.py` judges it; that computes for longer than 20
seconds; that ends the process; that writes outside its temporary folder or connects anywhere; or
that changes an argument in place. Not a finding: that a call which asked for thousands of something
takes long, or fails in PyTorch's words for want of memory; and what a function that was handed over
raises itself.

Call number N is drawn from the seed and N alone: `--first N --number 1` makes it again. The status
is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.nasty_values import draw  # noqa: E402  (the path had to be there first)

LIMIT = 20  # seconds that a call may compute; waiting for other programs does not count
SILENCE = 900  # seconds after which a process that cannot be interrupted is ended
MEMORY = 6 * 2**30  # bytes beyond those of the libraries themselves
MUCH = re.compile(r"2\*\*31 - 1|thousandfold|10\*\*5000|2\*\*62")
EXCUSED = re.compile(
    r"allocate memory|MemoryError|Storage size calculation|numel: integer multiplicat"  # no memory
    r"|cannot pickle|Cannot access storage of SparseCsr"  # an entry copies what it hands on
    r"|is a (OSError|FileNotFoundError|IsADirectoryError|NotADirectoryError|PermissionError) from"
    rf"|{re.escape(str(ROOT / 'tests'))}|{re.escape(str(ROOT / 'tools'))}"  # not the library's
)
FOREIGN = {"nn.Linear(2, 2)", "meta module"}  # modules: what they raise themselves is theirs
RAISED_BY_TORCH = re.compile(r"is a RuntimeError from \S*/torch/")
MADE_IN_PLACE = {"model", "history", "generator", "optimizer", "trace", "module"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC


class Hung(BaseException):
    """A call did not come back in time."""


def entries(pattern: str) -> dict[str, tuple]:
    """Map file/name to (call, good arguments, other words for an argument)."""
    found = {}
    for path in sorted((ROOT / "tests").glob("test_api_bad_input*.py")):
        module = importlib.import_module(f"tests.{path.stem}")
        room = path.stem.removeprefix("test_api_bad_input").strip("_")
        for name, (call, good, _) in module.ENTRIES.items():
            if re.search(pattern, f"{room}/{name}"):
                found[f"{room}/{name}"] = call, good, getattr(module, "SAME", {})
    return found


def fingerprint(value: Any, depth: int = 4) -> Any:
    """What changes if somebody changes a value in place; models and generators are no values."""
    if isinstance(value, nn.Module) or depth == 0:
        return None
    if isinstance(value, Tensor):
        return (
            value.shape,
            value._version,
            value.requires_grad,
            value.is_leaf and value.grad is None,
        )
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes() if value.dtype != object else None
    if isinstance(value, list | tuple):
        return type(value), len(value), [fingerprint(part, depth - 1) for part in value[:99]]
    if isinstance(value, Mapping):
        return [(id(name), fingerprint(part, depth - 1)) for name, part in value.items()]
    return len(value) if isinstance(value, set | bytearray) else None


class Watch:
    """What a call does to the machine: files opened for writing elsewhere, connections."""

    def __init__(self) -> None:
        self.folder, self.seen, self.on = "", [], False
        sys.addaudithook(self)

    def __call__(self, event: str, given: tuple) -> None:
        """Note what is forbidden; called by Python for everything that happens."""
        if not self.on:
            return
        if event == "open":
            path, mode, flags = given
            writes = (isinstance(mode, str) and set(mode) & set("wax+")) or flags & WRITING
            if writes and self.outside(path):
                self.seen.append(f"wrote {path}")
        elif event in ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"):
            if self.outside(given[0]) or (event == "os.rename" and self.outside(given[1])):
                self.seen.append(f"{event} {given}")
        elif event in ("socket.connect", "subprocess.Popen", "os.system"):
            self.seen.append(f"{event} {given}")

    def outside(self, path: Any) -> bool:
        """Whether a path is no place where a call may write."""
        if isinstance(path, int) or path is None:
            return False
        whole = os.path.abspath(os.fsdecode(path))
        return not whole.startswith((tempfile.gettempdir(), "/dev/"))


def arrange(good: Mapping, dice: random.Random) -> tuple[dict, dict]:
    """Draw the arguments of a call; also what is wrong with each."""
    chosen = dice.sample(sorted(good), k=min(len(good), dice.choice([1, 1, 2])))
    wrong, given = {}, dict(good)
    for argument in chosen:
        wrong[argument], given[argument] = draw(good[argument], dice)
    return given, wrong


def judge(entry: tuple, given: dict, wrong: dict, watch: Watch) -> str | None:
    """Make a call; say what is bad about it, or None."""
    from tests.nonsense import complaint  # noqa: PLC0415  (in the tests' folder)

    call, _, same = entry
    names = [other for argument in wrong for other in same.get(argument, ())]
    before = {argument: fingerprint(value) for argument, value in given.items()}
    watch.seen, watch.on = [], True
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        fault = complaint(call, given, "", names)
    except Hung:
        asked = any(MUCH.search(what) for what in wrong.values())
        return None if asked else f"took longer than {LIMIT} seconds"
    except BaseException as error:  # SystemExit and what no `except Exception` sees
        return f"raised {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        watch.on = False
    if fault and any(callable(given[argument]) for argument in wrong) and "from inside" in fault:
        fault = None
    if fault and FOREIGN & set(wrong.values()) and RAISED_BY_TORCH.match(fault):
        fault = None
    if fault and fault != "did not happen" and not EXCUSED.search(fault):
        return " ".join(fault.split())
    if watch.seen:
        return watch.seen[0]
    for argument, was in before.items():
        if argument not in MADE_IN_PLACE and fingerprint(given[argument]) != was:
            return f"changed {argument} in place"
    return None


def _hung(*_: Any) -> None:
    raise Hung


def work(seed: int, first: int, number: int, pattern: str, report: int) -> None:
    """Make the calls of one process, and write each number, and what was found, to `report`."""
    faulthandler.disable()
    warnings.simplefilter("ignore")
    known = entries(pattern)
    names = sorted(known)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY,) * 2)
    signal.signal(signal.SIGPROF, _hung)
    torch.set_num_threads(1)
    # What optimizers and figures load on first use, some by a command: no call pays for it.
    importlib.import_module("torch._dynamo")
    importlib.import_module("matplotlib.font_manager")
    torch.ones(2, 3, device="meta").softmax(dim=-1)
    watch = Watch()
    with os.fdopen(report, "w", buffering=1, errors="backslashreplace") as lines:
        for call in range(first, first + number):
            dice = random.Random(f"{seed}:{call}")
            name = names[call % len(names)]
            given, wrong = arrange(known[name][1], dice)
            told = ", ".join(f"{argument}: {what}" for argument, what in wrong.items())
            lines.write(f"{call}\t{name}({told})\t\n")
            torch.manual_seed(call)
            fault = judge(known[name], given, wrong, watch)
            if fault:
                lines.write(f"{call}\t{name}({told})\t{fault:.300}\n")


def watched(seed: int, first: int, number: int, pattern: str) -> Iterator[tuple[int, str, str]]:
    """Run the calls in a process of its own; yield (call, words, fault), the fault "" before."""
    ours, theirs = os.pipe()
    given = [seed, first, number, pattern, theirs]
    code = f"from tools.attack import work; work(*{given!r})"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as complaints:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", code],
            cwd=folder,
            env=environment,
            pass_fds=[theirs],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
        os.close(theirs)
        signal.signal(signal.SIGALRM, lambda *_: process.kill())
        with os.fdopen(ours) as lines, contextlib.suppress(ValueError):
            while signal.alarm(SILENCE) is not None and (line := lines.readline()):
                call, words, fault = line.rstrip("\n").split("\t", 2)
                yield int(call), words, fault
        signal.alarm(0)
        if process.wait():
            complaints.seek(0)
            last = complaints.read().decode(errors="replace").splitlines()[-1:]
            yield -1, "", f"ended the process with status {process.returncode} {last}"


def attack(seed: int, first: int, number: int, pattern: str) -> Iterator[tuple[int, str, str]]:
    """Yield (call, words, fault) of each finding; begin again after a call that ended a process."""
    end = first + number
    while first < end:
        last, words, ended = first - 1, "", ""
        for call, told, fault in watched(seed, first, end - first, pattern):
            if call < 0:
                ended = fault
                continue
            last, words = call, told
            if fault:
                yield call, told, fault
        if ended and last < first:
            raise RuntimeError(f"the first call {ended}")
        if ended:
            yield last, words, ended
        first = last + 1


def main(arguments: list[str] | None = None) -> int:
    """Attack as the command line says; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="what is drawn")
    parser.add_argument("--number", type=int, default=20_000, help="how many calls")
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--entries", default="", help="only those that this expression finds")
    chosen = parser.parse_args(arguments)
    kinds: Counter = Counter()
    for call, words, fault in attack(chosen.seed, chosen.first, chosen.number, chosen.entries):
        print(f"{call}: {words} {fault}", flush=True)
        kinds[words.partition("(")[0]] += 1
    print(f"{kinds.total()} findings in {chosen.number} calls of {len(kinds)} entries")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
