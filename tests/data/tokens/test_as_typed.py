"""Training text as people type it: each habit, the shares, and the same text from the same seed."""

import pytest

from gates2heads.data.tokens.as_typed import HABITS, AsTyped, without_stop, without_umlauts
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.characters import CharacterTokenizer

MANY = [f"Über {number} Straßen läuft Änne Öl-Müller." for number in range(997)]


@pytest.fixture(scope="module")
def tokenizer():
    return BPETokenizer.train(MANY[:97], 311)


def test_habits_by_hand():
    assert without_umlauts("Ä Ö Ü ä ö ü ß é") == "Ae Oe Ue ae oe ue ss é"
    assert without_stop("Ein Hund.") == without_stop("Ein Hund . ") == "Ein Hund"
    for kept in ("Ein Hund", "Nr. 3 läuft", "Er läuft!", ".", "Er sagt: „Halt.“"):
        assert without_stop(kept) == kept
    assert without_stop("Halt...") == "Halt.."
    assert (str.lower, without_umlauts, without_stop) == HABITS


def test_no_share_changes_nothing_and_draws_alike(tokenizer):
    reads = AsTyped(tokenizer, 0)
    assert [reads.typed(text) for text in MANY] == MANY
    assert [reads.encode(text) for text in MANY] == [tokenizer.encode(text) for text in MANY]


def test_a_whole_share_changes_every_text_and_each_habit_most(tokenizer):
    reads = AsTyped(tokenizer, 1, seed=5)
    typed = [reads.typed(text) for text in MANY]
    assert all(one != text for one, text in zip(typed, MANY, strict=True))
    done = [
        (one == one.lower(), "ae" in one.lower() and "ä" not in one, not one.endswith("."))
        for one in typed
    ]
    # Each is certain for a third of the texts and done to half of the others: two thirds.
    for habit in zip(*done, strict=True):
        assert sum(habit) / len(MANY) == pytest.approx(2 / 3, abs=0.06)
    assert all(any(habits) for habits in done)
    # Every text is what some of the habits make of its own, nothing else.
    for one, text, habits in zip(typed, MANY, done, strict=True):
        wanted = text
        for habit, was_done in zip(HABITS, habits, strict=True):
            wanted = habit(wanted) if was_done else wanted
        assert one == wanted


def test_a_share_of_the_texts_is_changed(tokenizer):
    reads = AsTyped(tokenizer, 0.3, seed=7)
    changed = sum(reads.typed(text) != text for text in MANY)
    assert changed / len(MANY) == pytest.approx(0.3, abs=0.05)


def test_the_same_seed_gives_the_same_texts(tokenizer):
    def numbers(seed):
        reads = AsTyped(tokenizer, 0.5, seed=seed)
        return [reads.encode(text) for text in MANY]

    assert numbers(3) == numbers(3)
    assert numbers(3) != numbers(4)
    assert numbers(-1) == numbers(2**64 - 1)


def test_it_numbers_as_its_tokenizer_does():
    text = "Ein Hund."
    tokenizer = CharacterTokenizer.from_texts([text, text.lower()])
    reads = AsTyped(tokenizer, 1, seed=0)
    for eos in (True, False):
        numbers = reads.encode(text, eos=eos)
        assert tokenizer.decode(numbers) in {text.lower(), "Ein Hund", "ein hund", text}
        assert (numbers[-1] == tokenizer.vocabulary.eos) == eos


def test_bad_input(tokenizer):
    for share, error in ((1.1, ValueError), (-0.1, ValueError), ("all", TypeError)):
        with pytest.raises(error, match="share must"):
            AsTyped(tokenizer, share)
