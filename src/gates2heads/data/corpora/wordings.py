"""Facts in two wordings, one of which is held out for the test."""

import hashlib
from functools import lru_cache

from gates2heads.accepts import accepts, choice, instance, listed
from gates2heads.accepts.shown import shown
from gates2heads.data.corpora.cldr_facts import Fact, facts, names
from gates2heads.data.corpora.splits import SPLITS

RELATIONS = ("currency", "language")  # the facts about a territory
KEPT_BACK = 5  # of five facts, one is for validation and one for the test
STRANGERS = "strangers"  # facts about territories that do not occur in training
FACTS = listed("facts", kind=instance(Fact), least=1)


@accepts(split=choice((*SPLITS, STRANGERS)))
def wordings(split: str) -> list[Fact]:
    """Sentences about the territories of the training data, and the same facts in other words.

    The facts are the currency of a territory and its official languages, in
    English and in Chinese. Each fact has two wordings, see `cldr_facts.TEMPLATES`. Both are in
    `train` for three facts of five. Of the others one wording is in `train`, and the other one in
    `validation` or `test`: to fill its mask, a model must know the fact, not the sentence.

    Args:
        split: `train`, `validation` or `test`, or `strangers`: all facts about territories that are
            in none of the three.
    """
    if split == STRANGERS:
        return facts("test", relations=RELATIONS)
    stated = [fact for part in SPLITS[:2] for fact in facts(part, relations=RELATIONS)]
    pairs = zip(stated[::2], stated[1::2], strict=True)  # the two wordings of a fact are adjacent
    return [fact for pair in pairs for fact in pair if split_of_wording(*pair)[fact.text] == split]


@accepts(first=instance(Fact), second=instance(Fact))
def split_of_wording(first: Fact, second: Fact) -> dict[str, str]:
    """The split of each of the two wordings of a fact, by its text.

    The same on every machine and in every version.
    """
    lot = hashlib.sha256(first.text.encode()).digest()
    kept = {0: "test", 1: "validation"}.get(lot[0] % KEPT_BACK, "train")
    back = (first, second)[lot[1] % 2]
    return {fact.text: kept if fact is back else "train" for fact in (first, second)}


@accepts(fact=instance(Fact))
def territory_code(fact: Fact) -> str:
    """The ISO 3166 code of the territory that a fact is about, such as "CH".

    Raises:
        ValueError: no territory has this name.
    """
    codes = _codes(fact.locale)
    if fact.subject not in codes:
        raise ValueError(f"fact must be about a territory of CLDR, got {shown(fact.subject)}")
    return codes[fact.subject]


@lru_cache(maxsize=2)
def _codes(locale: str) -> dict[str, str]:
    return {name: code for code, name in names("territories", locale).items()}
