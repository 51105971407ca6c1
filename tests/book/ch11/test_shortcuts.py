"""What rules without a model get right: names, wordings, kinds of sentences."""

from gates2heads.book.ch11.shortcuts import (
    answers_without_territories,
    slots_from_wordings,
    truth_from_names,
)
from gates2heads.book.ch11.uses import MORE, PASSAGES, USES
from gates2heads.data.corpora.wordings import STRANGERS, wordings


def test_names_alone_tell_a_part_of_the_truth():
    # False names are drawn evenly, true ones come with their frequency (chapter 11F, section F).
    right, asked = truth_from_names()
    assert asked == len(USES["classification"].examples("test"))
    assert 0.6 * asked < right < 0.66 * asked


def test_the_wordings_alone_label_the_slots():
    few, many = slots_from_wordings(1), slots_from_wordings(32)
    asked = len(USES["slots"].examples("test"))
    assert many == (asked, asked)
    assert 0 < few[0] < asked / 4


def test_a_random_name_finds_many_answers_and_rejects_few_questions():
    facts = wordings(STRANGERS)
    examples = MORE[PASSAGES].examples("test")
    found, rejected = answers_without_territories(facts, examples).values()
    assert found[1] == rejected[1] == len(facts)
    assert 0.7 < found[0] / found[1] < 0.77
    assert 0.1 < rejected[0] / rejected[1] < 0.2
    (fact,) = [one for one in facts if one.subject == "Morocco" and one.relation == "currency"][:1]
    pair = [
        examples[0]._replace(first="the currency of Morocco", second=fact.text, label=(7, 8)),
        examples[0]._replace(first="the currency of Morocco", second=fact.text, label=(-1, -1)),
    ]
    assert answers_without_territories([fact], pair) == {"with": (1.0, 1), "without": (0.0, 1)}
