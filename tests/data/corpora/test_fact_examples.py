"""Four questions about facts: what is asked, and what is right."""

import pytest

from gates2heads.data.corpora.cldr_facts import facts
from gates2heads.data.corpora.fact_examples import (
    ASKED,
    INFERENCE,
    SLOTS,
    answer_examples,
    inference_examples,
    passage_examples,
    shuffled_facts,
    slot_examples,
    truth_examples,
)
from gates2heads.data.corpora.wordings import STRANGERS, wordings
from gates2heads.data.tokens.bilingual import bilingual_offsets, split_bilingual, write_bilingual

EVERY = {fact.text: fact for split in ("train", "validation", "test") for fact in facts(split)}
FRANC = EVERY["In Switzerland, people pay with the Swiss Franc."]
SOME = wordings(STRANGERS)


def test_each_token_has_its_slot():
    (one,) = slot_examples([FRANC])
    told = [SLOTS[number] for number in one.label]
    assert told == ["", "territory", *[""] * 5, "currency", "currency", ""]
    assert (one.first, one.second) == (FRANC.text, None)


def test_what_is_true_stands_beside_what_is_not():
    told = truth_examples(SOME, seed=0)
    assert [one.label for one in told] == [(1,), (0,)] * len(SOME)
    assert [one.first for one in told[::2]] == [fact.text for fact in SOME]
    assert not {one.first for one in told[1::2]} & EVERY.keys()  # no fact at all
    assert truth_examples(SOME, seed=0) == told != truth_examples(SOME, seed=1)


def test_what_follows_is_the_other_wording():
    told = inference_examples([FRANC, EVERY["In Japan, people pay with the Japanese Yen."]], seed=0)
    assert [INFERENCE[one.label[0]] for one in told] == [*INFERENCE] * 2
    assert all(one.first == FRANC.text for one in told[:3])
    assert [one.second for one in told[:3]] == [
        "The Swiss Franc is the currency of Switzerland.",
        "The Japanese Yen is the currency of Switzerland.",
        "The Swiss Franc is the currency of Japan.",
    ]


def test_only_what_follows_is_a_fact():
    for one in inference_examples(SOME, seed=0):
        assert (one.second in EVERY) == (INFERENCE[one.label[0]] == "entailment")


def test_an_answer_stands_where_the_label_says():
    told = answer_examples(SOME, seed=0)
    assert len(told) == 2 * len(SOME)
    for fact, one, without in zip(SOME, told[::2], told[1::2], strict=True):
        assert one.first == ASKED[fact.relation, fact.locale].format(subject=fact.subject)
        first, last = one.label
        assert write_bilingual(split_bilingual(one.second)[first : last + 1]) == write_bilingual(
            split_bilingual(fact.answer)
        )
        assert fact.text in one.second
        assert len(one.second) > len(fact.text)
        places = bilingual_offsets(one.second)
        start = one.second.index(fact.text)
        assert start <= places[first][0]
        assert places[last][1] <= start + len(fact.text)
        assert (without.first, without.label) == (one.first, (-1, -1))
        assert fact.text not in without.second


def test_a_passage_holds_the_answer_or_no_answer_at_all():
    told = [one for seed in range(20) for one in passage_examples(SOME, seed=seed)]
    lengths = set()
    for at, (one, without) in enumerate(zip(told[::2], told[1::2], strict=True)):
        fact = SOME[at % len(SOME)]
        assert one.first == ASKED[fact.relation, fact.locale].format(subject=fact.subject)
        first, last = one.label
        assert write_bilingual(split_bilingual(one.second)[first : last + 1]) == write_bilingual(
            split_bilingual(fact.answer)
        )
        assert fact.text in one.second
        assert (without.first, without.label) == (one.first, (-1, -1))
        answers = [
            other.text
            for other in SOME
            if (other.subject, other.relation) == (fact.subject, fact.relation)
        ]
        assert not any(text in without.second for text in answers)
        lengths |= {sum(one.second.count(mark) for mark in (". ", "。")) for one in (one, without)}
    assert len(lengths) > 1


def test_kinds_of_sentences_do_not_tell_whether_there_is_an_answer():
    """With and without an answer there are passages with one kind of fact and with two."""
    seen = set()
    for seed in range(20):
        for one in passage_examples(SOME, seed=seed):
            tongue = "language" in one.second or "语言" in one.second
            money = any(word in one.second for word in ("pay", "currency", "货币", "付款"))
            seen.add((one.label[0] < 0, tongue and money))
    assert len(seen) == 4


def test_shuffled_facts_agree_with_each_other_and_not_with_the_world():
    told = shuffled_facts(SOME, seed=3)
    assert [(one.relation, one.locale) for one in told] == [
        (one.relation, one.locale) for one in SOME
    ]
    for part in ("subject", "answer"):
        assert {getattr(one, part) for one in told} == {getattr(one, part) for one in SOME}
    pairs = {
        (one.locale, one.subject): other.subject for one, other in zip(SOME, told, strict=True)
    }
    for one, other in zip(SOME, told, strict=True):
        assert other.subject == pairs[one.locale, one.subject]
        start, end = other.answer_span
        assert other.text[start:end] == other.answer
    assert sum(one.text in EVERY for one in told) < 0.2 * len(told)
    assert shuffled_facts(SOME, seed=3) == told != shuffled_facts(SOME, seed=4)


@pytest.mark.parametrize(
    "make", [truth_examples, inference_examples, answer_examples, passage_examples]
)
def test_one_territory_alone_gives_nothing_false(make):
    with pytest.raises(ValueError, match="facts must"):
        make([FRANC], seed=0)
