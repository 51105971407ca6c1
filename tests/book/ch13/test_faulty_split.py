"""The bug of chapter 13: test windows whose tokens are in training windows, too."""

import pytest
import torch

from gates2heads.book.ch13 import faulty
from gates2heads.book.ch13.faulty import (
    FAULTS,
    FRESH,
    LENGTH,
    SHARE,
    STRIDE,
    check_fault,
    check_repair,
    divided,
    library_text,
    losses,
    shared_ngrams,
    split,
)


@pytest.fixture(scope="module")
def text():
    return library_text()


def test_the_buggy_split_shares_most_of_its_test(text):
    windows = split(text, LENGTH, STRIDE, SHARE)
    count = (len(text) - LENGTH) // STRIDE + 1
    assert len(windows.test) == round(SHARE * count)
    assert len(windows.training) + len(windows.test) == count
    assert shared_ngrams(*windows) > 0.5
    assert torch.equal(split(text, LENGTH, STRIDE, SHARE).test, windows.test)
    assert not torch.equal(split(text, LENGTH, STRIDE, SHARE, seed=1).test, windows.test)


def test_the_repaired_split_shares_nothing(text):
    assert shared_ngrams(*divided(text, LENGTH, STRIDE, SHARE)) < 0.05
    fresh = library_text(FRESH).unfold(0, LENGTH, LENGTH)
    assert shared_ngrams(split(text, LENGTH, STRIDE, SHARE).training, fresh) < 0.01


def test_shared_ngrams_by_hand():
    training = torch.tensor([[1, 2, 3, 4], [7, 8, 9, 7]])
    test = torch.tensor([[2, 3, 4, 1], [8, 9, 8, 9]])
    assert shared_ngrams(training, test, 1) == 7 / 8 + 1 / 8
    assert shared_ngrams(training, test, 2) == 4 / 6
    assert shared_ngrams(training, test, 3) == 1 / 4
    assert shared_ngrams(training, test, 4) == 0


def test_the_text_is_that_of_its_modules():
    two = library_text(["bisect", "sched"])
    assert torch.equal(two, torch.cat([library_text(["bisect"]), library_text(["sched"])]))


def test_the_buggy_test_follows_the_training_and_the_repaired_one_does_not(text):
    fresh = library_text(FRESH)
    measured = losses(*split(text, LENGTH, STRIDE, SHARE), fresh)
    assert [len(one) for one in measured] == [faulty.EPOCHS + 1] * 3
    assert max(one[0] for one in measured) - min(one[0] for one in measured) < 0.1
    assert measured.test[-1] - measured.training[-1] < 1.5
    assert measured.fresh[-1] - measured.test[-1] > 3
    right = losses(*divided(text, LENGTH, STRIDE, SHARE), fresh)
    assert right.test[-1] - right.training[-1] > 2
    assert right.test[-1] - measured.test[-1] > 1.5


def test_a_short_training_repeats_itself(text):
    windows = split(text[:2_000], LENGTH, STRIDE, SHARE)
    fresh = library_text(FRESH)[:500]
    first, again = (losses(*windows, fresh, epochs=1, seed=3) for _ in range(2))
    assert first == again
    assert first != losses(*windows, fresh, epochs=1, seed=4)


@pytest.mark.parametrize("letter", [*FAULTS, "e", 3])
def test_only_the_true_fault_is_right(letter):
    verdict = check_fault(letter)
    assert verdict.passed == (letter == "b")
    assert "not yet" in verdict.message or letter == "b"


def test_each_wrong_letter_has_its_contradiction():
    told = {letter: check_fault(letter).message for letter in "acd"}
    assert "falls with the training loss" in told["a"]
    assert "would be as low" in told["c"]
    assert "small at first and grows" in told["d"]
    assert "not tried yet" in check_fault(...).message


def border_of(tokens, share):
    return len(tokens) - round(share * len(tokens))


def cut(tokens, length, stride):
    return [tokens[at : at + length] for at in range(0, len(tokens) - length + 1, stride)]


def as_lists(tokens, length, stride, share):
    border = border_of(tokens, share)
    return cut(tokens[:border], length, stride), cut(tokens[border:], length, stride)


def shuffled_afterwards(tokens, length, stride, share):
    return tuple(one[torch.randperm(len(one))] for one in divided(tokens, length, stride, share))


def truncated(tokens, length, stride, share):
    border = int((1 - share) * len(tokens))
    return tokens[:border].unfold(0, length, stride), tokens[border:].unfold(0, length, stride)


@pytest.mark.parametrize("answer", [divided, as_lists, shuffled_afterwards, truncated])
def test_right_repairs_pass(answer):
    verdict = check_repair(answer)
    assert verdict.passed, verdict.message


def every_fourth(tokens, length, stride, share):
    windows = tokens.unfold(0, length, stride)
    tested = torch.arange(len(windows)) % 4 == 3
    return windows[~tested], windows[tested]


def windows_divided(tokens, length, stride, share):
    windows = tokens.unfold(0, length, stride)
    border = len(windows) - round(share * len(windows))
    return windows[:border], windows[border:]


def over_the_border(tokens, length, stride, share):
    windows = tokens.unfold(0, length, stride)
    before = (border_of(tokens, share) - 1) // stride + 1
    return windows[:before], tokens[border_of(tokens, share) :].unfold(0, length, stride)


def of_disjoint_windows(tokens, length, stride, share):
    windows = tokens.unfold(0, length, length)
    tested = torch.arange(len(windows)) % 2 == 1
    return windows[~tested], windows[tested]


def without_overlap(tokens, length, stride, share):
    return divided(tokens, length, length, share)


def test_text_without_overlap(tokens, length, stride, share):
    training, test = divided(tokens, length, stride, share)
    return training, test[:: length // stride]


test_text_without_overlap.__test__ = False


def tokens_shuffled(tokens, length, stride, share):
    return divided(tokens[torch.randperm(len(tokens))], length, stride, share)


def beginning_tested(tokens, length, stride, share):
    border = round(share * len(tokens))
    return tokens[border:].unfold(0, length, stride), tokens[:border].unfold(0, length, stride)


def with_a_gap(tokens, length, stride, share):
    training, test = divided(tokens, length, stride, share)
    return training[:-1], test


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (split, "test windows overlap with training windows"),
        (every_fourth, "test windows overlap with training windows"),
        (of_disjoint_windows, "Divide the text"),
        (windows_divided, "a window reaches over the border"),
        (over_the_border, "a window reaches over the border"),
        (without_overlap, "windows overlap as before"),
        (test_text_without_overlap, "test windows instead of"),
        (with_a_gap, "training windows instead of"),
        (tokens_shuffled, "do not shuffle the text"),
        (beginning_tested, "these are the first"),
        (lambda t, n, s, part: divided(t, n, s, 1 - part), "shares exchanged"),
        (lambda t, n, s, part: (divided(t, n, s, part)[0], t[:0].view(0, n)), "no test windows"),
        (lambda t, n, s, part: divided(t, n, s, part)[::-1], "first"),
        (lambda t, n, s, part: (divided(t, n, s, part)[0], []), "no test windows"),
        (lambda t, n, s, part: (t, t), "should be a tensor"),
        (lambda t, n, s, part: divided(t, s, s, part), "not 8"),
        (lambda t, n, s, part: t.unfold(0, n, s), "two tensors"),
        (lambda t, n, s, part: print(end=""), "returns nothing"),
        (lambda t, n, s: divided(t, n, s, 0.5), "raised"),
        (lambda t, n, s, part: t.unfold(1, n, s), "raised"),
        (5, "should be a function"),
        (..., "not tried yet"),
    ],
)
def test_a_wrong_repair_gets_its_reason(wrong, words):
    verdict = check_repair(wrong)
    assert not verdict.passed
    assert words in verdict.message, verdict.message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split(torch.arange(5), 6, 3, 0.1), "length must"),
        (lambda: divided(torch.arange(50), 6, 3, 0.1), "length must"),
        (lambda: shared_ngrams(*divided(torch.arange(50), 6, 3, 0.5), 7), "n must"),
        (
            lambda: losses(*divided(torch.arange(50), 6, 3, 0.5), torch.arange(5)),
            "fresh must",
        ),
    ],
)
def test_nonsense_gets_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
