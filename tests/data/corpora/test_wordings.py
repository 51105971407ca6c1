"""Facts in two wordings: which are told, and which are kept back."""

from gates2heads.data.corpora.cldr_facts import facts
from gates2heads.data.corpora.wordings import split_of_wording, wordings

SPLITS = ("train", "validation", "test")


def key(fact):
    return fact.locale, fact.relation, fact.subject, fact.answer


def test_the_three_splits_are_all_that_is_said_of_the_territories_that_are_told_of():
    told = [fact.text for split in SPLITS for fact in wordings(split)]
    told_of = ("train", "validation")
    wanted = [
        fact.text for split in told_of for fact in facts(split, relations=("currency", "language"))
    ]
    assert sorted(told) == sorted(wanted)


def test_a_fact_that_is_asked_was_told_in_other_words():
    told = {key(fact) for fact in wordings("train")}
    texts = {fact.text for fact in wordings("train")}
    for split in ("validation", "test"):
        kept = wordings(split)
        assert all(key(fact) in told and fact.text not in texts for fact in kept)
        # each is one wording of one fact in five, 10 % of the sentences; a tenth is far from it
        assert 0.08 < len(kept) / len(texts) < 0.16


def test_of_strangers_nothing_is_told():
    subjects = {fact.subject for split in SPLITS for fact in wordings(split)}
    assert not subjects & {fact.subject for fact in wordings("strangers")}


def test_one_wording_at_most_is_kept_back():
    first, second = wordings("train")[:2]
    found = split_of_wording(first, second)
    assert set(found) == {first.text, second.text}
    assert "train" in found.values()
