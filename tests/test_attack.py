"""The attack finds each kind of fault that is planted, and none in the library."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.hangs import PROCESS
from tools import attack
from tools.nasty_values import POOL, draw, relatives

ROOT = Path(__file__).resolve().parents[1]


def planted(body):
    """A function of `given`, written as if it stood in another file than the tests."""
    space = {}
    exec(compile(f"def call(given):\n    {body}\n", "/planted.py", "exec"), space)
    return space["call"]


@pytest.fixture(scope="module")
def watch():
    return attack.Watch()


@pytest.fixture
def found(watch, monkeypatch, tmp_path):
    """Judge a call with one argument, in a folder of its own, a second long at most."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attack, "LIMIT", 1)
    before = signal.signal(signal.SIGPROF, attack._hung)

    def judged(body, given=3, wrong="3"):
        entry = planted(body), {"given": given}, {}
        return attack.judge(entry, {"given": given}, {"given": wrong}, watch)

    yield judged
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize(
    ("body", "given", "fault"),
    [
        ("return [][given]", 3, "is a IndexError from /planted.py"),
        ("raise RuntimeError('one\\ntwo')", 3, "is a RuntimeError from /planted.py:2: one two"),
        ("raise ValueError('given must be another')", 3, "came up from inside, /planted.py"),
        ("raise SystemExit(3)", 3, "raised SystemExit: 3"),
        ("while given: pass", 3, "took longer than 1 seconds"),
        ("given.append(1)", [3], "changed given in place"),
        ("given.zero_()", torch.ones(2), "changed given in place"),
        ("given['a'] = 1", {}, "changed given in place"),
        ("open('/proc/self/comm', 'a')", 3, "wrote /proc/self/comm"),
        ("import os; os.mkdir('/proc/x')", 3, "os.mkdir ('/proc/x'"),
        ("import subprocess; subprocess.run(['true'])", 3, "subprocess.Popen"),
    ],
)
def test_each_kind_of_fault_is_found(found, body, given, fault):
    assert fault in found(body, given)


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("return given + 1", "3"),
        ("open('here', 'w').close()", "3"),
        ("while given: pass", "2**31 - 1"),
        ("raise RuntimeError('not enough memory: you tried to allocate memory')", "3"),
    ],
)
def test_what_is_right_is_no_finding(found, body, wrong):
    assert found(body, wrong=wrong) is None


def test_what_a_foreign_module_raises_is_its_own(found):
    linear = torch.nn.Linear(2, 2)
    body, other = "return given(__import__('torch').ones(3))", "raise RuntimeError('planted')"
    assert found(body, linear, "nn.Linear(2, 2)") is None
    assert "is a RuntimeError" in found(body, linear, "the good one, double")
    assert "is a RuntimeError" in found(other, linear, "nn.Linear(2, 2)")


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of its own unfinished kinds of tensors
def test_every_nasty_value_can_be_made_and_a_call_is_drawn_from_its_number_alone():
    assert len(POOL) >= 100
    for make in POOL.values():
        make()
    good = {"tokens": torch.full((2, 5), 3), "size": 3, "text": "ab", "layer": torch.nn.ReLU()}
    kinds = {name for value in good.values() for name in relatives(value)}
    assert {"on meta", "sparse", "numpy", "with a surrogate"} <= kinds
    names = set()
    for number in range(300):
        given, wrong = attack.arrange(good, random.Random(number))
        assert wrong == attack.arrange(good, random.Random(number))[1]
        assert given.keys() == good.keys()
        assert 1 <= len(wrong) <= 2
        names |= set(wrong.values())
    assert len(names) > 100
    assert draw(3, random.Random(1))[0] == draw(3, random.Random(1))[0]


def test_all_entries_are_attacked():
    known = attack.entries("")
    rooms = {name.partition("/")[0] for name in known}
    assert {"decoding", "heads", "metrics", "models", "training", "words"} <= rooms
    assert len(known) > 300
    assert set(attack.entries("^decoding/")) == {n for n in known if n.startswith("decoding/")}


@pytest.mark.slow
def test_nothing_is_found_in_the_library():
    """A few calls of each entry, always the same; `python tools/attack.py --seed N` makes more."""
    command = [sys.executable, "tools/attack.py", "--seed", "1", "--number", "1500"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=PROCESS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_call_that_ends_the_process_is_found_and_the_next_ones_are_made(monkeypatch):
    def watched(seed, first, number, pattern):
        yield first, "room/name(x: 0)", ""
        if first < 2:
            yield -1, "", "ended the process with status -6"
        else:
            yield first, "room/name(x: 0)", "is bad"

    monkeypatch.setattr(attack, "watched", watched)
    assert list(attack.attack(1, 0, 4, "")) == [
        (0, "room/name(x: 0)", "ended the process with status -6"),
        (1, "room/name(x: 0)", "ended the process with status -6"),
        (2, "room/name(x: 0)", "is bad"),
        (3, "room/name(x: 0)", "is bad"),
    ]
