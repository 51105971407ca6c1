"""What is typed becomes the same text in Python and in the page, whose JavaScript runs in Node."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.tokens.typed import BLANKS, composed, is_in_capitals, spelled, tidy
from tests.javascript import LIBRARY, run_javascript
from tests.needs import needs_data

PIECES = {"pieces": LIBRARY / "browser" / "live" / "pieces.js"}
RULES = {"composed": composed, "tidy": tidy, "spelled": spelled}
BY_HAND = [
    ("Ein\tMann  geht nach Hause!?", "Ein Mann geht nach Hause!?"),
    ("EIN HUND LÄUFT.", "Ein hund läuft."),
    ("EIN WEIßER HUND LÄUFT", "Ein weißer hund läuft"),
    ("EIN WEIẞER HUND", "Ein weißer hund"),
    ("3D FILM UND 2 HUNDE", "3D film und 2 hunde"),
    ("„EIN HUND“, ER LÄUFT", "„Ein hund“, er läuft"),
    ("BMX", "BMX"),
    ("EIN Hund", "EIN Hund"),
    ("ΟΔΟΣ ΟΔΟΣ", "ΟΔΟΣ ΟΔΟΣ"),
    ("ÉCOLE Ÿ USA", "École Ÿ usa"),
    ("日本 中国", "日本 中国"),
    ("ein hund", "ein hund"),
    ("Sup\xadpe auf\u200clegen\ufeff", "Suppe auflegen"),
    ("Ba\u200b\u0308r", "Bär"),
    ("Ein\u2028Mann\u202f\u3000\x85geht\xa0", "Ein Mann geht"),
    ("A man’s “STOP” sign", 'A man\'s "STOP" sign'),
    ("Das „STOP”-Schild", "Das „STOP“-Schild"),
    ("Das »STOP«-Schild", 'Das "STOP"-Schild'),
    ("Ein Hund — er läuft – im Off‑road", "Ein Hund – er läuft – im Off-road"),
    ("👩\u200d🚒 löscht", "👩\u200d🚒 löscht"),
    ("", ""),
    (" \t\u2003", ""),
    ("\x1c a \x1f", "\x1c a \x1f"),  # separators of files are no white space in Unicode
]
ODD = st.characters(exclude_categories=["Cs", "Cn"])
LIKELY = st.sampled_from("ABÄÖÜßẞabäöü  ..,-–—„“”‘’'\"«»3\xad\u0308İıΣσςǅŉﬁK\u200d\n\t\xa0")
TYPED = st.text(st.one_of(LIKELY, ODD), max_size=30)


def in_the_page(texts: list[str]) -> dict[str, list[str]]:
    names = list(RULES)
    body = f"return given.map((one) => {names}.map((name) => pieces[name](one)));"
    rows = run_javascript(body, PIECES, texts)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def same_in_both(texts: list[str]) -> None:
    page = in_the_page(texts)
    for name, rule in RULES.items():
        ours = map(rule, texts)
        pairs = zip(texts, ours, page[name], strict=True)
        others = [row for row in pairs if row[1] != row[2]]
        assert not others, (name, others[:3])


@pytest.mark.parametrize(("typed", "wanted"), BY_HAND)
def test_tidy_by_hand(typed, wanted):
    assert tidy(typed) == wanted


def test_a_date_keeps_its_kinds_of_blanks_and_other_text_its_quotation_marks():
    assert spelled(" 4  mai\t2050\n") == "4 mai 2050"
    assert spelled("\xa01936\u202fг. 5\xa0мая\u3000") == "1936\u202fг. 5\xa0мая"
    assert spelled("5\u200f/5") == "5\u200f/5"
    assert composed("Côte  d’Ivoire\xa0IST EIN „LAND”") == "Côte d’Ivoire IST EIN „LAND”"


def test_python_and_the_page_agree_by_hand():
    same_in_both([typed for typed, _ in BY_HAND])
    # Every capital and small letter, alone and beside others, and every kind of blank and sign.
    signs = [chr(code) for code in range(0x3100) if unicodedata.category(chr(code)) != "Cn"]
    same_in_both([f"A{sign} {sign}B {sign}" for sign in signs])


@settings(max_examples=5)
@given(st.lists(TYPED, min_size=100, max_size=300))
def test_python_and_the_page_agree(texts):
    same_in_both(texts)


def test_blanks_are_those_of_unicode():
    signs = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    body = "return given.filter((sign) => /\\p{White_Space}/u.test(sign));"
    of_unicode = run_javascript(body, given=signs)
    assert [sign for sign in signs if re.match(f"[{BLANKS}]", sign)] == of_unicode


@given(TYPED)
def test_what_is_tidy_stays_so(typed):
    for rule in RULES.values():
        assert rule(rule(typed)) == rule(typed)
    once = tidy(typed)
    assert unicodedata.is_normalized("NFC", once)
    assert all(f"{one}{other}" != "  " for one, other in pairwise(once))
    assert once == once.strip(" \n\t\xa0")


@given(st.lists(st.sampled_from(["EIN", "HUND", "LÄUFT", "ÜBER", "DIE", "STRASSE"]), min_size=2))
def test_capitals_become_small_after_the_first(words):
    shouted = " ".join(words)
    assert is_in_capitals(shouted)
    assert tidy(shouted) == shouted[0] + shouted[1:].lower()


def test_bad_input():
    for rule in RULES.values():
        with pytest.raises(TypeError, match="text must"):
            rule(3)
        with pytest.raises(ValueError, match="text must"):
            rule("\ud83d")


@needs_data
def test_few_captions_would_change():
    """What models were trained on reaches them as it is, but for odd blanks and rare signs."""
    for language, most in (("german", 0.004), ("english", 0.0002)):
        texts = [getattr(pair, language) for split in SPLITS for pair in multi30k(split)]
        assert sum(tidy(text) != text for text in texts) < most * len(texts)
