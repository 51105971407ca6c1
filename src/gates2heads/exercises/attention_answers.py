"""Chapter 5, Attention: exercises that are answered in words and numbers, and the faulty model."""

import re
from collections.abc import Collection, Sequence
from fractions import Fraction

import torch

from gates2heads.accepts.shown import shown
from gates2heads.exercises.comparison import difference, same
from gates2heads.exercises.verdict import NotYetError, check, chosen_fault
from gates2heads.layers.attention.single_head import Attention
from gates2heads.models.translation.seq2seq import EncoderDecoder

SCORE_NAMES = ("dot", "scaled dot", "general", "additive", "concat")


@check("Exercise 5.2")
def check_same(names) -> str:
    """Check which two of the five score functions are one: the names of both, in any order."""
    if isinstance(names, str):
        names = re.split(r"[,/&]|\band\b", names)
    if not isinstance(names, Collection) or len(names) != 2:
        raise NotYetError(f"Answer with two names, such as {shown(SCORE_NAMES[:2])}.")
    tidy = {str(name).strip().lower().replace("_", " ").replace("-", " ") for name in names}
    if len(tidy) < 2 or not tidy <= set(SCORE_NAMES):
        raise NotYetError(f"Answer with two of {', '.join(SCORE_NAMES)}, got {shown(names)}.")
    if tidy == {"additive", "concat"}:
        return "M is W_q and W_k side by side: for every q and k the same number."
    if not tidy & {"additive", "concat"}:
        one = "a factor √K" if "general" not in tidy else "a matrix G that is free to be another"
        raise NotYetError(f"The two are alike but for {one}, and that is a difference.")
    raise NotYetError(
        "One of the two doubles when q is doubled; the other puts q through a tanh, and cannot "
        "grow beyond the sum of the sizes of w."
    )


GRADIENT = (-0.5, -7.0, 7.5)  # of ½(c − 8)² with respect to the three scores done by hand
_WRONG_GRADIENTS = {
    "you give the step of descent, which is the gradient turned round": (0.5, 7.0, -7.5),
    "the weight α_j is forgotten": (-3.0, -21.0, 15.0),
    "the context is not taken off the value: (5.3) has v_j − c": (-3.0, -12.0, 0.0),
    "the ½ is lost: the slope of ½(c − 8)² is c − 8": (-1.0, -14.0, 15.0),
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


@check("Exercise 5.3")
def check_gradient(numbers) -> str:
    """Check three numbers found with a pencil: what gradient reaches each of the scores."""
    numbers = _in_a_row(numbers)
    if difference(numbers, torch.tensor(GRADIENT), 1e-2):
        for words, wrong in _WRONG_GRADIENTS.items():
            if same(numbers, torch.tensor(wrong), 1e-2):
                raise NotYetError(f"It looks as if {words}.")
        if difference(numbers, torch.zeros(3)).startswith("the answer should be"):
            raise NotYetError("Answer with three numbers, one a slot, such as [1.0, 0.0, -1.0].")
        raise NotYetError("Begin with c − 8, then go on slot by slot: α_j (c − 8)(v_j − c).")
    return (
        "They sum to 0. Descent raises the scores of slots 1 and 2, whose values lie above c, and "
        "lowers that of slot 3."
    )


FAULTS = {
    "a": "the softmax runs over the target axis instead of the source axis",
    "b": "the encoder reads the padding, from the right, before it reads the date",
    "c": "padding is counted in the loss",
    "d": "padding may be attended to",
    "e": "the decoder reads the character that it should predict",
}


class FaultyAttention(Attention):
    """The library's attention with one fault, which the reader is to find from its symptoms."""

    def forward(self, query, keys, values, *, mask=None, projected=False):
        """As in `Attention`, but for the fault."""
        return super().forward(query, keys, values, mask=None, projected=projected)


def faulty_model(source_size: int, target_size: int) -> EncoderDecoder:
    """An encoder–decoder that trains, and is wrong in one place.

    Raises:
        TypeError, ValueError: a size of a vocabulary is no whole number of at least 1.
    """
    model = EncoderDecoder(source_size, target_size, score="scaled dot")
    model.decoder.attention = FaultyAttention(model.decoder.attention.score)
    return model


@check("Exercise 5.5")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of `faulty_model`: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then, one step at a time, every weight would be 1 and the sums would exceed 1.",
        "b": "Then company would change the states, but all weight would stay on the date's own "
        "characters.",
        "c": "Then a date alone and a date in company would still get the same probabilities.",
        "e": "Then free running, with only its own output to read, would get most dates wrong.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}, so a date's neighbours in the batch change what is written for it."
