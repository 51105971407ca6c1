"""Chapter 5, Attention: the checks of its exercises, and the faulty model of "When it breaks"."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.checks.shown import shown
from gates2heads.data.corpora.dates import LOCALES, dates
from gates2heads.decoding.translation import translate
from gates2heads.exercises.verdict import NotYetError, check
from gates2heads.layers.attention.scores import ConcatScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.metrics.exact_match import exact_match
from gates2heads.models.translation.seq2seq import EncoderDecoder

TOLERANCE = 1e-5


def tensor_like(answer, wanted: Tensor, case: str) -> None:
    """Raise `NotYetError` unless `answer` is the wanted tensor; the message shows the case."""
    if answer is None or answer is ...:
        raise NotYetError(f"For {case} your function returned nothing.")
    answer = torch.as_tensor(answer, dtype=wanted.dtype)
    if answer.shape != wanted.shape:
        raise NotYetError(
            f"For {case} the shape should be {tuple(wanted.shape)}, yours is {tuple(answer.shape)}."
        )
    if not torch.allclose(answer, wanted, atol=TOLERANCE):
        raise NotYetError(f"For {case} the answer is {in_short(wanted)}, yours {in_short(answer)}.")


def in_short(tensor: Tensor) -> str:
    """The first numbers of a tensor, to three decimals."""
    numbers = [f"{number:.3f}" for number in tensor.flatten()[:4].tolist()]
    return f"[{', '.join(numbers)}{', …' if tensor.numel() > 4 else ''}]"


@check("Exercise 5.1")
def check_pool(pool) -> str:
    """Check `pool(query (K,), keys (S, K), values (S, D))` -> (D,): attention with dot scores."""
    query, keys = torch.tensor([1.0]), torch.tensor([[1.0], [2.0], [3.0]]).log()
    values = torch.tensor([[6.0], [12.0], [0.0]])
    tensor_like(pool(query, keys, values), torch.tensor([5.0]), "the example done by hand")
    draw = torch.Generator().manual_seed(5)
    query, keys, values = (torch.randn(*s, generator=draw) for s in [(3,), (7, 3), (7, 5)])
    wanted = F.scaled_dot_product_attention(query[None], keys, values, scale=1.0)[0]
    tensor_like(pool(query, keys, values), wanted, "random keys (7, 3) and values (7, 5)")
    wanted = values[(keys @ query).argmax()]
    answer = pool(query * 1e4, keys, values)
    if not torch.isfinite(torch.as_tensor(answer)).all():
        raise NotYetError("Large scores give NaN. Take the softmax of torch, or subtract the max.")
    tensor_like(answer, wanted, "scores in the thousands")
    return "With scores in the thousands it picks one value: softmax has become argmax."


@check("Exercise 5.2")
def check_split(split) -> str:
    """Check `split(weight (hidden, Q + K), query_size)` -> W_q (hidden, Q) and W_k (hidden, K)."""
    torch.manual_seed(5)
    score = ConcatScore(3, 5, 7)
    answer = split(score.weight.detach(), 3)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise NotYetError("Return two matrices: W_q and W_k.")
    tensor_like(answer[0], score.query_layer.weight.detach(), "W_q of a (7, 8) matrix")
    tensor_like(answer[1], score.key_layer.weight.detach(), "W_k of a (7, 8) matrix")
    return "So concat and additive are one score function under two names."


@check("Exercise 5.3")
def check_entropy(entropy) -> str:
    """Check `entropy(weights (…, S))` -> (…): in nats, zeros allowed."""
    uniform = torch.full((2, 8), 1 / 8)
    tensor_like(entropy(uniform), torch.full((2,), math.log(8)), "eight equal weights")
    single = torch.eye(3)
    answer = entropy(single)
    if torch.isnan(torch.as_tensor(answer)).any():
        raise NotYetError("A weight of 0 gives NaN: 0 · log 0 counts as 0.")
    tensor_like(answer, torch.zeros(3), "a single weight of 1")
    mixed = torch.tensor([[0.5, 0.25, 0.25]])
    tensor_like(entropy(mixed), torch.tensor([1.5 * math.log(2)]), "weights ½, ¼, ¼")
    return "e to this power is the number of positions that the model looks at."


@check("Exercise 5.4")
def check_reinforce(reinforce) -> str:
    """Check `reinforce(weights (S,), picks (N,), rewards (N,), baseline)` -> (S,): eq. (5.8)."""
    weights, values = torch.tensor([1.0, 2.0, 3.0]) / 6, torch.tensor([6.0, 12.0, 0.0])
    one = reinforce(weights, torch.tensor([1]), values[1:2], 0.0)
    tensor_like(one, torch.tensor([-2.0, 8.0, -6.0]), "one draw, of slot 2, with reward 12")
    draw = torch.Generator().manual_seed(5)
    scores = torch.randn(5, generator=draw, requires_grad=True)
    picks, rewards = torch.randint(5, (7,), generator=draw), torch.randn(7, generator=draw)
    ((rewards - 0.7) * scores.log_softmax(0)[picks]).mean().backward()
    answer = reinforce(scores.detach().softmax(0), picks, rewards, 0.7)
    tensor_like(answer, scores.grad, "seven draws from five positions, baseline 0.7")
    picks = torch.tensor([0, 1, 1, 2, 2, 2])  # as often as the weights say
    exact = weights * (values - 5)
    for baseline in (0.0, 5.0):
        answer = reinforce(weights, picks, values[picks], baseline)
        tensor_like(answer, exact, f"six draws in proportion to the weights, baseline {baseline}")
    return "Draws in proportion to the weights give the exact gradient, whatever the baseline."


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
