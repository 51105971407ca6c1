"""The tokenizer bench: what the page splits beside the library, by hand, wrong arguments."""

import random

import pytest

from gates2heads.browser.engine.describe import describe_tokenizer
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.views import TokenizerBench
from tests.javascript import LIBRARY, run_javascript

TEXTS = ["A man sings.", "Two men are singing in the sand.", "naïve 日本 👍 men's 1234"] * 2
MODULES = {"merging": LIBRARY / "views/tokenizer_bench/merging.js"}


@pytest.fixture(scope="module")
def tokenizer() -> BPETokenizer:
    return BPETokenizer.train(TEXTS, 300)


def in_node(tokenizer, body, cases):
    given = {"described": describe_tokenizer(tokenizer), "cases": cases}
    return run_javascript(body, MODULES, given)


def random_texts(count):
    draw = random.Random(3)
    signs = [*"singman ", " ", "\t", "1", "'", ".", "ï", "日", "👍", "\u200d", "\ud83d", "\x00"]
    return ["".join(draw.choices(signs, k=draw.randrange(1, 24))) for _ in range(count)]


def test_the_page_splits_as_the_library_does(tokenizer):
    draw = random.Random(7)
    most = len(tokenizer.merges)
    cases = [
        {"text": text.replace("\ud83d", "\ufffd"), "merges": draw.randrange(most + 1)}
        for text in random_texts(300)
    ]
    told = in_node(
        tokenizer,
        "return given.cases.map(({ text, merges }) => {"
        " const one = merging.withMerges(given.described, merges);"
        " const words = merging.wordsWithTokens(one, text);"
        " const ends = words.map(({ word }) => merging.historyOf(one, word).at(-1).tokens);"
        " return { tokens: words.flatMap((w) => w.tokens), ends: ends.flat() }; });",
        cases,
    )
    fewer = [tokenizer.with_merges(merges) for merges in range(most + 1)]
    for case, found in zip(cases, told, strict=True):
        wanted = fewer[case["merges"]].encode(case["text"], eos=False)
        assert found["tokens"] == found["ends"] == wanted, case


def test_a_word_is_put_together_as_by_hand():
    # " aab aab aab": all pairs tie, and ties go to the smaller numbers: (a, a), (space, aa), then
    # (space aa, b)
    tokenizer = BPETokenizer.train(["aab aab aab"], 262)
    told = in_node(
        tokenizer,
        "const one = merging.withMerges(given.described, 3);"
        "return [given.cases.map((word) => merging.historyOf(one, word).map(({ merge, tokens }) =>"
        " [merge, tokens.map((t) => merging.shownToken(one, t)).join(' ')])),"
        " [0, 1, 3].map((merge) => merging.mergeInWords(one, given.described, merge))];",
        [" aab", "aaaab", "é"],
    )
    assert told[0] == [
        [[0, "␣ a a b"], [1, "␣ aa b"], [2, "␣aa b"], [3, "␣aab"]],
        [[0, "a a a a b"], [1, "aa aa b"]],
        [[0, "C3 A9"]],
    ]
    assert told[1] == [
        None,
        {"left": "a", "right": "a", "merged": "aa"},
        {"left": "␣aa", "right": "b", "merged": "␣aab"},
    ]


def test_counts_by_hand(tokenizer):
    told = in_node(
        tokenizer,
        "const one = merging.withMerges(given.described, 0);"
        "return given.cases.map((text) => merging.countsOf(one, text));",
        ["", "é b", "a\ud83d"],
    )
    assert told[0] == {"characters": 0, "bytes": 0, "bytesRead": 0, "words": 0, "tokens": 0}
    assert told[1] == {"characters": 3, "bytes": 4, "bytesRead": 5, "words": 2, "tokens": 5}
    assert told[2] == {"characters": 2, "bytes": 4, "bytesRead": 5, "words": 1, "tokens": 5}


def test_what_the_page_gets(tokenizer):
    view = TokenizerBench(tokenizer, "A man", title="T", hint="H")
    assert (view.text, view.merges, view.word) == ("A man", len(tokenizer.merges), 0)
    assert view.tokenizer == describe_tokenizer(tokenizer)
    assert repr(view) == f"TokenizerBench({len(tokenizer.merges)} merges used)"


def test_a_page_that_asks_for_too_much_is_moved_into_bounds(tokenizer):
    view = TokenizerBench(tokenizer, "A man", merges=5)
    view.set_state({"merges": 99_999, "word": -1})
    assert (view.merges, view.word) == (len(tokenizer.merges), 0)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"written": "x" * 401}, ValueError, "text must"),
        ({"merges": 99}, ValueError, "merges must"),
        ({"word": 401}, ValueError, "word must"),
    ],
)
def test_wrong_arguments_get_a_sentence(tokenizer, changes, kind, message):
    given = {"tokenizer": tokenizer, "written": "A man", **changes}
    with pytest.raises(kind, match=message):
        TokenizerBench(given.pop("tokenizer"), given.pop("written"), **given)
