"""The lesson plans of the appendix agree with the first page and with the chapters."""

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


def test_lighter_weeks_take_the_minutes_of_their_chapters(stated):  # noqa: F811
    minutes, text = [sum(one) for one in stated], " ".join(PAGE.split())
    assert f"A chapter then takes at most {max(minutes[8:])} minutes at home" in text
    ninth = int(TWELVE[8][3])
    assert f"Without it, week 9 takes {minutes[8]} minutes instead of {ninth}." in text
    project, alone = int(TWELVE[11][3].split()[0]) // 60, intro.plan_called("Forty hours")
    assert f"The time of the project ({project} hours)" in text
    assert "a project of your own (8&nbsp;h)" in alone
    assert "about eight hours for the experiment, as in the plan for self-study, and seven" in text


@pytest.mark.parametrize("row", TWELVE[:11], ids=lambda row: f"week {row[0]}")
def test_a_week_asks_for_all_exercises_of_its_chapters(row):
    of = re.findall(r"\(\.\./(\w+\.ipynb)\)", row[1])
    heading = re.search(rf"^### Week {row[0]}: (.+)$", PAGE, re.M)[1]
    anchor = "-".join(re.findall(r"\w+", heading.lower()))
    assert row[2] == f'<a href="#week-{row[0]}-{anchor}">{heading}</a>'
    assert named(row[4]) == [one for name in of for one in intro.exercises_of(name)]


def test_the_plans_take_in_total_what_both_pages_say(stated):  # noqa: F811
    text, first = " ".join(PAGE.split()), intro.plan_called
    project = int(TWELVE[11][3].split()[0])
    for name, minutes, said in (
        ("Twelve weeks", sum(map(sum, stated)) + project, "the plan takes students about {} hours"),
        ("Six weeks", sum(int(row[5]) for row in SIX), "it takes students about {} hours"),
    ):
        hours = f"{minutes / 60:.0f}"
        assert said.format(hours) in text
        assert first(name).endswith(f"| {hours}&nbsp;h |")


def words_by_section(notebook: dict) -> dict[str, int]:
    """How much there is to read or try in each section; a cell of code counts as forty words."""
    found, section = {}, ""
    for cell in notebook["cells"]:
        tags, source = cell["metadata"].get("tags", []), "".join(cell["source"])
        if heading := re.search(r"^## (\d+\.\d+) ", source, re.M):
            section = heading[1] if cell["cell_type"] == "markdown" else section
        if "remove-cell" not in tags and "solution" not in tags:
            length = len(source.split()) if cell["cell_type"] == "markdown" else 40
            found[section] = found.get(section, 0) + length
    return found


def parts(row: list[str]) -> list[tuple[str, set[str] | None]]:
    """The chapters of a week of the short plan, each with its sections, or None for all."""
    linked = re.findall(r"(all of )?\[(.+?)\]\(\.\./(\w+\.ipynb)\)", row[1])
    return [(name, None if all_ else set(named(listed))) for all_, listed, name in linked]


@pytest.mark.parametrize("row", SIX, ids=lambda row: f"week {row[0]}")
def test_a_week_of_the_short_plan_asks_for_the_exercises_of_its_sections(row):
    wanted = [one for name, sections in parts(row) for one in intro.exercises_of(name, sections)]
    assert named(row[7]) == wanted


@pytest.mark.parametrize("row", SIX, ids=lambda row: f"week {row[0]}")
def test_a_week_of_the_short_plan_takes_the_minutes_that_it_says(row, stated):  # noqa: F811
    times = dict(zip(intro.chapters(), map(sum, stated), strict=True))
    asked = 0
    for name, sections in parts(row):
        words = words_by_section(intro.chapters()[name])
        taken = words if sections is None else sections
        asked += times[name] * sum(words[one] for one in taken) / sum(words.values())
    assert abs(int(row[5]) - asked) <= 15


def test_the_short_plan_says_which_chapters_it_omits():
    taken = {int(name[:2]) for row in SIX for name, _ in parts(row)}
    missing = " and ".join(str(number) for number in range(1, 14) if number not in taken)
    (of_two,) = (sections for row in SIX for name, sections in parts(row) if name[:2] == "02")
    text = " ".join(PAGE.split())
    assert f"omits chapters {missing}, chapter 2 except section {', '.join(of_two)}, " in text


def test_the_lessons_of_the_short_course_use_sections_of_the_lesson_table():
    text = " ".join(PAGE.split("## Six weeks")[1].split())
    board, bugs = [row[3] for row in SIX], [row[4] for row in SIX]
    assert bugs.pop(0) == "–"
    table = PAGE.split("| week | at the board |")[1].split("**Slides.**")[0]
    rows = re.findall(r"^\| \d+ \| (\d+\.\d+), .* \| (.*?) \|$", table, re.M)
    assert set(board) <= {row[0] for row in rows}
    assert set(bugs) <= {one for row in rows for one in named(row[1])}
    assert (len(board), len(bugs)) == (6, 5)
    read_at_home = [
        {
            one
            for name, sections in parts(row)
            for one in (words_by_section(intro.chapters()[name]) if sections is None else sections)
        }
        for row in SIX
    ]
    assert all(one in week for one, week in zip(board, read_at_home, strict=True))
    weeks = [str(n) for n in range(2, 7) if bugs[n - 2] not in read_at_home[n - 1]]
    listed = f"{', '.join(weeks[:-1])} and {weeks[-1]}"
    assert f"as in weeks {listed}, the pairs read it in class" in text


def test_both_pages_require_the_exercises_and_mark_the_project():
    text = " ".join(PAGE.split())
    assert "Exercises are graded as complete or incomplete; only the project is marked" in text
    assert "The diagnosis is not marked" in text
    assert "either orally in class or, as practice, in a written diagnosis" in text
    shares = re.findall(r"^\| .* \| (\d+) % \|$", PAGE, re.M)
    assert sum(map(int, shares)) == 100
    advice = intro.prose_of(intro.read(intro.INTRO)).split("## For teachers")[1]
    assert "making the exercises compulsory and, in the twelve-week course, marking only" in advice


def test_every_week_has_two_questions_with_a_good_answer():
    weeks = PAGE.split("## Six weeks")[0].split("\n### Week ")[1:]
    assert len(weeks) == 12
    for week in weeks:
        assert "**Goals.**" in week
        asked = re.findall(r"^\d\. \*\*[^*]+\?\*\*\s+A\s+good\s+answer\s", week, re.M)
        assert len(asked) == 2, week[:40]
    questions = {f"{week}.{one}" for week in range(1, 13) for one in (1, 2)}
    assert all(set(re.findall(r"\d+\.\d", row[6])) <= questions for row in SIX)


def test_the_sections_of_a_lesson_exist_and_are_of_the_chapters_of_its_week():
    part = PAGE.split("| week | at the board |")[1].split("**Slides.**")[0]
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
