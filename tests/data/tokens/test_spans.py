"""Spans of characters become spans of tokens: words stay whole, names are found again."""

import re

import pytest

from gates2heads.data.corpora.cldr_facts import facts
from gates2heads.data.tokens.spans import token_spans
from gates2heads.data.tokens.words import WORD, split_words


def offsets_of(text, pattern):
    return [match.span() for match in re.finditer(pattern, text)]


def test_a_word_that_shares_a_character_belongs_to_the_span():
    text = "In Costa Rica, people pay."
    offsets = offsets_of(text, WORD.pattern)
    assert [text[start:end] for start, end in offsets][:4] == ["In", "Costa", "Rica", ","]
    start = text.index("Costa")
    assert token_spans([(start, start + len("Costa Rica"))], offsets) == [(1, 3)]
    assert token_spans([(start + 4, start + 7)], offsets) == [(1, 3)]  # "a R"
    assert token_spans([(start, start + 5)], offsets) == [(1, 2)]


@pytest.mark.parametrize("locale", ["en", "zh"])
def test_the_names_of_all_facts_are_found_again(locale):
    relations = ("currency", "language")
    found = 0
    for fact in facts("validation", locales=[locale], relations=relations):
        tokens = split_words(fact.text) if locale == "en" else list(fact.text)
        offsets = offsets_of(fact.text, WORD.pattern if locale == "en" else ".")
        assert len(offsets) == len(tokens)
        spans = token_spans([fact.subject_span, fact.answer_span], offsets)
        for (start, end), name in zip(spans, (fact.subject, fact.answer), strict=True):
            expected = split_words(name) if locale == "en" else list(name)
            assert tokens[start:end] == expected
            found += 1
    assert found > 50


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: token_spans([(2, 2)], [(0, 1)]), "spans must"),
        (lambda: token_spans([(3, 4)], [(0, 1)]), "spans holds (3, 4), where no token stands"),
        (lambda: token_spans([3], [(0, 1)]), "spans must"),
        (
            lambda: token_spans([(0, 0.5)], [(0, 1)]),
            "spans must",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        call()
