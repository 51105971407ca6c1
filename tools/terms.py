"""Find words that the book does not use, in what readers see.

    python -m tools.terms [FILE …]

The words are in `terms.tsv`: a regular expression, what to write instead, and, where the word is
right in some phrase, an expression for that phrase and the reason. Without files, all files of
`FOLDERS` and the documents beside them are checked, except those in `unrevised.txt`. A single
sentence that must use a listed word is excused where it is: the line or cell contains
`term: WORD, REASON`, in a comment.

The linter checks the Markdown of a notebook and the strings of its code; the strings, docstrings
and comments of a Python file; the strings of a JavaScript file; a Markdown file; and the texts that
a Makefile prints. It skips code, formulas, addresses and names.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TERMS = ROOT / "tools" / "terms.tsv"
UNREVISED = ROOT / "tools" / "unrevised.txt"
FOLDERS = ("src", "studies", "shipping", "tools", "_ext", "docs", "chapters")

AROUND = 45  # characters on each side of a word that are shown
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
TICKS = re.compile(r"(`+)(?!`).+?\1")
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
ADDRESS = re.compile(r"\]\([^)]*\)|https?://\S+")
FIELD = re.compile(r"\{[^{}]*\}")
PARAGRAPH = re.compile(r"(?:^.*\S.*\n?)+", re.M)
PRINTED = re.compile(r"echo \"([^\"]*)\"")  # in a Makefile
MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.M)
EXCUSED = re.compile(r"term: ([^,\n]+), (?=\w)")
ARGUMENT = re.compile(r"^ +\w+(?:, \w+)*:(?= )", re.M)  # in a docstring
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
            raise ValueError(f"{path.name}:{number} has an invalid pattern: {error}") from error
    return terms


def faults(path: Path, terms: list[Term]) -> list[Finding]:
    """Find the listed words in one file.

    Args:
        path: a notebook, a Python, JavaScript or Markdown file, or a Makefile.
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
    """Yield each visible passage: where it is, its words, and the source that may excuse it."""
    read = READERS.get(path.suffix or path.name)
    if read is None:
        raise ValueError(
            f"{path.name} must be a notebook, a Python, JavaScript or Markdown file, or a Makefile"
        )
    yield from read(path.read_text(encoding="utf-8"))


def _of_notebook(text: str) -> Iterator[tuple[str, str, str]]:
    for cell in json.loads(text)["cells"]:
        source, where = "".join(cell["source"]), f"cell {cell['id']}"
        if cell["cell_type"] == "markdown":
            yield where, _prose(source), source
        else:
            for _, words in _strings(MAGIC.sub(r"\1pass", source)):
                yield where, _prose(FIELD.sub(" ", words)), source


def _of_python(text: str) -> Iterator[tuple[str, str, str]]:
    lines = text.splitlines()
    for line, words in [*_strings(text), *_comments(text)]:
        prose = _prose(ARGUMENT.sub("", FIELD.sub(" ", words)))
        yield f"line {line}", " ".join(prose.split()), lines[line - 1]


def _of_script(text: str) -> Iterator[tuple[str, str, str]]:
    lines = text.splitlines()
    for hit in SCRIPT.finditer(text):
        if hit[0].startswith(("//", "/*")) or not _is_prose(hit[0][1:-1]):
            continue
        line = _line(text, hit)
        yield f"line {line}", INSERTED.sub(" ", hit[0][1:-1]), lines[line - 1]


def _of_markdown(text: str) -> Iterator[tuple[str, str, str]]:
    text = FENCE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for hit in PARAGRAPH.finditer(text):
        yield f"line {_line(text, hit)}", " ".join(_prose(hit[0]).split()), hit[0]


def _of_makefile(text: str) -> Iterator[tuple[str, str, str]]:
    for hit in PRINTED.finditer(text):
        yield f"line {_line(text, hit)}", _prose(hit[1]), hit[0]


READERS = {
    ".ipynb": _of_notebook,
    ".py": _of_python,
    ".js": _of_script,
    ".md": _of_markdown,
    "Makefile": _of_makefile,
}


def _line(text: str, hit: re.Match) -> int:
    """Return the number of the line in which a match begins."""
    return text.count("\n", 0, hit.start()) + 1


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of a piece of Python that contain more than a name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_prose(node.value):
            yield node.lineno, node.value


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a piece of Python, those on consecutive lines as one."""
    found: list[tuple[int, list[str]]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if not found or token.start[0] != found[-1][0] + len(found[-1][1]):
            found.append((token.start[0], []))
        found[-1][1].append(token.string.lstrip("# "))
    for begin, lines in found:
        yield begin, " ".join(lines)


def _is_code(text: str) -> bool:
    """Whether a string of several lines is a Python program."""
    if "\n" not in text:
        return False
    try:
        return bool(ast.parse(MAGIC.sub(r"\1pass", text)).body)
    except SyntaxError:
        return False


def _is_prose(text: str) -> bool:
    """Whether a string can be words for a reader: a key, a class or a selector is one bare word."""
    if re.match(r"[A-Z][a-z]+$", text):
        return True
    return bool(re.search(r"[A-Za-z]\s+[A-Za-z]", text)) and not _is_code(text)


def _prose(text: str) -> str:
    """Markdown without code, formulas and addresses."""
    for pattern in (FENCE, FORMULA, ADDRESS):
        text = pattern.sub(" ", text)
    return TICKS.sub("`x`", text)


def checked() -> list[Path]:
    """List the files that are checked.

    Raises:
        ValueError: a line of `unrevised.txt` does not name a file.
    """
    lines = UNREVISED.read_text(encoding="utf-8").splitlines()
    left = {ROOT / line.strip() for line in lines if line.strip() and not line.startswith("#")}
    if missing := sorted(str(path.relative_to(ROOT)) for path in left if not path.is_file()):
        raise ValueError(f"{UNREVISED.name} lists missing files: {', '.join(missing)}")
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    of_kind = [path for path in [*found, *ROOT.glob("*.md")] if path.suffix in READERS]
    return sorted({*of_kind, ROOT / "Makefile"} - left)


def main(arguments: list[str]) -> int:
    """Print the findings; return 1 if there are any."""
    terms = read_terms()
    paths = [Path(one) for one in arguments] or checked()
    found = [finding for path in paths for finding in faults(path, terms)]
    print(*found, sep="\n") if found else print(f"Terms: {len(paths)} files, nothing found.")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
