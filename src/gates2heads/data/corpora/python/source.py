"""Python source that needs no download: the standard library and installed packages."""

import hashlib
import platform
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from string import whitespace

from gates2heads.accepts import accepts, any_seed, choice, natural, string, strings
from gates2heads.data.corpora.python.docstrings import SKIPPED, STANDARD, folder_of, split_of_module
from gates2heads.data.corpora.splits import SPLITS

UNKNOWN = "\N{REPLACEMENT CHARACTER}"  # replaces every character that is not in `KNOWN`
KNOWN = "\n" + "".join(chr(number) for number in range(32, 127))  # the printable ASCII characters
CHARACTERS = KNOWN + UNKNOWN
# Beside tests and copies: the topics of help() in one string, and tables that a build wrote.
TABLES = {"pydoc_data", "config", "__phello__", "testing", "benchmarks", "_antlr"}
# PyTorch needs the last two; so whoever can run the book has them all.
PACKAGES = (STANDARD, "numpy", "matplotlib", "torch", "sympy", "networkx")
_KEPT = frozenset(KNOWN)


@dataclass(frozen=True)
class Module:
    """The source of one module, in the characters of the model."""

    path: str  # inside the package, `json/decoder.py`
    text: str  # in `CHARACTERS` only
    package: str = STANDARD

    @property
    def split(self) -> str:
        """Train, validation or test: a whole module goes to one of them."""
        return split_of_module(self.package, self.path)


def known_characters(text: str) -> str:
    """Convert a text to `CHARACTERS`: a tab is four spaces, any other character `UNKNOWN`."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ")
    return "".join(one if one in _KEPT else UNKNOWN for one in lines)


@cache
def read_modules(package: str = STANDARD) -> tuple[Module, ...]:
    """Read the modules of a package, all splits, paths sorted; nothing is run.

    Tests, copies of foreign packages and generated tables are left out, and files that are not
    UTF-8.
    """
    folder = folder_of(package)
    read = (_read(folder, path, package) for path in _paths(folder))
    return tuple(module for module in read if module is not None)


def _paths(folder: Path) -> list[str]:
    """The files of a package that may be modules, sorted."""
    files = (file.relative_to(folder) for file in folder.rglob("*.py"))
    return sorted(file.as_posix() for file in files if _is_wanted(file))


def _is_wanted(file: Path) -> bool:
    names = {part.partition("-")[0] for part in file.parts[:-1]} | set(file.parts[:-1])
    return not names & (SKIPPED | TABLES) and not file.name.startswith("_sysconfigdata")


def _read(folder: Path, path: str, package: str) -> Module | None:
    """A module, or None for an empty file and one that is not UTF-8."""
    try:
        text = (folder / path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return None
    return Module(path, known_characters(text), package) if text.strip(whitespace) else None


@accepts(split=choice(SPLITS), packages=strings, seed=any_seed)
def sampled_modules(
    split: str, *, packages: Sequence[str] = (STANDARD,), seed: int = 0
) -> Iterator[Module]:
    """Read the modules of a split one after the other, in a random order.

    Args:
        split, packages: as for `python_source`, which reads all of them before it gives the first.
        seed: of the order.
    """
    found = [
        (package, folder_of(package), path)
        for package in packages
        for path in _paths(folder_of(package))
        if split_of_module(package, path) == split
    ]
    random.Random(seed).shuffle(found)
    for package, folder, path in found:
        module = _read(folder, path, package)
        if module is not None:
            yield module


@accepts(split=choice(SPLITS), packages=strings)
def python_source(split: str, *, packages: Sequence[str] = (STANDARD,)) -> list[Module]:
    """Read the modules of a split.

    Args:
        split: `train`, `validation` or `test`; no module is in two of them.
        packages: names of installed packages; `python` is the standard library.

    Raises:
        ValueError: a package is not installed.
    """
    every = (module for package in packages for module in read_modules(package))
    return [module for module in every if module.split == split]


@accepts(text=string, length=natural)
def passages(text: str, length: int) -> list[str]:
    """Split a text into passages of `length` characters, each of which begins with a line.

    The line in which a passage ends is the first line of the next one. The last
    passage may be shorter; a line longer than a passage is split at the end of the passage.
    """
    return [text[start : start + length] for start in passage_starts(text, length)]


@accepts(text=string, length=natural)
def passage_starts(text: str, length: int) -> list[int]:
    """Where the passages of `passages` begin, in characters from the start of the text."""
    starts = [0] if text else []
    while starts and starts[-1] + length < len(text):
        start, end = starts[-1], starts[-1] + length
        line = text.rfind("\n", start, end) + 1  # 0: no line ends in it
        starts.append(line if line > start else end)
    return starts


@accepts(packages=strings)
def source_fingerprint(packages: Sequence[str] = (STANDARD,)) -> str:
    """Describe the data: versions, number of modules, and a checksum of their text.

    Two machines with the same fingerprint train on the same text.
    """
    modules = [module for package in packages for module in read_modules(package)]
    digest = hashlib.sha256()
    for module in modules:
        digest.update(f"{module.path}\n{module.text}\n".encode())
    origins = ", ".join(
        f"standard library of Python {platform.python_version()}"
        if package == STANDARD
        else f"{package} {version(package)}"
        for package in packages
    )
    return f"{origins}: {len(modules):,} modules, sha256 {digest.hexdigest()[:16]}"
