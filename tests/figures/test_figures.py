"""Figures: what they say, how they follow the page, and what they refuse."""

import base64
import io
import json
import re
import subprocess
import sys
import warnings
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from gates2heads.figures import figures, theme
from gates2heads.figures.content import figure_content
from gates2heads.figures.glyphs import MissingGlyphWarning, warn_of_missing_glyphs

LABELS = {"xlabel": "source character", "ylabel": "target character", "value_label": "weight"}
AXES = {"xlabel": "step", "ylabel": "loss (nats)"}
WORDS = {"alt": "Two cells are full.", "caption": "Weights of two characters."}


def grid(rows=3, columns=5):
    return np.arange(rows * columns).reshape(rows, columns) / (rows * columns)


def ramp(high=2.0):
    return figures.curves({"model": ([0.0, 1.0, 2.0], [0.0, 1.0, high])}, **AXES)


@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr(
        theme, "display", lambda data, metadata=None, raw=False: outputs.append((data, metadata))
    )
    return outputs


class TestPictures:
    def test_heatmap_puts_row_and_column_where_they_belong(self):
        figure = figures.heatmap(grid(), list("abc"), list("vwxyz"), **LABELS)
        axes = figure.axes[0]
        assert [tick.get_text() for tick in axes.get_yticklabels()] == list("abc")
        assert [tick.get_text() for tick in axes.get_xticklabels()] == list("vwxyz")
        assert axes.get_ylim() == (3, 0)
        np.testing.assert_array_equal(axes.collections[0].get_array(), grid())

    def test_two_signs_get_a_scale_whose_middle_is_the_page(self):
        mesh = figures.heatmap([[-1.0, 3.0]], **LABELS).axes[0].collections[0]
        assert (mesh.norm.vmin, mesh.norm.vmax) == (-3, 3)
        assert mesh.to_rgba(0.0)[3] == pytest.approx(0, abs=0.02)

    def test_panels_share_one_scale(self):
        panels = [("low", grid(), None, None), ("high", [[0.5, 7.0]], None, None)]
        figure = figures.alignment_grid(panels, **LABELS)
        limits = {(a.collections[0].norm.vmin, a.collections[0].norm.vmax) for a in figure.axes[:2]}
        assert limits == {(0.0, 7.0)}

    @pytest.mark.parametrize("length", [3, 12, 24, 30])
    def test_a_legend_has_as_many_columns_as_fit(self, length):
        names = [f"{place} " + "m" * length for place in range(3)]
        figure = figures.curves(dict.fromkeys(names, ([0, 1], [0, 1])), xlabel="x", ylabel="y")
        figure.canvas.draw()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width

    def test_curves_take_tensors_that_need_gradients(self):
        x = torch.arange(5.0, requires_grad=True)
        line = figures.curves({"model": (x, 2 * x)}, **AXES).axes[0].lines[0]
        np.testing.assert_array_equal(line.get_ydata(), [0, 2, 4, 6, 8])

    def test_points_have_no_line_and_bands_surround(self):
        figure = figures.curves(
            {"data": ([1, 2, 3], [3, 1, 2]), "fit": ([1, 2], [2, 2])},
            points=["data"],
            bands={"fit": ([1, 1], [3, 3])},
            verticals={"90 %": 1.5},
            horizontals={"chance": 0.5},
            log="xy",
            **AXES,
        )
        axes = figure.axes[0]
        assert [line.get_linestyle() for line in axes.lines[:2]] == ["None", "--"]
        assert axes.get_xscale() == axes.get_yscale() == "log"
        assert [text.get_text() for text in axes.texts] == ["90 %", "chance"]
        vertices = axes.collections[0].get_paths()[0].vertices
        assert (vertices[:, 1].min(), vertices[:, 1].max()) == (1, 3)

    def test_a_name_keeps_its_colour_across_panels(self):
        one, two = ([0, 1], [0, 1]), ([0, 1], [1, 0])
        panels = {"left": {"a": one, "b": two}, "right": {"b": two}}
        left, right = figures.curve_panels(panels, **AXES).axes
        assert left.lines[1].get_color() == right.lines[0].get_color() == figures.PALETTE[1]

    def test_bars_stand_side_by_side_with_their_values(self):
        groups = {"GRU": {"short": 0.9, "long": 0.5}, "attention": {"short": 1.0, "long": 0.98}}
        figure = figures.bars(
            groups,
            xlabel="length",
            ylabel="exact match",
            errors={"GRU": {"short": 0.1, "long": 0.2}},
            value_format=".0%",
        )
        heights = [bar.get_height() for bar in figure.axes[0].patches]
        assert heights == [0.9, 0.5, 1.0, 0.98]
        assert [t.get_text() for t in figure.axes[0].texts] == ["90%", "50%", "100%", "98%"]

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: figures.heatmap([1.0], **LABELS), r"values must"),
            (lambda: figures.heatmap(grid(), ["a"], **LABELS), "rows must"),
            (lambda: figures.heatmap([[np.nan]], **LABELS), "values must"),
            (lambda: figures.curves({}, **AXES), "at least one series to draw, got none"),
            (
                lambda: figures.curves({"a": ([1, 2], [1, 2, 3])}, **AXES),
                r"series 'a' must be two equal lists, got \(2,\) and \(3,\)",
            ),
            (
                lambda: figures.curves({"a": ([1], [1])}, points=["b"], **AXES),
                "points must",
            ),
            (lambda: figures.bars({}, **AXES), "at least one series to draw, got none"),
            (
                lambda: figures.bars({"a": {"k": 1.0}, "b": {"l": 1.0}}, **AXES),
                "groups must",
            ),
            (
                lambda: figures.bars({"a": {"k": 1.0}}, errors={"a": {}}, **AXES),
                "groups must",
            ),
        ],
    )
    def test_a_mistake_is_named_in_one_sentence(self, call, message):
        with pytest.raises(ValueError, match=message):
            call()


class TestThemedSvg:
    def test_is_one_transparent_svg_in_the_ink_of_the_page(self):
        svg = figures.themed_svg(figures.heatmap(grid(), annotate=".2f", **LABELS), alt='a "b" <c>')
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == 'a "b" <c>'
        assert root.get("fill") == "currentColor"
        assert "max-width: 100%" in root.get("style")
        width_in_points = float(root.get("viewBox").split()[2])
        assert float(root.get("width")) == pytest.approx(width_in_points / 0.75)
        assert "stroke: currentColor" in svg
        assert not re.search(r"#000000|#ffffff|<style|<metadata|font-family: '|xlink|<\?xml", svg)

    def test_says_its_labels_as_text_in_any_script(self):
        source = [*"2024年3月", " ", *"مارس"]
        figure = figures.heatmap(np.eye(len(source)), source, source, **LABELS)
        said = "".join(ElementTree.fromstring(figures.themed_svg(figure)).itertext())
        assert set("年月مارس␣") <= set(said)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingGlyphWarning)  # a matter of the machine
            assert figures.card_png(figure).startswith(b"\x89PNG")

    def test_a_letter_that_no_font_has_is_told_once_and_drawn_as_a_box(self):
        figure = figures.heatmap(
            np.eye(2), ["\U0010fffd", "a"], ["\U0010fffd\U0010fffc", "b"], **LABELS
        )
        with pytest.warns(MissingGlyphWarning) as told:
            picture = figures.card_png(figure)
        assert picture.startswith(b"\x89PNG")
        assert len(told) == 1
        assert "has \U0010fffc\U0010fffd: the picture shows empty boxes" in str(told[0].message)
        figures.themed_svg(figure)  # says nothing: any warning would fail the test

    def test_a_picture_takes_each_letter_from_the_first_font_that_has_it(self, monkeypatch):
        # Both come with matplotlib; the first has no Arabic.
        monkeypatch.setattr(theme, "wide_families", lambda: ["DejaVu Sans"])
        monkeypatch.setitem(theme.STYLE, "font.sans-serif", ["cmmi10"])
        figure = figures.heatmap(np.eye(2), ["م", "a"], ["ر", "b"], **LABELS)
        assert figures.card_png(figure).startswith(b"\x89PNG")  # any warning would fail the test
        assert {tuple(text.get_fontfamily()) for text in figure.findobj(Text)} == {("sans-serif",)}

    def test_other_warnings_are_passed_on(self):
        with pytest.warns(UserWarning, match="look") as told, warn_of_missing_glyphs():
            warnings.warn("look", UserWarning, stacklevel=1)
        assert [one.category for one in told] == [UserWarning]

    def test_right_to_left_text_stands_in_its_order_and_a_word_says_so(self):
        figure = figures.heatmap(np.eye(4), list("abcd"), [*"مارس"], **LABELS)
        axes = figure.axes[0]
        assert [tick.get_text() for tick in axes.get_xticklabels()] == [*"مارس"]
        told = "source character\n(right-to-left text, first letter on the left)"
        assert axes.get_xlabel() == told
        assert axes.get_ylabel() == "target character"

    def test_numbers_in_labels_are_not_rounded(self):
        figure = ramp()
        figure.axes[0].set_title("0.123456 nats")
        assert "0.123456 nats" in figures.themed_svg(figure)

    def test_ids_belong_to_the_figure_and_lead_somewhere(self):
        ids = []
        for high in (2.0, 3.0):
            svg = figures.themed_svg(ramp(high))
            own = re.findall(r' id="([^"]+)"', svg)
            assert set(re.findall(r'(?:url\(|href=")#([^")]+)', svg)) == set(own)
            assert own
            ids.append(set(own))
        assert not ids[0] & ids[1]

    @pytest.mark.slow
    def test_same_figure_same_bytes_in_another_process(self):
        code = (
            "from gates2heads.figures import figures as f, sys\n"
            "figure = f.curves({'model': ([0., 1., 2.], [0., 1., 2.])}, "
            "xlabel='step', ylabel='loss (nats)')\n"
            "sys.stdout.buffer.write(f.card_png(figure) + f.themed_svg(figure).encode())"
        ).replace("figures as f, sys", "figures as f\nimport sys")
        there = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        figure = ramp()
        assert there == figures.card_png(figure) + figures.themed_svg(figure).encode()

    def test_the_notebooks_own_settings_change_nothing_and_are_kept(self):
        plain = figures.themed_svg(ramp())
        with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
            assert figures.themed_svg(ramp()) == plain
            assert mpl.rcParams["font.size"] == 30

    def test_a_large_matrix_becomes_one_picture_and_a_flat_one_is_no_error(self):
        figure = figures.heatmap(np.zeros((61, 67)), **LABELS)
        ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
        assert [text for text in ticks if text] == [str(n) for n in range(0, 67, 5)]
        svg = figures.themed_svg(figure)
        assert 1 <= svg.count("<image") <= 2
        assert len(svg) < 100_000

    def test_a_figure_made_elsewhere_follows_the_page_too(self):
        figure = Figure()
        figure.subplots().plot([1, 2], color="black")
        svg = figures.themed_svg(figure)
        assert "#000000" not in svg
        assert "stroke: currentColor" in svg


def said(figure):
    return "".join(ElementTree.fromstring(figures.themed_svg(figure)).itertext())


@pytest.mark.parametrize(
    "words",
    ["font-family: serif;", "#000000", 'xlink:href="#a"', "url(#x)", "<g></g>", "0.9876"],
)
def test_a_label_says_what_it_says(words):
    """Even where it looks like what is taken out of the drawing."""
    look = {"xlabel": words, "ylabel": words, "value_label": words}
    figure = figures.heatmap(grid(), [words, "a", "b"], title=words, **look)
    assert said(figure).count(words) == 5


def test_tokens_are_no_formulas_and_their_blanks_are_seen():
    tokens = ["$x^2$", "$$", "$", " ", "\n", "a\tb", "\x00", "<eos>", "\u200f"]
    figure = figures.heatmap(np.eye(len(tokens)), tokens, **LABELS)
    shown = said(figure)
    for words in ["$x^2$", "$$", "␣", "\\n", "a\\tb", "\\x00", "<eos>"]:
        assert words in shown


def test_a_formula_that_is_none_is_told_by_its_argument():
    assert "2" in said(figures.heatmap(grid(), title="$x^2$", **LABELS))
    figure = Figure()
    figure.suptitle(r"$\frac$")
    with pytest.raises(ValueError, match=r"^figure must") as told:
        figures.themed_svg(figure)
    assert "\n" not in str(told.value)


def test_a_logarithm_leaves_nothing_out_in_silence():
    with pytest.raises(ValueError, match="log must"):
        figures.curves({"a": ([1, 2], [0, 1])}, log="xy", **AXES)


class TestShow:
    def test_shows_one_bundle_and_then_the_caption(self, shown):
        figure = ramp()
        figures.show(figure, **WORDS)
        (bundle, metadata), (caption, _) = shown
        assert set(bundle) == {"image/png", figures.FIGURE_MIME, "text/plain"}
        assert bundle["text/plain"] == WORDS["alt"]
        assert bundle[figures.FIGURE_MIME]["svg"] == figures.themed_svg(figure, alt=WORDS["alt"])
        assert bundle[figures.FIGURE_MIME]["content"] == figure_content(figure)
        assert caption["text/markdown"] == f"*{WORDS['caption']}*"
        assert json.loads(json.dumps(bundle)) == bundle
        assert metadata["image/png"] == {"width": 557, "height": 336, "alt": WORDS["alt"]}

    def test_png_is_an_opaque_light_card_at_twice_the_size(self, shown):
        figures.show(ramp(), **WORDS)
        picture = Image.open(io.BytesIO(base64.b64decode(shown[0][0]["image/png"])))
        width = shown[0][1]["image/png"]["width"]
        assert abs(picture.size[0] - 2 * width) <= 1
        assert picture.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)
        assert "Software" not in picture.info

    def test_two_runs_are_the_same_bytes(self, shown):
        figures.show(ramp(), **WORDS)
        figures.show(ramp(), **WORDS)
        assert shown[:2] == shown[2:]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ({**WORDS, "caption": "a\n\nb"}, "caption must"),
        ],
    )
    def test_a_figure_without_words_is_refused(self, words, message, shown):
        with pytest.raises(ValueError, match=message):
            figures.show(ramp(), **words)
        assert not shown

    def test_a_number_stands_before_the_caption_and_in_what_is_compared(self, shown):
        figures.show(ramp(), **WORDS, number="5.3")
        (bundle, _), (caption, _) = shown
        assert bundle[figures.FIGURE_MIME]["number"] == "5.3"
        assert caption["text/markdown"] == f"**Figure 5.3.** *{WORDS['caption']}*"
        assert caption["text/plain"] == f"Figure 5.3. {WORDS['caption']}"
        figures.show(ramp(), **WORDS)
        assert "number" not in shown[2][0][figures.FIGURE_MIME]

    @pytest.mark.parametrize(
        ("number", "error", "message"),
        [
            ("5", ValueError, "number must"),
            ("Figure 5.3", ValueError, "got 'Figure 5.3'"),
        ],
    )
    def test_what_is_no_number_is_refused(self, number, error, message, shown):
        with pytest.raises(error, match=message):
            figures.show(ramp(), **WORDS, number=number)
        assert not shown


class TestContent:
    def test_names_words_and_numbers(self):
        figure = figures.heatmap([[1.0, 2.0]], ["row"], ["left", "right"], title="T", **LABELS)
        cells, colours = figure_content(figure)["axes"]
        assert cells["words"] == ["T", *list(LABELS.values())[:2], "left", "right", "row"]
        assert cells["numbers"] == [[[1.0, 2.0]]]
        assert colours == {"words": ["", "", "weight"], "numbers": [[1.0, 2.0]]}

    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=7), st.integers(0, 2))
    def test_every_changed_value_is_seen(self, values, place):
        values = [round(value, 2) for value in values]
        changed = values.copy()
        changed[place] += 1
        one, two = (
            figure_content(figures.curves({"m": (range(len(v)), v)}, **AXES))
            for v in (values, changed)
        )
        assert one["axes"][0]["words"] == two["axes"][0]["words"]
        assert one["axes"][0]["numbers"] != two["axes"][0]["numbers"]

    def test_bars_and_points_count(self):
        bars = figures.bars({"a": {"k": 0.25}}, **AXES)
        assert figure_content(bars)["axes"][0]["numbers"] == [[[-0.368, 0.368], [0.0, 0.25]]]
        figure = Figure()
        figure.subplots().scatter([1, 2], [3, 4])
        assert figure_content(figure)["axes"][0]["numbers"] == [[[1.0, 2.0], [3.0, 4.0]]]


def test_what_cannot_be_seen_is_not_drawn():
    weights = np.eye(11, 23)
    drawn = figures.themed_svg(
        figures.heatmap(weights, xlabel="x", ylabel="y", value_label="weight")
    )
    assert drawn.count('style="fill: #1382c7"') == 11
    assert 'style="fill: none"/>' not in drawn
    assert not re.search(r"<g[^>]*?(/>|>\s*</g>)", drawn)
    assert len(drawn) < 20_000


def test_logarithmic_axes_hold_all_points_in_every_panel():
    series = {"a": ([1, 4, 32], [0.2, 30, 700])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = figures.curve_panels({"one": series, "two": series}, log="xy", **AXES)
        figure.canvas.draw()
    for axis in figure.axes:
        assert 0.5 < axis.get_xlim()[0] < 1
        assert 32 < axis.get_xlim()[1] < 64
        assert 0.05 < axis.get_ylim()[0] < 0.2
        assert 700 < axis.get_ylim()[1] < 2000
