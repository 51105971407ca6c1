"""Chapter 4, Sequence to sequence: the checks of its exercises."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.grading.diagnosis import Case, FunctionCheck
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 4.1: 2 · 10 ** 6 lies below 2 ** 24, 2 · 10 ** 7 above
SAFE_DIGITS = 6
check_digits = NumbersCheck(
    title="Exercise 4.1",
    questions=(
        Numbers(
            name="digits",
            right=(near(SAFE_DIGITS),),
            slips=(
                *slips(
                    {
                        7: "Some sequences of seven digits fit, but not all: 1 9 9 9 9 9 9 9 "
                        "exceeds 2²⁴ = 16,777,216.",
                        8: "2²⁴ has eight digits, but the first one is the leading 1, and "
                        "1 9 9 9 9 9 9 9 exceeds it.",
                        24: "24 is the number of bits. A decimal digit needs more than three bits.",
                        23: "Bits are not digits: a decimal digit needs more than three bits.",
                        5: "Five digits fit, but a sixth does too: 1 9 9 9 9 9 9 is below "
                        "2²⁴ = 16,777,216.",
                    }
                ),
                near(
                    24 * math.log10(2),
                    "That is the logarithm of 2²⁴. Count whole digits after the leading 1.",
                    within=0.1,
                ),
            ),
            otherwise="What is the largest number with n digits after a leading 1?",
        ),
    ),
    remark="1 9 9 9 9 9 9 is 1,999,999; with a seventh 9 it would exceed 16,777,216.",
)

# Exercise 4.4: eleven tokens, each right with this probability if all before it are
EACH, TOKENS = 0.98, 11
WHOLE = EACH**TOKENS
_WHOLE_SLIPS = {
    EACH: "That is the share of correct tokens. A date is correct only if all of its tokens are.",
    EACH**10: "That is for ten tokens. `<eos>` must be correct too, or the output does not end.",
    1
    - TOKENS
    * (1 - EACH): "That subtracts 2 % eleven times. It is close, but probabilities are multiplied.",
    1 - WHOLE: "That is the share of dates with at least one wrong token.",
    TOKENS * EACH: "The probabilities of events that must all occur are multiplied, not added.",
}
check_whole = NumbersCheck(
    title="Exercise 4.4",
    questions=(
        Numbers(
            name="share",
            right=(near(WHOLE, within=0.003),),
            slips=(
                near(
                    100 * WHOLE,
                    "That is a percentage. Give a share between 0 and 1.",
                    within=0.3,
                ),
                *slips(_WHOLE_SLIPS, within=0.003),
                *slips({100 * wrong: hint for wrong, hint in _WHOLE_SLIPS.items()}, within=0.3),
            ),
            otherwise="All eleven tokens must be correct: multiply eleven probabilities.",
        ),
    ),
    remark="One date in five contains a wrong token, although each token is correct with "
    "probability 0.98 as long as all tokens before it are.",
)


# A decoder by hand, for exercises 4.2 and 4.3: its state is a number, whose digits it outputs, the
# last one first; it adds the token that it receives. Token 10 is `end`, and 11 is `begin`.
END, BEGIN = 10, 11


def adding_step(state: int, token: int) -> tuple[Tensor, int]:
    """One step of a decoder by hand: log-probabilities (V,) of V = 12 tokens, and the next state.

    Args:
        state: a whole number that loses one digit per step; it ends at 1.
        token: what is read: a digit, or `BEGIN`, which counts as none.

    Raises:
        TypeError: one of them is not a whole number.
    """
    if not isinstance(state, int) or not isinstance(token, int):
        raise TypeError(f"state and token must be whole numbers, got {shown((state, token))}")
    likeliest = END if state == 1 else (state + token * (token < END)) % 10
    scores = torch.arange(12, dtype=torch.float) / 10
    scores[likeliest] += 3
    return scores.log_softmax(0), max(state // 10, 1)


def greedy_decode(step: Callable, state: int, begin: int, end: int, max_tokens: int) -> list[int]:
    """The solution of exercise 4.2: greedy decoding until the end token."""
    written, token = [], begin
    while len(written) < max_tokens:
        log_probs, state = step(state, token)
        token = int(log_probs.argmax())
        if token == end:
            break
        written.append(token)
    return written


def _write_with(*, feeds=True, carries=True, keeps=False, stops=True, least=False, first=False):
    """The decoding loop with one mistake."""

    def wrong(step, state, begin, end, max_tokens):
        written, token = ([begin] if first else []), begin
        while len(written) < max_tokens:
            log_probs, after = step(state, token)
            state = after if carries else state
            chosen = int(log_probs.argmin() if least else log_probs.argmax())
            token = chosen if feeds else begin
            if chosen == end and stops:
                return [*written, end] if keeps else written
            written.append(chosen)
        return written

    return wrong


check_greedy_decode = FunctionCheck(
    title="Exercise 4.2",
    solution=greedy_decode,
    cases=lambda: [
        # 1471: writes 1; reads 1, state 147: 7 + 1 = 8; reads 8, state 14: 4 + 8 = 12, writes 2
        Case(
            "a step that adds its input to the next digit of 1471 from the right. It outputs 1, "
            "then 7 + 1 = 8, then the 2 of 4 + 8 = 12, then `end`",
            (adding_step, 1471, BEGIN, END, 9),
            [1, 8, 2],
        ),
        Case("a longer number", (adding_step, 1905237, BEGIN, END, 9)),
        Case("a number that is cut off", (adding_step, 1905237, BEGIN, END, 4), [7, 0, 2, 7]),
    ],
    mistakes={
        "every step receives `begin`: a step must receive the output of the previous step": (
            _write_with(feeds=False)
        ),
        "every step starts from the initial state: pass the new state to the next step": (
            _write_with(carries=False)
        ),
        "the output contains `end`: it marks the end of the output and is not part of it": (
            _write_with(keeps=True)
        ),
        "the loop always generates `max_tokens` tokens: it must stop at `end`": (
            _write_with(stops=False)
        ),
        "the least probable token is chosen": _write_with(least=True),
        "the output starts with `begin`: it is an input, not an output": (_write_with(first=True)),
    },
    remark="Chapter 8 calls this greedy search and improves on it.",
)


def teacher_forcing_loss(step: Callable, state: int, begin: int, tokens: Sequence[int]) -> Tensor:
    """The solution of exercise 4.3: mean cross-entropy of a target (T,) under teacher forcing."""
    losses, read = [], begin
    for token in tokens:
        log_probs, state = step(state, read)
        losses.append(-log_probs[token])
        read = token
    return torch.stack(losses).mean()


def _taught_with(*, reads="before", carries=True, joined=torch.mean, sign=-1.0):
    """The loss with one mistake."""

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


check_teacher_forcing_loss = FunctionCheck(
    title="Exercise 4.3",
    solution=teacher_forcing_loss,
    cases=lambda: [
        Case("a target of one token", (adding_step, 1471, BEGIN, [1])),
        Case("the target 1, 7, 4", (adding_step, 1471, BEGIN, [1, 7, 4, END])),
        Case("a longer target", (adding_step, 1905237, BEGIN, [3, 3, 0, 9, 5, 1, END])),
    ],
    mistakes={
        "each step receives the most probable token: that is free-running training": (
            _taught_with(reads="own")
        ),
        "each step receives the token that it must predict: it must receive the previous one": (
            _taught_with(reads="itself")
        ),
        "every step receives `begin`: a step must receive the true previous token": (
            _taught_with(reads="begin")
        ),
        "every step starts from the initial state: pass the new state to the next step": (
            _taught_with(carries=False)
        ),
        "the losses are summed: return their mean": _taught_with(joined=torch.sum),
        "the sign is wrong: the cross-entropy is minus the log-probability": _taught_with(sign=1.0),
        "the loss is in bits, not in nats: the log-probabilities are natural logarithms": (
            _taught_with(sign=-1 / math.log(2))
        ),
    },
    remark="`sequence_loss` computes the same for a whole batch and excludes padding.",
)


def field(kernel_size: int, dilations: Sequence[int]) -> int:
    """The solution of exercise 4.6: how many positions one state of a stack sees."""
    return 1 + sum((kernel_size - 1) * dilation for dilation in dilations)


check_field = FunctionCheck(
    title="Exercise 4.6",
    solution=field,
    cases=lambda: [
        Case("one layer of width 3", (3, [1]), 3),
        Case("two layers of width 3", (3, [1, 1]), 5),
        Case("three layers of width 5", (5, [1, 1, 1]), 13),
        Case("four layers of width 3 with growing gaps", (3, [1, 2, 4, 8]), 31),
    ],
    mistakes={
        "the kernel sizes are added: two layers of size 3 see 5 positions, because they overlap": (
            lambda kernel_size, dilations: sum(kernel_size * one for one in dilations)
        ),
        "the kernel sizes are multiplied": (
            lambda kernel_size, dilations: kernel_size ** len(dilations)
        ),
        "the position itself is missing: add 1": (
            lambda kernel_size, dilations: field(kernel_size, dilations) - 1
        ),
        "the kernel size is ignored: that is right for size 3 only": (
            lambda kernel_size, dilations: 1 + 2 * sum(dilations)
        ),
        "only one side of the window is counted": (
            lambda kernel_size, dilations: 1 + sum(kernel_size // 2 * one for one in dilations)
        ),
        "the dilations are ignored: a dilation widens the window of its layer": (
            lambda kernel_size, dilations: field(kernel_size, [1] * len(dilations))
        ),
    },
    remark="`ConvolutionalEncoder.receptive_field` is the same number.",
)
