"""What the notebooks' text may hold: JupyterLab, Colab and GitHub show it too."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from markdown_it import MarkdownIt

from gates2heads import views
from gates2heads.browser.live.models import LIVE, key, live_model
from tools.execute_notebooks import WIDGET_STATE, renew_views
from tools.notebooks import figure_numbers
from tools.notebooks.figure_numbers import shown_figures
from tools.notebooks.folding import ALLOWANCES, LIMITS, faults, fold

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))
import page_links  # noqa: E402

NOTEBOOKS = sorted(
    path for path in (ROOT / "chapters").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
)
# Code right after a brace stays: there it is a role.
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$|(?<![}`])(`+)(?!`).+?(?<!`)\2(?!`)", re.M | re.S)
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S)
MYST = {
    "a role": re.compile(r"\{[a-zA-Z][\w:+.-]*\}`"),
    "a colon fence": re.compile(r"^\s*:{3,}", re.M),
    "a label": re.compile(r"^\s*\([\w:. -]+\)=\s*$", re.M),
    "a directive": re.compile(r"^\s*(`{3,}|~{3,})\s*\{", re.M),
    "a substitution": re.compile(r"\{\{.+?\}\}"),
    "a comment": re.compile(r"^%\s", re.M),
    "a labelled equation": re.compile(r"\$\$\s*\([\w:.-]+\)\s*$", re.M),
}
# What gives an answer away, and a cell that holds nothing else; `predict` folds its own.
SOLUTION = re.compile(
    r"<details[^>]*>\s*<summary>"
    r"(Solution|What it prints|What the solution|What you should|Once you have tried|"
    r"After you have tried)"
)
WHOLE_SOLUTION = re.compile(
    r'<details class="solution"><summary>((?!</details>).)*</details>', re.S
)
CHECKED = re.compile(r"^(\w+\.)?check_\w+\(", re.M)
LINK = re.compile(r"https?://[^\s<>\"'`\]]+")


def myst_only(text):
    """List the kinds of syntax in a markdown cell that only MyST understands."""
    bare = MATHS.sub("$", CODE.sub("`x`", text))
    # Taking out code or maths takes these away too: look for them in the text as it is.
    whole = {"a directive", "a labelled equation"}
    return [kind for kind, sign in MYST.items() if sign.search(text if kind in whole else bare)]


def _told(output):
    """What a cell wrote as Markdown."""
    return output.get("data", {}).get("text/markdown", "")


def links(text):
    """List the addresses on the web in a markdown cell, without the prose around them."""
    found = []
    for link in LINK.findall(text):
        address = link.rstrip(".,;:!?*_")
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(".,;:!?*_")
        found.append(address)
    return found


def italics(text):
    """List what is set in italics in a markdown cell."""
    bare = MATHS.sub("x", text)
    found = []
    for block in MarkdownIt().parse(bare):
        depth = 0
        for token in block.children or []:
            depth += {"em_open": 1, "em_close": -1}.get(token.type, 0)
            if token.type == "em_open":
                found.append("")
            elif depth and found:
                found[-1] += token.content if token.type != "softbreak" else " "
    return found


def cells(notebook, kind):
    """Give the sources of the cells of a kind, with their numbers."""
    content = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [
        (number, "".join(cell["source"]))
        for number, cell in enumerate(content)
        if cell["cell_type"] == kind
    ]


def known_addresses():
    """Give the addresses in the bibliography."""
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    written = set(links(text.replace("{", " ").replace("}", " ")))
    dois = re.findall(r"^\s*doi\s*=\s*[{\"]([^}\"]+)", text, re.M | re.I)
    return {address.rstrip("/") for address in written} | {f"https://doi.org/{doi}" for doi in dois}


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_markdown_needs_no_myst(notebook):
    faults = {n: found for n, text in cells(notebook, "markdown") if (found := myst_only(text))}
    assert faults == {}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_link_to_the_web_stands_in_the_bibliography(notebook):
    known = known_addresses()
    found = {link for _, text in cells(notebook, "markdown") for link in links(text)}
    assert sorted(link for link in found if link.rstrip("/") not in known) == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_is_folded_for_all_readers_or_for_none(notebook):
    content = nbformat.read(notebook, as_version=4)
    for number, cell in enumerate(content.cells):
        folded = copy.deepcopy(cell)
        fold(folded, f"cell {number}")
        assert folded == cell, f"cell {number}: run make execute, or the tool with --as-it-is"


@pytest.fixture(scope="module")
def exported():
    """The hashes of all models that the library exports for a page."""
    return {key(live_model(name)).rpartition("-")[2] for name in LIVE}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_views_carry_the_librarys_code(notebook, exported):
    content = nbformat.read(notebook, as_version=4)
    asked = re.findall(r'"hash": "([0-9a-f]{8})"', json.dumps(content.metadata.get("widgets", {})))
    assert set(asked) <= exported
    assert renew_views(content) == [], "run make execute, or the tool with --as-it-is"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_views_have_every_setting_of_the_librarys_class(notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    saved = content["metadata"].get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    for model in saved.values():
        state = model["state"]
        if "_esm" not in state:
            continue
        kind = getattr(views, state["_anywidget_id"].rpartition(".")[2])
        sent = {one["path"][0] for one in model.get("buffers", [])}
        wanted = {name for name in kind.class_traits(sync=True) if name in vars(kind)}
        assert wanted <= state.keys() | sent, "run make execute: the class has a new setting"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_cell_whose_numbers_may_differ_says_why(notebook):
    cells_of = nbformat.read(notebook, as_version=4).cells
    lenient = [one for one in cells_of if "approx" in " ".join(one.metadata.get("tags", []))]
    assert [one.id for one in lenient if len(one.metadata.get("tolerance_reason", "")) < 20] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_check_of_the_readers_answer_shows_what_it_says(notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for number, cell in enumerate(content["cells"]):
        if CHECKED.search("".join(cell["source"])) and cell["cell_type"] == "code":
            assert "○" in json.dumps(cell["outputs"], ensure_ascii=False), f"cell {number}"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_shows_no_more_code_than_can_be_read(notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    limits, _ = ALLOWANCES.get(notebook.stem, (LIMITS, ""))
    assert faults(content, limits) == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_figures_are_numbered_in_their_order_and_every_mention_is_of_one(notebook):
    pages = {path: json.loads(path.read_text(encoding="utf-8")) for path in NOTEBOOKS}
    known = {figure.number for page in pages.values() for figure in shown_figures(page)}
    chapter = notebook.stem.partition("_")[0].lstrip("0")
    assert figure_numbers.faults(pages[notebook], chapter, known) == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_solution_stands_in_a_cell_of_its_own_that_a_teacher_can_take_out(notebook):
    for cell in nbformat.read(notebook, 4).cells:
        told = [cell.source, *(_told(output) for output in cell.get("outputs", []))]
        solves = any(SOLUTION.search(text) for text in told)
        assert solves == ("solution" in cell.metadata.get("tags", [])), cell.source[:200]
        if solves and cell.cell_type == "markdown":
            assert WHOLE_SOLUTION.fullmatch(cell.source.strip()), cell.source[:200]


def test_a_copy_without_solutions_holds_all_the_rest(tmp_path):
    notebook = ROOT / "chapters" / "05_attention.ipynb"
    remove = "--TagRemovePreprocessor.remove_cell_tags=solution"
    told = [remove, "--TagRemovePreprocessor.enabled=True", "--output-dir", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", *told, str(notebook)], check=True
    )
    cells = nbformat.read(notebook, 4).cells
    kept = nbformat.read(tmp_path / notebook.name, 4).cells
    solved = [cell for cell in cells if "solution" in cell.metadata.get("tags", [])]
    assert len(solved) >= 5
    assert [cell.source for cell in kept] == [c.source for c in cells if c not in solved]


def test_an_allowance_is_for_a_page_that_needs_it():
    pages = {path.stem: path for path in NOTEBOOKS}
    for name, (_, reason) in ALLOWANCES.items():
        assert faults(json.loads(pages[name].read_text(encoding="utf-8"))), name
        assert reason


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_in_italics_is_a_term_of_the_glossary(notebook):
    known = page_links.terms((ROOT / f"{page_links.GLOSSARY}.md").read_text(encoding="utf-8"))
    found = {n: italics(text) for n, text in cells(notebook, "markdown")}
    unknown = {
        n: [words for words in said if page_links.anchor_of(words, known) is None]
        for n, said in found.items()
    }
    # Emphasis is bold, and quoted words stand in “quotation marks”.
    assert {n: said for n, said in unknown.items() if said} == {}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("see {cite}`bahdanau2015`", "a role"),
        (":::{note}\nx\n:::", "a colon fence"),
        ("(my-label)=\n# Title", "a label"),
        ("```{figure} x.png\n```", "a directive"),
        ("{{ name }}", "a substitution"),
        ("$$ a = b $$ (eq:one)", "a labelled equation"),
    ],
)
def test_planted_myst_is_found(text, kind):
    assert kind in myst_only(text)


@pytest.mark.parametrize(
    "text",
    [
        r"plain $\frac{a}{b}$ and $$ \alpha_{ts} = 1 \tag{5.1} $$",
        "a set {1, 2} and `{code}` and (5.2)",
        "```python\nx = {'a': 1}\n```",
        "`::: not a fence`",
        "<details><summary>Why</summary>\n\nx\n\n</details>",
    ],
)
def test_common_markdown_passes(text):
    assert myst_only(text) == []


def test_italics_are_found_among_bold_code_and_maths():
    text = "An *update\ngate* and **bold** `*code*` $a*b*c$ *GRU*s, _so_ ***both***."
    assert italics(text) == ["update gate", "GRU", "so", "both"]


def test_links_end_where_the_prose_begins():
    text = (
        "[a](https://x.org/1), <https://x.org/2> and https://x.org/w_(y). [b](https://x.org/z_(w))"
    )
    assert links(text) == [
        "https://x.org/1",
        "https://x.org/2",
        "https://x.org/w_(y)",
        "https://x.org/z_(w)",
    ]
