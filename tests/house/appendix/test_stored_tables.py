"""The tables of the appendix say what is stored, and leave nothing out."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from gates2heads.book.studies import read_study

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "_ext"))
import stored_tables  # noqa: E402

PAGES = json.loads((stored_tables.BENCHMARKS / "pages.json").read_text(encoding="utf-8"))["rows"]


def cells(lines):
    """The cells of a table's rows, its two head lines left out."""
    rows = [line for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[1:]]


def test_every_notebook_of_the_book_has_its_time():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = re.findall(r"chapters/(\d\d_\w+|intro)'", str(toc))
    assert sorted(files) == sorted(row["name"] for row in PAGES)
    assert all(row["seconds"] > 0 and row["calibration"] > 0 for row in PAGES)


def test_every_study_has_a_line_that_adds_up():
    shown = stored_tables.studies()
    lines = {re.search(r"studies\.(ch\d\d\.\w+)", row[0])[1]: row for row in cells(shown)}
    stored = stored_tables.BOOK.glob("ch*/results/*.json")
    assert lines.keys() == {f"{path.parts[-3]}.{path.stem}" for path in stored}
    counted = 0
    for name, (command, runs, seeds, minutes) in lines.items():
        rows = read_study(name.replace(".", "/"))
        assert (ROOT / "studies" / f"{name.replace('.', '/')}.py").is_file()
        assert command.strip("`").partition(" --")[0] in rows[0]["command"]
        assert (int(runs), int(seeds)) == (len(rows), len({row["seed"] for row in rows}))
        assert float(minutes) == pytest.approx(sum(row["seconds"] for row in rows) / 60, abs=0.06)
        counted += len(rows)
    assert sum(map(int, re.findall(r"(\d+) runs on", shown[0]))) == counted


def test_every_ratio_stands_with_its_aim():
    stored = json.loads((stored_tables.BENCHMARKS / "ratios.json").read_text("utf-8"))["rows"]
    shown = cells(stored_tables.ratios())
    assert [row[0] for row in shown] == [row["case"] for row in stored]
    told = {"yes": True, "**no**": False, "–": None}
    assert [told[row[-1]] for row in shown] == [row["met"] for row in stored]


def test_the_table_of_ideas_links_every_section():
    shown = [row for row in cells(stored_tables.ideas()) if row[0] != "concept"]
    entries = [entry for entries in stored_tables.read_ideas().values() for entry in entries]
    assert [row[0] for row in shown] == [entry["idea"] for entry in entries]
    for row, entry in zip(shown, entries, strict=True):
        assert row[1].count("<a href=") == len(entry["where"])


def test_sections_are_found_by_their_numbers():
    known = stored_tables.places()
    assert known["1.1"] == "../01_recurrent_gates.html#recurrent-networks-and-the-recall-task"
    assert known["exercise 1.2"] == "../01_recurrent_gates.html#exercise-1-2-the-jacobian-of-a-step"
    assert known["1F A"] == "../01_recurrent_gates_further.html#a-multi-layer-stacked-rnns"
    # and not "A predictive window …", a heading within section F
    assert known["5F A"] == "../05_attention_further.html#a-saliency-and-focused-attention"
    assert "5 A" not in known
    assert stored_tables.link("99.9") == "99.9"
