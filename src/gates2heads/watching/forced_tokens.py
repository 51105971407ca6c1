"""The outputs of a decoder with some tokens replaced, or with teacher forcing.

In free-running decoding, the input of each step is the output of the previous step. There a token
may be replaced: the next step then receives the given token instead of the decoder's output. With
teacher forcing, all inputs are those of a given text, whatever the outputs.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, function, mapping, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.decoding.steps import SEARCH, Step, advance, begin
from gates2heads.decoding.translation import check_sides

MOST_HELD = 512  # steps: longer than all texts of the book


class Line(NamedTuple):
    """One run of a decoder."""

    tokens: list[str]  # T tokens: generated, replaced or given; <eos> last if it was generated
    hidden: Tensor  # (T, U): the decoder's state at each step
    log_probs: Tensor  # (T, V) in nats: its predictions


class ObservedForcing(NamedTuple):
    """One input text, and three runs of the decoder."""

    source: list[str]  # S tokens, <eos> last
    states: Tensor  # (S, U) of the encoder
    summary: Tensor  # (U,): the context vector
    vocabulary: list[str]  # V of the target
    free: Line  # always the most probable token, the input of the next step
    held: Line  # the same, except for the replaced tokens
    taught: Line  # teacher forcing


@accepts(
    step=SEARCH["step"],
    length=natural(most=MOST_HELD),
    held=mapping("steps to tokens (B,)"),
    watch=function("state", "log_probs"),
)
def run_held(
    step: Step,
    state: Any,
    bos: Tensor | int,
    length: int,
    *,
    held: Mapping[int, Tensor] | None = None,
    watch: Callable[[Any, Tensor], None] | None = None,
) -> Tensor:
    """Free-running decoding for a number of steps, with some tokens replaced.

    Args:
        step: (state, last_tokens (B,)) -> (log_probs (B, V), state).
        state: the initial state of `step`.
        bos: the first input: a number, or one for each of B texts, (B,) long.
        length: T, the number of steps; decoding does not stop earlier.
        held: step, from 0, -> tokens (B,) long that replace the decoder's.
        watch: called at each step with the state after it and the log_probs.

    Returns:
        tokens (B, T) long.

    Raises:
        TypeError, ValueError: `bos` is not a token, or a replaced step or its tokens are invalid.
    """
    last, written = begin(bos), []
    _check_held({} if held is None else held, last, length)
    with torch.no_grad():
        for place in range(length):
            log_probs, state = advance(step, state, last, eos=None)
            if watch is not None:
                watch(state, log_probs)
            last = log_probs.argmax(dim=-1)
            if held and place in held:
                last = held[place].to(last)
            written.append(last)
    return torch.stack(written, dim=1)


@accepts(
    text=string,
    held=mapping("steps to tokens"),
    taught=string,
    max_length=natural(most=MOST_HELD),
)
def observe_forcing(
    model: nn.Module,
    text: str,
    source,
    target,
    *,
    held: Mapping[int, str] | None = None,
    taught: str | None = None,
    max_length: int = 16,
) -> ObservedForcing:
    """Decode a text three times: free-running, with replaced tokens, and with teacher forcing.

    Args:
        model: an encoder–decoder, such as `EncoderDecoder`.
        text: the input.
        source, target: the tokenizers of the two sides.
        held: step, from 0, -> the token that replaces the decoder's, such as {2: "7"}; `"<eos>"`
            ends the run. Steps after the end have no effect.
        taught: the target for teacher forcing, without `<eos>`; the free-running output if not
            given.
        max_length: the maximum number of tokens of a free run, `<eos>` included.

    Raises:
        TypeError, ValueError: the state of the model's decoder is not accessible, a replaced token
            is not in the target's vocabulary, or as raised by a tokenizer.
    """
    check_sides(model, source, target)
    words, numbers = target.vocabulary, source.encode(text)
    tokens = _numbers_of({} if held is None else held, words)
    with torch.no_grad():
        state = model.start(torch.tensor([numbers]))
    _hidden_of(state)
    free = _line(model, state, words, max_length)
    line = _line(model, state, words, max_length, tokens) if tokens else free
    if taught is None:
        forced = words.encode([token for token in free.tokens if token != "<eos>"])
    else:
        forced = target.encode(taught, eos=False) if taught else []
    lesson = dict(enumerate([*forced, words.eos]))
    return ObservedForcing(
        [source.vocabulary.tokens[number] for number in numbers],
        state.memory.states[0],
        state.memory.summary[0],
        list(words.tokens),
        free,
        line,
        _line(model, state, words, len(lesson), lesson),
    )


def _line(model, state, words, length: int, held: Mapping[int, int] | None = None) -> Line:
    """Run a decoder up to the first `<eos>`; with teacher forcing, every token is replaced."""
    hidden, expected = [], []

    def watch(now, log_probs):
        hidden.append(_hidden_of(now))
        expected.append(log_probs[0])

    held = {} if held is None else held
    within = {place: torch.tensor([number]) for place, number in held.items() if place < length}
    numbers = run_held(model.step, state, words.bos, length, held=within, watch=watch)[0].tolist()
    end = numbers.index(words.eos) + 1 if words.eos in numbers else length
    return Line(
        [words.tokens[number] for number in numbers[:end]],
        torch.stack(hidden[:end]),
        torch.stack(expected[:end]),
    )


def _hidden_of(state: Any) -> Tensor:
    """The state (U,) of a decoder's upper layer, of the first text of a batch."""
    if hasattr(state, "hidden"):
        return state.hidden[0]
    if hasattr(state, "carried"):
        return state.carried[0][0, -1]
    raise TypeError(
        f"model must have a recurrent decoder, whose state can be seen, got {type(state).__name__}"
    )


def _check_held(held: Mapping[int, Tensor], bos: Tensor, length: int) -> None:
    for place, tokens in held.items():
        natural(least=0, most=length - 1).check("each step of held", place)
        if not isinstance(tokens, Tensor) or tokens.shape != bos.shape:
            raise ValueError(
                f"held[{place}] must hold one token for each of {len(bos)} texts, got "
                f"{shown(tokens)}"
            )


def _numbers_of(held: Mapping[int, str], words) -> dict[int, int]:
    """Step -> number of the replacing token."""
    for place, token in held.items():
        natural(least=0).check("each step of held", place)
        if token not in words.index or token in ("<bos>", "<pad>"):
            raise ValueError(f"held[{place}] must be a token of the target, got {shown(token)}")
    return {place: words.index[token] for place, token in held.items()}
