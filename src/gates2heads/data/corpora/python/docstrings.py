"""English prose that needs no download: the docstrings of installed packages."""

import ast
import hashlib
import platform
import sysconfig
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from gates2heads.accepts import accepts, choice, strings
from gates2heads.accepts.shown import shown
from gates2heads.data.corpora.prose import paragraphs, sentences
from gates2heads.data.corpora.splits import HELD_OUT, SPLITS

STANDARD = "python"  # means the standard library
PACKAGES = (STANDARD, "numpy", "matplotlib")
# Tests have little prose, and the other folders contain copies of foreign packages or generated
# tables.
SKIPPED = {"test", "tests", "site-packages", "dist-packages", "idlelib", "lib2to3", "encodings"}
DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Docstring:
    """The prose of one docstring, and its location."""

    package: str  # one of the packages that were read
    module: str  # path of the file inside the package, `_core/fromnumeric.py`
    name: str  # of the function or class, dotted; empty for the module itself
    paragraphs: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The sentences of all paragraphs, in reading order."""
        return [sentence for text in self.paragraphs for sentence in sentences(text)]

    @property
    def entry(self) -> tuple[str, ...]:
        """The paragraphs as a glossary would print them: the first begins with the name.

        `argmax: Returns the indices of the maximum values along an axis.`
        """
        name = self.name.rsplit(".", 1)[-1]
        if not name or name.startswith("_"):
            return self.paragraphs
        return (f"{name}: {self.paragraphs[0]}", *self.paragraphs[1:])

    @property
    def split(self) -> str:
        """Train, validation or test: a whole module goes to one of them."""
        return split_of_module(self.package, self.module)


def split_of_module(package: str, module: str) -> str:
    """The split of a module; the same on every machine and for every version."""
    digest = hashlib.sha256(f"{package}:{module}".encode()).digest()
    bucket = int.from_bytes(digest[:8], "big") % HELD_OUT
    return {0: "test", 1: "validation"}.get(bucket, "train")


def folder_of(package: str) -> Path:
    """Find the folder of an installed package without importing it.

    Raises:
        ValueError: no such package is installed, or it is no folder of Python files.
    """
    if package == STANDARD:
        return Path(sysconfig.get_path("stdlib"))
    spec = find_spec(package) if isinstance(package, str) and package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"packages must name installed packages, got {shown(package)}")
    return Path(next(iter(spec.submodule_search_locations)))


def named_docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (dotted name, docstring) of a module and its definitions, in the order of the file.

    NumPy writes the docstrings of its compiled functions as `add_newdoc(place, name, text)`;
    these count as well.
    """
    waiting = [("", tree)]
    while waiting:
        name, node = waiting.pop()
        text = ast.get_docstring(node)
        if text:
            yield name, text
        inner = []
        for child in node.body:
            if isinstance(child, DOCUMENTED):
                inner.append((f"{name}.{child.name}".lstrip("."), child))
            elif isinstance(child, ast.Expr) and isinstance(child.value, ast.Call):
                yield from added_docstring(child.value)
        waiting.extend(reversed(inner))


def added_docstring(call: ast.Call) -> Iterator[tuple[str, str]]:
    """Return name and text of a call `add_newdoc(place, name, text)`; nothing for other calls."""
    if getattr(call.func, "id", "") != "add_newdoc" or len(call.args) < 3:
        return
    name, text = call.args[1], call.args[2]
    if isinstance(text, ast.Tuple) and text.elts:  # (attribute, text) documents a method
        name, text = text.elts[0], text.elts[-1]
    if isinstance(name, ast.Constant) and isinstance(getattr(text, "value", None), str):
        yield str(name.value), text.value


def read_folder(folder: Path, package: str) -> Iterator[tuple[str, str, str, str]]:
    """Return (package, module, name, docstring) of all Python files below a folder, paths sorted.

    The files are parsed, never run. A file that this Python cannot parse is left out.
    """
    files = [file.relative_to(folder) for file in folder.rglob("*.py")]
    for file in sorted(files, key=lambda file: file.as_posix()):
        if SKIPPED.isdisjoint(file.parts[:-1]):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of old spellings in other people's code
                    tree = ast.parse((folder / file).read_text(encoding="utf-8"))
            except (SyntaxError, ValueError, OSError):
                continue
            for name, text in named_docstrings(tree):
                yield package, file.as_posix(), name, text


@lru_cache(maxsize=4)
def read_packages(packages: tuple[str, ...] = PACKAGES) -> tuple[Docstring, ...]:
    """Read the docstrings of some packages, all splits, in a fixed order.

    A paragraph that occurs in several docstrings is kept at its first occurrence. So no held-out
    paragraph occurs in the training text.

    Raises:
        ValueError: no package is named, or one is not installed.
    """
    if not packages:
        raise ValueError("packages must name at least one installed package")
    seen, documents = set(), []
    for package in packages:
        for *place, text in read_folder(folder_of(package), package):
            new = tuple(p for p in dict.fromkeys(paragraphs(text)) if p.casefold() not in seen)
            seen.update(paragraph.casefold() for paragraph in new)
            if new:
                documents.append(Docstring(*place, new))
    return tuple(documents)


@accepts(split=choice(SPLITS), packages=strings)
def docstrings(split: str, *, packages: Sequence[str] = PACKAGES) -> list[Docstring]:
    """Read the docstrings of a split.

    Args:
        split: `train`, `validation` or `test`; no module and no paragraph is in two of them.
        packages: names of installed packages; `python` is the standard library.

    Raises:
        ValueError: no package, or one that is not installed.
    """
    return [document for document in read_packages(tuple(packages)) if document.split == split]


def fingerprint(packages: Sequence[str] = PACKAGES) -> str:
    """Describe the data: versions, number of docstrings, and a checksum of the prose.

    Two machines with the same fingerprint train on the same text.
    """
    documents = read_packages(tuple(packages))
    digest = hashlib.sha256()
    for document in documents:
        digest.update("\n".join([document.module, document.name, *document.paragraphs]).encode())
    versions = ", ".join(
        f"{name} {platform.python_version() if name == STANDARD else version(name)}"
        for name in packages
    )
    return f"{versions}: {len(documents):,} docstrings, sha256 {digest.hexdigest()[:16]}"
