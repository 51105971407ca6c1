"""Chapter 8, a bug to find: a correct and a buggy beam search on one sentence."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, flag, listed, string
from gates2heads.decoding.beam import beam
from gates2heads.decoding.search import greedy
from gates2heads.decoding.translation import check_sides
from gates2heads.grading.paper import bug_check

FAULTS = {
    "a": "the search stops at the first finished hypothesis, even if another could overtake it",
    "b": "a prefix is extended, but the cached keys and values it uses belong to another prefix",
    "c": "a hypothesis that ended with `<eos>` is not removed from the beam and is extended",
    "d": "a candidate is scored by its last token alone, without its prefix",
}


class Unordered(NamedTuple):
    """A state with the bug that the reader is to find."""

    inner: Any

    def select_rows(self, rows: Tensor) -> "Unordered":
        """The state of as many sequences as there are rows, in the wrong order."""
        size = self.inner.size
        return Unordered(self.inner.select_rows(torch.arange(len(rows)).clamp(max=size - 1)))


class Beamed(NamedTuple):
    """The output of a beam search for one sentence, and the log-probability that it reported."""

    tokens: list[int]
    log_prob: float


@accepts(faulty=flag)
@torch.no_grad()
def beamed(
    model, text: str, source, target, *, width: int, faulty: bool = False, max_length: int = 40
) -> Beamed:
    """Run a beam search in which finished hypotheses keep their slots, without normalisation.

    Args:
        model: a Transformer, whose state can be put into another order.
        text: the source sentence.
        source, target: the tokenizers of the two sides.
        width: k.
        faulty: whether the search has the bug.
        max_length: the maximum length of the output.
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


@accepts(text=string, prefix=listed("token numbers", least=1))
@torch.no_grad()
def rescored(model, text: str, source, target, prefix: Sequence[int]) -> float:
    """The log-probability that the model assigns to a translation, token by token.

    Args:
        model, text, source, target: as for `beamed`.
        prefix: the tokens of the translation, without `<bos>`.
    """
    state, options = _begin(model, text, source, target)
    forced = greedy(model.step, state, **options, max_length=len(prefix), prefix=prefix)
    return float(forced.log_prob[0])


def _begin(model, text, source, target) -> tuple[Any, dict[str, int]]:
    """The state before the first token, and the arguments of every search of this model."""
    check_sides(model, source, target)
    words, state = target.vocabulary, model.start(torch.tensor([source.encode(text)]))
    if not hasattr(state, "select_rows"):
        raise TypeError(
            "model must have a state whose rows can be reordered, as a Transformer has, got "
            f"{type(model).__name__}"
        )
    return state, {"bos": words.bos, "eos": words.eos}


check_fault = bug_check(
    "Exercise 8.6",
    FAULTS,
    {
        "a": "Then a better hypothesis could be missed, but the reported value would be correct.",
        "c": "Then some output would continue after `<eos>`, and none does.",
        "d": "Then the reported log-probability would be that of one token, even with k = 1.",
    },
    closing=". With k = 1 there is nothing to reorder, so nothing goes wrong.",
)
