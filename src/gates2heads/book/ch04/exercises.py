"""Chapter 4, Sequence to sequence: the checks of its exercises."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.grading.diagnosis import Case, FunctionCheck
from gates2heads.grading.verdict import NotYetError, check, finite_number

# Exercise 4.1: 2 · 10 ** 6 lies below 2 ** 24, 2 · 10 ** 7 above
SAFE_DIGITS = 6
_DIGIT_SLIPS = {
    7: "Some sequences of seven digits fit, not all: 1 9 9 9 9 9 9 9 is above 2²⁴ = 16,777,216.",
    8: "2²⁴ has eight digits, but the first of them is our mark, and 1 9 9 9 9 9 9 9 is above it.",
    24: "24 is the number of bits. A decimal digit takes more than three of them.",
    23: "Bits are not digits: a decimal digit takes more than three of them.",
    5: "Five fit, and so do more: 1 9 9 9 9 9 9 is below 2²⁴ = 16,777,216.",
}

# Exercise 4.4: eleven tokens, each right with this probability if all before it are
EACH, TOKENS = 0.98, 11
WHOLE = EACH**TOKENS
_WHOLE_SLIPS = {
    EACH: "That is the share of single tokens. A date is right if all of its tokens are.",
    EACH**10: "That is for ten tokens. `<eos>` must be right too, or the date goes on.",
    1 - TOKENS * (1 - EACH): "That takes 2 % off eleven times. It is near, but chances multiply.",
    1 - WHOLE: "That is the share of dates with at least one wrong token.",
    TOKENS * EACH: "Chances of things that must all happen are multiplied, not added.",
}


@check("Exercise 4.1")
def check_digits(digits) -> str:
    """Check how many decimal digits a whole number below 2 ** 24 always holds behind a 1."""
    number = finite_number(digits)
    if number == SAFE_DIGITS:
        return "1 9 9 9 9 9 9 is 1,999,999; with a seventh 9 it would be above 16,777,216."
    if number in _DIGIT_SLIPS:
        raise NotYetError(_DIGIT_SLIPS[number])
    if abs(number - 24 * math.log10(2)) < 0.1:
        raise NotYetError("That is the logarithm of 2²⁴. Count whole digits, behind the mark 1.")
    raise NotYetError("Which is the largest number that n digits behind a 1 can make?")


@check("Exercise 4.4")
def check_whole(share) -> str:
    """Check the share of whole dates when each of eleven tokens is right with 0.98."""
    number = finite_number(share)
    if abs(number - 100 * WHOLE) < 0.3:
        raise NotYetError("That is in percent. Give a share from 0 to 1.")
    if abs(number - WHOLE) < 0.003:
        return (
            "One date in five has a wrong token, although each token is right in 49 cases of 50 "
            "as long as all before it are."
        )
    for slip, words in _WHOLE_SLIPS.items():
        if abs(number - slip) < 0.003 or abs(number - 100 * slip) < 0.3:
            raise NotYetError(words)
    raise NotYetError("All eleven tokens must be right: multiply eleven chances.")


# A decoder by hand, for exercises 4.2 and 4.3: its state is a number, which it writes digit by
# digit, the last first; what it has read it adds. Token 10 ends a line, and 11 begins one.
END, BEGIN = 10, 11


def adding_step(state: int, token: int) -> tuple[Tensor, int]:
    """One step of a decoder by hand: log-probabilities (V,) of V = 12 tokens, and the next state.

    Args:
        state: a whole number, of which a digit goes with each step; 1 is its end.
        token: what is read: a digit, or `BEGIN`, which counts as none.

    Raises:
        TypeError: they are no whole numbers.
    """
    if not isinstance(state, int) or not isinstance(token, int):
        raise TypeError(f"state and token must be whole numbers, got {shown((state, token))}")
    likeliest = END if state == 1 else (state + token * (token < END)) % 10
    scores = torch.arange(12, dtype=torch.float) / 10
    scores[likeliest] += 3
    return scores.log_softmax(0), max(state // 10, 1)


def write(step: Callable, state: int, begin: int, end: int, most: int) -> list[int]:
    """The solution of exercise 4.2: run a decoder freely until it writes its end."""
    written, token = [], begin
    while len(written) < most:
        log_probs, state = step(state, token)
        token = int(log_probs.argmax())
        if token == end:
            break
        written.append(token)
    return written


def _write_with(*, feeds=True, carries=True, keeps=False, stops=True, least=False, first=False):
    """The loop with one thing done otherwise."""

    def wrong(step, state, begin, end, most):
        written, token = ([begin] if first else []), begin
        while len(written) < most:
            log_probs, after = step(state, token)
            state = after if carries else state
            chosen = int(log_probs.argmin() if least else log_probs.argmax())
            token = chosen if feeds else begin
            if chosen == end and stops:
                return [*written, end] if keeps else written
            written.append(chosen)
        return written

    return wrong


check_write = FunctionCheck(
    title="Exercise 4.2",
    solution=write,
    cases=lambda: [
        # 1471: writes 1; reads 1, state 147: 7 + 1 = 8; reads 8, state 14: 4 + 8 = 12, writes 2
        Case("the number 1471, by hand", (adding_step, 1471, BEGIN, END, 9), [1, 8, 2]),
        Case("a longer number", (adding_step, 1905237, BEGIN, END, 9)),
        Case("a number that has no room", (adding_step, 1905237, BEGIN, END, 4), [7, 0, 2, 7]),
    ],
    mistakes={
        "every step reads `begin`: a step reads what was written at the step before": (
            _write_with(feeds=False)
        ),
        "every step begins from the first state: carry the new state on": (
            _write_with(carries=False)
        ),
        "the end is written too: it says that the text is over, and is no part of it": (
            _write_with(keeps=True)
        ),
        "nothing stops the loop before `most` tokens: it should stop at `end`": (
            _write_with(stops=False)
        ),
        "the least likely token is taken": _write_with(least=True),
        "`begin` stands at the beginning of the text: it is read, not written": (
            _write_with(first=True)
        ),
    },
    remark="This is free running; chapter 8 calls it greedy search, and asks for better.",
)


def taught_loss(step: Callable, state: int, begin: int, tokens: Sequence[int]) -> Tensor:
    """The solution of exercise 4.3: mean surprise at a target (T,), by teacher forcing."""
    losses, read = [], begin
    for token in tokens:
        log_probs, state = step(state, read)
        losses.append(-log_probs[token])
        read = token
    return torch.stack(losses).mean()


def _taught_with(*, reads="before", carries=True, joined=torch.mean, sign=-1.0):
    """The loss with one thing done otherwise."""

    def wrong(step, state, begin, target):
        losses, read = [], begin
        for token in target:
            log_probs, after = step(state, token if reads == "itself" else read)
            state = after if carries else state
            losses.append(sign * log_probs[token])
            read = int(log_probs.argmax()) if reads == "own" else token
            read = begin if reads == "begin" else read
        return joined(torch.stack(losses))

    return wrong


check_taught_loss = FunctionCheck(
    title="Exercise 4.3",
    solution=taught_loss,
    cases=lambda: [
        Case("a target of one token", (adding_step, 1471, BEGIN, [1])),
        Case("the target 1, 7, 4", (adding_step, 1471, BEGIN, [1, 7, 4, END])),
        Case("a longer target", (adding_step, 1905237, BEGIN, [3, 3, 0, 9, 5, 1, END])),
    ],
    mistakes={
        "each step reads what the decoder would have written: that is free running": (
            _taught_with(reads="own")
        ),
        "each step reads the token that it should predict: it must read the one before": (
            _taught_with(reads="itself")
        ),
        "every step reads `begin`: a step reads the true token before it": (
            _taught_with(reads="begin")
        ),
        "every step begins from the first state: carry the new state on": (
            _taught_with(carries=False)
        ),
        "the surprises are added up: take their mean": _taught_with(joined=torch.sum),
        "the sign is missing: a surprise is minus a log-probability": _taught_with(sign=1.0),
        "the surprises are in bits and not in nats: the log-probabilities are natural ones": (
            _taught_with(sign=-1 / math.log(2))
        ),
    },
    remark="`sequence_loss` does the same for a whole batch, and leaves padding out.",
)


def field(kernel_size: int, dilations: Sequence[int]) -> int:
    """The solution of exercise 4.5: how many positions one state of a stack sees."""
    return 1 + sum((kernel_size - 1) * dilation for dilation in dilations)


check_field = FunctionCheck(
    title="Exercise 4.5",
    solution=field,
    cases=lambda: [
        Case("one layer of width 3", (3, [1]), 3),
        Case("two layers of width 3", (3, [1, 1]), 5),
        Case("three layers of width 5", (5, [1, 1, 1]), 13),
        Case("four layers of width 3 with growing gaps", (3, [1, 2, 4, 8]), 31),
    ],
    mistakes={
        "the widths are added: two layers of width 3 see 5 positions, their middles overlap": (
            lambda kernel_size, dilations: sum(kernel_size * one for one in dilations)
        ),
        "the widths are multiplied": (lambda kernel_size, dilations: kernel_size ** len(dilations)),
        "the position itself is missing: add 1": (
            lambda kernel_size, dilations: field(kernel_size, dilations) - 1
        ),
        "only one side of the window is counted": (
            lambda kernel_size, dilations: 1 + sum(kernel_size // 2 * one for one in dilations)
        ),
        "the gaps between the positions of a window do not count: a dilation widens it": (
            lambda kernel_size, dilations: field(kernel_size, [1] * len(dilations))
        ),
    },
    remark="`ConvolutionalEncoder.receptive_field` is the same number.",
)
