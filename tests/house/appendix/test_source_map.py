"""Every heading of the lecture notes has a row of the source map, and every row a link."""

import re
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "_ext"))
import page_links  # noqa: E402

TEXT = (ROOT / f"{page_links.SOURCE_MAP}.md").read_text(encoding="utf-8")
HEADINGS = yaml.safe_load(
    (ROOT / "chapters" / "appendix" / "headings.yaml").read_text(encoding="utf-8")
)
TABLE = re.compile(
    r"^## \[(S\d)\] .+\n\n\| heading \| taught in \| state \|\n.+\n((?:\|.+\n)+)", re.M
)
STATE = re.compile(r"covered(?:, as far as .+)?|in part: .+|no content: .+")
LEFT_OUT = "no content"


def rows(text):
    """Each row of the tables of headings: the note, the headings, where, the state."""
    found = []
    for note, table in TABLE.findall(text):
        for row in table.splitlines():
            headings, where, state = row[2:-2].split(" | ")
            found.append((note, headings.split("; "), where, state))
    return found


def faults(text, headings):
    """What is wrong with the tables of a source map, one sentence each."""
    found = []
    for note, wanted in headings.items():
        told = [one for name, ones, _, _ in rows(text) if name == note for one in ones]
        found += [f"{note} has no row for {one}" for one in wanted if one not in told]
        found += [f"{note} has no heading {one}" for one in told if one not in wanted]
        found += [f"{note} has two rows for {one}" for one in set(told) if told.count(one) > 1]
    for note, (first, *_), where, state in rows(text):
        if not STATE.fullmatch(state):
            found.append(f"{note} {first} has no known state: {state}")
        places = page_links.listed(where)
        if not places and not state.startswith(LEFT_OUT):
            found.append(f"{note} {first} leads nowhere")
        # Every number of a section before the point is a link
        named = page_links.NUMBER.findall(where.partition(" · ")[0])
        linked = " ".join(where[start:end] for start, end, *_ in places)
        found += [f"{note} {first}: no section {one}" for one in named if one not in linked]
    return found


def test_every_heading_has_a_row_with_a_link():
    assert faults(TEXT, HEADINGS) == []
    assert [len(ones) for ones in HEADINGS.values()] == [11, 48, 28, 36, 10]


def test_the_statements_of_the_topics_lead_to_sections():
    for line in re.findall(r"^\|.+\| covered \|$", TEXT, re.M):
        where = [cell.strip() for cell in line.strip("|").split(" | ")]
        assert any(page_links.listed(cell) for cell in where[:2]), line


PLANTED = """## [S0] A

| heading | taught in | state |
|---|---|---|
| One; Two | 5.1 · x | covered |
| Three | soon | covered |
| Four |  | no content: empty |
| Five | 5.1, 5.99 · x | mostly |
"""


@pytest.mark.parametrize(
    ("headings", "wanted"),
    [
        (
            ["One", "Two", "Three", "Four", "Five"],
            [
                "S0 Three leads nowhere",
                "S0 Five has no known state: mostly",
                "S0 Five: no section 5.99",
            ],
        ),
        (
            ["One", "Three", "Four", "Five", "Six"],
            ["S0 has no row for Six", "S0 has no heading Two"],
        ),
    ],
)
def test_a_planted_fault_is_found(headings, wanted):
    found = faults(PLANTED, {"S0": headings})
    assert [one for one in found if one in wanted] == wanted
