"""Words with two roles, such as *Danish*: a language, and half of a currency's name."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import check_filled, check_module_filled, check_width
from gates2heads.data.batches.joined import collate_joined, join
from gates2heads.data.corpora.cldr_facts import Fact
from gates2heads.data.corpora.wordings import check_facts
from gates2heads.data.tokens.bilingual import bilingual_offsets, split_bilingual
from gates2heads.data.tokens.spans import token_spans
from gates2heads.models.pretraining.bert import BERT
from gates2heads.training.fact_pretraining import fact_markers, fact_tokenizer

AT_ONCE = 64  # sentences


class Occurrence(NamedTuple):
    """A word where it stands."""

    word: str
    role: str  # of what it is a part: currency or language
    fact: Fact
    place: int  # among the tokens of the fact's sentence


class Likeness(NamedTuple):
    """How like the vectors of one word are, in each layer, the embeddings first."""

    same: list[float]  # mean cosine of two occurrences in one role, in different wordings
    other: list[float]  # of two occurrences in two roles
    pairs: tuple[int, int]  # how many of each kind were compared


def two_roles(facts: Sequence[Fact]) -> list[Occurrence]:
    """All occurrences of the words that are part of a currency here and of a language there.

    Raises:
        TypeError, ValueError: no facts.
    """
    check_facts("facts", facts)
    found = []
    for fact in facts:
        [(start, end)] = token_spans([fact.answer_span], bilingual_offsets(fact.text))
        words = split_bilingual(fact.text)
        found += [Occurrence(words[at], fact.relation, fact, at) for at in range(start, end)]
    roles: dict[str, set[str]] = {}
    for one in found:
        roles.setdefault(one.word, set()).add(one.role)
    return [one for one in found if len(roles[one.word]) > 1]


@torch.no_grad()
def states_of(model: BERT, occurrences: Sequence[Occurrence]) -> Tensor:
    """The vector of each occurrence in each layer, the embeddings first.

    Args:
        model: a `BERT` of the size of `fact_markers`.
        occurrences: N of them, from `two_roles`.

    Returns:
        (J, N, D) float, of J layers.

    Raises:
        TypeError, ValueError: no `BERT` of the size of `fact_markers`, or no occurrences.
    """
    if not isinstance(model, BERT) or model.vocabulary_size != fact_markers().size:
        raise TypeError(f"model must be a BERT that `pretrain` made, got {shown(model)}")
    check_module_filled("model", model)
    _check_occurrences(occurrences)
    found = []
    for start in range(0, len(occurrences), AT_ONCE):
        some = occurrences[start : start + AT_ONCE]
        lines = [join(fact_tokenizer().encode(one.fact.text, eos=False)) for one in some]
        batch = collate_joined(lines)
        states = model.states(batch.tokens, mask=batch.mask)  # (layers, B, L, D)
        places = torch.tensor([one.place + 1 for one in some])  # behind [CLS]
        found.append(states[:, torch.arange(len(some)), places])
    return torch.cat(found, dim=1)


def likeness(states: Tensor, occurrences: Sequence[Occurrence]) -> Likeness:
    """Compare two occurrences of one word: mean cosines of pairs in one role, and in two.

    Pairs in one wording are left out: the same neighbours and the same place make them alike,
    whatever the role. Two roles are never told in one wording.

    Args:
        states: (J, N, D) float, of J layers, from `states_of`.
        occurrences: the same N.

    Returns:
        one mean a layer, of each kind, and the number of pairs.

    Raises:
        TypeError, ValueError: states that do not fit, or no pair of one of the two kinds.
    """
    _check_occurrences(occurrences)
    check_width("states", states, None, dims=3)
    check_filled("states", states)
    if not states.is_floating_point() or states.shape[1] != len(occurrences):
        raise ValueError(
            f"states must have shape (layers, {len(occurrences)}, D), got {shown(states)}"
        )
    unit = torch.nn.functional.normalize(states, dim=-1)
    cosines = unit @ unit.transpose(1, 2)  # (layers, N, N)
    words = _equal([one.word for one in occurrences])
    alike = _equal([one.role for one in occurrences])
    told = _equal([wording(one.fact) for one in occurrences])
    pairs = words.triu(1) & ~told
    kinds = (pairs & alike, pairs & ~alike)
    if not all(kind.any() for kind in kinds):
        raise ValueError(
            "occurrences must hold two of one word in one role, told in two wordings, and two of "
            "one word in two roles"
        )
    means = [cosines[:, kind].mean(dim=1).tolist() for kind in kinds]
    return Likeness(*means, tuple(int(kind.sum()) for kind in kinds))


def wording(fact: Fact) -> str:
    """The sentence of a fact with its two names left out: "In …, people pay with the …", for one.

    Raises:
        TypeError: it is no fact.
    """
    check_facts("fact", [fact])
    (a, b), (c, d) = sorted([fact.subject_span, fact.answer_span])
    return f"{fact.text[:a]}…{fact.text[b:c]}…{fact.text[d:]}"


def _equal(values: Sequence[str]) -> Tensor:
    """(N, N) bool: which two of N values are the same."""
    number = {value: at for at, value in enumerate(dict.fromkeys(values))}
    numbers = torch.tensor([number[value] for value in values])
    return numbers[:, None] == numbers


def _check_occurrences(occurrences: Sequence[Occurrence]) -> None:
    listed = isinstance(occurrences, list | tuple)
    if not listed or not all(isinstance(one, Occurrence) for one in occurrences):
        raise TypeError(f"occurrences must be what `two_roles` gives, got {shown(occurrences)}")
    if not occurrences:
        raise ValueError("occurrences must hold at least one, got none")
