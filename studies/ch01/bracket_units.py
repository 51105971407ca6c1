"""Which unit of the gate explorer's networks counts brackets, and does the network need it?

    python -m studies.ch01.bracket_units
    python -m studies.ch01.bracket_units lstm --again
    python -m studies.ch01.bracket_units --table

A setting is a network: "lstm" or "gru", trained on Python source, or the same network before
training ("-untrained"). Seed 0 is the network that is distributed with the library; the networks
of other seeds are trained from scratch. Test data are modules of the standard library that no
network was trained on, in passages of 256 characters that begin where no bracket or string is
open. Each passage is read from the initial state.

Karpathy, Johnson & Li 2015 found such units by inspection. Here they are found by a score. For a
question with the answer yes or no, such as "inside brackets?", the score is the area under the ROC
curve of the unit's cell state (LSTM) or hidden state (GRU); for a number, such as the indent, it is
the rank correlation. The unit and its sign are chosen on one half of the modules, and the stored
score is measured on the other half. The two controls are the best unit of the untrained network and
a predictor that knows only the current character (`character_alone`).

`forgetting` shows the effect of clamping: one unit after the other is made to forget at every step
(forget gate 0, or update gate 0), and the surprisal of closing brackets, closing quotes and all
other characters is measured, in bits per character.
"""

from functools import cache
from math import log
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.book.studies import Study
from gates2heads.data.corpora.python.marks import CLOSING, QUOTES, Marks, mark_source
from gates2heads.data.corpora.python.source import passage_starts, python_source
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import clamp_gates
from gates2heads.metrics.detection import area_under_curve
from gates2heads.metrics.words.vectors import rank_correlation
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.training.checkpoints import load_weights
from shipping.gates import CELLS, WEIGHTS, tokenizer, train, untrained

LENGTH, PASSAGES, CLAMPED_PASSAGES = 256, 300, 100  # of each half; of the half with the scores
SETTINGS = [f"{cell}{kind}" for cell in CELLS for kind in ("", "-untrained")]
SEEN = {"lstm": "cell", "gru": "hidden"}  # the quantity that stores a unit's information
FORGETS = {"lstm": {"forget": 0.0}, "gru": {"update": 0.0}}
YES_OR_NO = ("brackets", "quotes", "string", "comment", "string or comment")
NUMBERS = ("depth", "indent", "column")


class Read(NamedTuple):
    """P passages of L characters, and the syntactic state after each character."""

    tokens: Tensor  # (P, L) long
    truths: dict[str, Tensor]  # (P, L), by the names of YES_OR_NO and NUMBERS


@cache
def half(number: int) -> Read:
    """Every other module of the test split, from the first or from the second on."""
    found = []
    for module in python_source("test")[number::2]:
        marks = mark_source(module.text)
        for start in passage_starts(module.text, LENGTH):
            text = module.text[start : start + LENGTH]
            before = max(start - 1, 0)
            blank = not (start and (marks.depth[before] or marks.string[before]))
            if blank and len(text) == LENGTH:
                found.append((text, Marks(*(one[start : start + LENGTH] for one in marks))))
    chosen = found[:: max(len(found) // PASSAGES, 1)][:PASSAGES]
    tokens = torch.tensor([tokenizer().encode(text, eos=False) for text, _ in chosen])
    marks = Marks(*(torch.stack(side) for side in zip(*(one for _, one in chosen), strict=True)))
    quotes = torch.stack([in_quotes(text, one.string) for text, one in chosen])
    yes = (marks.depth > 0, quotes, marks.string, marks.comment, marks.string | marks.comment)
    numbers = (marks.depth, marks.indent, marks.column)
    return Read(tokens, dict(zip((*YES_OR_NO, *NUMBERS), (*yes, *numbers), strict=True)))


def in_quotes(text: str, string: Tensor) -> Tensor:
    """Where a string with one quote on each side is open (L,): not a docstring, which is prose."""
    found, place = string.clone(), 0
    while place < len(text):
        end = place
        while end < len(text) and string[end]:
            end += 1
        if text[place : place + 3] in (3 * QUOTES[0], 3 * QUOTES[1]):
            found[place:end] = False
        place = max(end, place + 1)
    return found


def network(setting: str, seed: int) -> RecurrentLanguageModel:
    """The network of a setting."""
    cell, _, kind = setting.partition("-")
    if not kind and seed:
        return train(cell, seed)[0]
    model = untrained(cell, seed)
    if not kind:
        load_weights(WEIGHTS / f"gates_{cell}.safetensors", model)
    return model


@torch.no_grad()
def states(model: RecurrentLanguageModel, tokens: Tensor, quantity: str) -> Tensor:
    """What each unit holds after each of the characters (P, L): (P · L, U)."""
    begin = torch.full_like(tokens[:, :1], tokenizer().vocabulary.bos)
    with record(model) as trace:
        model.logits(torch.cat([begin, tokens], dim=1))
    return trace.joined("recurrent", f"{quantity}_l0")[:, 1:].flatten(0, 1)


def scores(held: Tensor, truth: Tensor, name: str) -> Tensor:
    """How well each unit predicts the truth (N,): areas or correlations (U,), signs kept."""
    if name in YES_OR_NO:
        return area_under_curve(held, truth)
    return torch.tensor([rank_correlation(unit, truth.double()) for unit in held.double().t()])


def turned(score: float, name: str, sign: int) -> float:
    """The score of a unit that is read with this sign."""
    if name in YES_OR_NO:
        return score if sign > 0 else 1 - score
    return sign * score


def find(model: RecurrentLanguageModel, quantity: str) -> dict[str, dict]:
    """The best unit for each question: chosen on one half, measured on the other."""
    first, second = half(0), half(1)
    there, here = (states(model, one.tokens, quantity) for one in (first, second))
    found = {}
    for name in (*YES_OR_NO, *NUMBERS):
        all_there = scores(there, first.truths[name].flatten(), name)
        middle = 0.5 if name in YES_OR_NO else 0.0
        unit = int((all_there - middle).abs().argmax())
        sign = 1 if all_there[unit] >= middle else -1
        truth = second.truths[name].flatten()
        score = float(scores(here[:, unit : unit + 1], truth, name))
        found[name] = {
            "unit": unit,
            "sign": sign,
            "kind": "area under the curve" if name in YES_OR_NO else "rank correlation",
            "chosen_at": turned(float(all_there[unit]), name, sign),
            "score": turned(score, name, sign),
            "character_alone": character_alone(first, second, name),
            "share": float(truth.double().mean()) if name in YES_OR_NO else None,
        }
    return found


def character_alone(first: Read, second: Read, name: str) -> float:
    """The score of the mean that each character has on the first half."""
    size = len(tokenizer().vocabulary)
    tokens = first.tokens.flatten()
    truth = first.truths[name].flatten().double()
    total = torch.zeros(size, dtype=torch.double).index_add(0, tokens, truth)
    times = torch.bincount(tokens, minlength=size)
    guess = (total / times.clamp(min=1)).where(times > 0, truth.mean())[second.tokens.flatten()]
    return float(scores(guess[:, None], second.truths[name].flatten(), name))


class Closing(NamedTuple):
    """How surprising the ends of brackets and strings are, in bits, and all other characters."""

    brackets: float
    quotes: float
    others: float
    inside: float  # the probability of a closing bracket, wherever one could come
    outside: float  # the same where none is open


@torch.no_grad()
def closing(model: RecurrentLanguageModel, read: Read) -> Closing:
    """Measure the ends of brackets and strings."""
    depth, string, quotes = (read.truths[name] for name in ("depth", "string", "quotes"))
    before = {
        name: one.roll(1, 1).index_fill(1, torch.tensor(0), 0)
        for name, one in {"depth": depth, "string": string, "quotes": quotes}.items()
    }
    begin = torch.full_like(read.tokens[:, :1], tokenizer().vocabulary.bos)
    asked = torch.cat([begin, read.tokens[:, :-1]], dim=1)
    log_probs = model.logits(asked).log_softmax(-1)
    bits = -log_probs.gather(2, read.tokens[..., None])[..., 0] / log(2)
    brackets = depth < before["depth"]
    quoted = before["quotes"] & ~quotes
    closers = torch.tensor(tokenizer().encode(CLOSING, eos=False))
    likely = log_probs[..., closers].exp().sum(-1)
    is_open, is_code = before["depth"] > 0, ~before["string"]
    parts = (bits[brackets], bits[quoted], bits[~(brackets | quoted)])
    parts += (likely[is_open & is_code], likely[~is_open & is_code])
    return Closing(*(float(part.mean()) for part in parts))


def forgetting(model: RecurrentLanguageModel, cell: str, found: dict) -> dict:
    """What each unit is worth: all of them in turn forget at every step."""
    whole = half(1)
    read = Read(
        whole.tokens[:CLAMPED_PASSAGES],
        {name: one[:CLAMPED_PASSAGES] for name, one in whole.truths.items()},
    )
    free, each = closing(model, read), []
    for unit in range(model.recurrent.hidden_size):
        with clamp_gates(model.recurrent, FORGETS[cell], units=[unit]):
            each.append(closing(model, read))
    results = {"gate": FORGETS[cell], "free": free._asdict()}
    for name in ("brackets", "quotes"):
        unit = found[name]["unit"]
        rises = [getattr(one, name) - getattr(free, name) for one in each]
        results[name] = {
            "unit": unit,
            "held": each[unit]._asdict(),
            "rise": rises[unit],
            "median_of_others": median(rises[:unit] + rises[unit + 1 :]),
            "most_of_others": max(rises[:unit] + rises[unit + 1 :]),
            "most_by_unit": rises.index(max(rises)),
            "rank": 1 + sum(rise > rises[unit] for rise in rises),
        }
    return results


def run(setting: str, seed: int) -> dict:
    """Find the units of one network, and measure the effect of clamping them."""
    torch.set_num_threads(1)
    model = network(setting, seed)
    cell, _, kind = setting.partition("-")
    found = find(model, SEEN[cell])
    result = {name: one["score"] for name, one in found.items()}
    result |= {"quantity": SEEN[cell], "characters": half(1).tokens.numel(), "found": found}
    return result if kind else {**result, "forgetting": forgetting(model, cell, found)}


if __name__ == "__main__":
    Study("ch01/bracket_units", run, SETTINGS).main()
