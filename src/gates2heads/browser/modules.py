"""Bundling of ES modules that import each other into one text for a view.

A view cannot import: it is a single string, in a page that may have no server. Its source consists
of plain modules with `export` and relative `import`, which Node can run; here they are joined into
one equivalent text.
"""

import re
from pathlib import Path

from gates2heads.accepts.shown import shown

# Statements begin in the first column, which distinguishes them from words in a comment.
_IMPORT = re.compile(r'^import\s+([^;"\']+?)\s+from\s+(["\'])(.+?)\2;?[ \t]*$', re.M | re.S)
_LEFT_IMPORT = re.compile(r"^import\b[^\n]*", re.M)
_LATE_IMPORT = re.compile(r"^[^/\n]*\bimport\s*\(.*", re.M)
_DECLARED = re.compile(r"^export\s+(?=(?:(?:async\s+)?function\*?|class|const)\s+([\w$]+))", re.M)
_LISTED = re.compile(r"^export\s+\{([^}]*)\};?[ \t]*$", re.M)
_ANY_EXPORT = re.compile(r"^export\b[^\n]*", re.M)
_NAME = re.compile(r"([\w$]+)(?:\s+as\s+([\w$]+))?")


def join_modules(entry: Path, *, late: bool = False) -> str:
    """Join a module and all that it imports, directly or not, into one text without imports.

    Each imported module keeps its own scope, so two of them may use the same private name.
    The entry comes last and keeps its own exports: a view's `export default`, for example.

    Supported syntax: `import { a, b as c } from "./x.js"` and `import * as x from "../y/x.js"`;
    `export` before a function, a class or a constant, and `export { a, b }`. All start in the
    first column. Only the entry may have an `export default`.

    Args:
        entry: the file of the module to start from.
        late: whether the modules may call `import(…)`. A view may not; the host of the built
            pages imports the text of a view when it shows it.

    Returns:
        The joined text: every module once, after those that it imports.
    Raises:
        ValueError: an import of anything but a file beside the others, of a file that is missing,
            in a circle or of a name that is not exported; an import or export of another form.
    """
    entry = Path(entry).resolve()
    exports: dict[Path, dict[str, str]] = {}
    pieces: list[str] = []
    _join(entry, (), exports, pieces)
    text = "\n".join(pieces)
    if not late and (call := _LATE_IMPORT.search(text)):
        raise ValueError(_refused(entry, call[0]))
    return text


def _refused(path: Path, found: str) -> str:
    return f"{path.name} must import {{ names }} from files, got {shown(found.strip())}"


def _join(
    path: Path, importers: tuple[Path, ...], exports: dict[Path, dict[str, str]], pieces: list[str]
) -> None:
    if path in importers:
        circle = " → ".join(each.name for each in (*importers[importers.index(path) :], path))
        raise ValueError(f"entry must import without a circle, got {circle}")
    text = path.read_text(encoding="utf-8")

    def linked(match: re.Match) -> str:
        target = _imported(path, match[3])
        if target not in exports:
            _join(target, (*importers, path), exports, pieces)
        scope = list(exports).index(target)
        return f"const {_binding(match[1], path, target, exports[target])} = module{scope};"

    text = _IMPORT.sub(linked, text)
    if left := _LEFT_IMPORT.search(text):
        raise ValueError(_refused(path, left[0]))
    if not importers:
        pieces.append(text)
        return
    text, exports[path] = _without_exports(text, path)
    given = ", ".join(
        name if name == own else f"{name}: {own}" for name, own in exports[path].items()
    )
    number = list(exports).index(path)
    head = f"// {path.parent.name}/{path.name}\nconst module{number} = (() => {{\n"
    pieces.append(f"{head}{text.strip()}\nreturn {{ {given} }};\n}})();\n")


def _imported(path: Path, address: str) -> Path:
    """Find the file that an import names."""
    if not address.startswith(("./", "../")):
        raise ValueError(f'{path.name} must import from "./…" or "../…", got {shown(address)}')
    target = (path.parent / address).resolve()
    if not target.is_file():
        raise ValueError(f"{path.name} must import from a file that is there, got {shown(address)}")
    return target


def _pairs(names: str, path: Path) -> list[tuple[str, str]]:
    """Read `a, b as c` as (a, a), (b, c)."""
    pairs = []
    for part in filter(None, (part.strip() for part in names.split(","))):
        match = _NAME.fullmatch(part)
        if not match or "default" in match.groups():
            raise ValueError(f"{path.name} must name what it imports or exports, got {shown(part)}")
        pairs.append((match[1], match[2] or match[1]))
    return pairs


def _binding(names: str, path: Path, target: Path, exported: dict[str, str]) -> str:
    """Write the destructuring pattern for names from a joined module."""
    if whole := re.fullmatch(r"\*\s+as\s+([\w$]+)", names):
        return whole[1]
    if not re.fullmatch(r"\{[^{}]*\}", names, re.S):
        raise ValueError(f"{path.name} must import {{ names }} from files, got import {names}")
    pairs = _pairs(names[1:-1], path)
    for name, _ in pairs:
        if name not in exported:
            raise ValueError(
                f"{path.name} must import what {target.name} exports, got {shown(name)}"
            )
    return "{ " + ", ".join(n if n == own else f"{n}: {own}" for n, own in pairs) + " }"


def _without_exports(text: str, path: Path) -> tuple[str, dict[str, str]]:
    """Remove the word `export`; return the text, and the exported names."""
    exported = {name: name for name in _DECLARED.findall(text)}
    for names in _LISTED.findall(text):
        exported |= {outer: own for own, outer in _pairs(names, path)}
    text = _LISTED.sub("", _DECLARED.sub("", text))
    if left := _ANY_EXPORT.search(text):
        raise ValueError(
            f"{path.name} must export functions, classes, constants or {{ names }}, "
            f"got {shown(left[0])}"
        )
    return text, exported
