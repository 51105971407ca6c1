"""Chapter 13: how often a model follows the prompt, and how often it should."""

import math
from itertools import pairwise
from statistics import mean

import torch
from torch import Tensor

from gates2heads.accepts import accepts, any_seed, floats, fraction, instance, natural
from gates2heads.book.ch13.conflicts import BOUNDS, NAME, TOWN, TOWNS, Reader, answers, question


def context_is_true(wrong: float, known, n: int):
    """The probability that the context is right when it contradicts the memory, by Bayes' rule.

    Assumes that the memory gives the true value the probability `known` and the others equal ones,
    that the statement is wrong with probability `wrong`, and that it then names each of the other
    values with equal probability.

    Args:
        wrong: the probability that the statement is wrong.
        known: the probability that the memory is right; a number or a tensor.
        n: how many values there are.
    """
    rest = (1 - known) / (n - 1)  # of the value in the statement, before it was read
    right = rest * (1 - wrong)
    return right / (right + (1 - rest) * wrong / (n - 1))


@accepts(wrong=fraction, known=floats("P"))
def trust(wrong: float, known: Tensor) -> Tensor:
    """See `context_is_true`, for the towns.

    Args:
        wrong: the probability that the statement is wrong.
        known: (P,) the probabilities with which the memory is right.

    Returns:
        (P,).
    """
    return context_is_true(wrong, known, len(TOWNS))


@accepts(wrong=fraction, known=floats("P"))
def overruled(wrong: float, known: Tensor) -> Tensor:
    """The probability that the memory is right when the context contradicts it.

    Assumes what `trust` does; the two do not sum to 1, because both can be wrong.

    Args:
        wrong, known: see `trust`.

    Returns:
        (P,).
    """
    rest = (1 - known) / (len(TOWNS) - 1)
    for_memory = known * wrong / (len(TOWNS) - 1)
    return for_memory / (rest * (1 - wrong) + (1 - rest) * wrong / (len(TOWNS) - 1))


@accepts(answers=natural(least=0), settled=fraction)
def counted(answers: int, settled: float = 0.5) -> float:
    """The probability that a perfect memory is right about a person, after some equal answers.

    Assumes that a share `settled` of the people have always the same town, that the others have a
    random town in each document, and that all towns are equally probable; statements are ignored.

    Args:
        answers: how many answers about this person were read, all of them the same town.
        settled: the share of people with a fixed town.
    """
    if answers == 0:
        return 1 / len(TOWNS)
    moving = (1 - settled) * len(TOWNS) ** (1 - answers)
    return (settled + moving / len(TOWNS)) / (settled + moving)


@accepts(reader=instance(Reader), wrong=fraction)
def measured(reader: Reader, wrong: float) -> dict:
    """Ask about all people; group them by how often training asked for them.

    Returns:
        for "settled" and "moving" people one list for each measure, with an entry for each group
        that `BOUNDS` separates and that is not empty: "from", "people", "seen" (the geometric
        mean of the occurrences), "context" and "memory" (probabilities after a contradicting
        statement), "confirmed", "known" (of the true town, not stated), "right" (how often that
        is the most probable town), and what context and memory should be with the model's own
        "known" of each person: "optimal" (`trust`) and "optimal_memory" (`overruled`). "unseen"
        has the probability of the context's town for people who do not occur. "crossover" is
        where memory overtakes context, and "optimal_crossover" where it should.
    """
    read = {
        name: answers(reader.model, reader.world, prompt)
        for name, prompt in (
            ("against", "contradicted"),
            ("with", "confirmed"),
            ("without", "not stated"),
        )
    }
    known = read["without"].memory.double().clamp(max=1 - 1e-9)  # 1 contradicts a statement
    each = {
        "seen": reader.seen.clamp(min=1).double().log(),
        "context": read["against"].context,
        "memory": read["against"].memory,
        "confirmed": read["with"].context,
        "known": known,
        "right": read["without"].right,
        "optimal": trust(wrong, known),
        "optimal_memory": overruled(wrong, known),
    }
    result = {
        name: _grouped(each, reader.seen, who)
        for name, who in (("settled", reader.world.settled), ("moving", ~reader.world.settled))
    }
    result["unseen"] = read["against"].context[reader.world.weight == 0].mean().item()
    groups = result["settled"]
    result["crossover"] = crossing(groups["seen"], groups["context"], groups["memory"])
    result["optimal_crossover"] = crossing(
        groups["seen"], groups["optimal"], groups["optimal_memory"]
    )
    return result


def _grouped(each: dict[str, Tensor], seen: Tensor, who: Tensor) -> dict[str, list]:
    groups = {name: [] for name in ("from", "people", *each)}
    for low, high in pairwise(BOUNDS):
        chosen = who & (seen >= low) & (seen < high)
        if chosen.any():
            groups["from"].append(low)
            groups["people"].append(int(chosen.sum()))
            for name, values in each.items():
                groups[name].append(values[chosen].mean().item())
    groups["seen"] = [math.exp(one) for one in groups["seen"]]
    return groups


def crossing(seen: list[float], falling: list[float], rising: list[float]) -> float | None:
    """Where one curve overtakes another for the first time, linear in the logarithm of `seen`.

    Returns:
        None if it never does, and the first of `seen` if it is above from the beginning.
    """
    apart = [above - below for above, below in zip(rising, falling, strict=True)]
    if apart[0] > 0:
        return seen[0]
    for at in range(1, len(apart)):
        if apart[at] > 0:
            share = -apart[at - 1] / (apart[at] - apart[at - 1])
            return math.exp(math.log(seen[at - 1]) + share * math.log(seen[at] / seen[at - 1]))
    return None


@torch.no_grad()
@accepts(reader=instance(Reader), times=natural, seed=any_seed)
def remembered(reader: Reader, *, times: int = 31, seed: int = 0) -> Tensor:
    """The log-probabilities of the towns if nothing is said about the person.

    Args:
        reader: a trained model, with its world.
        times: how many prompts there are for each person.
        seed: of the other people, whom the prompts are about.

    Returns:
        (N, P, V), where N is `times` and V the number of towns.
    """
    draw = torch.Generator().manual_seed(int(seed))
    device = next(reader.model.parameters()).device
    logits = [
        reader.model.logits(question(reader.world, "not stated", draw)[1].to(device))[:, -1]
        for _ in range(times)
    ]
    return torch.stack(logits).cpu()[..., TOWN:NAME].double().log_softmax(dim=-1)


def best_temperature(logs: Tensor, home: Tensor, settled: Tensor) -> float:
    """The temperature with which the memory of people has the lowest cross-entropy.

    Args:
        logs: (N, P, V), as `remembered` gives.
        home: (P,) the towns of settled people; a moving one lives in each town equally often.
        settled: (P,) bool.
    """

    def loss(temperature: float) -> float:
        scaled = (logs / temperature).log_softmax(dim=-1)
        true = scaled[:, torch.arange(len(home)), home].mean(dim=0)
        return -torch.where(settled, true, scaled.mean(dim=(0, 2))).mean().item()

    return min((at / 50 for at in range(10, 201)), key=loss)


@accepts(reader=instance(Reader), wrong=fraction)
def calibrated(reader: Reader, wrong: float) -> dict[str, float]:
    """Where memory should overtake context if the memory is calibrated first.

    The temperature is fitted once to all people who occurred ("all"), and once to settled people
    alone who occurred 10 to 299 times ("settled").

    Returns:
        "crossover" and "optimal_crossover" as `measured` gives, and for "all" and "settled" the
        temperature and the number of occurrences at which memory should overtake context.
    """
    logs, home, settled = remembered(reader), reader.world.home, reader.world.settled
    groups = {
        "all": reader.seen > 0,
        "settled": settled & (reader.seen >= 10) & (reader.seen < 300),
    }
    plain = measured(reader, wrong)
    result = {name: plain[name] for name in ("crossover", "optimal_crossover")}
    for name, who in groups.items():
        temperature = best_temperature(logs[:, who], home[who], settled[who])
        probs = (logs / temperature).softmax(dim=-1)
        known = probs[:, torch.arange(len(home)), home].mean(dim=0).clamp(max=1 - 1e-9)
        each = {
            "seen": reader.seen.clamp(min=1).double().log(),
            "context": trust(wrong, known),
            "memory": overruled(wrong, known),
        }
        found = _grouped(each, reader.seen, settled)
        result[f"{name}_temperature"] = temperature
        result[f"{name}_crossover"] = crossing(found["seen"], found["context"], found["memory"])
    return result


def average(runs: list[dict], who: str, measure: str, group: int) -> float:
    """The mean of a measure over runs, for the people of one group of `BOUNDS`."""
    return mean(
        run[who][measure][run[who]["from"].index(group)]
        for run in runs
        if group in run[who]["from"]
    )
