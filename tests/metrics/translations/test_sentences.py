"""Segments: tokenizers equal to sacreBLEU's and rouge-score's, and what the metrics refuse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import tokenize as rouge_tokenize
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer

from gates2heads.metrics.sentences import TOKENIZERS, cut, read_pair, read_pairs

REFERENCES = {"13a": Tokenizer13a(), "char": TokenizerChar(), "none": NoneTokenizer()}
AWKWARD = st.text(alphabet="a0.,-'&;<>skip ed\n\t[]{}~`_é中\u00a0\u2028", max_size=23)


@pytest.mark.parametrize("name", REFERENCES)
def test_tokenizers_equal_sacrebleu_on_1500_cases(texts, name):
    source = texts(17)
    for _ in range(1500):
        text = source.text(29)
        assert cut(text, name) == REFERENCES[name](text.rstrip()).split()


@pytest.mark.parametrize("name", REFERENCES)
@settings(max_examples=300)
@given(text=AWKWARD | st.text(max_size=23))
def test_tokenizers_equal_sacrebleu_on_whatever_hypothesis_finds(name, text):
    assert cut(text, name) == REFERENCES[name](text.rstrip()).split()


@settings(max_examples=300)
@given(AWKWARD | st.text(max_size=23))
def test_rouge_tokens_equal_rouge_score(text):
    assert cut(text, "rouge") == rouge_tokenize.tokenize(text, None)


@given(st.sampled_from(sorted(TOKENIZERS)), st.text(max_size=23))
def test_no_token_is_empty_or_holds_white_space(name, text):
    assert all(token and not any(map(str.isspace, token)) for token in cut(text, name))


def test_13a_by_hand():
    text = 'He said: "3.14, not 1,000-ish; it\'s well-known."'
    tokens = ["He", "said", ":", '"', "3.14", ",", "not", "1,000", "-", "ish", ";"]
    assert cut(text, "13a") == [*tokens, "it's", "well-known", ".", '"']


def test_lowercase_reaches_strings_and_word_tokens_but_not_ids():
    assert cut("A b", "none", lowercase=True) == ["a", "b"]
    assert cut(["A", 7], "none", lowercase=True) == ["a", 7]


def test_a_lone_string_is_one_reference():
    assert read_pair("a", "b") == ("a", ["b"])
    assert read_pairs(["a", "c"], ["b", ("d", "e")]) == [("a", ["b"]), ("c", ["d", "e"])]


@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "message"),
    [
        ("a", ["a"], TypeError, "hypotheses must"),
        (["a"], "a", TypeError, "references must"),
        (["a"], {"a"}, TypeError, "references must"),
        ([], [], ValueError, "hypotheses must"),
        (["a", "b"], [["a"]], ValueError, "one entry for each of the 2 hypotheses, got 1"),
        (["a", None], [["a"], ["a"]], TypeError, r"hypotheses\[1\] must"),
        ([float("nan")], [["a"]], TypeError, r"hypotheses\[0\] must"),
        (
            [["a", 0.5]],
            [[["a"]]],
            TypeError,
            r"hypotheses\[0\] must",
        ),
        (["a"], [None], TypeError, r"references\[0\] must"),
        (["a"], [[]], ValueError, r"references\[0\] must"),
        (["a"], [[3]], TypeError, r"each reference of references\[0\] must be a string or a list"),
        (["a"], [[["a"]]], TypeError, r"each reference of references\[0\] must be a string, as"),
        ([["a"]], [["a"]], TypeError, r"each reference of references\[0\] must be a list of tok"),
        (["a", ["a"]], [["a"], [["a"]]], TypeError, r"hypotheses\[1\] must"),
    ],
)
def test_what_cannot_be_compared_is_named(hypotheses, references, error, message):
    with pytest.raises(error, match=message):
        read_pairs(hypotheses, references)


def test_cut_names_what_it_cannot_cut():
    with pytest.raises(TypeError, match="segment must"):
        cut(3, "13a")
