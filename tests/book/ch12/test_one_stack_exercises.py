"""The checks of chapter 12: right answers pass, and each plausible wrong answer gets its reason."""

import pytest
import torch

from gates2heads.book.ch12 import exercises
from gates2heads.decoding import sampling
from gates2heads.layers import masks
from gates2heads.layers.blocks import SwiGLU
from gates2heads.models.costs import Configuration, decoding_step, kv_cache_bytes

FUNCTIONS = (
    exercises.check_prefix_mask,
    exercises.check_repeat_groups,
    exercises.check_min_p,
)
MISTAKES = [(check, words, wrong) for check in FUNCTIONS for words, wrong in check.mistakes.items()]


def filled_in_rows(length, prefix):
    seen = torch.zeros(length, length, dtype=torch.bool)
    for row in range(length):
        seen[row, : max(row + 1, prefix)] = True
    return seen


def stacked_heads(keys, heads):
    groups = keys.shape[1]
    return torch.stack([keys[:, head * groups // heads] for head in range(heads)], dim=1)


def in_a_loop(probs, share):
    limit = share * max(probs.tolist())
    kept = [one if one >= limit else 0.0 for one in probs.tolist()]
    return torch.tensor([one / sum(kept) for one in kept])


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (exercises.check_prefix_mask, filled_in_rows),
        (
            exercises.check_prefix_mask,
            lambda length, prefix: masks.prefix_mask(torch.tensor([prefix]), length)[0, 0],
        ),
        (exercises.check_repeat_groups, stacked_heads),
        (
            exercises.check_repeat_groups,
            lambda keys, heads: torch.einsum(
                "bgsk,ghgh->bghsk",
                keys,
                torch.ones(keys.shape[1], heads // keys.shape[1], 1, 1).expand(
                    -1, -1, keys.shape[1], heads // keys.shape[1]
                ),
            ).flatten(1, 2),
        ),
        (exercises.check_min_p, in_a_loop),
        (exercises.check_min_p, lambda p, share: sampling.keep_min_p(p.log(), share).exp()),
    ],
)
def test_another_way_to_be_right(check, answer):
    verdict = check(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("check", "words", "wrong"), MISTAKES, ids=[one[1] for one in MISTAKES])
def test_each_known_mistake_is_named(check, words, wrong):
    verdict = check(wrong)
    assert not verdict.passed
    assert words in verdict.message


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (exercises.check_prefix_mask, lambda n, p: masks.causal_mask(n), "causal everywhere"),
        (exercises.check_prefix_mask, lambda n, p: filled_in_rows(n, p).float(), "numbers"),
        (exercises.check_prefix_mask, lambda n: ~masks.causal_mask(n), "2 arguments"),
        (exercises.check_prefix_mask, lambda n, p: filled_in_rows(n, p)[None], "shape"),
        (exercises.check_prefix_mask, lambda n, p: ~filled_in_rows(n, p), "expected"),
        (exercises.check_repeat_groups, lambda k, h: torch.cat([k] * h, dim=1), "shape"),
        (
            exercises.check_repeat_groups,
            lambda k, h: torch.cat([k] * (h // k.shape[1]), dim=1),
            "groups alternate",
        ),
        (exercises.check_repeat_groups, lambda k, h: k.expand(-1, h, -1, -1), "raised"),
        (exercises.check_min_p, lambda p, s: torch.where(p > s, p, 0.0), "expected"),
        (
            exercises.check_min_p,
            lambda p, s: (p * (p >= s * p.max())).softmax(0),
            "expected",
        ),
        (exercises.check_min_p, lambda p, s: p[p >= s * p.max()], "shape"),
        (exercises.check_min_p, lambda p, s: p, "expected"),
        (exercises.check_min_p, ..., "not tried yet"),
    ],
)
def test_a_wrong_answer_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert words in verdict.message, verdict.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((384, 73_728), "one and a half times"),
        ((192, 73_728), "three matrices in place of two"),
        ((576, 73_728), "must be smaller"),
        ((128, 73_728), "2/3, not 1/3"),
        ((255, 73_728), "solve for F′"),
        ((256, 73_728 + 384 + 96), "counted biases"),
        ((256, 96 * 256), "one matrix"),
        ((256, 96 * 384), "one matrix"),
        ((256, 2 * 96 * 256), "parameters is not right"),
        (("many", 73_728), "hidden should be a number"),
        ((256, True), "parameters should be a number"),
        ((256, ...), "not tried yet"),
    ],
)
def test_the_width_is_corrected(given, words):
    verdict = exercises.check_equal_size(*given)
    assert not verdict.passed
    assert words in verdict.message


def test_the_width_is_right_in_the_library():
    """A SwiGLU sublayer of this width has as many numbers as two matrices of 96 × 384."""
    numbers = sum(one.numel() for one in SwiGLU(96, 256).parameters())
    assert numbers == 2 * 96 * 384
    assert exercises.check_equal_size(256, numbers).passed
    assert exercises.check_equal_size(256.0, float(numbers)).passed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((131_072, 4, 148), "keys alone"),
        ((65_536, 4, 148), "number of keys"),
        ((2_097_152, 4, 148), "64 key–value heads"),
        ((4_096, 4, 148), "one layer"),
        ((524_288, 4, 148), "not four"),
        ((262_000, 4, 148), "bytes_per_token is not right"),
        (("many", 4, 148), "bytes_per_token should be a number"),
        ((262_144, 8, 148), "two bytes"),
        ((262_144, 2, 148), "K for the weighted average"),
        ((262_144, 0.5, 148), "multi-head attention"),
        ((262_144, 148, 148), "intensity is not right"),
        ((262_144, "low", 148), "intensity should be a number"),
        ((262_144, 4, 296), "a parameter in int8 has one byte"),
        ((262_144, 4, 74), "one MAC"),
        ((262_144, 4, 37), "That is attention"),
        ((262_144, 4, 300), "sequences is not right"),
        ((262_144, 4, None), "sequences should be a number"),
        ((..., 4, 148), "not tried yet"),
    ],
)
def test_the_cache_is_corrected(given, words):
    verdict = exercises.check_cache(*given)
    assert not verdict.passed
    assert words in verdict.message


def test_the_cache_is_right_in_the_library():
    """The cache of Qwen3 32B, and the least batch at which its products take as long as reading."""
    size = kv_cache_bytes(64, 8, 128, length=1, number_format="bf16")
    qwen = Configuration("Qwen3 32B", 64, 64, 8, 128, 1, parameters=32 * 10**9)
    costs = {"number_format": "int8", "bandwidth": 3350, "arithmetic": 148 * 3.35}
    batch = next(
        batch
        for batch in range(1, 1000)
        if (time := decoding_step(qwen, 1, batch=batch, **costs).products).arithmetic
        >= time.memory * (1 - 1e-12)
    )
    assert exercises.check_cache(size, 64 / (2 * 8), batch).passed


def test_a_mask_by_hand():
    """The table of section 12.1: 15 pairs of the causal mask, and 3 within the prefix."""
    mask = exercises.prefix_mask(5, 3)
    assert mask.int().tolist() == [
        [1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
    ]
