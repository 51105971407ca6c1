"""What rules without a model get right in the four uses: names, wordings, kinds of sentences."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from gates2heads.accepts import accepts, any_seed, instance, listed, maybe, natural
from gates2heads.book.ch11.pretraining import FACTS
from gates2heads.book.ch11.use_batches import fits
from gates2heads.book.ch11.uses import USES, labelled_examples
from gates2heads.data.corpora.cldr_facts import Fact
from gates2heads.data.corpora.fact_examples import Labelled
from gates2heads.data.corpora.wordings import wordings
from gates2heads.data.tokens.bilingual import split_bilingual


def truth_from_names() -> tuple[int, int]:
    """How many test statements of "classification" are judged by their currency or language alone.

    A name counts as true if more of the training statements with it (same relation and language)
    are true than false; the territory is not used.

    Returns:
        the number of statements that are judged right, and of all.
    """
    seen = Counter(_named("train"))
    judged = [(seen[name, 1] > seen[name, 0]) == label for name, label in _named("test")]
    return sum(judged), len(judged)


def _named(split: str) -> list[tuple]:
    """The name in each statement, with its relation and language, and the label."""
    found = []
    facts = wordings(split)
    examples = iter(USES["classification"].examples(split))
    for fact, true, false in zip(facts, examples, examples, strict=True):
        start, end = fact.answer_span
        rest = len(fact.text) - end
        for one in (true, false):
            name = one.first[start : len(one.first) - rest]
            found.append(((fact.relation, fact.locale, name), one.label[0]))
    return found


@accepts(labels=natural(least=1), seed=any_seed)
def slots_from_wordings(labels: int, *, seed: int = 0) -> tuple[int, int]:
    """How many test sentences of "slots" are labelled by the words around the names alone.

    The labelled sentences give the wordings; a test sentence that has one of them, with any names,
    gets its labels.

    Args:
        labels: the number of labelled sentences.
        seed: draws them, as in `learn_use`.

    Returns:
        the number of sentences with only correct labels, and of all.
    """
    known = {}
    for one in labelled_examples("slots", labels, seed=seed):
        pairs = zip(split_bilingual(one.first), one.label, strict=True)
        runs = groupby(pairs, key=lambda pair: pair[1])
        parts = [(slot, "".join(f"{re.escape(word)}\n" for word, _ in run)) for slot, run in runs]
        pattern = "".join(r"((?:.+\n)+)" if slot else words for slot, words in parts)
        known[pattern] = [slot for slot, _ in parts if slot]
    asked = USES["slots"].examples("test")
    return sum(_slots_of(one.first, known) == list(one.label) for one in asked), len(asked)


def _slots_of(text: str, known: dict[str, list[int]]) -> list[int]:
    """The slot of each token, by the first wording that a text has; none where it has none."""
    words = split_bilingual(text)
    line = "".join(f"{word}\n" for word in words)
    slots = [0] * len(words)
    for pattern, kinds in known.items():
        if match := re.fullmatch(pattern, line):
            for at, kind in enumerate(kinds, start=1):
                start, end = (line[:edge].count("\n") for edge in match.span(at))
                slots[start:end] = [kind] * (end - start)
            break
    return slots


@accepts(
    facts=FACTS,
    examples=listed("examples", kind=instance(Labelled), least=1),
    told=maybe(FACTS),
)
def answers_without_territories(
    facts: Sequence[Fact], examples: Sequence[Labelled], *, told: Sequence[Fact] | None = None
) -> dict[str, tuple[float, int]]:
    """What is right on average without a look at the territories.

    One of the names of the kind that a question asks for is marked at random; only where the
    passage has none, the question is rejected.

    Args:
        facts: that the questions ask for.
        examples: two for each fact, in this order, as `passage_examples` makes them; those that are
            too long are left out.
        told: the facts in the passages; None takes `facts`.

    Returns:
        {"with": (right, asked), "without": (right, asked)}, as `answer_counts`.
    """
    known = {fact.text: fact for fact in told or facts}
    right, asked = {"with": 0.0, "without": 0.0}, {"with": 0, "without": 0}
    pairs = zip(examples[::2], examples[1::2], strict=True)
    for fact, pair in zip(facts, pairs, strict=True):
        for kind, one in zip(right, pair, strict=True):
            if fits(one):
                alike = [f for f in _told_in(one.second, known) if f.relation == fact.relation]
                hits = sum(f.answer == fact.answer for f in alike)
                right[kind] += not alike if kind == "without" else hits / len(alike)
                asked[kind] += 1
    return {kind: (right[kind], asked[kind]) for kind in right}


def _told_in(passage: str, told: dict[str, Fact]) -> list[Fact]:
    """The facts of a passage, sentence by sentence."""
    sizes = sorted(set(map(len, told)), reverse=True)  # of a longer sentence first
    found = []
    while passage := passage.lstrip():
        found.append(next(passage[:size] for size in sizes if passage[:size] in told))
        passage = passage[len(found[-1]) :]
    return [told[text] for text in found]
