"""Four tasks about facts: truth, slot filling, inference, and question answering."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from gates2heads.accepts import accepts, any_seed
from gates2heads.accepts.values import distinct_seed
from gates2heads.data.corpora.cldr_facts import TEMPLATES, Fact, answers, territories, write_fact
from gates2heads.data.corpora.wordings import FACTS, territory_code
from gates2heads.data.tokens.bilingual import bilingual_offsets
from gates2heads.data.tokens.spans import token_spans

TRUTH = ("false", "true")
SLOTS = ("", "territory", "currency", "language")
INFERENCE = ("entailment", "contradiction", "neutral")
MOST_FACTS = 3  # in a passage
# Questions in words that occur in the facts, so that they are in a model's vocabulary.
ASKED = {
    ("currency", "en"): "the currency of {subject}",
    ("currency", "zh"): "{subject}的货币",
    ("language", "en"): "an official language of {subject}",
    ("language", "zh"): "{subject}的官方语言",
}


class Labelled(NamedTuple):
    """One text or two, and the label."""

    first: str
    second: str | None
    label: tuple[int, ...]  # one class; one class per token; or the answer's first and last token


@accepts(facts=FACTS, seed=any_seed)
def truth_examples(facts: Sequence[Fact], *, seed: int) -> list[Labelled]:
    """Each fact, and the same sentence with a false answer, labelled by `TRUTH`.

    Raises:
        ValueError: no false answer exists.
    """
    draw, others = _prepare(facts, seed)
    found = []
    for fact in facts:
        found.append(Labelled(fact.text, None, (1,)))
        found.append(Labelled(_reworded(fact, _false_answer(fact, others, draw)).text, None, (0,)))
    return found


@accepts(facts=FACTS)
def slot_examples(facts: Sequence[Fact]) -> list[Labelled]:
    """Each fact, and for every token of it one of `SLOTS`."""
    found = []
    for fact in facts:
        places = bilingual_offsets(fact.text)
        spans = token_spans([fact.subject_span, fact.answer_span], places)
        label = [0] * len(places)
        for (start, end), slot in zip(spans, (1, SLOTS.index(fact.relation)), strict=True):
            label[start:end] = [slot] * (end - start)
        found.append(Labelled(fact.text, None, tuple(label)))
    return found


@accepts(facts=FACTS, seed=any_seed)
def inference_examples(facts: Sequence[Fact], *, seed: int) -> list[Labelled]:
    """A premise about a currency and three hypotheses, one for each of `INFERENCE`.

    The entailed hypothesis is the premise in its other wording; the contradicting one names another
    currency; the neutral one is the other wording, with the premise's currency, about another
    territory. Languages are excluded: one official language does not exclude another.

    Raises:
        ValueError: the facts are not about currencies of two territories.
    """
    draw, others = _prepare(facts, seed)
    facts = [fact for fact in facts if fact.relation == "currency"]
    found = []
    for fact in facts:
        same = _reworded(fact, fact.answer, turned=True)
        false = _reworded(fact, _false_answer(fact, others, draw), turned=True)
        far = _elsewhere(fact, facts, draw)
        other = _reworded(fact, fact.answer, turned=True, subject=far.subject)
        for label, second in enumerate((same, false, other)):
            found.append(Labelled(fact.text, second.text, (label,)))
    return found


@accepts(facts=FACTS, seed=any_seed)
def answer_examples(facts: Sequence[Fact], *, seed: int) -> list[Labelled]:
    """A question, and two sentences with or without the answer.

    With an answer, they are the fact and a fact of the same kind about another territory. Without
    one, they are the latter and, if there is one, another fact about the territory.

    Returns:
        two of them per fact. The label is the positions of the answer's first and last token in the
        second text, or (−1, −1).

    Raises:
        ValueError: all facts are about one territory.
    """
    draw, _ = _prepare(facts, seed)
    found = []
    for fact in facts:
        far = _elsewhere(fact, [one for one in facts if one.relation == fact.relation], draw)
        beside = [one for one in facts if _is_beside(one, fact)] or [
            _elsewhere(fact, [one for one in facts if one.relation != fact.relation], draw)
        ]
        for second in (fact, draw.choice(beside)):
            passage = draw.sample([second, far], 2)
            found.append(_asked(fact, passage, has_answer=second is fact))
    return found


@accepts(facts=FACTS, seed=any_seed)
def passage_examples(facts: Sequence[Fact], *, seed: int) -> list[Labelled]:
    """A question, and a passage of one to three sentences with or without the answer.

    The kinds of the sentences do not reveal whether there is an answer: beside the fact, or instead
    of it, there are any others in its language, often of the same kind or about the same territory.

    Returns:
        two of them per fact, with its answer and without; labels as in `answer_examples`.

    Raises:
        ValueError: all facts are about one territory.
    """
    draw, _ = _prepare(facts, seed)
    found = []
    for fact in facts:
        pools = _pools(fact, facts)
        for has_answer in (True, False):
            others = [draw.choice(draw.choice(pools)) for _ in range(draw.randint(1, MOST_FACTS))]
            passage = list(dict.fromkeys([fact, *others[1:]] if has_answer else others))
            draw.shuffle(passage)
            found.append(_asked(fact, passage, has_answer=has_answer))
    return found


@accepts(facts=FACTS, seed=any_seed)
def shuffled_facts(facts: Sequence[Fact], *, seed: int) -> list[Fact]:
    """The same sentences with their territories exchanged, and their currencies and languages.

    All facts of one territory are now those of another one, so that the sentences are consistent
    with each other, but mostly false: a model learns from them no true facts.

    Returns:
        one fact for each, in order, in the same wording.
    """
    draw = random.Random(distinct_seed(seed))
    names: dict[tuple[str, str], dict[str, str]] = {}
    for fact in facts:
        names.setdefault(("subject", fact.locale), {})[fact.subject] = ""
        names.setdefault((fact.relation, fact.locale), {})[fact.answer] = ""
    for known in names.values():
        known.update(zip(known, draw.sample(list(known), len(known)), strict=True))
    return [
        _reworded(
            fact,
            names[fact.relation, fact.locale][fact.answer],
            subject=names["subject", fact.locale][fact.subject],
        )
        for fact in facts
    ]


def _pools(fact: Fact, facts: Sequence[Fact]) -> list[list[Fact]]:
    """Facts that do not answer what a fact answers: of its kind, about its territory, and all."""
    near = [one for one in facts if one.locale == fact.locale]
    alike = [one for one in near if one.relation == fact.relation and one.subject != fact.subject]
    beside = [one for one in near if _is_beside(one, fact)]
    if not alike:
        raise ValueError("facts must be about two territories or more")
    return [pool for pool in (alike, beside, [*alike, *beside]) if pool]


def _asked(fact: Fact, passage: Sequence[Fact], *, has_answer: bool) -> Labelled:
    """The question that a fact answers, about a passage that holds the fact, or does not."""
    question = ASKED[fact.relation, fact.locale].format(subject=fact.subject)
    text = (" " if fact.locale == "en" else "").join(one.text for one in passage)
    if not has_answer:
        return Labelled(question, text, (-1, -1))
    start = text.index(fact.text)
    span = tuple(start + end for end in fact.answer_span)
    [(first, stop)] = token_spans([span], bilingual_offsets(text))
    return Labelled(question, text, (first, stop - 1))


def _prepare(facts: Sequence[Fact], seed: int) -> tuple[random.Random, dict]:
    """The random generator, and all answers of each relation and language."""
    others: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        some = others.setdefault((fact.relation, fact.locale), [])
        if fact.answer not in some:
            some.append(fact.answer)
    return random.Random(distinct_seed(seed)), others


def _false_answer(fact: Fact, others: dict, draw: random.Random) -> str:
    place = next(one for one in territories() if one.code == territory_code(fact))
    true = set(answers(place, fact.relation, fact.locale))
    false = [one for one in others[fact.relation, fact.locale] if one not in true]
    if not false:
        raise ValueError("facts must hold an answer that is not true of each territory, got none")
    return draw.choice(false)


def _reworded(fact: Fact, answer: str, *, turned: bool = False, subject: str = "") -> Fact:
    """The fact with another answer, in its own wording or in the other one."""
    pair = TEMPLATES[fact.relation, fact.locale]
    own = next(
        at
        for at, template in enumerate(pair)
        if template.format(subject=fact.subject, answer=fact.answer) == fact.text
    )
    template = pair[1 - own if turned else own]
    return write_fact(template, fact.relation, fact.locale, subject or fact.subject, answer)


def _elsewhere(fact: Fact, facts: Sequence[Fact], draw: random.Random) -> Fact:
    """A fact in the same language about another territory, with another answer."""
    far = [
        one
        for one in facts
        if one.locale == fact.locale and one.subject != fact.subject and one.answer != fact.answer
    ]
    if not far:
        raise ValueError("facts must be about two territories or more, with answers of their own")
    return draw.choice(far)


def _is_beside(one: Fact, fact: Fact) -> bool:
    """Whether one is another fact about the territory, in the same language."""
    about_it = one.subject == fact.subject and one.locale == fact.locale
    return about_it and one.relation != fact.relation
