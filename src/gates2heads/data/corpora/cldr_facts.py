"""Facts about the world in English and Chinese: currencies and official languages."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from babel import Locale
from babel.languages import get_official_languages
from babel.numbers import get_territory_currencies

from gates2heads.accepts import accepts, choice, listed, string
from gates2heads.data.corpora.splits import SPLITS

TODAY = date(2024, 1, 1)  # currencies change; the facts are those of this day
HELD_OUT = 10  # one territory in ten for validation, another one in ten for the test
LOCALES = ("en", "zh")
KINDS = ("territories", "currencies", "languages")
# Two wordings of each fact, and a question.
TEMPLATES = {
    ("currency", "en"): (
        "In {subject}, people pay with the {answer}.",
        "The {answer} is the currency of {subject}.",
    ),
    ("currency", "zh"): ("{subject}的货币是{answer}。", "人们在{subject}用{answer}付款。"),
    ("language", "en"): (
        "An official language of {subject} is {answer}.",
        "In {subject}, {answer} is an official language.",
    ),
    ("language", "zh"): ("{subject}的官方语言是{answer}。", "{answer}是{subject}的官方语言。"),
    ("name", "en"): (
        "The Chinese name of {subject} is {answer}.",
        "{answer} is what {subject} is called in Chinese.",
    ),
    ("name", "zh"): ("{subject}的英文名称是{answer}。", "{answer}是{subject}的英文名称。"),
}
QUESTIONS = {
    ("currency", "en"): "Which currency is used in {subject}?",
    ("currency", "zh"): "{subject}用什么货币？",
    ("language", "en"): "Which language is official in {subject}?",
    ("language", "zh"): "{subject}的官方语言是什么？",
    ("name", "en"): "What is {subject} called in Chinese?",
    ("name", "zh"): "{subject}的英文名称是什么？",
}
RELATIONS = ("currency", "language", "name")


@dataclass(frozen=True)
class Territory:
    """A country or territory with its CLDR codes; every code has a name in both languages."""

    code: str  # ISO 3166, "CH"
    currency: str  # ISO 4217, "CHF"
    languages: tuple[str, ...]  # official ones, "de", "fr", "it"; empty where CLDR names none


@dataclass(frozen=True)
class Fact:
    """A sentence about one fact of one territory, with the positions of its two names."""

    text: str
    relation: str  # currency, language or name
    locale: str  # en or zh
    subject: str  # name of the territory, in the language of the sentence
    answer: str  # what the sentence says about it
    subject_span: tuple[int, int]  # text[start:end] is the subject
    answer_span: tuple[int, int]  # text[start:end] is the answer
    question: str  # asks for the answer


@accepts(kind=choice(KINDS), locale=choice(LOCALES))
def names(kind: str, locale: str) -> dict[str, str]:
    """Names by code, in one language.

    Source: Unicode CLDR, through Babel.

    Args:
        kind: `territories`, `currencies` or `languages`.
        locale: `en` or `zh`.
    """
    return _read_names(kind, locale)


@lru_cache(maxsize=len(KINDS) * 2)
def _read_names(kind: str, locale: str) -> dict[str, str]:
    return dict(getattr(Locale(locale), kind))


@accepts(kind=choice(KINDS), code=string)
def is_named(kind: str, code: str) -> bool:
    """Whether both languages have a name for a code."""
    return all(code in names(kind, locale) for locale in LOCALES)


@lru_cache(maxsize=1)
def territories() -> tuple[Territory, ...]:
    """All territories that have a currency and a name in both languages, in the order of codes."""
    found = []
    for code in sorted(names("territories", "en")):
        if len(code) == 2 and code.isalpha() and is_named("territories", code):
            currencies = get_territory_currencies(code, start_date=TODAY, end_date=TODAY)
            spoken = (language.split("_")[0] for language in get_official_languages(code))
            spoken = dict.fromkeys(tag for tag in spoken if is_named("languages", tag))
            if currencies and is_named("currencies", currencies[0]):
                found.append(Territory(code, currencies[0], tuple(spoken)))
    return tuple(found)


@accepts(code=string)
def split_of_territory(code: str) -> str:
    """The split of a territory; the same on every machine and in every version."""
    bucket = hashlib.sha256(code.encode()).digest()[0] % HELD_OUT
    return {0: "test", 1: "validation"}.get(bucket, "train")


@accepts(
    split=choice(SPLITS),
    locales=listed("languages", kind=choice(LOCALES)),
    relations=listed("relations", kind=choice(RELATIONS)),
)
def facts(
    split: str, *, locales: Sequence[str] = LOCALES, relations: Sequence[str] = RELATIONS
) -> list[Fact]:
    """The facts of CLDR about the territories of a split, each in two wordings.

    Args:
        split: `train`, `validation` or `test`; all facts about a territory are in one of them.
        locales: `en`, `zh`, or both.
        relations: `currency`, `language` or `name` (in the other language).
    """
    chosen = [place for place in territories() if split_of_territory(place.code) == split]
    return [
        write_fact(template, relation, locale, names("territories", locale)[place.code], answer)
        for place in chosen
        for locale in locales
        for relation in relations
        for answer in answers(place, relation, locale)
        for template in TEMPLATES[relation, locale]
    ]


def answers(place: Territory, relation: str, locale: str) -> Iterator[str]:
    """The names of the entities in a relation to a territory, in a language."""
    if relation == "currency":
        yield names("currencies", locale)[place.currency]
    elif relation == "language":
        yield from (names("languages", locale)[language] for language in place.languages)
    else:
        yield names("territories", "zh" if locale == "en" else "en")[place.code]


def write_fact(template: str, relation: str, locale: str, subject: str, answer: str) -> Fact:
    """Fill a template, and record the positions of the two names in the sentence."""
    text, spans = template, {}
    order = sorted(("subject", "answer"), key=lambda slot: template.index(f"{{{slot}}}"))
    for slot in order:  # from left to right, so that earlier positions remain valid
        name = {"subject": subject, "answer": answer}[slot]
        start = text.index(f"{{{slot}}}")
        text = text.replace(f"{{{slot}}}", name, 1)
        spans[slot] = (start, start + len(name))
    question = QUESTIONS[relation, locale].format(subject=subject)
    where = spans["subject"], spans["answer"]
    return Fact(text, relation, locale, subject, answer, *where, question)
