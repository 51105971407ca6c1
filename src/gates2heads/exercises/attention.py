"""Chapter 5, Attention: the checks of its exercises, and the faulty model of "When it breaks"."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.checks.shown import shown
from gates2heads.data.corpora.dates import LOCALES, dates
from gates2heads.decoding.translation import translate
from gates2heads.exercises.diagnosis import Case, FunctionCheck
from gates2heads.exercises.verdict import NotYetError, check
from gates2heads.layers.attention.single_head import Attention
from gates2heads.metrics.exact_match import exact_match
from gates2heads.models.translation.seq2seq import EncoderDecoder


def _random(*shapes: tuple[int, ...]) -> list[Tensor]:
    draw = torch.Generator().manual_seed(5)
    return [torch.randn(*shape, generator=draw) for shape in shapes]


def pool(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """The solution of exercise 5.1: query (K,), keys (S, K), values (S, D) -> (D,)."""
    return (keys @ query).softmax(0) @ values


def _pool_cases() -> list[Case]:
    query, keys, values = _random((3,), (7, 3), (7, 5))
    by_hand = torch.tensor([1.0]), torch.tensor([[1.0], [2.0], [3.0]]).log()
    return [
        Case(
            "the example done by hand",
            (*by_hand, torch.tensor([[6.0], [12.0], [0.0]])),
            torch.tensor([5.0]),
        ),
        Case(
            "random keys (7, 3) and values (7, 5)",
            (query, keys, values),
            F.scaled_dot_product_attention(query[None], keys, values, scale=1.0)[0],
        ),
        Case(
            "scores in the thousands",
            (query * 1e4, keys, values),
            values[(keys @ query).argmax()],
        ),
    ]


check_pool = FunctionCheck(
    title="Exercise 5.1",
    solution=pool,
    cases=_pool_cases,
    mistakes={
        "the softmax is missing": lambda q, k, v: (k @ q) @ v,
        "the scores are divided by √K: that is the scaled dot score": (
            lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v
        ),
        "the exponentials are not divided by their sum": lambda q, k, v: (k @ q).exp() @ v,
        "the exponentials overflow: take the softmax of torch, or subtract the maximum": (
            lambda q, k, v: F.normalize((k @ q).exp(), p=1, dim=0) @ v
        ),
        "every value counts the same": lambda q, k, v: v.mean(0),
        "the values are summed without weights": lambda q, k, v: v.sum(0),
        "only the best key is read, which is hard attention": (lambda q, k, v: v[(k @ q).argmax()]),
        "the keys are averaged, not the values": lambda q, k, v: (k @ q).softmax(0) @ k,
    },
    remark="With scores in the thousands it picks one value: softmax has become argmax.",
)


def split(weight: Tensor, query_size: int) -> tuple[Tensor, Tensor]:
    """The solution of exercise 5.2: weight (hidden, Q + K) -> W_q (hidden, Q), W_k (hidden, K)."""
    return weight[:, :query_size], weight[:, query_size:]


check_split = FunctionCheck(
    title="Exercise 5.2",
    solution=split,
    cases=lambda: [Case("a (7, 8) matrix and Q = 3", (*_random((7, 8)), 3))],
    mistakes={
        "the two are the wrong way round: the query comes first in [q; k]": (
            lambda w, n: (w[:, n:], w[:, :n])
        ),
        "rows were cut and not columns": lambda w, n: (w[:n], w[n:]),
        "the last columns were given to the query": lambda w, n: (w[:, -n:], w[:, :-n]),
        "the matrices are transposed": lambda w, n: (w[:, :n].T, w[:, n:].T),
    },
    parts=("W_q", "W_k"),
    remark="So concat and additive are one score function under two names.",
)


def entropy(weights: Tensor) -> Tensor:
    """The solution of exercise 5.3: weights (…, S) -> (…), in nats."""
    return -torch.xlogy(weights, weights).sum(-1)


check_entropy = FunctionCheck(
    title="Exercise 5.3",
    solution=entropy,
    cases=lambda: [
        Case(
            "eight equal weights, twice",
            (torch.full((2, 8), 1 / 8),),
            torch.full((2,), math.log(8)),
        ),
        Case(
            "weights ½, ¼, ¼",
            (torch.tensor([[0.5, 0.25, 0.25]]),),
            torch.tensor([1.5 * math.log(2)]),
        ),
        Case("a single weight of 1", (torch.eye(3),), torch.zeros(3)),
    ],
    mistakes={
        "the logarithm has base 2: these are bits": lambda w: entropy(w) / math.log(2),
        "the logarithm has base 10": lambda w: entropy(w) / math.log(10),
        "the minus sign is missing": lambda w: -entropy(w),
        "it is a mean over the positions and not a sum": lambda w: entropy(w) / w.shape[-1],
        "everything was summed, and not the last axis alone": lambda w: entropy(w).sum(),
        "the wrong axis was summed": lambda w: -torch.xlogy(w, w).sum(0),
        "the logarithms are not weighted": lambda w: -w.log().sum(-1),
        "a weight of 0 meets its logarithm: 0 · log 0 counts as 0, and torch says NaN": (
            lambda w: -(w * w.log()).sum(-1)
        ),
    },
    remark="e to this power is the number of positions that the model looks at.",
)


def reinforce(weights: Tensor, picks: Tensor, rewards: Tensor, baseline: float) -> Tensor:
    """The solution of exercise 5.4: weights (S,), picks (N,), rewards (N,) -> (S,), eq. (5.8)."""
    pushed = F.one_hot(picks, len(weights)) - weights
    return ((rewards - baseline)[:, None] * pushed).mean(0)


def _reinforce_cases() -> list[Case]:
    weights, values = torch.tensor([1.0, 2.0, 3.0]) / 6, torch.tensor([6.0, 12.0, 0.0])
    scores, rewards = _random((5,), (7,))
    picks = torch.tensor([4, 0, 2, 2, 1, 4, 3])
    alike = torch.tensor([0, 1, 1, 2, 2, 2])  # as often as the weights say
    return [
        Case(
            "one draw, of slot 2, with reward 12",
            (weights, torch.tensor([1]), values[1:2], 0.0),
            torch.tensor([-2.0, 8.0, -6.0]),
        ),
        Case(
            "seven draws from five positions, baseline 0.7",
            (scores.softmax(0), picks, rewards, 0.7),
        ),
        *(
            Case(
                f"six draws in proportion to the weights, baseline {baseline}",
                (weights, alike, values[alike], baseline),
                weights * (values - 5),
            )
            for baseline in (0.0, 5.0)
        ),
    ]


check_reinforce = FunctionCheck(
    title="Exercise 5.4",
    solution=reinforce,
    cases=_reinforce_cases,
    mistakes={
        "the baseline is forgotten": lambda w, i, r, b: reinforce(w, i, r, 0.0),
        "the baseline is added": lambda w, i, r, b: reinforce(w, i, r, -b),
        "it is a sum over the draws and not their mean": (
            lambda w, i, r, b: len(i) * reinforce(w, i, r, b)
        ),
        "the sign is wrong: the reward is to grow": lambda w, i, r, b: -reinforce(w, i, r, b),
        "the weights are not taken off the pick": (
            lambda w, i, r, b: ((r - b)[:, None] * F.one_hot(i, len(w))).mean(0)
        ),
        "each draw is weighted by its probability, which the drawing has done already": (
            lambda w, i, r, b: (((r - b) * w[i])[:, None] * (F.one_hot(i, len(w)) - w)).sum(0)
        ),
        "the slots were averaged too": lambda w, i, r, b: reinforce(w, i, r, b).mean(),
    },
    remark="Draws in proportion to the weights give the exact gradient, whatever the baseline.",
)


@check("Exercise 5.5")
def check_left_out(model, source, target, locale, reported) -> str:
    """Check a study: `reported` exact match of `model` on dates of the language it never saw."""
    if locale not in LOCALES:
        raise NotYetError(f"locale should be one of {', '.join(LOCALES)}, got {shown(locale)}.")
    measured = exact_match_on(model, source, target, [locale])
    rest = exact_match_on(model, source, target, [name for name in LOCALES if name != locale])
    if abs(measured - float(reported)) > 0.05:
        raise NotYetError(
            f"On 300 test dates in {shown(locale)} it is {measured:.2f}; you report {reported:.2f}."
        )
    if rest < 0.9:
        raise NotYetError(f"In the languages that it saw it reaches {rest:.2f}; train longer.")
    if measured > 0.95 and locale != "zh":  # Chinese dates are nearly written like Japanese ones
        raise NotYetError(
            f"It reaches {measured:.2f} in {shown(locale)}: did it see that language?"
        )
    return f"Seen languages {rest:.2f}, the unseen one {measured:.2f}."


def exact_match_on(model, source, target, locales) -> float:
    """Exact match of a model on 300 test dates in some languages, a share from 0 to 1."""
    pairs = dates("test", 300, locales=locales, seed=55)
    written = translate(model, [pair.text for pair in pairs], source, target, max_length=12)
    return exact_match(written, [pair.iso for pair in pairs])


FAULTS = {
    "a": "the softmax runs over the target axis instead of the source axis",
    "b": "padding may be attended to",
    "c": "padding is counted in the loss",
    "d": "the decoder reads the token that it should predict",
}


class FaultyAttention(Attention):
    """The library's attention with one fault, which the reader is to find from its symptoms."""

    def forward(self, query, keys, values, *, mask=None, projected=False):
        """As in `Attention`, but for the fault."""
        return super().forward(query, keys, values, mask=None, projected=projected)


def faulty_model(source_size: int, target_size: int) -> EncoderDecoder:
    """An encoder–decoder that trains, and is wrong in one place."""
    model = EncoderDecoder(source_size, target_size, score="scaled dot")
    model.decoder.attention = FaultyAttention(model.decoder.attention.score)
    return model


@check("Exercise 5.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of `faulty_model`: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then, one step at a time, every weight would be 1 and the sums would exceed 1.",
        "c": "Then a date alone and a date in company would still get the same probabilities.",
        "d": "Then free running, with only its own output to read, would get most dates wrong.",
    }
    letter = str(letter).strip(" ().").lower()
    if letter not in FAULTS:
        raise NotYetError(
            f"Answer with one of the letters {', '.join(FAULTS)}, got {shown(letter)}."
        )
    if letter in contradiction:
        raise NotYetError(f"{contradiction[letter]}")
    return f"{FAULTS[letter].capitalize()}, so a sentence's neighbours in the batch change it."
