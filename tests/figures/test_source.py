"""The library's source and the run's numbers on the page."""

import functools
import inspect
import math
import re
import textwrap

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gates2heads.accepts import natural
from gates2heads.figures import content, source
from gates2heads.layers.masks import masked_softmax


@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr(source, "display", lambda data, raw: outputs.append(data["text/markdown"]))
    return outputs


def documented(x):
    """A docstring.

    With two paragraphs.
    """

    def inner():
        """Nothing but words."""

    # a comment stays
    return "'''not a docstring'''", inner, x


class Sample:
    """A class."""

    size = 3

    def method(self):
        """Say it."""
        return self.size

    @property
    def half(self):
        return self.size / 2

    @functools.cached_property
    def kept(self):
        return self.size


def guarded(x):
    natural.check("x", x)
    return x


def fenced(markdown):
    return re.findall(r"^```python\n(.*?)\n```$", markdown, re.M | re.S)


class TestShowSource:
    def test_names_the_place_and_quotes_the_file(self, shown):
        source.show_source(content.figure_content, docstring=True, checks=True)
        heading, code, below = re.fullmatch(
            r"(.*)\n\n```python\n(.*)\n```\n\n(.*)", shown[0], re.S
        ).groups()
        assert heading == "**`gates2heads.figures.content.figure_content`**"
        assert below == "<small>`src/gates2heads/figures/content.py`</small>"
        with open(content.__file__, encoding="utf-8") as file:
            assert " ".join(code.split()) in " ".join(file.read().split())
        assert code.startswith("@accepts")
        assert code.endswith(inspect.getsource(content.figure_content).split()[-1])

    def test_what_is_left_out_is_said(self, shown):
        source.show_source(documented)
        assert shown[0].endswith("· docstring shortened</small>")
        source.show_source(guarded)
        assert shown[1].endswith("· 1 line of argument checks omitted</small>")
        source.show_source(content.figure_content, masked_softmax)
        one, five = re.findall(r"<small>.*</small>", shown[2])
        assert one.endswith("· docstring shortened · 1 line of argument checks omitted</small>")
        assert re.search(r"· docstring shortened · 1 line of argument checks", five)

    def test_docstrings_keep_their_first_sentence_and_comments_stay(self, shown):
        source.show_source(documented)
        assert fenced(shown[0]) == [
            textwrap.dedent(
                """\
                def documented(x):
                    \"\"\"A docstring.\"\"\"

                    def inner():
                        \"\"\"Nothing but words.\"\"\"

                    # a comment stays
                    return "'''not a docstring'''", inner, x"""
            )
        ]

    def test_several_objects_methods_and_properties_are_dedented(self, shown):
        source.show_source(Sample, Sample.method, Sample.half, Sample.__dict__["kept"])
        whole, method, half, kept = fenced(shown[0])
        assert whole.startswith(
            'class Sample:\n    """A class."""\n\n    size = 3\n\n    def method'
        )
        assert method == 'def method(self):\n    """Say it."""\n    return self.size'
        assert half == "@property\ndef half(self):\n    return self.size / 2"
        assert kept == "@functools.cached_property\ndef kept(self):\n    return self.size"
        assert "TestShowSource" not in shown[0]

    def test_a_wrapped_function_is_shown_as_written(self, shown):
        @functools.wraps(documented)
        def wrapper(x):
            return documented(x)

        source.show_source(wrapper)
        assert "def documented(x):" in shown[0]

    @pytest.mark.parametrize(
        ("item", "message"),
        [
            (len, "show_source needs Python source, and .*len.* has none"),
            (torch.tanh, "show_source needs Python source"),
            (3, "needs a class, function, method or module, got 3 of type int"),
        ],
    )
    def test_what_has_no_source_is_refused(self, item, message):
        with pytest.raises(TypeError, match=message):
            source.show_source(item)

    def test_nothing_is_refused(self):
        with pytest.raises(TypeError, match="needs at least one class"):
            source.show_source()


class TestProse:
    def test_formats_numbers_tensors_and_words(self, shown):
        source.prose(
            "**{model}** reaches {em:.1%} in {steps} steps, {loss:.2f} nats.",
            model="GRU",
            em=torch.tensor(0.875),
            steps=np.int64(150),
            loss=torch.tensor([0.25], requires_grad=True),
        )
        assert shown == ["**GRU** reaches 87.5% in 150 steps, 0.25 nats."]

    @pytest.mark.parametrize(
        ("template", "words", "told"),
        [
            ("ends with {w}.", "<eos>", "ends with <eos>."),
            ("ends with `{w}`.", "<eos>", "ends with <eos>."),
            ("{w} and {w!r}", "<b>a</b>", "<b>a</b> and '<b>a</b>'"),
            ("{w:>7}!", "&amp;", "&amp;!"),
            ("{w}", "<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
            ("{w}", "<!-- a -->", "<!-- a -->"),
            ("{{{w}}}", "a < b & c", "{a < b & c}"),
        ],
    )
    def test_html_in_words_is_shown_as_it_is(self, shown, template, words, told):
        source.prose(template, w=words)
        page = BeautifulSoup(MarkdownIt("gfm-like").render(shown[0]), "html.parser")
        assert page.p.get_text() == told
        assert {tag.name for tag in page.find_all()} <= {"p", "code"}

    def test_words_may_be_markdown(self, shown):
        markdown = "**bold** `a <b> c` p < 0.05\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
        source.prose("{w}", w=markdown)
        assert shown == [markdown]

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_a_number_can_be_read_back(self, number):
        with pytest.MonkeyPatch.context() as patch:
            said = []
            patch.setattr(source, "display", lambda data, raw: said.append(data["text/markdown"]))
            source.prose("{x!r}", x=number)
        assert float(said[0]) == number

    @pytest.mark.parametrize(
        ("template", "numbers", "error", "message"),
        [
            ("99 percent", {}, ValueError, r"must have at least one \{field\}, got '99 percent'"),
            ("{a}", {}, ValueError, "fields 'a' must be the values given, got none"),
            ("{a}", {"a": 1, "b": 2}, ValueError, "got 'a', 'b'"),
            ("{}", {"a": 1}, ValueError, "fields '' must be"),
            ("{a", {"a": 1}, ValueError, "template must"),
            ("{a:.1%}", {"a": "x"}, ValueError, "formats must"),
            ("{a}", {"a": math.nan}, ValueError, "a must"),
            ("{a}", {"a": [1]}, TypeError, "a must"),
            ("{a}", {"a": torch.ones(2)}, TypeError, "a must"),
        ],
    )
    def test_a_typed_or_forgotten_number_is_refused(self, template, numbers, error, message, shown):
        with pytest.raises(error, match=message):
            source.prose(template, **numbers)
        assert not shown


class TestTable:
    def test_aligns_formats_and_escapes(self, shown):
        source.table([["a|b", 0.5, 3], ["c", None, 10]], {"model": "", "match": ".1%", "n": "d"})
        assert shown[0].split("\n") == [
            "| model | match | n |",
            "| :-- | --: | --: |",
            "| a\\|b | 50.0% | 3 |",
            "| c |  | 10 |",
        ]

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([[1, 2]], r"rows\[0\] must"),
            ([[math.inf]], r"rows\[0\] must"),
        ],
    )
    def test_a_crooked_table_is_refused(self, rows, message):
        with pytest.raises(ValueError, match=message):
            source.table(rows, {"n": ""})


class TestSymbols:
    def test_a_row_for_each_letter(self, shown):
        source.symbols(
            {
                r"\alpha_{t,s}": ("the weight of $h_s$", r"T \times S"),
                r"p(y | x)": ("a probability", ""),
                r"\|q\|": ("its length", " "),
            }
        )
        assert shown[0].split("\n") == [
            "| symbol | meaning | shape |",
            "| :-- | :-- | :-- |",
            r"| $\alpha_{t,s}$ | the weight of $h_s$ | $T \times S$ |",
            r"| $p(y \vert  x)$ | a probability | a number |",
            r"| $\Vert q\Vert $ | its length | a number |",
        ]

    @pytest.mark.parametrize(
        ("rows", "error", "message"),
        [
            ({"q": "query"}, TypeError, r"rows\['q'\] must"),
            ({"q": ("query", 3)}, TypeError, "shape of 'q' must"),
            ({1: ("query", "")}, TypeError, "symbol must"),
            ({"$q$": ("query", "")}, ValueError, "symbol must"),
            ({"q": (" ", "")}, ValueError, "meaning of 'q' must not be empty"),
        ],
    )
    def test_what_is_no_table_of_symbols_is_refused(self, rows, error, message, shown):
        with pytest.raises(error, match=message):
            source.symbols(rows)
        assert not shown


def test_a_cell_with_arabic_keeps_its_own_direction(shown):
    source.table(
        [["5 يوليو 2027", "18\u200f/06\u200f/1998", "5 July"]], {"a": "", "b": "", "c": ""}
    )
    assert '<bdi dir="rtl">5 يوليو 2027</bdi>' in shown[0]
    assert '<bdi dir="rtl">18\u200f/06\u200f/1998</bdi>' in shown[0]
    assert "| 5 July |" in shown[0]


@pytest.mark.parametrize(
    ("words", "markdown"),
    [
        ("<eos>", r"\<eos>"),
        ("a|b", r"a\|b"),
        ("*bold* _it_ `code`", r"\*bold\* \_it\_ \`code\`"),
        ("$5 [x](y)", r"\$5 \[x\](y)"),
        ("&lt; ~~x~~ \\", r"\&lt; \~\~x\~\~ " + 2 * "\\"),
        ("two\nlines", r"two\\nlines"),
    ],
)
def test_words_in_a_table_are_shown_as_they_are(shown, words, markdown):
    source.table([[words, 1]], {words + "!": "", "n": ""})
    assert shown[0].splitlines()[2] == f"| {markdown} | 1 |"
    assert shown[0].splitlines()[0] == f"| {markdown}! | n |"
    rendered = BeautifulSoup(MarkdownIt("gfm-like").render(shown[0]), "html.parser")
    assert rendered.td.get_text() == words.replace("\n", r"\n")
