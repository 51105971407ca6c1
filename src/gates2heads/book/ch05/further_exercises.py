"""Chapter 5, Further page: checks of the exercises on REINFORCE and on an unseen language."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.data.corpora.dates import LOCALES, dates
from gates2heads.decoding.translation import translate
from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.verdict import NotYetError, check
from gates2heads.metrics.exact_match import exact_match


def reinforce(weights: Tensor, picks: Tensor, rewards: Tensor, baseline: float) -> Tensor:
    """The solution of exercise 5.8: weights (S,), picks (N,), rewards (N,) -> (S,), eq. (5.7)."""
    pushed = F.one_hot(picks, len(weights)) - weights
    return ((rewards - baseline)[:, None] * pushed).mean(0)


def _reinforce_cases() -> list[Case]:
    weights, values = torch.tensor([1.0, 2.0, 3.0]) / 6, torch.tensor([6.0, 12.0, 0.0])
    scores, rewards = random_tensors((5,), (7,))
    picks = torch.tensor([4, 0, 2, 2, 1, 4, 3])
    alike = torch.tensor([0, 1, 1, 2, 2, 2])  # with the frequencies of the weights
    return [
        Case(
            "one sample, slot 2, with reward 12",
            (weights, torch.tensor([1]), values[1:2], 0.0),
            torch.tensor([-2.0, 8.0, -6.0]),
        ),
        Case(
            "seven samples from five positions, baseline 0.7",
            (scores.softmax(0), picks, rewards, 0.7),
        ),
        *(
            Case(
                f"six samples in proportion to the weights, baseline {baseline}",
                (weights, alike, values[alike], baseline),
                weights * (values - 5),
            )
            for baseline in (0.0, 5.0)
        ),
    ]


check_reinforce = FunctionCheck(
    title="Exercise 5.8",
    solution=reinforce,
    cases=_reinforce_cases,
    mistakes={
        "the baseline is missing": lambda w, i, r, b: reinforce(w, i, r, 0.0),
        "the baseline is added instead of subtracted": lambda w, i, r, b: reinforce(w, i, r, -b),
        "it is a sum over the samples instead of their mean": (
            lambda w, i, r, b: len(i) * reinforce(w, i, r, b)
        ),
        "the sign is wrong: this gradient should increase the reward": lambda w, i, r, b: (
            -reinforce(w, i, r, b)
        ),
        "the weights are not subtracted from the one-hot vector of the sample": (
            lambda w, i, r, b: ((r - b)[:, None] * F.one_hot(i, len(w))).mean(0)
        ),
        "this is the gradient with respect to the weights, with 1/α, not to the scores": (
            lambda w, i, r, b: ((r - b)[:, None] * F.one_hot(i, len(w)) / w).mean(0)
        ),
        "each term is divided by the weight of its sample: ∇ ln α has no 1/α by the scores": (
            lambda w, i, r, b: (((r - b) / w[i])[:, None] * (F.one_hot(i, len(w)) - w)).mean(0)
        ),
        "each component is divided by its weight: ∇ ln α has no 1/α by the scores": (
            lambda w, i, r, b: reinforce(w, i, r, b) / w
        ),
        "each sample is weighted by its probability, which the sampling already accounts for": (
            lambda w, i, r, b: (((r - b) * w[i])[:, None] * (F.one_hot(i, len(w)) - w)).sum(0)
        ),
        "the mean was also taken over the slots": lambda w, i, r, b: reinforce(w, i, r, b).mean(),
    },
    remark="Samples in proportion to the weights give the exact gradient, whatever the baseline.",
)


@check("Exercise 5.9")
def check_left_out(model, source, target, locale, reported) -> str:
    """Check a study: the `reported` exact match of `model` on dates of an unseen language."""
    if not isinstance(locale, str) or locale not in LOCALES:
        raise NotYetError(f"locale should be one of {', '.join(LOCALES)}, got {shown(locale)}.")
    try:
        reported = float(reported)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        reported = math.nan
    if not 0 <= reported <= 1:
        raise NotYetError("Report the exact match that you measured, as a fraction.")
    measured = exact_match_on(model, source, target, [locale])
    rest = exact_match_on(model, source, target, [name for name in LOCALES if name != locale])
    if abs(measured - reported) > 0.05:
        raise NotYetError(
            f"On 300 test dates in {shown(locale)} it is {measured:.2f}; "
            f"you reported {reported:.2f}."
        )
    if rest < 0.9:
        raise NotYetError(
            f"In the seven languages of training it reaches only {rest:.3f}; train longer."
        )
    if measured > 0.95 and locale == "zh":  # Chinese dates are almost like Japanese ones
        return (
            f"Seen languages {rest:.2f}, Chinese {measured:.2f}. This is so close to 1 that the "
            "check cannot tell whether the model was trained on Chinese dates."
        )
    if measured > 0.95:
        raise NotYetError(
            f"It reaches {measured:.2f} in {shown(locale)}: was it trained on that language?"
        )
    return f"Seen languages {rest:.2f}, the unseen one {measured:.2f}."


def exact_match_on(model, source, target, locales) -> float:
    """Exact match of a model on 300 test dates in some languages, as a fraction."""
    pairs = dates("test", 300, locales=locales, seed=55)
    written = translate(model, [pair.text for pair in pairs], source, target, max_length=12)
    return exact_match(written, [pair.iso for pair in pairs])
