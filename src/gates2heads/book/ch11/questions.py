"""Which facts the four models know: masked names are predicted completely, or token by token."""

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, instance
from gates2heads.accepts.values import distinct_seed
from gates2heads.book.ch11.pretraining import (
    FACTS,
    check_size,
    fact_markers,
    fact_tokenizer,
)
from gates2heads.data.batches.joined import collate_joined, join
from gates2heads.data.corpora.cldr_facts import (
    TEMPLATES,
    Fact,
    answers,
    names,
    territories,
    write_fact,
)
from gates2heads.data.corpora.wordings import territory_code, wordings
from gates2heads.data.tokens.bilingual import bilingual_offsets, split_bilingual
from gates2heads.data.tokens.spans import token_spans
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo
from gates2heads.models.pretraining.filling import fill_gaps
from gates2heads.models.pretraining.gpt import GPT

AT_ONCE = 64  # sentences


class NameFilled(NamedTuple):
    """A model's prediction at the masked answer of a fact."""

    fact: Fact
    wanted: tuple[str, ...]  # its tokens
    written: tuple[str, ...]  # as many
    is_right: bool  # a true answer, this one or another of the same length
    is_name: bool  # a name of the same kind, right or wrong


class NameGuessed(NamedTuple):
    """What the names of the training text give at a masked answer, whatever the territory is."""

    is_right: bool  # of the whole name
    tokens_right: list[bool]  # of each token, if only this one is masked


def _answer_place(fact: Fact) -> tuple[int, int]:
    """Which tokens of a fact's sentence are its answer: tokens[start:end]."""
    return token_spans([fact.answer_span], bilingual_offsets(fact.text))[0]


@accepts(model=instance((BERT, GPT, ELMo)), facts=FACTS)
@torch.no_grad()
def fill_names(model: nn.Module, facts: Sequence[Fact]) -> list[NameFilled]:
    """Mask the answer in each fact and let the model predict it, in as many tokens.

    BERT predicts all masks in parallel. GPT and the half of ELMo that reads forwards continue from
    the left context, always with the most probable token, without the right context.

    Args:
        model: a `BERT`, `GPT` or `ELMo` of the size of `fact_markers`.
        facts: whose answers are masked.

    Returns:
        one `NameFilled` per fact.

    Raises:
        ValueError: the model is of another size.
    """
    check_size("model", model)
    fill = _at_once if isinstance(model, BERT) else _onwards
    found = []
    for start in range(0, len(facts), AT_ONCE):
        some = facts[start : start + AT_ONCE]
        found += [_judge(fact, row) for fact, row in zip(some, fill(model, some), strict=True)]
    return found


def _at_once(model: BERT, some: Sequence[Fact]) -> list[list[int]]:
    tokenizer = fact_tokenizer()
    batch = collate_joined([join(tokenizer.encode(fact.text, eos=False)) for fact in some])
    gaps = torch.zeros_like(batch.mask)
    spans = [_answer_place(fact) for fact in some]
    for row, (start, end) in enumerate(spans):
        gaps[row, start + 1 : end + 1] = True  # behind [CLS]
    markers = fact_markers()
    answer = fill_gaps(model, batch.tokens, gaps, markers=markers, mask=batch.mask)
    best = iter(_ordinary(answer).argmax(dim=-1).tolist())
    return [[next(best) for _ in range(end - start)] for start, end in spans]


def _onwards(model: GPT | ELMo, some: Sequence[Fact]) -> list[list[int]]:
    written = []
    for fact in some:
        start, end = _answer_place(fact)
        line = fact_tokenizer().encode(fact.text, eos=False)[:start]
        for _ in range(end - start):
            line.append(int(_ordinary(_next(model, line)).argmax()))
        written.append(line[start:])
    return written


def _next(model: GPT | ELMo, line: list[int]) -> Tensor:
    """Logits (V,) of the token after a prefix."""
    tokens = torch.tensor([[fact_markers().cls, *line]])
    answer = model(tokens)
    ahead = answer[0] if isinstance(answer, tuple) else answer
    return ahead[0, -1]


def _ordinary(scores: Tensor) -> Tensor:
    """Scores (…, V) without the special tokens, which are not part of a name."""
    markers = fact_markers()
    kept = scores.clone()
    kept[..., : markers.specials] = -torch.inf
    kept[..., markers.words :] = -torch.inf
    return kept


def _judge(fact: Fact, numbers: list[int]) -> NameFilled:
    tokens = fact_tokenizer().vocabulary.tokens
    written = tuple(tokens[number] for number in numbers)
    wanted = tuple(split_bilingual(fact.answer))
    is_right = written in true_answers(territory_code(fact), fact.relation, fact.locale)
    return NameFilled(fact, wanted, written, is_right, written in _known_names(*_kind(fact)))


def _kind(fact: Fact) -> tuple[str, str]:
    """The kind of name that a fact's answer is, and its language."""
    if fact.relation == "name":
        return "territories", "zh" if fact.locale == "en" else "en"
    return {"currency": "currencies", "language": "languages"}[fact.relation], fact.locale


@cache
def true_answers(code: str, relation: str, locale: str) -> frozenset[tuple[str, ...]]:
    """All correct answers for a territory and a relation, each as tokens."""
    place = next(place for place in territories() if place.code == code)
    return frozenset(tuple(split_bilingual(name)) for name in answers(place, relation, locale))


@lru_cache(maxsize=6)
def _known_names(kind: str, locale: str) -> frozenset[tuple[str, ...]]:
    """All names of a kind in one language, each as tokens; see `cldr_facts.names`."""
    return frozenset(tuple(split_bilingual(name)) for name in names(kind, locale).values())


@accepts(model=instance(BERT), facts=FACTS)
@torch.no_grad()
def fill_tokens(model: BERT, facts: Sequence[Fact]) -> list[bool]:
    """Mask one token of each answer at a time: is the most probable token the correct one?

    Returns:
        one bool per token, fact by fact.

    Raises:
        ValueError: the model is of another size.
    """
    check_size("model", model)
    tokenizer, markers = fact_tokenizer(), fact_markers()
    lines, places = [], []
    for fact in facts:
        line = join(tokenizer.encode(fact.text, eos=False))
        start, end = _answer_place(fact)
        lines += [line] * (end - start)
        places += range(start + 1, end + 1)
    right = []
    for start in range(0, len(lines), 4 * AT_ONCE):
        batch = collate_joined(lines[start : start + 4 * AT_ONCE])
        gaps = torch.zeros_like(batch.mask)
        some = torch.tensor(places[start : start + 4 * AT_ONCE])
        gaps[torch.arange(len(some)), some] = True
        best = _ordinary(
            fill_gaps(model, batch.tokens, gaps, markers=markers, mask=batch.mask)
        ).argmax(dim=-1)
        right += (best == batch.tokens[gaps]).tolist()
    return right


@accepts(facts=FACTS)
def guess_names(facts: Sequence[Fact]) -> list[NameGuessed]:
    """Guess each answer from the names of the training text, without its territory.

    The whole name is the most frequent one of its relation, language and number of tokens. A single
    token is the most frequent one among the names that have the same other tokens.

    Returns:
        one `NameGuessed` per fact.
    """
    counts: dict[tuple, Counter] = {}
    for fact in wordings("train"):
        name = tuple(split_bilingual(fact.answer))
        counts.setdefault((*_kind(fact), len(name)), Counter())[name] += 1
    found = []
    for fact in facts:
        wanted = tuple(split_bilingual(fact.answer))
        known = counts.get((*_kind(fact), len(wanted)), Counter())
        right = true_answers(territory_code(fact), fact.relation, fact.locale)
        tokens = []
        for at, token in enumerate(wanted):
            fitting: Counter = Counter()
            for name, often in known.items():
                if (*name[:at], *name[at + 1 :]) == (*wanted[:at], *wanted[at + 1 :]):
                    fitting[name[at]] += often
            tokens.append(_most(fitting) == token)
        found.append(NameGuessed(_most(known) in right, tokens))
    return found


def _most(counts: Counter) -> object:
    return max(counts, key=counts.__getitem__, default=None)


@accepts(facts=FACTS, seed=any_seed)
def about_others(facts: Sequence[Fact], *, seed: int) -> list[Fact]:
    """The same sentences about other territories, for which the answers are false.

    Raises:
        ValueError: no fact is about a territory for which an answer is false.
    """
    draw = random.Random(distinct_seed(seed))
    found = []
    for fact in facts:
        answer = tuple(split_bilingual(fact.answer))
        others = [
            one.subject
            for one in facts
            if one.locale == fact.locale
            and answer not in true_answers(territory_code(one), fact.relation, fact.locale)
        ]
        if not others:
            raise ValueError("facts must hold a territory for which each answer is false, got none")
        template = next(
            template
            for template in TEMPLATES[fact.relation, fact.locale]
            if template.format(subject=fact.subject, answer=fact.answer) == fact.text
        )
        subject = draw.choice(others)
        found.append(write_fact(template, fact.relation, fact.locale, subject, fact.answer))
    return found
