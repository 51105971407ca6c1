"""The search tree: which hypotheses were kept or pruned, and their scores."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, natural
from gates2heads.decoding.lengths import NO_RULE, LengthRule

KEPT, ENDED, CUT, PRUNED = "kept", "ended", "cut", "pruned"
Fate = tuple[int, int, str]  # which hypothesis, which next token, and the fate of the candidate


class Node(NamedTuple):
    """One token of the tree; the sequence is the path from the root to it."""

    parent: int | None  # the index of the previous node in the list, None for the root
    length: int  # the number of tokens of the sequence, without <bos>
    token: int
    log_prob: float  # of the whole sequence, in nats
    score: float  # log_prob under the search's length normalisation
    fate: str  # "kept", "ended" by <eos>, "cut" at max_length, or "pruned"


@accepts(branches=natural, pruned=natural(least=0))
class Tree:
    """Records the tree of a search, to which it is passed as `trace=`.

    `tree[b]` is the list of nodes for source b, the root first and each node after its parent.
    Candidates of probability zero are left out. A node is "kept" if the search extended it, or
    stopped before extending it because no better hypothesis was possible.

    Args:
        branches: the minimum number of recorded continuations of each hypothesis; those that the
            search kept are always recorded.
        pruned: the number of pruned candidates that are recorded for each step, the most probable
            ones; all of the recorded continuations if not given. They are the most probable of all
            pruned candidates if `branches` is at least the sum of the beam width and this number.
    """

    def __init__(self, branches: int = 5, *, pruned: int | None = None):
        self.branches, self.pruned = branches, pruned
        self._nodes: list[list[Node]] = []
        # The nodes from which each source continues; None where the path is impossible.
        self._tips: list[list[int | None]] = []

    def __getitem__(self, source: int) -> list[Node]:
        return self._nodes[source]

    def __len__(self) -> int:
        return len(self._nodes)

    def tokens(self, source: int, node: int) -> list[int]:
        """The sequence that ends in a node, without `<bos>`."""
        nodes, tokens = self._nodes[source], []
        while nodes[node].parent is not None:
            tokens.append(nodes[node].token)
            node = nodes[node].parent
        return tokens[::-1]

    def complete(self, source: int) -> list[int]:
        """The nodes at which a sequence ended or was cut, the best score first."""
        nodes = self._nodes[source]
        ends = [place for place, node in enumerate(nodes) if node.fate in (ENDED, CUT)]
        return sorted(ends, key=lambda place: -nodes[place].score)

    def plain(self, source: int) -> list[dict]:
        """The nodes as dicts of numbers and words, ready for JSON."""
        return [node._asdict() for node in self._nodes[source]]

    def begin(self, first_tokens: Tensor) -> None:
        """Called by a search: clear the record, and create one root for each source (B,)."""
        tokens = first_tokens.tolist()
        self._nodes = [[Node(None, 0, token, 0.0, 0.0, KEPT)] for token in tokens]
        self._tips = [[0] for _ in tokens]

    def grow(
        self,
        sources: Tensor,
        log_prob: Tensor,
        fates: Sequence[Sequence[Fate]],
        rule: LengthRule = NO_RULE,
    ) -> None:
        """Called by a search at each step: record one more token.

        Args:
            sources: (A,) which sources are still searched.
            log_prob: (A, M, V) of M hypotheses, each with each next token.
            fates: for each of A, the candidates that the search kept; "kept" in the order of the
                next M.
            rule: converts log-probabilities into scores.
        """
        for source, scores, followed in zip(sources.tolist(), log_prob, fates, strict=True):
            if not followed:
                self._tips[source] = []
                continue
            nodes, placed, tips = self._nodes[source], {}, self._tips[source]
            fates_of = {(slot, token): fate for slot, token, fate in followed}
            for slot, token, total in self._worth_noting(scores, tips, fates_of):
                length = nodes[tips[slot]].length + 1
                fate, score = fates_of.get((slot, token), PRUNED), rule.score(total, length)
                placed[slot, token] = len(nodes)
                nodes.append(Node(tips[slot], length, token, total, score, fate))
            self._tips[source] = [
                placed.get((slot, token)) for slot, token, fate in followed if fate == KEPT
            ]

    def _worth_noting(
        self, scores: Tensor, tips: list[int | None], followed: Collection[tuple[int, int]]
    ) -> list[tuple[int, int, float]]:
        """The recorded continuations, slot by slot, best first: slot, token and log_prob."""
        noted = []
        for slot, tip in enumerate(tips):
            if tip is None:
                continue
            tokens = set(scores[slot].topk(min(self.branches, scores.shape[1])).indices.tolist())
            tokens |= {token for place, token in followed if place == slot}
            ways = [(slot, token, scores[slot, token].item()) for token in tokens]
            possible = [way for way in ways if way[2] > -torch.inf]
            noted += sorted(possible, key=lambda way: (-way[2], way[1]))
        if self.pruned is None:
            return noted
        others = [way for way in noted if way[:2] not in followed]
        dropped = set(sorted(others, key=lambda way: -way[2])[self.pruned :])
        return [way for way in noted if way not in dropped]


def path_fates(tokens: Tensor, finished: Tensor, *, eos: int | None, cut: bool) -> list[list[Fate]]:
    """The fate of one token per row (B,), where each row is the only hypothesis."""
    return [
        [] if done else [(0, token, fate_of(token, eos=eos, cut=cut))]
        for token, done in zip(tokens.tolist(), finished.tolist(), strict=True)
    ]


def fate_of(token: int, *, eos: int | None, cut: bool) -> str:
    """The fate of a hypothesis that is extended by this token; `cut` at the last step."""
    if token == eos:
        return ENDED
    return CUT if cut else KEPT
