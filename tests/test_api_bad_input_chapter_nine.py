"""The walk of `nonsense.py` through the faulty BLEU and the damages of chapter 9."""

from gates2heads.exercises.damaging import can_be_exchanged, damaged
from gates2heads.exercises.faulty_bleu import scored
from tests.nonsense import CHOICES, FLAGS, THINGS, walk

NO_TEXTS = [THINGS[0], THINGS[2], None, 3, 2.5, ["a", 3]]
ENTRIES = {
    "scored": (
        scored,
        {"hypothesis": "a b a", "references": ["a b", "c"], "faulty": True},
        {"hypothesis": NO_TEXTS, "references": [*NO_TEXTS, []], "faulty": FLAGS},
    ),
    "damaged": (
        damaged,
        {"text": "A man runs.", "damage": "a false word"},
        {"text": NO_TEXTS, "damage": CHOICES},
    ),
    "can_be_exchanged": (can_be_exchanged, {"text": "A man runs."}, {"text": NO_TEXTS}),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
