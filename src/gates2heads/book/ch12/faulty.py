"""Chapter 12, a bug to find: a cache with a window that loses the position of the next token."""

from copy import deepcopy

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, natural, tokens
from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import bug_check
from gates2heads.layers.positions import rotate
from gates2heads.models.language.decoder_only import CachedState, DecoderOnly

FAULTS = {
    "a": "the cache drops one position too many, so each query sees one token fewer",
    "b": "new queries and keys get the length of the cache as their position, and this length "
    "stops growing when the window is full",
    "c": "the keys in the cache are rotated a second time at every step",
    "d": "the oldest keys are never dropped, and the mask lets a query attend to them",
}


@accepts(model=instance(DecoderOnly), window=natural)
def with_window(model: DecoderOnly, window: int) -> DecoderOnly:
    """A copy of a model whose attention reaches back no further than a window.

    Args:
        model: with rotary encoding.
        window: how many positions each query attends to, its own included.
    """
    narrow = deepcopy(model)
    for layer in narrow.layers:
        layer.attention.window = window
    return narrow


@accepts(model=instance(DecoderOnly), text=tokens("1 T", below="model.vocabulary_size"))
@torch.no_grad()
def step_by_step(model: DecoderOnly, text: Tensor, *, faulty: bool = False) -> Tensor:
    """The log-probability of each token of a text (1, T), read one by one with the cache: (T − 1,).

    Args:
        model: any.
        text: (1, T) long, `<bos>` first.
        faulty: whether the cache has the bug.
    """
    state, found = model.start(), []
    for position in range(text.shape[1] - 1):
        if faulty:
            cached = state.past[0].keys.shape[2]
            state = CachedState(state.past, torch.full_like(state.length, cached))
        log_probs, state = model.step(state, text[:, position])
        found.append(log_probs[0, text[0, position + 1]])
    return torch.stack(found)


@accepts(model=instance(DecoderOnly), text=tokens("1 T", below="model.vocabulary_size"))
@torch.no_grad()
def in_parallel(model: DecoderOnly, text: Tensor) -> Tensor:
    """The same log-probabilities (T − 1,) without a cache, all positions in one pass.

    Args:
        model: any.
        text: (1, T) long, `<bos>` first.
    """
    log_probs = model.logits(text[:, :-1]).log_softmax(dim=-1)
    return log_probs[0].gather(1, text[0, 1:, None])[:, 0]


check_fault = bug_check(
    "Exercise 12.6",
    FAULTS,
    {
        "a": "Then the first window − 1 tokens would be right, but the error would begin one "
        "position earlier, and it would stay small: one token fewer in the context.",
        "c": "Then one of the first tokens would already be wrong, because their keys are cached.",
        "d": "Then the queries would attend to more positions, but no token would appear at a "
        "wrong position. Extra context does little harm, so the surprisal would not rise.",
    },
)


def extend_cache(keys: Tensor, new: Tensor, read: int, window: int) -> Tensor:
    """The solution of the repair: the rotated keys that the next query needs.

    Args:
        keys: (1, G, S, K), the cache; its keys are rotated already.
        new: (1, G, 1, K), the key of the token at position `read`, not rotated yet.
        read: how many tokens were read before it.
        window: how many positions a query attends to, its own included.

    Returns:
        (1, G, S', K), S' ≤ window: the keys for the query at this position.
    """
    rotated = rotate(new, start=read)
    return torch.cat([keys, rotated], dim=2)[:, :, -window:]


def _extended_with(*, start="read", again=False, kept=0, turned=True, front=False):
    def extended(keys, new, read, window):
        at = {"read": read, "cache": keys.shape[2], "next": read + 1}[start]
        rotated = rotate(new, start=at) if turned else new
        parts = [rotated, keys] if front else [keys, rotated]
        joined = torch.cat(parts, dim=2)
        if again:
            joined = torch.cat([rotate(keys, start=read - keys.shape[2]), rotated], dim=2)
        return joined[:, :, -(window + kept) :] if window + kept else joined[:, :, :0]

    return extended


def _cases() -> list[Case]:
    short, long, new = random_tensors((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 1, 4))
    return [
        Case("three keys in a window of five", (short, new, 3, 5)),
        Case(
            "five keys and a window of five, after nine tokens: the oldest leaves",
            (long, new, 9, 5),
        ),
        Case("a window of four, after 20 tokens", (short, new, 20, 4)),
    ]


check_repair = FunctionCheck(
    title="Exercise 12.6, the repair",
    solution=extend_cache,
    cases=_cases,
    mistakes={
        "the key gets the length of the cache as its position, which is the bug itself": (
            _extended_with(start="cache")
        ),
        "the key is rotated by one position too many: the first token is at position 0": (
            _extended_with(start="next")
        ),
        "the key is not rotated": _extended_with(turned=False),
        "the keys of the cache are rotated a second time": _extended_with(again=True),
        "the new key is put in front of the others": _extended_with(front=True),
        "one key too many is kept": _extended_with(kept=1),
        "one key too few is kept": _extended_with(kept=-1),
    },
    remark="The values are cut in the same way, without a rotation.",
)
