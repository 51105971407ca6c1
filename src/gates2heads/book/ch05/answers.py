"""Chapter 5, Attention: exercises with answers in words and numbers, and the model with a bug."""

import re
from collections.abc import Collection, Sequence
from fractions import Fraction

import torch

from gates2heads.accepts.shown import shown
from gates2heads.grading.comparison import difference, same
from gates2heads.grading.verdict import NotYetError, check, chosen_fault
from gates2heads.layers.attention.single_head import Attention
from gates2heads.models.translation.seq2seq import EncoderDecoder

SCORE_NAMES = ("dot", "scaled dot", "general", "additive", "concat")


@check("Exercise 5.5")
def check_same(names) -> str:
    """Check which two of the five score functions are the same: both names, in any order."""
    if isinstance(names, str):
        names = re.split(r"[,/&]|\band\b", names)
    if not isinstance(names, Collection) or len(names) != 2:
        raise NotYetError(f"Answer with two names, such as {shown(SCORE_NAMES[:2])}.")
    tidy = {str(name).strip().lower().replace("_", " ").replace("-", " ") for name in names}
    if len(tidy) < 2 or not tidy <= set(SCORE_NAMES):
        raise NotYetError(f"Answer with two of {', '.join(SCORE_NAMES)}, got {shown(names)}.")
    if tidy == {"additive", "concat"}:
        return "M contains W_q and W_k side by side, so both give the same score for every q and k."
    if not tidy & {"additive", "concat"}:
        one = "a factor √K" if "general" not in tidy else "a matrix G, which need not be I"
        raise NotYetError(f"These two are similar, but they differ by {one}.")
    raise NotYetError(
        "If q is doubled, one of the two doubles. The other passes q through a tanh, so it cannot "
        "exceed the sum of the absolute values of w."
    )


GRADIENT = (-0.5, -7.0, 7.5)  # of ½(c − 8)² with respect to the three scores of section 5.2
_WRONG_GRADIENTS = {
    "this is the step of gradient descent, which is the negative gradient": (0.5, 7.0, -7.5),
    "the weight α_j is missing": (-3.0, -21.0, 15.0),
    "the context is not subtracted from the value: (5.3) has v_j − c": (-3.0, -12.0, 0.0),
    "the factor ½ is missing: the derivative of ½(c − 8)² is c − 8": (-1.0, -14.0, 15.0),
    "this is the gradient with respect to the weights α, before the softmax": (-18.0, -36.0, 0.0),
}


def _in_a_row(numbers: object) -> object:
    """Three numbers as a reader may write them, fractions and columns too, as a list of three."""
    if isinstance(numbers, torch.Tensor):
        return numbers.flatten() if numbers.numel() == 3 else numbers
    if not isinstance(numbers, Sequence) or isinstance(numbers, str):
        return numbers
    flat = [one[0] if isinstance(one, Sequence) and len(one) == 1 else one for one in numbers]
    return [float(one) if isinstance(one, Fraction) else one for one in flat]


@check("Exercise 5.2")
def check_gradient(numbers) -> str:
    """Check three numbers computed on paper: the gradient with respect to each score."""
    numbers = _in_a_row(numbers)
    if difference(numbers, torch.tensor(GRADIENT), 1e-2):
        for words, wrong in _WRONG_GRADIENTS.items():
            if same(numbers, torch.tensor(wrong), 1e-2):
                raise NotYetError(f"It looks as if {words}.")
        if difference(numbers, torch.zeros(3)).startswith("expected a tensor"):
            raise NotYetError("Answer with three numbers, one per slot, such as [1.0, 0.0, -1.0].")
        raise NotYetError("Compute c − 8 first, then α_j (c − 8)(v_j − c) for each slot.")
    return (
        "They sum to 0. Gradient descent raises the scores of slots 1 and 2, whose values are "
        "above c, and lowers that of slot 3."
    )


FAULTS = {
    "a": "the softmax runs over the target axis instead of the source axis",
    "b": "the backward encoder reads the padding before it reads the date",
    "c": "the loss includes the padding",
    "d": "padding may be attended to",
    "e": "during training, the decoder reads the character that it should predict",
}


class FaultyAttention(Attention):
    """The library's attention with one bug, to be found from its symptoms."""

    def forward(self, query, keys, values, *, mask=None, projected=False):
        """As in `Attention`, except for the bug."""
        return super().forward(query, keys, values, mask=None, projected=projected)


def faulty_model(source_size: int, target_size: int) -> EncoderDecoder:
    """Build an encoder–decoder that trains and contains one bug.

    Raises:
        TypeError, ValueError: a vocabulary size is not a whole number of at least 1.
    """
    model = EncoderDecoder(source_size, target_size, score="scaled dot")
    model.decoder.attention = FaultyAttention(model.decoder.attention.score)
    return model


@check("Exercise 5.4")
def check_fault(letter) -> str:
    """Check a diagnosis of `faulty_model`: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then, in decoding one step at a time, every weight would be 1 and the sums would "
        "exceed 1.",
        "b": "Then a longer date in the batch would change the states, but all weight would stay "
        "on the date's own characters.",
        "c": "Then a date would get the same probabilities alone and with a longer date.",
        "e": "Then free-running decoding would get most dates wrong.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}, so the other dates of a batch change the output for a date."
