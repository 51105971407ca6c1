"""Real text that is there after `pip install`, with nothing to download."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from babel import Locale
from babel.dates import format_date, format_skeleton

from gates2heads.accepts.shown import shown
from gates2heads.checks.values import check_choice, check_count, check_seed
from gates2heads.data.corpora.splits import HELD_OUT, SPLITS

LOCALES = ("en", "fr", "de", "es", "zh", "ja", "ru", "ar")
# CLDR's `short` is left out: it writes two-digit years and does not say which number is the month.
FORMS = ("full", "long", "medium", "yMMMd", "yMMMEd")
FIRST, LAST = date(1900, 1, 1), date(2100, 12, 31)


@dataclass(frozen=True)
class DatePair:
    """A day as people write it, and the same day in ISO 8601."""

    text: str
    iso: str
    locale: str
    form: str


def split_of(day: date) -> str:
    """Say to which split a day belongs; the same on every machine and for every seed.

    A day is in one split in all languages and forms, so no test date was seen in another dress.
    """
    if not isinstance(day, date):
        raise TypeError(f"day must be a datetime.date, got {shown(day)}")
    bucket = random.Random(day.toordinal()).randrange(HELD_OUT)
    return {0: "test", 1: "validation"}.get(bucket, "train")


def days_of(split: str) -> tuple[date, ...]:
    """All days of 1900–2100 that belong to a split."""
    check_choice("split", split, SPLITS)
    return _split_days()[split]


@lru_cache(maxsize=1)
def _split_days() -> dict[str, tuple[date, ...]]:
    count = (LAST - FIRST).days + 1
    days: dict[str, list[date]] = {split: [] for split in SPLITS}
    for day in (FIRST + timedelta(days=number) for number in range(count)):
        days[split_of(day)].append(day)
    return {split: tuple(chosen) for split, chosen in days.items()}


def write_date(day: date, locale: str, form: str) -> str:
    """Write a day in a CLDR form: `full`, `long`, `medium`, or a skeleton such as `yMMMd`.

    Source: Unicode CLDR, through Babel.

    Raises:
        TypeError: `day` is not a date.
        ValueError: `form` is not one of `FORMS`.
        babel.UnknownLocaleError: CLDR has no such language.
    """
    if not isinstance(day, date):
        raise TypeError(f"day must be a datetime.date, got {shown(day)}")
    _check_locales([locale])
    _check_forms([form])
    if form in ("full", "long", "medium"):
        return format_date(day, form, locale=locale)
    return format_skeleton(form, day, locale=locale)


def _check_locales(locales: Sequence[str]) -> None:
    """Refuse what cannot be the name of a language; Babel says which names CLDR lacks."""
    for name in locales:
        if not isinstance(name, str | Locale):
            raise TypeError(f"locales must be CLDR names such as 'en', got {shown(name)}")
        try:
            Locale.parse(name)
        except ValueError:
            raise ValueError(
                f"locales must be CLDR names such as 'en', got {shown(name)}"
            ) from None


def _check_forms(forms: Sequence[str]) -> None:
    unknown = [form for form in forms if not isinstance(form, str) or form not in FORMS]
    if unknown:
        raise ValueError(f"forms must come from {', '.join(FORMS)}, got {shown(unknown[0])}")


def dates(
    split: str,
    size: int,
    *,
    locales: Sequence[str] = LOCALES,
    forms: Sequence[str] = FORMS,
    seed: int = 0,
) -> list[DatePair]:
    """Draw days of a split and write each in a random language and form.

    Args:
        split: `train`, `validation` or `test`; no day is in two of them.
        size: how many pairs.
        locales: CLDR names of languages.
        forms: CLDR forms, see `write_date`.
        seed: the same seed gives the same pairs.

    Raises:
        TypeError: `size` is no whole number, or `locales` or `forms` is no list.
        ValueError: an unknown split or form, no locale or form, a size below 1.
        babel.UnknownLocaleError: CLDR has no such language.
    """
    check_count("size", size)
    check_seed("seed", seed)
    for name, choices in (("locales", locales), ("forms", forms)):
        if isinstance(choices, str) or not isinstance(choices, Sequence):
            raise TypeError(f"{name} must be a list of names, got {shown(choices)}")
    if not locales or not forms:
        raise ValueError("locales and forms must each name at least one choice")
    _check_locales(locales)
    _check_forms(forms)
    days, draw = days_of(split), random.Random(f"{split} {seed}")
    parsed = {name: Locale.parse(name) for name in locales}
    pairs = []
    for _ in range(size):
        day, locale, form = draw.choice(days), draw.choice(locales), draw.choice(forms)
        pairs.append(DatePair(write_date(day, parsed[locale], form), day.isoformat(), locale, form))
    return pairs


def date_lists(
    split: str,
    size: int,
    count: int,
    *,
    locales: Sequence[str] = LOCALES,
    forms: Sequence[str] = FORMS,
    seed: int = 0,
) -> list[DatePair]:
    """Write lists of `count` dates, each in its own language: longer sources of the same kind.

    The texts are joined by ` | `, the ISO dates by a space.

    Raises:
        TypeError, ValueError: `count` is no whole number of at least 1, and what `dates` raises.
    """
    check_count("size", size)
    check_count("count", count)
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
