"""Text that readers and authors give reaches a page as text: where HTML is set, it is a drawing."""

import re

import pytest

from tests.javascript import LIBRARY

ROOT = LIBRARY.parents[1]
SETS_HTML = re.compile(
    r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe|setHTML|srcdoc|DOMParser|"
    r"createContextualFragment|document\.write(?:ln)?)\b|\beval\(|\bnew Function\b|"
    r"setAttribute\(\s*[\"'`]on"
)
# What is set there is a figure that Python drew and marked as one; see test_predict and
# test_widgets for what a text that looks like a drawing becomes.
DRAWINGS = {"views/predict/view.js": 1, "views/frame_viewer/view.js": 1}
SCRIPTS = sorted([*LIBRARY.rglob("*.js"), *(ROOT / "_static").glob("*.js")])


def found_in(text: str) -> list[str]:
    return [
        found for line in text.splitlines() for found in SETS_HTML.findall(line.split(" // ")[0])
    ]


def test_html_is_set_for_drawings_alone():
    counts = {path: len(found_in(path.read_text(encoding="utf-8"))) for path in SCRIPTS}
    named = {path.relative_to(LIBRARY).as_posix(): count for path, count in counts.items() if count}
    assert named == DRAWINGS


@pytest.mark.parametrize(
    "line",
    [
        "node.innerHTML = text;",
        'node.insertAdjacentHTML("beforeend", text);',
        "new DOMParser().parseFromString(text)",
        'node.setAttribute("onclick", text);',
        "const run = new Function(text);",
    ],
)
def test_what_would_set_html_is_found(line):
    assert len(found_in(line)) == 1
