"""Which code is shown open on a page, and which is folded: one tag per cell, and the rest follows.

An author gives a cell that nobody needs to read in passing one of three tags:

- `setup`: it must run, and can wait to be read: imports, data, loading, small helpers;
- `draw`: it makes a picture or a view;
- `tell`: its output is all there is to see: `prose`, `table`, `symbols`, `show_source`.

`fold` derives from it what the readers' programs go by. The book folds `setup` and `draw` behind
a line that one may click, and leaves out the code of `tell`; JupyterLab collapses all three by
`jupyter.source_hidden`; Colab by `cellView: form`, where it shows the title in the first line, `#
@title What this is`. Where an author wrote no title, a plain one is put there.

What is left, together with the listings of `show_source` and with the code in the text, is what a
reader sees without a click. `faults` says where that is too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

KINDS = {
    "setup": ("hide-input", "Set-up"),
    "draw": ("hide-input", "How it is drawn"),
    "tell": ("remove-input", "What the run says"),
}
DERIVED_TAGS = {"hide-input", "remove-input"}
TITLE = re.compile(r"# @title (.*\S)\s*(?:\n|\Z)")
DETAILS = re.compile(r"<details\b[^>]*>(?:(?!<details\b).)*?</details>", re.S)  # the innermost
FENCE = re.compile(r"^(`{3,})[^`\n]*\n(.*?)^\1\s*$", re.M | re.S)


@dataclass(frozen=True)
class Limits:
    """How much code may be shown open on a page."""

    lines: int = 150
    median: int = 10
    longest: int = 25
    width: int = 80  # 86 characters fit the book's column in a window of 1280 pixels


LIMITS = Limits()
# Page -> what holds in place of the limits, and why. Empty is how it should be.
ALLOWANCES: dict[str, tuple[Limits, str]] = {
    "07_transformer": (Limits(lines=220), "a complete Transformer, from the embedding to the loop"),
    "12_one_stack": (Limits(lines=240), "a complete Llama, with its cache, and two loops"),
}


@dataclass(frozen=True)
class Block:
    """Code that a reader sees without a click: a whole cell, a listing, or a piece of the text."""

    cell: int
    kind: str
    text: str

    @property
    def lines(self) -> int:
        """How many lines it takes on the page, blank ones too."""
        return len(self.text.splitlines())


def kind_of(cell: Mapping, where: str = "cell") -> str | None:
    """Return the tag that folds a cell, or None if it is shown open.

    Raises:
        ValueError: it has two of them.
    """
    found = [tag for tag in cell["metadata"].get("tags", []) if tag in KINDS]
    if len(found) > 1:
        raise ValueError(f"{where} must have one of the tags {', '.join(KINDS)}, got {found}")
    return found[0] if found else None


def fold(cell: Mapping, where: str = "cell") -> None:
    """Write into a cell, in place, what its tag asks of the book, of JupyterLab and of Colab.

    What was derived from an earlier tag is taken out, so that a cell is folded or open, never
    folded for some readers alone.
    """
    if cell["cell_type"] != "code":
        return
    kind, metadata = kind_of(cell, where), cell["metadata"]
    tags = [tag for tag in metadata.pop("tags", []) if tag not in DERIVED_TAGS]
    jupyter = {k: v for k, v in metadata.pop("jupyter", {}).items() if k != "source_hidden"}
    prompts = ("code_prompt_show", "code_prompt_hide")
    book = {k: v for k, v in metadata.pop("mystnb", {}).items() if k not in prompts}
    metadata.pop("cellView", None)
    if kind:
        tags.append(KINDS[kind][0])
        jupyter["source_hidden"] = True
        metadata["cellView"] = "form"
        title = _titled(cell, kind)
        if "hide-input" in tags:
            said = f"{title} · {_lines_below_title(cell)}"
            book |= {"code_prompt_show": said, "code_prompt_hide": said}
    for key, value in (("tags", tags), ("jupyter", jupyter), ("mystnb", book)):
        if value:
            metadata[key] = value


def _titled(cell: Mapping, kind: str) -> str:
    source = source_of(cell)
    found = TITLE.match(source)
    if found:
        return found[1]
    cell["source"] = f"# @title {KINDS[kind][1]}\n{source}"
    return KINDS[kind][1]


def _lines_below_title(cell: Mapping) -> str:
    count = len(source_of(cell).splitlines()) - 1
    return "1 line" if count == 1 else f"{count} lines"


def source_of(cell: Mapping) -> str:
    """Return the text of a cell, however the file keeps it."""
    return "".join(cell["source"])


def open_blocks(notebook: Mapping) -> Iterator[Block]:
    """Yield all code that is shown open on the page of a notebook, in its order."""
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "markdown":
            for _, text in FENCE.findall(_unfolded(source_of(cell))):
                yield Block(number, "text", text)
            continue
        if cell["cell_type"] != "code" or "remove-cell" in cell["metadata"].get("tags", []):
            continue
        if kind_of(cell, f"cell {number}") is None and source_of(cell).strip():
            yield Block(number, "cell", source_of(cell))
        for output in cell["outputs"]:
            markdown = "".join(output.get("data", {}).get("text/markdown", ""))
            for _, text in FENCE.findall(_unfolded(markdown)):
                yield Block(number, "listing", text)


def _unfolded(markdown: str) -> str:
    """Take out what a reader must click to see."""
    while (less := DETAILS.sub("", markdown)) != markdown:
        markdown = less
    return markdown


def open_lines(notebook: Mapping) -> int:
    """Count the lines of code that a reader of the page sees without a click."""
    return sum(block.lines for block in open_blocks(notebook))


def faults(notebook: Mapping, limits: Limits = LIMITS) -> list[str]:
    """Report where too much code is shown open on a page, or too wide, one sentence each."""
    blocks, found = list(open_blocks(notebook)), []
    cells = [block for block in blocks if block.kind == "cell"]
    total = sum(block.lines for block in blocks)
    if total > limits.lines:
        found.append(f"{total} lines of code are open, at most {limits.lines} may")
    if cells and median(block.lines for block in cells) > limits.median:
        middle = median(block.lines for block in cells)
        found.append(f"the median open cell has {middle:g} lines, at most {limits.median}")
    for block in cells:
        if block.lines > limits.longest:
            found.append(f"cell {block.cell} has {block.lines} lines, at most {limits.longest}")
    folded = [
        Block(number, "cell", source_of(cell))
        for number, cell in enumerate(notebook["cells"])
        if cell["cell_type"] == "code" and kind_of(cell)
    ]
    for block in blocks + folded:
        widest = max(map(len, block.text.splitlines()), default=0)
        if widest > limits.width:
            found.append(
                f"a line in cell {block.cell} ({block.kind}) has {widest} characters, "
                f"{limits.width} fit the column"
            )
    return found
