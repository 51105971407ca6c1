"""The folded solutions of the chapters, taken from the page and run against their checks."""

import ast
import json
import math
import re
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.ch05 import answers as attention_answers
from gates2heads.book.ch05 import exercises as attention
from gates2heads.book.ch05 import further_exercises as attention_further
from gates2heads.book.ch07 import exercises as transformer
from gates2heads.book.ch07 import faulty as faulty_step
from tools.notebooks.folding import source_of

CHAPTERS = Path(__file__).parents[3] / "chapters"
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


CORE, FURTHER = "05_attention.ipynb", "05_attention_further.ipynb"
ATTENTION = solutions(CORE) | solutions(FURTHER)
QUICK = {
    "5.1": ("pool", attention.check_pool),
    "5.2": ("gradient", attention_answers.check_gradient),
    "5.3": ("masked_softmax_by_hand", attention.check_masked_softmax),
    "5.4": ("diagnosis", attention_answers.check_fault),
    "5.5": ("same", attention_answers.check_same),
    "5.6": ("luong_step", attention.check_luong_step),
    "5.7": ("entropy", attention.check_entropy),
    "5.8": ("reinforce", attention_further.check_reinforce),
}


def cell_of(name: str, begins: str) -> str:
    """The code of the one cell of a page that has a title, or begins, like this."""
    cells = json.loads((CHAPTERS / name).read_text(encoding="utf-8"))["cells"]
    code = [source_of(cell) for cell in cells if cell["cell_type"] == "code"]
    (found,) = [one for one in code if one.removeprefix("# @title ").startswith(begins)]
    return found


def named_in(code: str, *, assigned: bool) -> dict:
    """What a printed solution defines: its functions, and its variables if the answer is one."""
    kinds = (ast.FunctionDef, ast.Assign) if assigned else ast.FunctionDef
    kept = [part for part in ast.parse(code).body if isinstance(part, kinds)]
    space = {"torch": torch, "math": math}
    exec(compile(ast.Module(kept, []), "solution", "exec"), space)
    return space


def verdict_on(code: str, answer: str, checker, names: dict):
    """Check the answer that the first statement of a printed solution defines.

    The rest of a solution uses what the page has loaded by then.
    """
    tree = ast.parse(code)
    tree.body = tree.body[:1]
    exec(compile(tree, f"solution of {answer}", "exec"), names)
    return checker(names[answer])


def test_every_exercise_has_a_solution_and_a_check():
    assert ATTENTION.keys() == QUICK.keys() | {"5.9"}


@pytest.mark.parametrize("number", QUICK)
def test_the_printed_solution_passes_its_check(number):
    answer, checker = QUICK[number]
    names = {"torch": torch, "F": F}
    exec(cell_of(CORE, "def masked_softmax(").partition("def attend")[0], names)
    verdict = verdict_on(ATTENTION[number], answer, checker, names)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        ("5.1", [3.8571]),
        ("5.2", [-0.5, -7.0, 7.5]),
        ("5.3", [1 / 3, 2 / 3, 0.0]),
        ("5.5", [0.0]),
        ("5.6", [0.0, 1.0]),
    ],
)
def test_a_solution_shows_its_numbers(number, printed, capsys):
    names = {"torch": torch, "F": F}
    exec(cell_of(CORE, "def masked_softmax(").partition("def attend")[0], names)
    torch.manual_seed(0)
    exec(ATTENTION[number], names)
    shown = re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", capsys.readouterr().out)
    assert [float(one) for one in shown[: len(printed)]] == pytest.approx(printed, abs=2e-3)


@pytest.mark.slow
def test_the_measurements_of_the_solutions_run(capsys):
    """Solutions 5.7 and 5.8 in full, after the cells of the page that they build on."""
    names = {}
    exec(cell_of(FURTHER, "What this page imports"), names)
    names["test"] = names["dates"]("test", 60)
    exec(ATTENTION["5.7"], names)
    widths = ast.literal_eval(capsys.readouterr().out)
    assert len(widths) == 10
    assert max(widths) == max(widths[4], *widths[5:8])  # the month or a hyphen beside it
    names |= {"F": F}
    exec(ATTENTION["5.8"], names)
    noises = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert noises.index(min(noises)) in (6, 7)


@pytest.mark.slow
def test_the_study_of_a_language_left_out_runs_on_its_page():
    names = {}
    exec(cell_of(FURTHER, "What this page imports"), names)
    exec(cell_of(FURTHER, "Data"), names)
    names["left_out"] = "es"
    exec(ATTENTION["5.9"], names)
    verdict = attention_further.check_left_out(
        names["student"], names["source"], names["target"], "es", names["reported"]
    )
    assert verdict.passed, verdict.message


SEVEN = {
    "7.2": ("layer_norm", "check_layer_norm"),
    "7.3": ("encoder_block", "check_encoder_block"),
    "7.4": ("attention_mask", "check_attention_mask"),
    "7.5": ("cached_step", "check_cached_step"),
}


@pytest.mark.parametrize("number", SEVEN)
def test_a_solution_of_chapter_seven_passes_and_shows_its_numbers(number, capsys):
    name, checker = SEVEN[number]
    names = {"torch": torch}
    exec(solutions("07_transformer.ipynb")[number], names)
    assert getattr(transformer, checker)(names[name])
    assert re.search(r"\d", capsys.readouterr().out)


def test_the_answers_of_chapter_seven_that_are_no_functions():
    found = solutions("07_transformer.ipynb")
    assert found.keys() == SEVEN.keys() | {"7.1", "7.6"}
    names = {"faulty_step": faulty_step, "torch": torch}
    exec(found["7.1"], names)
    exec(found["7.6"], names)
    assert transformer.check_by_hand(names["output"])
    assert faulty_step.check_fault(names["diagnosis"])
    assert transformer.check_repair(names["repaired"])
