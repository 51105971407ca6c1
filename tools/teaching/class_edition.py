"""Write the class edition of the book, which has no solutions, and the solutions apart.

    python tools/teaching/class_edition.py [notebooks] [solutions] [html]

Into `_build/class/`: `notebooks/` has each chapter without its solutions, with all other outputs;
`solutions/` has one notebook of solutions for each page, for the teacher; `html/` is the book,
built from the notebooks without solutions, without the page for teachers and without the library's
wheel, in which the checks have the solutions. Then every file of `notebooks/` and of `html/` is
searched for lines of the solutions. A line that is found ends the command with the file's name.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat
import snowballstemmer

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.teaching.without_solutions import (  # noqa: E402
    CHAPTERS,
    chapters,
    check_of,
    found_in,
    is_solution,
    open_code,
    secrets,
    solutions,
    stripped,
    written,
)

CLASS = ROOT / "_build" / "class"
PARTS = ("notebooks", "solutions", "html")
COPIED = ("references.bib", "DATA.md", "pyproject.toml", "LICENSE")
TEXT = {".html", ".js", ".json", ".txt", ".xml", ".ipynb", ".md", ".css", ".svg", ".inv"}
# What the library or the theme brings along; the pages do not put text into it.
BROUGHT = ("vendor", "live", "_static")
LIBRARY = re.compile(r'<a href="[^"]*\.whl"[^>]*>(.*?)</a>', re.S)
TEACHING = "appendix/teaching"  # the page for teachers, which answers the questions for class
ADVICE = re.compile(rf" [^.]*\({TEACHING}\.md\)[^.]*\.")
# The first page's section for teachers, and the links to it: one in a row, one in a table.
FOR_TEACHERS = "## For teachers"
TO_TEACHERS = re.compile(
    r' · <a href="#for-teachers">[^<]*</a>|^\| teach .*"#for-teachers".*(?:\n|\Z)', re.M
)
# The answer forms of the pages hold the correct answers; see _ext/exercise_forms.py.
FORMS, NO_FORMS = "exercise_answers: true", "exercise_answers: false"
FORM = '<form class="g2h-answer"'
DOWNLOAD = "1. Download the library ("
ASK = "1. Ask your teacher for the library ("


def test_name(exercise: str) -> str:
    """Return the name of an exercise's test: "7.6, the repair" → "exercise_7_6_the_repair"."""
    return "exercise_" + re.sub(r"\W+", "_", exercise).strip("_")


def handed_out(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Copy a chapter for students: without solutions, each exercise marked for otter-grader."""
    kept = stripped(notebook)
    for cell in kept.cells:
        if found := check_of(cell):
            cell.metadata["otter"] = {"tests": [test_name(found[0])]}
    return kept


def write(notebook: nbformat.NotebookNode, to: Path) -> None:
    """Write a notebook, and make its folder."""
    to.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, to)


def linked(source: str, to: str) -> str:
    """Copy a file by a hard link where the system has them."""
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)
    return to


def first_page() -> nbformat.NotebookNode:
    """The first page of the book, without the library's wheel and what is for teachers."""
    first = nbformat.read(CHAPTERS / "intro.ipynb", as_version=4)
    first.cells = [cell for cell in first.cells if not cell.source.startswith(FOR_TEACHERS)]
    for cell in first.cells:
        if LIBRARY.search(cell.source):
            cell.source = LIBRARY.sub(r"\1", cell.source).replace(DOWNLOAD, ASK)
        cell.source = TO_TEACHERS.sub("", ADVICE.sub("", cell.source))
    return first


def lay_out(tree: Path, pages: dict[Path, nbformat.NotebookNode]) -> None:
    """Make a copy of the book's sources with other notebooks, without the library's wheel.

    Args:
        tree: the folder of the copy.
        pages: path in `chapters/` → the notebook that replaces it.
    """
    tree.mkdir(parents=True)
    for name in COPIED:
        shutil.copy2(ROOT / name, tree / name)
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    if config.count(FORMS) != 1:
        raise SystemExit(f"_config.yml must contain “{FORMS}” once")
    (tree / "_config.yml").write_text(config.replace(FORMS, NO_FORMS), encoding="utf-8")
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("src", "tools", "tests", "docs", "studies", "benchmarks", "shipping"):
        (tree / name).symlink_to(ROOT / name)
    no_wheel = shutil.ignore_patterns("*.whl", ".wheel")
    shutil.copytree(ROOT / "_assets", tree / "_assets", ignore=no_wheel, copy_function=linked)
    shutil.copytree(
        CHAPTERS,
        tree / "chapters",
        ignore=shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints", Path(TEACHING).name + ".md"),
    )
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8").splitlines(keepends=True)
    listed = "".join(line for line in contents if TEACHING not in line)
    (tree / "_toc.yml").write_text(listed, encoding="utf-8")
    for path, notebook in pages.items():
        write(notebook, tree / "chapters" / path.name)
    write(first_page(), tree / "chapters" / "intro.ipynb")


def build(pages: dict[Path, nbformat.NotebookNode], to: Path) -> None:
    """Build the web pages from notebooks without solutions; any warning is an error."""
    tree, made = to.parent / "sources", to.parent / "built"
    for folder in (tree, made, to):
        shutil.rmtree(folder, ignore_errors=True)
    lay_out(tree, pages)
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build"]
    options = ["-q", "-W", "-n", "--keep-going", "--path-output", str(made)]
    subprocess.run([*command, *options, str(tree)], check=True)
    (made / "_build" / "html").replace(to)
    for folder in (tree, made):
        shutil.rmtree(folder)


def leaks(folder: Path, lines: Iterable[str], words: Iterable[str] = ()) -> list[str]:
    """Search a folder for lines of solutions.

    Args:
        folder: of notebooks, or of a built book.
        lines: that may occur nowhere.
        words: that may not be in the index of the search.
    Returns:
        one message for each file and line.
    """
    faults = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.suffix == ".whl":
            faults.append(f"{name}: the library, which contains the solutions")
        if path.suffix not in TEXT or name.parts[0] in BROUGHT:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        faults += [f"{name}: {line}" for line in found_in(text, lines)]
        if FORM in text:
            faults.append(f"{name}: the correct answers in a form")
        if path.name == "searchindex.js":
            indexed = set(re.findall(r"\w+", text))
            faults += [f"{name}: the word {word}" for word in sorted(indexed & set(words))]
    return faults


def own_words(notebooks: Iterable[nbformat.NotebookNode], rest: str = "") -> set[str]:
    """The longer words of all solutions that nothing else uses, as the search's index has them.

    Args:
        notebooks: the chapters.
        rest: the text of the other pages.
    """
    stem = snowballstemmer.stemmer("english").stemWord
    solved, used = set(), set(map(stem, re.findall(r"\w+", rest.lower())))
    for notebook in notebooks:
        for cell in notebook.cells:
            text = " ".join([cell.source, *written(cell)]).lower()
            if is_solution(cell):
                solved |= set(map(stem, re.findall(r"\b[a-z]{8,}\b", text)))
            else:
                used |= set(map(stem, re.findall(r"[^\W_]+", text)))
    return solved - used


def main(arguments: list[str] | None = None) -> int:
    """Write the parts that were asked for, and search them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    parts = parser.parse_args(arguments).parts or PARTS
    whole = {path: nbformat.read(path, as_version=4) for path in chapters()}
    without = {path: handed_out(notebook) for path, notebook in whole.items()}
    known = open_code(whole.values())
    hidden = [secrets(notebook, known).values() for notebook in whole.values()]
    lines = set().union(*(one for found in hidden for one in found))
    for part in parts:
        shutil.rmtree(CLASS / part, ignore_errors=True)
    if "notebooks" in parts:
        for path, notebook in without.items():
            write(notebook, CLASS / "notebooks" / path.name)
    if "solutions" in parts:
        for path, notebook in whole.items():
            if apart := solutions(notebook, path.stem):
                write(apart, CLASS / "solutions" / path.name)
    if "html" in parts:
        build(without, CLASS / "html")
    searched = [part for part in parts if part != "solutions"]
    others = [*CHAPTERS.rglob("*.md"), CHAPTERS / "appendix" / "claims.yaml"]
    words = own_words(whole.values(), " ".join(one.read_text("utf-8") for one in others))
    faults = [f"{one}/{fault}" for one in searched for fault in leaks(CLASS / one, lines, words)]
    if faults:
        print("These files contain parts of solutions:", *faults, sep="\n", file=sys.stderr)
        return 1
    print(f"{CLASS}: {', '.join(parts)}. No file for students has any of {len(lines)} lines")
    print("of the solutions. The library, which students install, contains them all the same.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
