"""The view of a model of code without a browser: its payload, its bounds, its words."""

import json
import math

import numpy as np
import pytest
import torch

from gates2heads.browser.engine.export import Exported
from gates2heads.views import CodeModel
from gates2heads.watching.next_token import Scored
from tests.javascript import LIBRARY, run_javascript

HEADER = json.dumps({"model": {"kind": "DecoderOnly", "settings": {"max_length": 4}}})
MODEL = Exported("small", HEADER, b"\x00\x01")
WORDS = ["<pad>", "<bos>", "<eos>", " x", " =", " 1", "\n"]
TEXT = "x = 1\n"


def scored(**change) -> Scored:
    probs = torch.tensor([0.05, 0.05, 0.1, 0.4, 0.2, 0.1, 0.1], dtype=torch.double)
    return Scored(
        TEXT,
        [" x"],
        [" =", " 1", "\n"],
        torch.tensor([1.0, 2.0, 3.0], dtype=torch.double),
        torch.tensor([[4, 3], [3, 4], [3, 4]]),
        torch.tensor([[0.5, 0.25], [0.5, 0.25], [0.5, 1 / 3]], dtype=torch.double),
        probs.log(),
        WORDS,
    )._replace(**change)


def view(**change) -> CodeModel:
    return CodeModel(**{"model": MODEL, "scored": scored(), "examples": [TEXT, "y"]} | change)


def test_the_payload_holds_the_first_example():
    one = view(labels=["p", "q"], title="T", min_p=0.2)
    assert one.recorded["unread"] == [" x"]
    assert one.recorded["tokens"][0] == {
        "piece": " =",
        "bits": 1.0,
        "top": [[" =", 0.5], [" x", 0.25]],
    }
    assert one.recorded["tokens"][2]["top"][1] == [" =", 0.333333]
    probs = np.exp(np.frombuffer(one.next, "<f4"))
    assert probs.tolist() == pytest.approx([0.05, 0.05, 0.1, 0.4, 0.2, 0.1, 0.1], abs=1e-6)
    assert (one.max_length, one.text, one.min_p, one.cache) == (4, TEXT, 0.2, True)
    assert one.vocabulary == WORDS
    assert repr(one) == "CodeModel(small; 2 examples)"


def test_numbers_out_of_bounds_are_told_and_moved_where_a_browser_sends_them():
    one = view()
    for name, wrong, near in (
        ("temperature", 0.0, 0.1),
        ("top_k", 101, 100),
        ("top_p", 1.5, 1.0),
        ("min_p", -0.1, 0.0),
        ("steps", 0, 1),
        ("samples", 9, 4),
        ("seed", -1, 0),
    ):
        with pytest.raises(ValueError, match=f"{name} must"):
            setattr(one, name, wrong)
        one.set_state({name: wrong})
        assert getattr(one, name) == near


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"model": Exported("other", '{"model": {"kind": "GPT"}}', b"")},
            TypeError,
            "model must",
        ),
        ({"examples": ["y"]}, ValueError, "scored must"),
        ({"labels": ["a"]}, ValueError, "labels must"),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    with pytest.raises(error, match=message):
        view(**change)


# ---- words and numbers, in Node


def in_node(body, given=None):
    here = LIBRARY / "views/code_model"
    modules = {
        "tokens": here / "code_tokens.js",
        "times": here / "code_times.js",
        "pieces": LIBRARY / "browser/live/pieces.js",
    }
    return run_javascript(body, modules, given)


def test_tokens_in_numbers_and_words():
    found = in_node(
        """const told = [[" x", 8], [" =", 1], ["\\n", 1]]
          .map(([piece, bits]) => ({ piece, bits }));
        return {
            names: [" x", "\\n    ", "\\t", "<eos>", " "].map(tokens.named),
            drawn: [tokens.drawnText(" x", true), tokens.drawnText(" \\n  y")],
            shades: [0, 6, 30].map(tokens.shade),
            shares: [0, 0.0004, 0.25].map(tokens.share),
            totals: tokens.totals([], told),
            later: tokens.totals([" a"], told),
            whole: tokens.inWords([], told),
            cut: tokens.inWords([" a"], told),
            none: tokens.inWords([], []),
            raw: tokens.inWords([], [{ piece: "<0xC3>", bits: 9 }]),
            texts: [[[" x", " <0x"], true], [["<0xC3>", "<0xA9>", "<eos>"]]]
              .map((given) => pieces.textOf(...given)),
        };"""
    )
    assert found["names"] == ["␣x", "↵␣␣␣␣", "⇥", "end of the file", "␣"]
    assert found["drawn"] == [[["", "x"]], [["", " "], ["↵", "\n  y"]]]
    assert found["shades"] == [0, 0.5, 1]
    assert found["shares"] == ["0", "< 0.001", "0.250"]
    assert found["totals"] == {"count": 3, "bits": 10, "characters": 4}
    assert found["later"]["characters"] == 5
    assert found["whole"] == (
        "3 tokens, 10.0 bits: 3.33 bits per token and 2.50 bits per character. "
        "The least probable token is “␣x” (8.0 bits)."
    )
    assert found["cut"].startswith("Only the last 3 tokens of 4 are read, because the context")
    assert found["none"].startswith("The text is empty")
    assert "a single byte of a character" in found["raw"]
    assert found["texts"] == ["x <0x", "é"]


def test_generated_text_keeps_its_place():
    found = in_node(
        """const told = [" ab", "c", "\\n", "<0xC3>", "<0xA9>", "d"]
          .map((piece) => ({ piece, bits: 0 }));
        const text = "abc\\néd";
        return {
            ranges: [null, [2, 4], [4, 6], [1, 3]]
              .map((one) => tokens.inRange([], told, text, one)),
            unread: tokens.inRange([" ab"], told.slice(1), text, [0, 3]),
            kept: [["abcd", "abcde"], ["abcd", "abXd"], ["abcd", "Xbcd"], ["abcd", "abcd"]]
              .map(([before, after]) => tokens.keptRange([1, 4], before, after)),
        };"""
    )
    no, yes = False, True
    assert found["ranges"] == [
        [no] * 6,
        [no, yes, yes, no, no, no],
        [no, no, no, yes, yes, yes],
        [yes, yes, no, no, no, no],
    ]
    assert found["unread"] == [yes, no, no, no, no]
    assert found["kept"] == [[1, 4], [1, 2], None, [1, 4]]


def test_times_in_words_and_as_a_line():
    found = in_node(
        """const run = (from, some) =>
          some.map((milliseconds, at) => ({ position: from + at, milliseconds }));
        const [fast, slow] = [run(3, [1, 1, 1]), run(3, [10, 20, 30])];
        return {
            both: times.timesInWords({ cached: fast, plain: slow }),
            one: times.timesInWords({ cached: [], plain: slow }),
            apart: times.timesInWords({ cached: run(9, [1]), plain: slow }),
            coarse: times.timesInWords({ cached: run(3, [0, 0, 1]), plain: slow }),
            none: times.timesInWords({ cached: [], plain: [] }),
            long: times.timesInWords(
              { cached: run(3, [9, 1, 2, 3, 4, 50, 50, 50, 5, 6, 99, 8, 7]), plain: [] }
            ),
            line: times.lineOf([...run(7, [1, 2]), ...run(5, [3])],
              ({ position, milliseconds }) => [position, milliseconds]),
            most: [0.3, 1, 1.2, 37, 51, 237].map(times.roundUp),
        };"""
    )
    assert found["both"] == (
        "With the cache: 1.0 ms per token (median), 1.0 ms at position 3 and 1.0 ms at position "
        "5. Without: 20 ms per token (median), 10 ms at position 3 and 30 ms at position 5. "
        "Without the cache a token took 20 times as long."
    )
    assert found["one"].startswith("Without: 20 ms")
    assert "times as long" not in found["apart"]
    assert found["coarse"].endswith("Without the cache a token took 60 times as long.")
    assert found["none"] == ""
    # the median of several tokens at each end: a single slow one does not count
    assert found["long"] == (
        "With the cache: 7.0 ms per token (median), 3.0 ms for the first 5 (from position 3) and "
        "7.0 ms for the last 5 (up to position 15)."
    )
    assert found["line"] == "M7.0 1.0L8.0 2.0M5.0 3.0"
    assert found["most"] == [0.5, 1, 2, 50, 100, 500]


def test_what_comes_next_is_told_with_both_probabilities():
    given = {"own": [math.log(0.5), math.log(0.3), math.log(0.2)], "words": ["a", "b", "c"]}
    found = in_node(
        "return tokens.ahead(given.own, [0, -Infinity, -Infinity], given.words, 2);", given
    )
    assert found["kept"] == 1
    assert [(one["piece"], one["drawn"]) for one in found["best"]] == [("a", 1), ("b", 0)]
    assert [one["prob"] for one in found["best"]] == pytest.approx([0.5, 0.3])
