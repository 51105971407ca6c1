"""No import climbs a floor, none goes in a circle; the check finds a planted fault of each kind."""

import ast
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "gates2heads"
FLOORS = {
    "accepts": 0,
    "data": 0,
    "metrics": 0,
    "layers": 1,
    "models": 2,
    "training": 3,
    "decoding": 3,
    "watching": 4,
    "figures": 4,
    "browser": 4,
    "views": 5,
    "grading": 5,
    "book": 6,
    "__main__": 6,
}
LOBBY = "__init__"  # the package's own front door: it may name any room, no room may rely on it


def modules(package):
    """Map dotted names to files: gates2heads.layers.attention → …/layers/attention.py."""
    names = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(name, path, known):
    """List the modules of the package that a module imports, wherever in its text."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            origin = ".".join([*base, node.module] if node.module else base)
            origin = origin if node.level else node.module
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                found.add(inner if inner in known else origin)
    return {target for target in found if target in known and target != name}


def floor_of(name):
    """Give a module's floor, None for the front door."""
    room = name.split(".")[1] if "." in name else LOBBY
    if room == LOBBY:
        return None
    if room not in FLOORS:
        raise AssertionError(f"{name} is in no room of the house: {sorted(FLOORS)}")
    return FLOORS[room]


def faults(package):
    """List imports that climb, and a circle if there is one."""
    known = modules(package)
    graph = {name: imports(name, path, known) for name, path in known.items()}
    found = [
        f"{name} (floor {floor_of(name)}) imports {target} (floor {floor_of(target)})"
        for name, targets in graph.items()
        for target in sorted(targets)
        if None not in (floor_of(name), floor_of(target)) and floor_of(target) > floor_of(name)
    ]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append("circle: " + " → ".join(reversed(error.args[1])))
    return found


def test_the_house_stands():
    assert len(modules(PACKAGE)) > len(FLOORS)
    assert faults(PACKAGE) == []


def plant(folder, **texts):
    """Write a small package: layers__attention="…" → layers/attention.py."""
    package = folder / "gates2heads"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, text in texts.items():
        path = package / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
    return package


@pytest.mark.parametrize(
    "line",
    [
        "from gates2heads.models.seq2seq import Decoder",
        "from gates2heads.models import seq2seq",
        "import gates2heads.models.seq2seq",
        "from ..models import seq2seq",
        "from ..models.seq2seq import Decoder",
        "def late():\n    from gates2heads.models import seq2seq",
    ],
)
def test_a_planted_climb_is_found(tmp_path, line):
    package = plant(tmp_path, layers__attention=line, models__seq2seq="Decoder = 1")
    assert faults(package) == [
        "gates2heads.layers.attention (floor 1) imports gates2heads.models.seq2seq (floor 2)"
    ]


def test_a_planted_circle_of_neighbours_is_found(tmp_path):
    package = plant(
        tmp_path,
        layers__masks="from gates2heads.layers.attention import attend",
        layers__attention="from .masks import causal",
    )
    (fault,) = faults(package)
    assert fault.startswith("circle: ")
    assert {"gates2heads.layers.masks", "gates2heads.layers.attention"} <= set(fault.split())


def test_neighbours_and_lower_floors_may_be_imported(tmp_path):
    package = plant(
        tmp_path,
        training__loop="from gates2heads.decoding.search import greedy\nimport gates2heads.data",
        decoding__search="import torch",
        data__dates="import random",
    )
    assert faults(package) == []


def test_a_room_that_nobody_planned_is_refused(tmp_path):
    package = plant(tmp_path, utils__things="from gates2heads.data import dates", data__dates="")
    with pytest.raises(AssertionError, match=r"utils\.things is in no room of the house"):
        faults(package)


def test_no_two_test_files_have_one_name():
    """Pytest imports them by their names alone: the second of two would not be collected."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []
