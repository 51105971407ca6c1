"""The next-token view without a browser: its payload, its bounds, its words."""

import math

import pytest
import torch

from gates2heads.browser.engine.export import Exported
from gates2heads.views import Column, NextToken
from gates2heads.watching.next_token import Foreseen
from tests.javascript import LIBRARY, run_javascript

MODEL, OTHER = Exported("small", "{}", b"\x00\x01"), Exported("other", "{}", b"\x02\x03")
WORDS = ["<pad>", "<bos>", "<eos>", " a", " b", "c"]
TEXT = "a bc"


def seen(**change) -> Foreseen:
    probs = torch.tensor([0, 0, 0.125, 0.5, 0.25, 0.125], dtype=torch.double)
    bits = torch.tensor([1.0, math.inf, 2.0], dtype=torch.double)
    return Foreseen([" a", " b", "c"], bits, probs.log(), WORDS)._replace(**change)


def view(**change) -> NextToken:
    columns = [Column("one", MODEL, seen()), Column("two", MODEL, seen(), 1)]
    given = {"columns": [*columns, Column("three", OTHER, seen())], "examples": [TEXT, "x"]}
    return NextToken(**given | change)


def test_payload_says_which_model_stands_in_which_column():
    one = view(labels=["p", "q"], source=2, title="T")
    assert one.columns == [
        {"name": "one", "live": 0, "place": 0},
        {"name": "two", "live": 0, "place": 1},
        {"name": "three", "live": 1, "place": 0},
    ]
    assert [model["name"] for model in one.live] == ["small", "other"]
    assert (one.text, one.source, one.temperature, one.top_k, one.top_p) == (TEXT, 2, 1, 0, 1)
    assert one.labels == ["p", "q"]
    assert repr(one) == "NextToken(one, two, three; 2 examples)"


def test_what_has_no_probability_travels_as_nothing():
    (told, *_) = view().recorded
    assert told["tokens"] == [" a", " b", "c"]
    assert told["bits"] == [1.0, None, 2.0]
    assert told["endBits"] == 3.0
    assert told["kept"] == 4
    assert [(one["token"], one["prob"]) for one in told["ahead"]] == [
        (3, pytest.approx(0.5)),
        (4, pytest.approx(0.25)),
        (2, pytest.approx(0.125)),
        (5, pytest.approx(0.125)),
    ]
    silent = seen(log_probs=torch.full((6,), -math.inf, dtype=torch.double))
    (told,) = view(columns=[Column("x", MODEL, silent)]).recorded
    assert (told["ahead"], told["kept"], told["endBits"]) == ([], 0, None)


def test_numbers_out_of_bounds_are_told_and_moved_where_a_browser_sends_them():
    one = view()
    for name, wrong, near in (
        ("temperature", 0.0, 0.1),
        ("top_k", 101, 100),
        ("top_p", 1.5, 1.0),
        ("source", 3, 2),
    ):
        with pytest.raises(ValueError, match=f"{name} must"):
            setattr(one, name, wrong)
        one.set_state({name: wrong})
        assert getattr(one, name) == near


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"columns": [Column("x", 3, seen())]},
            TypeError,
            r"columns\[0\].model must",
        ),
        ({"examples": ["ab"]}, ValueError, "columns must"),
        ({"labels": ["a"]}, ValueError, "labels must"),
        ({"source": 3}, ValueError, "source must"),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    with pytest.raises(error, match=message):
        view(**change)


# ---- words, in Node


def foresight(body, given=None):
    return run_javascript(body, {"foresight": LIBRARY / "views/next_token/foresight.js"}, given)


def test_words_are_summed_over_their_tokens():
    given = [
        {"tokens": [" a", " sk", "ate", "."], "bits": [1, 2, 3, 4]},
        {"tokens": [" a", " sk", "ate", "."], "bits": [1, None, 3, 0]},
    ]
    found = foresight(
        """return foresight.surprises(given).map(({ text, bits, tokens }) =>
            [text, tokens, bits.map(foresight.told)]);""",
        given,
    )
    assert found == [
        ["a", 1, ["1.0", "1.0"]],
        ["skate", 2, ["5.0", "∞"]],
        [".", 1, ["4.0", "0.0"]],
    ]


def test_perplexity_tokens_and_texts_in_words():
    found = foresight(
        """return {
            even: foresight.perplexity([1, 3]), never: foresight.perplexity([1, Infinity]),
            none: foresight.perplexity([]), large: foresight.perplexity([20, 22]),
            powers: [-29.9, Math.log2(9.99e-7), 13.3].map(foresight.inPowers),
            probabilities: [-29.9, -2.4].map(foresight.probability),
            on: [["A dog runs.", [" A"]], ["A dog runs.", ["<eos>"]],
              ["A dog", [" runs", ".", "<eos>"]],
              ["A dog", [".", " Two"]], ["", ["A"]]].map((some) => foresight.wentOn(...some)),
            counts: [0, 1, 7].map((one) => foresight.counted(one, "token")),
            shares: [0, 0.0004, 0.25].map(foresight.share),
            names: [" dog", "ing", ".", "<eos>", " "].map(foresight.named),
            texts: [["A", " dog"], ["A dog", "s"], ["", " A"], ["A", "<eos>"], ["A", "<0xC3>"]]
              .map(([text, piece]) => foresight.extended(text, piece)),
            rests: [{ ahead: [], kept: 0 }, { ahead: [{ drawn: 1 }], kept: 1 },
              { ahead: [{ drawn: 0.75 }], kept: 2 },
              { ahead: [{ drawn: 0.5 }], kept: 1201 }].map(foresight.restInWords),
        };"""
    )
    assert (found["even"], found["never"], found["none"]) == ("4.0", "∞", "–")
    assert found["large"] == "2.1 × 10⁶"
    assert found["powers"] == ["1.0 × 10⁻⁹", "1.0 × 10⁻⁶", "1.0 × 10⁴"]
    assert found["probabilities"] == ["1.0 × 10⁻⁹", "0.19"]
    assert found["on"] == [True, False, False, True, False]
    assert found["shares"] == ["0", "< 0.001", "0.250"]
    assert found["names"] == ["dog", "·ing", ".", "end", "␣"]
    assert found["texts"] == ["A dog", "A dogs", "A", None, None]
    assert found["rests"][0].startswith("The model keeps no trigram")
    assert found["rests"][1:] == [
        "all other tokens: 0",
        "1 other token: 0.250",
        "1,200 other tokens: 0.500 in total",
    ]
    assert found["counts"] == ["0 tokens", "1 token", "7 tokens"]
