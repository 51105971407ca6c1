"""One source, two searches: what greedy search writes, and what a beam completes, with its tree."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import nn

from gates2heads.accepts.shown import shown
from gates2heads.checks.values import check_count
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import LengthRule, check_rule
from gates2heads.decoding.search import greedy
from gates2heads.decoding.steps import Step, begin, check_one
from gates2heads.decoding.trace import ENDED, PRUNED, Node, Tree
from gates2heads.decoding.translation import check_sides


class Found(NamedTuple):
    """A sequence that a search wrote, and what each of its tokens cost."""

    tokens: list[int]  # L of them, <eos> last if it came
    parts: list[float]  # the log-probability of each after those before it, in nats
    log_prob: float  # their sum
    score: float  # log_prob under the length rule
    finished: bool  # whether <eos> was written


class Compared(NamedTuple):
    """What two searches made of one source."""

    nodes: list[Node]  # the beam's tree: the root first, a node after its parent
    ranking: list[Found]  # what the beam completed, the best score first
    greedy: Found
    scored: int  # how many sequences the beam computed a score for
    steps: int  # that the beam went


class Watched(NamedTuple):
    """A text and what two searches made of it."""

    text: str
    source: list[str]  # S tokens, <eos> last
    words: list[str]  # the V tokens that can be written
    compared: Compared
    limit: int  # the most tokens that were written


def compare(
    step: Step,
    state: Any,
    *,
    bos: int,
    eos: int | None,
    max_length: int,
    width: int = 5,
    length_rule: LengthRule | None = None,
    prefix: Sequence[int] | None = None,
    pruned: int = 4,
) -> Compared:
    """Search greedily and with a beam, and keep the beam's tree.

    Complete sequences keep their places, so that a beam of k completes k sequences, if so many
    have a probability above zero, and the tree ends with the last of them.

    Args:
        step, state: as for `beam`, with one row: (1, V).
        bos, eos, max_length, width, length_rule, prefix: as for `beam`.
        pruned: how many pruned candidates of each step the tree keeps, the likeliest.

    Raises:
        TypeError, ValueError: as `beam`, or there is more than one source.
    """
    check_one(begin(step, bos, eos=eos, max_length=max_length, pad=0))
    check_count("width", width)
    check_count("pruned", pruned, least=0)
    rule = check_rule(length_rule, max_length)
    options = {"bos": bos, "eos": eos, "max_length": max_length, "prefix": prefix}
    wide = {"width": width, "n_best": width, "length_rule": rule}
    single, tree = Tree(1), Tree(width + pruned, pruned=pruned)
    greedy(step, state, **options, trace=single)
    found = beam(step, state, **options, **wide, trace=tree)
    ranking = [_found(tree, end, rule) for end in tree.complete(0)]
    longest = max(node.length for node in tree[0])
    return Compared(tree[0], ranking, _only(single, rule), int(found.scored[0]), longest)


def watch(
    model: nn.Module, text: str, source, target, *, max_length: int = 40, **search: Any
) -> Watched:
    """Compare greedy search with a beam on one text.

    Args:
        model: has `start(source, mask=)` and `step(state, last_tokens)`.
        text: what is read.
        source, target: the tokenizers of the two sides.
        max_length: the most tokens that are written, `<eos>` included.
        search: width, length_rule, prefix and pruned, as for `compare`.

    Raises:
        TypeError, ValueError: `text` is no string, or what `compare` and `write` refuse.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {shown(text)}")
    check_sides(model, source, target)
    words, read = target.vocabulary, source.encode(text)
    device = next(model.parameters(), torch.empty(0)).device
    with torch.no_grad():
        state = model.start(torch.tensor([read], device=device))
    first = torch.tensor([words.bos], device=device)
    compared = compare(model.step, state, bos=first, eos=words.eos, max_length=max_length, **search)
    pieces = [source.vocabulary.tokens[number] for number in read]
    return Watched(text, pieces, list(words.tokens), compared, max_length)


def _only(tree: Tree, rule: LengthRule) -> Found:
    """The one sequence of a search that follows one; nothing, if nothing was possible."""
    ends = [place for place, node in enumerate(tree[0]) if node.fate != PRUNED]
    return _found(tree, ends[-1], rule)


def _found(tree: Tree, end: int, rule: LengthRule) -> Found:
    """The sequence that ends in a node."""
    nodes, way = tree[0], []
    while nodes[end].parent is not None:
        way.insert(0, nodes[end])
        end = nodes[end].parent
    before = [0.0, *(node.log_prob for node in way)][: len(way)]
    parts = [node.log_prob - sum_ for node, sum_ in zip(way, before, strict=True)]
    log_prob = way[-1].log_prob if way else 0.0
    score = rule.score(log_prob, len(way)) if way else 0.0
    finished = bool(way) and way[-1].fate == ENDED
    return Found([node.token for node in way], parts, log_prob, score, finished)
