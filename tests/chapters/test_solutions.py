"""The folded solutions of the chapters, taken from the page and run against their checks."""

import ast
import json
import re
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from gates2heads.exercises import attention
from tools.folding import TITLE, source_of

CHAPTERS = Path(__file__).parents[2] / "chapters"
SOLUTION = re.compile(r"### Exercise (\d+\.\d+).*?\n(.*?)(?=### Exercise|\Z)", re.S)


def solutions(name: str) -> dict[str, str]:
    """Exercise number -> the code of its folded solution."""
    cells = json.loads((CHAPTERS / name).read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    found = {}
    for number, body in SOLUTION.findall(text):
        code = re.search(r"<summary>Solution</summary>.*?```python\n(.*?)```", body, re.S)
        assert code, f"exercise {number} of {name} has no folded solution in Python"
        found[number] = code[1]
    return found


ATTENTION = solutions("05_attention.ipynb")
QUICK = {
    "5.1": ("pool", attention.check_pool),
    "5.2": ("split", attention.check_split),
    "5.3": ("entropy", attention.check_entropy),
    "5.4": ("reinforce", attention.check_reinforce),
    "5.6": ("diagnosis", attention.check_fault),
}


def test_every_exercise_has_a_solution_and_a_check():
    assert ATTENTION.keys() == QUICK.keys() | {"5.5"}


@pytest.mark.parametrize("number", QUICK)
def test_the_printed_solution_passes_its_check(number):
    answer, checker = QUICK[number]
    tree = ast.parse(ATTENTION[number])
    # The rest of a solution uses the models that the chapter has trained by then.
    tree.body = tree.body[:1]
    names = {"torch": torch, "F": F}
    exec(compile(tree, f"solution {number}", "exec"), names)
    verdict = checker(names[answer])
    assert verdict.passed, verdict.message


@pytest.mark.slow
def test_the_studies_run_in_the_chapter_itself():
    """Solutions 5.3, 5.4 and 5.5 in full, after the cells of the chapter that they build on."""
    cells = json.loads((CHAPTERS / "05_attention.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [source_of(c) for c in cells if c["cell_type"] == "code"]
    code = [TITLE.sub("", cell, count=1) for cell in code]
    imports = ("import torch", "from gates2heads.exercises")
    beginnings = (*imports, "SEED =", "days =", "def exact", "def new_model")
    defining = [cell for cell in code if cell.startswith(beginnings)]
    assert len(defining) == len(beginnings)
    names = {"display": print}
    defining[-1] = defining[-1].partition("plain =")[0]
    exec("\n".join(defining), names)
    exec(
        'models = {"additive": new_model("additive")}\n'
        'train_on_dates(models["additive"], 120, every=120)',
        names,
    )
    assert names["exact"](names["models"]["additive"]) > 0.5
    for number in ("5.3", "5.4"):
        exec(ATTENTION[number], names)
    names["left_out"] = "es"
    exec(ATTENTION["5.5"], names)
    verdict = attention.check_left_out(
        names["student"], names["source"], names["target"], "es", names["reported"]
    )
    assert verdict.passed, verdict.message
