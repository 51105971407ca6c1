"""The icon fonts keep what the book names, and nothing is asked for that went away."""

import sys
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "_ext" / "drawn"))

import few_icons  # noqa: E402

SHEET = (
    '.fa-bars:before{content:"\\f0c9"}'
    '.fa-sun:before,.fa-day:before{content:"\\f185"}'
    '.details:before{content:"\\f105"}'
)


def test_icons_are_found_by_name_and_others_rules_keep_theirs():
    assert few_icons.characters(SHEET, {"bars"}) == {0xF0C9, 0xF105}
    assert few_icons.characters(SHEET, {"day"}) == {0xF185, 0xF105}


def test_the_icon_script_and_its_preload_leave_the_page(tmp_path):
    (tmp_path / "_static" / "scripts").mkdir(parents=True)
    (tmp_path / "_static" / "scripts" / "fontawesome.js").touch()
    page = tmp_path / "a.html"
    page.write_text(
        '<!-- So that users can add custom icons -->\n<script defer src="fontawesome.js"></script>'
        '<link rel="preload" as="script" href="fontawesome.js" />'
        '<script src="theme.js"></script>'
    )
    few_icons.drop_script(tmp_path)
    assert page.read_text() == '<script src="theme.js"></script>'
    assert not list(tmp_path.rglob("fontawesome.js"))


@pytest.mark.book
def test_the_built_book_has_the_icons_of_its_buttons(site):
    (solid,) = (site / "_static").rglob("fa-solid-900.woff")
    with TTFont(solid) as font:
        kept = set(font.getBestCmap())
    bars, magnifier, arrow_up, download = 0xF0C9, 0xF002, 0xF062, 0xF019
    assert {bars, magnifier, arrow_up, download} <= kept
    assert len(kept) < 200
