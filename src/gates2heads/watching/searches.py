"""Greedy search and beam search on one source, with the search tree."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, natural, string
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import NO_RULE, RULE, LengthRule
from gates2heads.decoding.search import Output, greedy
from gates2heads.decoding.steps import SEARCH, Step, begin, check_one
from gates2heads.decoding.trace import ENDED, PRUNED, Node, Tree
from gates2heads.decoding.translation import check_sides


class Found(NamedTuple):
    """The output of a search, and the log-probability of each of its tokens."""

    tokens: list[int]  # L tokens, <eos> last if it was generated
    parts: list[float]  # the log-probability of each given those before it, in nats
    log_prob: float  # their sum
    score: float  # log_prob under the length normalisation
    finished: bool  # whether <eos> was generated


class Compared(NamedTuple):
    """The results of two searches on one source."""

    nodes: list[Node]  # the beam's tree: the root first, a node after its parent
    ranking: list[Found]  # the beam's finished hypotheses, the best score first
    greedy: Found
    scored: int  # how many sequences the beam computed a score for
    steps: int  # of the beam search


class Watched(NamedTuple):
    """A text and the results of two searches."""

    text: str
    source: list[str]  # S tokens, <eos> last
    words: list[str]  # the V tokens that can be generated
    compared: Compared
    limit: int  # the maximum number of generated tokens


@accepts(**SEARCH, width=natural, length_rule=RULE, pruned=natural(least=0))
def compare(
    step: Step,
    state: Any,
    *,
    bos: Tensor | int,
    eos: int | None,
    max_length: int,
    width: int = 5,
    length_rule: LengthRule | None = None,
    prefix: Sequence[int] | None = None,
    pruned: int = 4,
) -> Compared:
    """Search greedily and with a beam, and keep the beam's tree.

    Finished hypotheses keep their slots, so that a beam of k finishes k hypotheses, if so many have
    a probability above zero, and the tree ends with the last of them.

    Args:
        step, state: as for `beam`, with one row: (1, V).
        bos: the token to begin with: a tensor of shape (1,), or a number.
        eos, max_length, width, length_rule, prefix: as for `beam`.
        pruned: the number of pruned candidates that the tree keeps for each step, the most probable
            ones.

    Raises:
        TypeError, ValueError: as `beam`, or there is more than one source.
    """
    check_one(begin(bos))
    rule = NO_RULE if length_rule is None else length_rule
    ends = {"bos": bos, "eos": eos, "max_length": max_length, "prefix": prefix}
    single, tree = Tree(1), Tree(width + pruned, pruned=pruned)
    output = greedy(step, state, **ends, trace=single)
    found = beam(step, state, **ends, width=width, n_best=width, length_rule=rule, trace=tree)
    ranking = [_found(tree, end, rule) for end in tree.complete(0)]
    longest = max(node.length for node in tree[0])
    only = _only(single, output, rule)
    return Compared(tree[0], ranking, only, int(found.scored[0]), longest)


@accepts(text=string, max_length=natural)
def watch(
    model: nn.Module, text: str, source, target, *, max_length: int = 40, **search: Any
) -> Watched:
    """Compare greedy search with a beam on one text.

    Args:
        model: has `start(source, mask=)` and `step(state, last_tokens)`.
        text: the input.
        source, target: the tokenizers of the two sides.
        max_length: the maximum number of generated tokens, `<eos>` included.
        search: width, length_rule, prefix and pruned, as for `compare`.

    Raises:
        TypeError, ValueError: as in `compare` and `write`.
    """
    check_sides(model, source, target)
    words, read = target.vocabulary, source.encode(text)
    device = next(model.parameters(), torch.empty(0)).device
    with torch.no_grad():
        state = model.start(torch.tensor([read], device=device))
    first = torch.tensor([words.bos], device=device)
    compared = compare(model.step, state, bos=first, eos=words.eos, max_length=max_length, **search)
    pieces = [source.vocabulary.tokens[number] for number in read]
    return Watched(text, pieces, list(words.tokens), compared, max_length)


def _only(tree: Tree, output: Output, rule: LengthRule) -> Found:
    """The output of greedy search, from its tree and its tokens."""
    ends = [place for place, node in enumerate(tree[0]) if node.fate != PRUNED]
    found, tokens = _found(tree, ends[-1], rule), output.tokens[0].tolist()
    if len(found.tokens) == len(tokens):
        return found
    # The tree omits candidates of probability zero, whose continuations have probability zero too.
    parts = [*found.parts, *[-math.inf] * (len(tokens) - len(found.parts))]
    return Found(tokens, parts, -math.inf, -math.inf, bool(output.finished[0]))


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
