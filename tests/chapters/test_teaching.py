"""The lesson plans of the appendix agree with the plans of the first page and with the chapters."""

import re
from pathlib import Path

import pytest

from tests.chapters import test_intro as intro
from tests.chapters.test_intro import stated  # noqa: F401  (a fixture)

PAGE = (Path(__file__).resolve().parents[2] / "chapters/appendix/teaching.md").read_text("utf-8")
TWELVE, SIX = (
    [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in re.findall(r"^\| \d.*$", part, re.M)
    ]
    for part in PAGE.split("## Twelve weeks")[1].split("## Six weeks")
)


def named(text):
    """The exercises or sections of a list such as "4.2 to 4.5, 9.6"."""
    found = []
    for first, last in re.findall(r"(\d+\.\d+)(?: to (\d+\.\d+))?", text):
        chapter, number = first.split(".")
        until = int((last or first).split(".")[1])
        found += [f"{chapter}.{one}" for one in range(int(number), until + 1)]
    return found


def test_each_plan_has_its_weeks():
    assert [row[0] for row in TWELVE] == [str(week) for week in range(1, 13)]
    assert [row[0] for row in SIX] == [str(week) for week in range(1, 7)]


def test_a_week_at_home_takes_the_minutes_of_its_chapters(stated):  # noqa: F811
    times = dict(zip(intro.chapters(), map(sum, stated), strict=True))
    for row in TWELVE[:11]:
        of = re.findall(r"\(\.\./(\w+\.ipynb)\)", row[1])
        assert int(row[3].split()[0]) == sum(times[name] for name in of), row


@pytest.mark.parametrize("row", TWELVE[:11], ids=lambda row: f"week {row[0]}")
def test_a_week_asks_for_all_exercises_of_its_chapters(row):
    of = re.findall(r"\(\.\./(\w+\.ipynb)\)", row[1])
    assert named(row[4]) == [one for name in of for one in intro.exercises_of(name)]


def test_the_project_takes_the_hours_of_the_first_page():
    (hours,) = re.findall(r"\| (\d+) h, including the question", intro.path_called("Twelve weeks"))
    assert TWELVE[11][3].startswith(f"{60 * int(hours)} ")


def test_the_short_plan_is_that_of_the_first_page():
    whole = {name[:2].lstrip("0"): name for name in intro.chapters()}
    for row, (work, done, minutes) in zip(SIX, intro.short_path(), strict=True):
        assert int(row[4]) == minutes
        assert named(row[6]) == named(done)
        sections = re.sub(r"\(\w+\.ipynb\)", "", work)
        assert sorted(named(row[1])) == sorted(named(sections))
        all_of = re.findall(r"all of \[chapter (\d+)\]", work)
        assert re.findall(r"chapter (\d+)", row[1]) == all_of
        assert set(all_of) <= set(whole)


def test_every_week_has_two_questions_with_a_good_answer():
    weeks = PAGE.split("## Six weeks")[0].split("\n### Week ")[1:]
    assert len(weeks) == 12
    for week in weeks:
        assert "**Goals.**" in week
        asked = re.findall(r"^\d\. \*\*[^*]+\?\*\*\s+A\s+good\s+answer\s", week, re.M)
        assert len(asked) == 2, week[:40]
    questions = {f"{week}.{one}" for week in range(1, 13) for one in (1, 2)}
    assert all(set(re.findall(r"\d+\.\d", row[5])) <= questions for row in SIX)


def test_the_sections_of_a_lesson_exist_and_are_of_the_chapters_of_its_week():
    part = PAGE.split("| at the board |")[1].split("**Slides.**")[0]
    rows = re.findall(r"^\| (\d+) \| (\d+\.\d+), .*? \| (.*?) \| (.*?) \|$", part, re.M)
    assert [row[0] for row in rows] == [week[0] for week in TWELVE[:11]]
    for (_, board, by_hand, bugs), week in zip(rows, TWELVE, strict=False):
        of = re.findall(r"\(\.\./(\w+\.ipynb)\)", week[1])
        text = "\n".join(intro.prose_of(intro.chapters()[name]) for name in of)
        headings = dict(re.findall(r"^## (\d+\.\d+) (.*)$", text, re.M))
        assert {board, *named(by_hand), *named(bugs)} <= set(headings)
        assert [one for one, title in headings.items() if title.startswith("A bug to find")] == (
            named(bugs)
        )
