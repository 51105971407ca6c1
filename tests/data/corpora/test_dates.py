"""The date corpus: every text stands for one day, and no day is in two splits."""

from collections import Counter
from datetime import date, datetime, timedelta

import pytest
from babel import Locale, UnknownLocaleError
from babel.dates import get_month_names
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.corpora.dates import (
    FIRST,
    FORMS,
    LAST,
    LOCALES,
    date_lists,
    dates,
    days_of,
    split_of,
    write_date,
)
from gates2heads.data.corpora.splits import SPLITS

COUNT = (LAST - FIRST).days + 1
SAMPLE = 400


def test_by_hand():
    day = date(2024, 3, 9)  # a Saturday
    expected = {
        ("en", "full"): "Saturday, March 9, 2024",
        ("fr", "long"): "9 mars 2024",
        ("de", "medium"): "09.03.2024",
        ("es", "long"): "9 de marzo de 2024",
        ("zh", "yMMMEd"): "2024年3月9日周六",
        ("ja", "yMMMd"): "2024年3月9日",
        ("ru", "full"): "суббота, 9 марта 2024\u202fг.",
        ("ar", "long"): "9 مارس 2024",
    }
    for (locale, form), text in expected.items():
        assert write_date(day, locale, form).replace("\xa0", "\u202f") == text.replace(
            "\xa0", "\u202f"
        )


def test_the_days_are_all_of_1900_to_2100_and_each_is_in_one_split():
    every = [day for split in SPLITS for day in days_of(split)]
    # 201 years of 365 days; leap days in 1904, 1908, …, 2096: 49 (neither 1900 nor 2100).
    assert len(every) == 201 * 365 + 49 == COUNT
    assert set(every) == {FIRST + timedelta(days=number) for number in range(COUNT)}
    for split in SPLITS:
        assert days_of(split) == tuple(sorted(days_of(split)))
        assert all(split_of(day) == split for day in days_of(split))


def test_a_twentieth_is_held_out_for_each_of_two_splits():
    # A share of 1/20 among 73,414 days has standard deviation √(1/20 · 19/20 / 73414), 0.08 %.
    for split in ("validation", "test"):
        assert abs(len(days_of(split)) / COUNT - 1 / 20) < 4 * 0.0008
    for part in (lambda day: day.month, lambda day: day.weekday(), lambda day: day.day):
        held_out = Counter(map(part, days_of("test")))
        assert set(held_out) == set(map(part, days_of("train")))


def test_the_split_of_a_day_never_changes():
    """Published weights were trained under this rule: another one would test on what was seen."""
    held_out = {day: split_of(date(2024, 1, day)) for day in range(1, 32)}
    assert {day for day, split in held_out.items() if split == "test"} == {17}
    assert {3, 4, 5, 18} <= {day for day, split in held_out.items() if split == "validation"}
    assert split_of(datetime(2024, 1, 17, 23, 59)) == "test"


@pytest.mark.parametrize("split", SPLITS)
def test_drawn_days_belong_to_the_split_and_read_as_written(split):
    pairs = dates(split, SAMPLE, seed=5)
    assert len(pairs) == SAMPLE
    for pair in pairs:
        day = date.fromisoformat(pair.iso)
        assert split_of(day) == split
        assert pair.text == write_date(day, pair.locale, pair.form)
    assert {pair.locale for pair in pairs} == set(LOCALES)
    assert {pair.form for pair in pairs} == set(FORMS)


def test_no_text_is_in_two_splits():
    texts = [{pair.text for pair in dates(split, 5000)} for split in SPLITS]
    assert sum(map(len, texts)) == len(set().union(*texts))


def test_the_same_seed_gives_the_same_pairs():
    assert dates("train", 31, seed=3) == dates("train", 31, seed=3)
    assert dates("train", 31, seed=3) != dates("train", 31, seed=4)
    assert dates("train", 31, seed=3)[:7] == dates("train", 7, seed=3)


def read_date(text, locale):
    """Read a long date without the library: year, day, and the month by its name."""
    names = get_month_names("wide", locale=locale)
    months = [n for n in range(1, 13) if names[n] in text.split()]
    numbers = sorted(int(word) for word in text.replace("de", " ").split() if word.isdigit())
    assert len(months) == 1
    assert len(numbers) == 2
    return date(numbers[1], months[0], numbers[0])


@given(st.integers(0, COUNT - 1), st.sampled_from(["fr", "es"]))
def test_a_written_day_reads_back_as_its_iso_date(number, locale):
    day = FIRST + timedelta(days=number)
    assert read_date(write_date(day, locale, "long"), locale) == day


def test_long_texts_are_lists_of_dates():
    (pair,) = date_lists("test", 1, 3, locales=["de"], seed=7)
    singles = dates("test", 3, locales=["de"], seed=7)
    assert pair.text == " | ".join(single.text for single in singles)
    assert pair.iso == " ".join(single.iso for single in singles)
    assert (pair.locale, pair.form.count("+")) == ("de+de+de", 2)
    pairs = date_lists("train", 11, 5)
    assert len(pairs) == 11
    assert {len(pair.iso.split()) for pair in pairs} == {5}
    assert {len(pair.text.split(" | ")) for pair in pairs} == {5}
    assert all(split_of(date.fromisoformat(iso)) == "train" for p in pairs for iso in p.iso.split())


@pytest.mark.slow
def test_no_text_stands_for_two_days():
    """Exhaustive: all days, languages and forms, 2.9 million texts."""
    day_of = {}
    days = [FIRST + timedelta(days=number) for number in range(COUNT)]
    for locale in map(Locale.parse, LOCALES):
        for form in FORMS:
            for day in days:
                text = write_date(day, locale, form)
                assert day_of.setdefault(text, day) == day, (text, locale, form)
    assert len(day_of) > 5 * COUNT


def test_a_language_that_cldr_lacks_is_named():
    with pytest.raises(UnknownLocaleError, match="xx"):
        dates("train", 3, locales=["xx"])
