"""Chapter 5, Attention: exercises with answers in words and numbers, and the model with a bug."""

from itertools import combinations

from gates2heads.grading.paper import (
    ChoiceCheck,
    Numbers,
    NumbersCheck,
    bug_check,
    near,
    slips,
)
from gates2heads.layers.attention.single_head import Attention
from gates2heads.models.translation.seq2seq import EncoderDecoder

SCORE_NAMES = ("dot", "scaled dot", "general", "additive", "concat")


def _difference(pair: frozenset[str]) -> str:
    """Why two score functions are not the same; empty for the two that are."""
    if pair == SAME:
        return ""
    if pair & SAME:
        return (
            "If q is doubled, one of the two doubles. The other passes q through a tanh, so it "
            "cannot exceed the sum of the absolute values of w."
        )
    one = "a factor √K" if "general" not in pair else "a matrix G, which need not be I"
    return f"These two are similar, but they differ by {one}."


SAME = frozenset({"additive", "concat"})
check_same = ChoiceCheck(
    title="Exercise 5.5",
    choices=dict.fromkeys(SCORE_NAMES, ""),
    right=SAME,
    against={
        pair: difference
        for pair in map(frozenset, combinations(SCORE_NAMES, 2))
        if (difference := _difference(pair))
    },
    remark="M contains W_q and W_k side by side, so both give the same score for every q and k.",
)

GRADIENT = (-0.5, -7.0, 7.5)  # of ½(c − 8)² with respect to the three scores of section 5.2
check_gradient = NumbersCheck(
    title="Exercise 5.2",
    questions=(
        Numbers(
            name="gradient",
            right=(near(GRADIENT, within=1e-2),),
            slips=slips(
                {
                    (0.5, 7.0, -7.5): "It looks as if this is the step of gradient descent, which "
                    "is the negative gradient.",
                    (-3.0, -21.0, 15.0): "It looks as if the weight α_j is missing.",
                    (-3.0, -12.0, 0.0): "It looks as if the context is not subtracted from the "
                    "value: (5.3) has v_j − c.",
                    (-1.0, -14.0, 15.0): "It looks as if the factor ½ is missing: the derivative "
                    "of ½(c − 8)² is c − 8.",
                    (-18.0, -36.0, 0.0): "It looks as if this is the gradient with respect to the "
                    "weights α, before the softmax.",
                },
                within=1e-2,
            ),
            otherwise="Compute c − 8 first, then α_j (c − 8)(v_j − c) for each slot.",
            ask="Answer with three numbers, one per slot, such as (1.0, 0.0, -1.0)",
        ),
    ),
    remark="They sum to 0. Gradient descent raises the scores of slots 1 and 2, whose values are "
    "above c, and lowers that of slot 3.",
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
    """Build an encoder–decoder that trains and contains one bug."""
    model = EncoderDecoder(source_size, target_size, score="scaled dot")
    model.decoder.attention = FaultyAttention(model.decoder.attention.score)
    return model


check_fault = bug_check(
    "Exercise 5.4",
    FAULTS,
    {
        "a": "Then, in decoding one step at a time, every weight would be 1 and the sums would "
        "exceed 1.",
        "b": "Then a longer date in the batch would change the states, but all weight would stay "
        "on the date's own characters.",
        "c": "Then a date would get the same probabilities alone and with a longer date.",
        "e": "Then free-running decoding would get most dates wrong.",
    },
    closing=", so the other dates of a batch change the output for a date.",
)
