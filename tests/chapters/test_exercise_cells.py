"""The cells of exercises: their variables are the fields of the form on the built page."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

from gates2heads.grading.paper import NumbersCheck

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "_ext"))

import exercise_forms  # noqa: E402

PAGES = sorted((ROOT / "chapters").glob("[01][0-9]_*.ipynb"))


def _calls(page):
    for cell in nbformat.read(page, as_version=4).cells:
        if cell.cell_type == "code":
            for name in exercise_forms.CALL.findall(cell.source):
                yield name, cell.source


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_check_that_a_page_calls_is_known(page):
    checks = exercise_forms.checks_of(page.name[:2])
    for name, code in _calls(page):
        check = checks[name]
        if isinstance(check, NumbersCheck):
            variables = ", ".join(one.name for one in check.questions)
            assert re.search(rf"^{variables} = \.\.\.", code, re.M), code
            assert f".{name}({variables})" in code
