"""Find words that the book does not use, in what readers see.

    python -m tools.terms [FILE …]

The words are in `terms.tsv`: a regular expression, what to write instead, and, where the word is
right in some phrase, an expression for that phrase and the reason. Without files, those that
`revised.txt` lists are read: pages and views join that list as they are revised. A single sentence
that must use a listed word is excused where it is: the line or cell holds `term: WORD, REASON`, in
a comment.

Read are the Markdown of a notebook and the words in its code; the words in a Python file, its
docstrings included; the words in a JavaScript file. Code, formulas, addresses and names are not.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TERMS = ROOT / "tools" / "terms.tsv"
REVISED = ROOT / "tools" / "revised.txt"

AROUND = 45  # characters on each side of a word that are shown
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
TICKS = re.compile(r"(`+)(?!`).+?\1")
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
ADDRESS = re.compile(r"\]\([^)]*\)|https?://\S+")
FIELD = re.compile(r"\{[^{}]*\}")
MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.M)
EXCUSED = re.compile(r"term: ([^,\n]+), (?=\w)")
# A string with its quotes, or a comment; a template's ${…} are taken out of it afterwards.
SCRIPT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.S
)
INSERTED = re.compile(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")


@dataclass(frozen=True)
class Term:
    """A word that the book does not use."""

    pattern: re.Pattern
    instead: str
    right_in: re.Pattern | None = None


@dataclass(frozen=True)
class Finding:
    """Where such a word is, and what to write."""

    where: str
    excerpt: str
    instead: str

    def __str__(self):
        return f"{self.where}: “{self.excerpt}” → {self.instead}"


def read_terms(path: Path = TERMS) -> list[Term]:
    """Read the table.

    Raises:
        ValueError: a line without a replacement, an exception without a reason, or a bad pattern.
    """
    terms = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) not in {2, 4} or not all(cells):
            raise ValueError(
                f"{path.name}:{number} must have a pattern and a replacement, or these and an "
                f"exception with its reason, separated by tabs; got {len(cells)} cells"
            )
        try:
            right_in = re.compile(cells[2]) if len(cells) == 4 else None
            terms.append(Term(re.compile(cells[0]), cells[1], right_in))
        except re.error as error:
            raise ValueError(f"{path.name}:{number} has a pattern that is none: {error}") from error
    return terms


def faults(path: Path, terms: list[Term]) -> list[Finding]:
    """Find the listed words in one file.

    Args:
        path: a notebook, a Python file or a JavaScript file.
        terms: from `read_terms`.

    Raises:
        ValueError: another kind of file.
    """
    found = []
    for where, words, source in _passages(path):
        excused = {word.strip() for word in EXCUSED.findall(source)}
        for term in terms:
            right = [one.span() for one in term.right_in.finditer(words)] if term.right_in else []
            for hit in term.pattern.finditer(words):
                begin, end = hit.span()
                if hit[0] in excused or any(a < end and begin < b for a, b in right):
                    continue
                excerpt = " ".join(words[max(0, begin - AROUND) : end + AROUND].split())
                found.append(Finding(f"{path.name}, {where}", excerpt, term.instead))
    return found


def _passages(path: Path) -> Iterator[tuple[str, str, str]]:
    """Each passage that readers see: where it is, its words, and the source that may excuse it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            source, where = "".join(cell["source"]), f"cell {cell['id']}"
            if cell["cell_type"] == "markdown":
                yield where, _prose(source), source
            else:
                for _, words in _strings(MAGIC.sub(r"\1pass", source)):
                    yield where, _prose(FIELD.sub(" ", words)), source
    elif path.suffix == ".py":
        lines = text.splitlines()
        for line, words in _strings(text):
            yield f"line {line}", _prose(FIELD.sub(" ", words)), lines[line - 1]
    elif path.suffix == ".js":
        lines = text.splitlines()
        for hit in SCRIPT.finditer(text):
            if hit[0].startswith(("//", "/*")) or not _is_prose(hit[0][1:-1]):
                continue
            line = text.count("\n", 0, hit.start()) + 1
            yield f"line {line}", INSERTED.sub(" ", hit[0][1:-1]), lines[line - 1]
    else:
        raise ValueError(f"{path.name} must be a notebook, a Python file or a JavaScript file")


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a piece of Python that hold more than a name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_prose(node.value):
            yield node.lineno, node.value


def _is_prose(text: str) -> bool:
    """Whether a string can be words for a reader: a key, a class or a selector is one bare word."""
    return bool(re.search(r"[A-Za-z]\s+[A-Za-z]", text)) or bool(re.match(r"[A-Z][a-z]+$", text))


def _prose(text: str) -> str:
    """Markdown without code, formulas and addresses."""
    for pattern in (FENCE, FORMULA, ADDRESS):
        text = pattern.sub(" ", text)
    return TICKS.sub("`x`", text)


def revised() -> list[Path]:
    """List the files whose words are checked.

    Raises:
        ValueError: a line names no file.
    """
    lines = REVISED.read_text(encoding="utf-8").splitlines()
    paths = [ROOT / line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if missing := [str(path.relative_to(ROOT)) for path in paths if not path.is_file()]:
        raise ValueError(f"{REVISED.name} lists what is not there: {', '.join(missing)}")
    return paths


def main(arguments: list[str]) -> int:
    """Print what was found; 1 if anything was."""
    terms = read_terms()
    paths = [Path(one) for one in arguments] or revised()
    found = [finding for path in paths for finding in faults(path, terms)]
    print(*found, sep="\n") if found else print(f"Terms: {len(paths)} files, nothing found.")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
