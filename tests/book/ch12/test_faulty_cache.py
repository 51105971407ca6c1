"""The bug of chapter 12: a cache that is right until the window is full, and wrong after it."""

import pytest
import torch

from gates2heads.book.ch12.faulty import (
    FAULTS,
    check_fault,
    check_repair,
    extend_cache,
    in_parallel,
    step_by_step,
    with_window,
)
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.layers.positions import rotate

TEXT = "def mean(values):\n    return sum(values) / len(values)\n"


@pytest.fixture(scope="module")
def one():
    return shipped("python_llama")


@pytest.fixture(scope="module")
def text(one):
    return torch.tensor([[Vocabulary.bos, *one.source.encode(TEXT, eos=False)]])


@pytest.mark.parametrize("window", [1, 8])
def test_the_bug_shows_when_the_window_is_full(one, text, window):
    narrow = with_window(one.model, window)
    parallel = in_parallel(narrow, text)
    assert parallel.shape == (text.shape[1] - 1,)
    assert torch.allclose(step_by_step(narrow, text), parallel, atol=1e-3)
    apart = (step_by_step(narrow, text, faulty=True) - parallel).abs()
    assert apart[:window].max() < 1e-3
    # A window of one has a query and its own key alone, whose rotations cancel.
    assert apart[window:].max() < 1e-3 if window == 1 else apart[window:].mean() > 0.1


def test_a_text_within_the_window_hides_the_bug(one, text):
    wide = with_window(one.model, text.shape[1])
    faulty, whole = step_by_step(wide, text, faulty=True), in_parallel(one.model, text)
    assert torch.allclose(faulty, whole, atol=1e-3)


def test_the_model_itself_keeps_no_window(one, text):
    before = in_parallel(one.model, text)
    narrow = with_window(one.model, 4)
    assert {layer.attention.window for layer in narrow.layers} == {4}
    assert {layer.attention.window for layer in one.model.layers} == {None}
    assert torch.equal(in_parallel(one.model, text), before)
    assert not torch.allclose(in_parallel(narrow, text), before, atol=0.1)


@pytest.mark.parametrize("letter", [*FAULTS, "e", 3])
def test_only_the_true_fault_is_right(letter):
    verdict = check_fault(letter)
    assert verdict.passed == (letter == "b")
    assert "not yet" in verdict.message or letter == "b"


def test_each_wrong_letter_has_its_contradiction():
    told = {letter: check_fault(letter).message for letter in "acd"}
    assert "one position earlier" in told["a"]
    assert "first tokens" in told["c"]
    assert "attend to more positions" in told["d"]
    assert "not tried yet" in check_fault(...).message


def test_another_repair_is_right():
    def cut_before(keys, new, read, window):
        old = keys[:, :, max(0, keys.shape[2] - window + 1) :]
        return torch.cat([old, rotate(new, start=read)], dim=2)

    assert check_repair(cut_before).passed
    assert check_repair(extend_cache).passed


@pytest.mark.parametrize(
    ("words", "wrong"), list(check_repair.mistakes.items()), ids=list(check_repair.mistakes)
)
def test_each_wrong_repair_is_named(words, wrong):
    verdict = check_repair(wrong)
    assert not verdict.passed
    assert words in verdict.message


def joined(last):
    """A repair that differs from the solution in how the new key is rotated."""
    return lambda k, n, read, w: torch.cat([k, last(k, n, read)], dim=2)[:, :, -w:]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda k, n, read, w: torch.cat([k, rotate(n, start=read)], dim=2), "shape"),
        (lambda k, n, read, w: torch.cat([k, rotate(n, start=min(read, w))], dim=2)[:, :, -w:],
         "expected"),
        (joined(lambda k, n, read: rotate(n, start=k.shape[2])), "the bug itself"),
        (joined(lambda k, n, read: rotate(n, start=read + 1)), "one position too many"),
        (joined(lambda k, n, read: rotate(n, start=read - 1)), "expected"),
        (joined(lambda k, n, read: n), "is not rotated"),
        (
            lambda k, n, read, w: torch.cat([rotate(n, start=read), k], dim=2)[:, :, -w:],
            "in front of the others",
        ),
        (
            lambda k, n, read, w: torch.cat([k, rotate(n, start=read)], dim=2)[:, :, 1 - w :],
            "one key too few",
        ),
        (lambda k, n, read: k, "4 arguments"),
        (lambda k, n, read, w: k, "expected|shape"),
    ],
)  # fmt: skip
def test_a_wrong_repair_gets_its_reason(wrong, words):
    verdict = check_repair(wrong)
    assert not verdict.passed
    assert any(word in verdict.message for word in words.split("|")), verdict.message


def test_the_repair_makes_the_keys_of_a_model(one, text):
    """Given unrotated keys one by one, it holds what the library's attention has in its cache."""
    narrow, window = with_window(one.model, 4), 4
    first = narrow.layers[0].attention
    seen = []
    with torch.no_grad():
        vectors = narrow.layers[0].attention_norm(narrow.token_table(text[:, :9]))
        keys = first.k_proj(vectors).unflatten(2, (first.num_key_value_heads, -1)).transpose(1, 2)
        cache = keys[:, :, :0]
        for read in range(9):
            cache = extend_cache(cache, keys[:, :, read : read + 1], read, window)
            seen.append(cache.shape[2])
        _, state = narrow.extend(narrow.start(1), text[:, :9])
    assert seen == [1, 2, 3, 4, 4, 4, 4, 4, 4]
    assert torch.allclose(cache, rotate(keys)[:, :, -window:], atol=1e-5)
    kept = state.past[0].keys
    assert torch.allclose(cache[:, :, -kept.shape[2] :], kept[:, :, -window:], atol=1e-4)
