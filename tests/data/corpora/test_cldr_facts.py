"""CLDR facts: true ones by hand, spans that name what they say, no territory in two splits."""

from gates2heads.data.corpora.cldr_facts import (
    QUESTIONS,
    TEMPLATES,
    facts,
    split_of_territory,
    territories,
    write_fact,
)
from gates2heads.data.corpora.splits import SPLITS


def everything(**choices):
    return [fact for split in SPLITS for fact in facts(split, **choices)]


def test_switzerland_by_hand():
    place = next(place for place in territories() if place.code == "CH")
    assert (place.currency, place.languages) == ("CHF", ("de", "fr", "it"))
    about = [fact for fact in everything() if fact.subject in ("Switzerland", "瑞士")]
    texts = [fact.text for fact in about]
    assert "The Swiss Franc is the currency of Switzerland." in texts
    assert "瑞士的货币是瑞士法郎。" in texts
    assert "In Switzerland, Italian is an official language." in texts
    assert "The Chinese name of Switzerland is 瑞士." in texts
    # 2 languages × 2 templates × (1 currency + 3 languages + 1 name) = 20 sentences
    assert len(texts) == len(set(texts)) == 20
    assert {fact.question for fact in about if fact.relation == "currency"} == {
        *("Which currency is used in Switzerland?", "瑞士用什么货币？"),
    }


def test_a_name_inside_another_name_keeps_its_own_span():
    template = TEMPLATES["currency", "en"][1]
    fact = write_fact(template, "currency", "en", "Niger", "Nigerian Naira")
    assert fact.text == "The Nigerian Naira is the currency of Niger."
    assert (fact.answer_span, fact.subject_span) == ((4, 18), (38, 43))


def test_spans_name_the_subject_and_the_answer():
    for fact in everything():
        assert fact.text[slice(*fact.subject_span)] == fact.subject
        assert fact.text[slice(*fact.answer_span)] == fact.answer
        (low, middle), (other, high) = sorted([fact.subject_span, fact.answer_span])
        assert 0 <= low < middle <= other < high < len(fact.text)
        assert "{" not in fact.text + fact.question


def test_every_territory_is_in_one_split_in_both_languages():
    subjects = {split: {fact.subject for fact in facts(split)} for split in SPLITS}
    for one, other in [("train", "validation"), ("train", "test"), ("validation", "test")]:
        assert subjects[one].isdisjoint(subjects[other])
    counts = {s: sum(split_of_territory(p.code) == s for p in territories()) for s in SPLITS}
    assert sum(counts.values()) == len(territories()) > 200
    assert counts["train"] > 0.7 * len(territories())
    assert min(counts["validation"], counts["test"]) > 0.03 * len(territories())


def test_choices_are_kept_and_the_order_is_fixed():
    chosen = facts("train", locales=["zh"], relations=["language"])
    assert {(fact.locale, fact.relation) for fact in chosen} == {("zh", "language")}
    assert facts("test") == facts("test")
    assert TEMPLATES.keys() == QUESTIONS.keys()
