"""The colours of pages, views and figures: one list, readable in both themes, told apart by all."""

import re
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from gates2heads.figures.theme import COLOURS, PALETTE, themed_svg
from tests.javascript import LIBRARY

TOKENS = (LIBRARY / "figures/tokens.css").read_text(encoding="utf-8")
PAIR = re.compile(r"--g2h-([\w-]+): light-dark\(#(\w{6}), #(\w{6})\);")
PAIRS = {name: pair for name, *pair in PAIR.findall(TOKENS)}
THEMES = ("light", "dark")
GROUNDS = ("paper", "card", "sunk")
# Machado et al. 2009, severity 1, in linear RGB: how the colour-blind see.
SIGHTS = {
    "full": np.eye(3),
    "protanopia": [
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ],
    "deuteranopia": [
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ],
    "tritanopia": [
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ],
}


def linear(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[at : at + 2], 16) for at in (0, 2, 4)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG 2's ratio of two colours."""
    light, dark = sorted((linear(c) @ (0.2126, 0.7152, 0.0722) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB under D65."""
    to_xyz = [(0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / (0.9505, 1, 1.089)
    root = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def test_contrast_and_lab_by_hand():
    assert contrast("ffffff", "000000") == pytest.approx(21)
    np.testing.assert_allclose(lab(np.ones(3)), [100, 0, 0], atol=0.02)


@pytest.mark.parametrize("theme", [0, 1], ids=THEMES)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", ["ink", "quiet", "read", "write", "right", "wrong"])
def test_words_stand_out(name, ground, theme):
    assert contrast(PAIRS[name][theme], PAIRS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=THEMES)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", [*COLOURS, "edge"])
def test_lines_and_edges_stand_out(name, ground, theme):
    assert contrast(PAIRS[name][theme], PAIRS[ground][theme]) >= 3


def test_inks_stand_out_on_the_ends_of_the_scale():
    for theme in (0, 1):
        for end in ("low", "high"):
            assert contrast(PAIRS[f"on-{end}"][theme], PAIRS[end][theme]) >= 7


def test_figures_have_the_tokens_of_the_light_theme_and_follow_the_page():
    assert {name: f"#{PAIRS[name][0]}" for name in COLOURS} == COLOURS
    figure = Figure(figsize=(3, 2))
    axis = figure.subplots()
    for place, colour in enumerate(PALETTE):
        axis.plot([0, 1], [place, place], color=colour.upper() if place % 2 else colour)
        axis.bar([place], [1], color=colour)
    svg = themed_svg(figure)
    for name, colour in COLOURS.items():
        assert f"stroke: var(--g2h-{name}, {colour})" in svg
        assert f"fill: var(--g2h-{name}, {colour})" in svg
        assert svg.lower().count(colour) == svg.count(f"var(--g2h-{name}, {colour})")


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", [0, 1], ids=THEMES)
def test_meanings_are_told_apart_by_every_eye(theme, sight):
    # 10 is a difference seen at a glance; lines have marks and dashes besides.
    for pair in [("read", "write"), ("right", "wrong"), ("blue", "orange"), ("green", "pink")]:
        one, other = (lab(np.array(SIGHTS[sight]) @ linear(PAIRS[n][theme])) for n in pair)
        assert np.linalg.norm(one - other) > 10, pair


@pytest.mark.parametrize("theme", [0, 1], ids=THEMES)
def test_the_six_colours_are_six_for_full_sight(theme):
    seen = {name: lab(linear(PAIRS[name][theme])) for name in COLOURS}
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 15, (one, other)


def test_style_sheets_take_every_colour_from_the_list():
    """A hex number in a view's sheet would be a colour of only one theme."""
    for sheet in sorted(LIBRARY.glob("views/**/*.css")):
        bare = re.sub(r"light-dark\([^)]*\)", "", sheet.read_text(encoding="utf-8"))
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b", bare) == [], sheet.name
