"""Words with two roles, such as *Danish*: a language, and half of a currency's name."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, instance, listed
from gates2heads.book.ch11.pretraining import FACTS, check_size, fact_tokenizer
from gates2heads.data.batches.joined import collate_joined, join
from gates2heads.data.corpora.cldr_facts import Fact
from gates2heads.data.tokens.bilingual import bilingual_offsets, split_bilingual
from gates2heads.data.tokens.spans import token_spans
from gates2heads.models.pretraining.bert import BERT

AT_ONCE = 64  # sentences


class Occurrence(NamedTuple):
    """A word in its context."""

    word: str
    role: str  # what it is a part of: currency or language
    fact: Fact
    place: int  # among the tokens of the fact's sentence


class Likeness(NamedTuple):
    """The similarity of the vectors of one word in each layer, the embeddings first."""

    same: list[float]  # mean cosine of two occurrences in one role, in different wordings
    other: list[float]  # of two occurrences in two roles
    pairs: tuple[int, int]  # how many of each kind were compared


OCCURRENCES = listed("occurrences, as `two_roles` gives", kind=instance(Occurrence), least=1)


@accepts(facts=FACTS)
def two_roles(facts: Sequence[Fact]) -> list[Occurrence]:
    """All occurrences of the words that are part of both a currency and a language."""
    found = []
    for fact in facts:
        [(start, end)] = token_spans([fact.answer_span], bilingual_offsets(fact.text))
        words = split_bilingual(fact.text)
        found += [Occurrence(words[at], fact.relation, fact, at) for at in range(start, end)]
    roles: dict[str, set[str]] = {}
    for one in found:
        roles.setdefault(one.word, set()).add(one.role)
    return [one for one in found if len(roles[one.word]) > 1]


@accepts(model=instance(BERT), occurrences=OCCURRENCES)
@torch.no_grad()
def states_of(model: BERT, occurrences: Sequence[Occurrence]) -> Tensor:
    """The vector of each occurrence in each layer, the embeddings first.

    Args:
        model: a `BERT` of the size of `fact_markers`.
        occurrences: N of them, from `two_roles`.

    Returns:
        (J, N, D) float, of J layers.

    Raises:
        ValueError: the model is of another size.
    """
    check_size("model", model)
    found = []
    for start in range(0, len(occurrences), AT_ONCE):
        some = occurrences[start : start + AT_ONCE]
        lines = [join(fact_tokenizer().encode(one.fact.text, eos=False)) for one in some]
        batch = collate_joined(lines)
        states = model.states(batch.tokens, mask=batch.mask)  # (layers, B, L, D)
        places = torch.tensor([one.place + 1 for one in some])  # behind [CLS]
        found.append(states[:, torch.arange(len(some)), places])
    return torch.cat(found, dim=1)


@accepts(states=floats("J N D"), occurrences=OCCURRENCES)
def likeness(states: Tensor, occurrences: Sequence[Occurrence]) -> Likeness:
    """Compare two occurrences of one word: mean cosines of pairs in one role, and in two.

    Pairs in one wording are left out: the same neighbours and the same position make them similar,
    whatever the role. Two roles never have the same wording.

    Args:
        states: (J, N, D) float, of J layers, from `states_of`.
        occurrences: the same N.

    Returns:
        for each kind, one mean per layer and the number of pairs.

    Raises:
        ValueError: states of other occurrences, or no pair of one of the two kinds.
    """
    if states.shape[1] != len(occurrences):
        raise ValueError(
            f"states must hold {len(occurrences)} vectors a layer, one for each of occurrences, "
            f"got {states.shape[1]}"
        )
    unit = torch.nn.functional.normalize(states, dim=-1)
    cosines = unit @ unit.transpose(1, 2)  # (layers, N, N)
    words = _equal([one.word for one in occurrences])
    alike = _equal([one.role for one in occurrences])
    same_wording = _equal([wording(one.fact) for one in occurrences])
    pairs = words.triu(1) & ~same_wording
    kinds = (pairs & alike, pairs & ~alike)
    if not all(kind.any() for kind in kinds):
        raise ValueError(
            "occurrences must hold two of one word in one role, told in two wordings, and two of "
            "one word in two roles"
        )
    means = [cosines[:, kind].mean(dim=1).tolist() for kind in kinds]
    return Likeness(*means, tuple(int(kind.sum()) for kind in kinds))


@accepts(fact=instance(Fact))
def wording(fact: Fact) -> str:
    """The sentence of a fact without its two names, such as "In …, people pay with the …"."""
    (a, b), (c, d) = sorted([fact.subject_span, fact.answer_span])
    return f"{fact.text[:a]}…{fact.text[b:c]}…{fact.text[d:]}"


def _equal(values: Sequence[str]) -> Tensor:
    """(N, N) bool: which two of N values are the same."""
    number = {value: at for at, value in enumerate(dict.fromkeys(values))}
    numbers = torch.tensor([number[value] for value in values])
    return numbers[:, None] == numbers
