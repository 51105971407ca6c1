"""Dates in many languages, which are generated without a download."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from babel import Locale
from babel.dates import format_date, format_skeleton

from gates2heads.accepts import accepts, any_seed, choice, instance, listed, natural
from gates2heads.data.corpora.splits import HELD_OUT, SPLITS

LOCALES = ("en", "fr", "de", "es", "zh", "ja", "ru", "ar")
# CLDR's `short` is left out: it has two-digit years and does not show which number is the month.
FORMS = ("full", "long", "medium", "yMMMd", "yMMMEd")
DRAWN = {  # the sampled values
    "locales": listed("CLDR names", least=1),
    "forms": listed("CLDR forms", kind=choice(FORMS), least=1),
}
FIRST, LAST = date(1900, 1, 1), date(2100, 12, 31)


@dataclass(frozen=True)
class DatePair:
    """A day as people write it, and the same day in ISO 8601."""

    text: str
    iso: str
    locale: str
    form: str


def split_of(day: date) -> str:
    """The split of a day; the same on every machine and for every seed.

    A day is in one split in all languages and forms, so no test date occurs in training in another
    form.
    """
    bucket = random.Random(day.toordinal()).randrange(HELD_OUT)
    return {0: "test", 1: "validation"}.get(bucket, "train")


@accepts(split=choice(SPLITS))
def days_of(split: str) -> tuple[date, ...]:
    """All days of 1900–2100 that belong to a split."""
    return _split_days()[split]


@lru_cache(maxsize=1)
def _split_days() -> dict[str, tuple[date, ...]]:
    days: dict[str, list[date]] = {split: [] for split in SPLITS}
    for day in (FIRST + timedelta(days=number) for number in range((LAST - FIRST).days + 1)):
        days[split_of(day)].append(day)
    return {split: tuple(chosen) for split, chosen in days.items()}


@accepts(day=instance(date), form=choice(FORMS))
def write_date(day: date, locale: str, form: str) -> str:
    """Format a day in a CLDR form: `full`, `long`, `medium`, or a skeleton such as `yMMMd`.

    Source: Unicode CLDR, through Babel.

    Raises:
        babel.UnknownLocaleError: CLDR has no such language.
    """
    if form in ("full", "long", "medium"):
        return format_date(day, form, locale=locale)
    return format_skeleton(form, day, locale=locale)


@accepts(split=choice(SPLITS), size=natural, **DRAWN, seed=any_seed)
def dates(
    split: str,
    size: int,
    *,
    locales: Sequence[str] = LOCALES,
    forms: Sequence[str] = FORMS,
    seed: int = 0,
) -> list[DatePair]:
    """Sample days of a split and format each in a random language and form.

    Args:
        split: `train`, `validation` or `test`; no day is in two of them.
        size: number of pairs.
        locales: CLDR names of languages.
        forms: CLDR forms, see `write_date`.
        seed: the same seed gives the same pairs.

    Raises:
        babel.UnknownLocaleError: CLDR has no such language.
    """
    days, draw = days_of(split), random.Random(f"{split} {seed}")
    parsed = {name: Locale.parse(name) for name in locales}
    pairs = []
    for _ in range(size):
        day, locale, form = draw.choice(days), draw.choice(locales), draw.choice(forms)
        pairs.append(DatePair(write_date(day, parsed[locale], form), day.isoformat(), locale, form))
    return pairs


@accepts(split=choice(SPLITS), size=natural, count=natural, **DRAWN, seed=any_seed)
def date_lists(
    split: str,
    size: int,
    count: int,
    *,
    locales: Sequence[str] = LOCALES,
    forms: Sequence[str] = FORMS,
    seed: int = 0,
) -> list[DatePair]:
    """Generate lists of `count` dates, each list in one language: longer sources of the same kind.

    The texts are joined by ` | `, the ISO dates by a space.
    """
    singles = dates(split, size * count, locales=locales, forms=forms, seed=seed)
    groups = [singles[start : start + count] for start in range(0, len(singles), count)]
    return [
        DatePair(
            " | ".join(pair.text for pair in group),
            " ".join(pair.iso for pair in group),
            "+".join(pair.locale for pair in group),
            "+".join(pair.form for pair in group),
        )
        for group in groups
    ]
