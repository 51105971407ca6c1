"""Normalisation of typed text; `pieces.js` implements the same rules in the page.

Training text is not normalised in this way. Each kind of model has one rule: `tidy` for the
captions, `composed` for other running text, `spelled` for dates.
"""

import re
import unicodedata

from gates2heads.accepts import accepts, string

BLANKS = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode's white space
# Soft hyphens, blanks and joiners of no width, marks of direction. The joiner of emoji is kept.
UNSEEN = re.compile("[\xad\u200b\u200c\u200e\u200f\u2060\ufeff]")
BLANK, ENDS = re.compile(f"[{BLANKS}]+"), re.compile(f"^[{BLANKS}]+|[{BLANKS}]+\\Z")
# Of German, English and what Western Europe adds to them: not all versions of Unicode agree on
# what else is a capital.
CAPITAL, SMALL = re.compile("[A-ZÀ-ÖØ-Þẞ]"), re.compile("[a-zà-öø-ÿ]")
COMMON = re.compile("[ \t\r\n]+")  # dates of other languages contain other spaces
# The 29,000 captions for training hold 529 straight apostrophes and 4 typographic ones, no
# guillemets, 70 en dashes and no em dash.
SIGNS = str.maketrans(
    {
        **dict.fromkeys("‘’‚ʼ´`", "'"),
        **dict.fromkeys("«»", '"'),
        **dict.fromkeys("—―", "–"),
        **dict.fromkeys("\u2010\u2011", "-"),
    }
)


@accepts(text=string)
def composed(text: str) -> str:
    """Normalise running text to composed characters (NFC) and single spaces, none at an end.

    Soft hyphens and other zero-width characters are removed.
    """
    return ENDS.sub("", BLANK.sub(" ", unicodedata.normalize("NFC", UNSEEN.sub("", text))))


@accepts(text=string)
def spelled(text: str) -> str:
    """Normalise a date of any language; its kinds of spaces are kept inside."""
    return ENDS.sub("", COMMON.sub(" ", unicodedata.normalize("NFC", text)))


@accepts(text=string)
def tidy(text: str) -> str:
    """Normalise German or English to the style of the captions.

    The text is `composed`, and quotation marks, apostrophes and dashes become those of the
    captions: „so“ after a low mark, otherwise "so". A text in capitals is converted to lower case
    after its first letter, since subword models know few words in capitals.
    """
    plain = composed(text).translate(SIGNS)
    plain = plain.replace("”", "“") if "„" in plain else re.sub("[“”]", '"', plain)
    return _small_after_first(plain) if is_in_capitals(plain) else plain


def is_in_capitals(text: str) -> bool:
    """Whether two or more words have capitals and none has lower-case letters; ß is neither.

    A single word may be an abbreviation, such as BMX.
    """
    return not SMALL.search(text) and sum(map(bool, map(CAPITAL.search, text.split(" ")))) >= 2


def _small_after_first(text: str) -> str:
    first = CAPITAL.search(text).end()
    return text[:first] + CAPITAL.sub(lambda found: found[0].lower(), text[first:])
