"""Chapter 8, when it breaks: a beam search, sound or with a fault, on one text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, flag, listed, text
from gates2heads.decoding.beam import beam
from gates2heads.decoding.search import greedy
from gates2heads.decoding.translation import check_sides
from gates2heads.exercises.verdict import check, chosen_fault

FAULTS = {
    "a": "the length rule divides what is complete, and nothing that is still open",
    "b": "a prefix gets a new token, but not the keys and values of the prefix it comes from",
    "c": "what ended with `<eos>` is not set apart, and goes on",
    "d": "a candidate is scored by its last token alone, without the prefix before it",
}


class Unordered(NamedTuple):
    """A state with the fault, which the reader is to find."""

    inner: Any

    def select_rows(self, rows: Tensor) -> "Unordered":
        """The state of as many sequences as are asked for."""
        size = self.inner.size
        return Unordered(self.inner.select_rows(torch.arange(len(rows)).clamp(max=size - 1)))


class Beamed(NamedTuple):
    """What a beam wrote for one text, and with which log-probability it says so."""

    tokens: list[int]
    log_prob: float


@accepts(faulty=flag)
@torch.no_grad()
def beamed(
    model, text: str, source, target, *, width: int, faulty: bool = False, max_length: int = 40
) -> Beamed:
    """Search with a beam in which complete sequences keep their places, without a length rule.

    Args:
        model: a Transformer, whose state can be put into another order.
        text: what is read.
        source, target: the tokenizers of the two sides.
        width: k.
        faulty: search with the fault.
        max_length: the most tokens that are written.
    """
    state, options = _begin(model, text, source, target)
    options |= {"max_length": max_length, "width": width}

    def step(state, last_tokens):
        log_probs, inner = model.step(state.inner, last_tokens)
        return log_probs, Unordered(inner)

    if faulty:
        found = beam(step, Unordered(state), **options)
    else:
        found = beam(model.step, state, **options)
    return Beamed(found.tokens[0, 0, : int(found.length[0, 0])].tolist(), float(found.log_prob[0]))


@accepts(text=text, prefix=listed("token numbers", least=1))
@torch.no_grad()
def rescored(model, text: str, source, target, prefix: Sequence[int]) -> float:
    """The log-probability that the model itself gives to a text's translation, token by token.

    Args:
        model, text, source, target: as for `beamed`.
        prefix: the tokens that were written, without `<bos>`; nothing is written after them.
    """
    state, options = _begin(model, text, source, target)
    forced = greedy(model.step, state, **options, max_length=len(prefix), prefix=prefix)
    return float(forced.log_prob[0])


def _begin(model, text, source, target) -> tuple[Any, dict[str, int]]:
    """The state before the first token, and what every search of this model is told."""
    check_sides(model, source, target)
    words, state = target.vocabulary, model.start(torch.tensor([source.encode(text)]))
    if not hasattr(state, "select_rows"):
        raise TypeError(
            "model must have a state that can be put into order, as a Transformer has, got "
            f"{type(model).__name__}"
        )
    return state, {"bos": words.bos, "eos": words.eos}


@check("Exercise 8.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty beam: one letter of `FAULTS`."""
    contradiction = {
        "a": "No length rule was used in any of the runs, so it cannot be at fault.",
        "c": "Then something would stand after `<eos>`, and nothing does.",
        "d": "Then the log-probability that is told would be that of one token, also with k = 1.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}. With k = 1 there is nothing to be put in order, so nothing goes wrong."
