"""The tree that a search walked: what it followed, what it cut off, and with which scores."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, count
from gates2heads.decoding.lengths import NO_RULE, LengthRule

KEPT, ENDED, CUT, PRUNED = "kept", "ended", "cut", "pruned"
Fate = tuple[int, int, str]  # which open sequence, which token after it, what became of the two


class Node(NamedTuple):
    """One token of the tree; the sequence is the way from the root to it."""

    parent: int | None  # the place of the node before in the list, None for the root
    length: int  # how many tokens the sequence has, <bos> not counted
    token: int
    log_prob: float  # of the whole sequence, in nats
    score: float  # log_prob under the search's length rule
    fate: str  # "kept", "ended" by <eos>, "cut" at max_length, or "pruned"


@accepts(branches=count, pruned=count(least=0))
class Tree:
    """Give one to a search as `trace=`, and read afterwards how it went.

    `tree[b]` is the list of nodes for source b, the root first and each node after its parent.
    What had probability zero is left out. A node is "kept" if the search went on from it, also
    where it stopped before its next step because nothing better could come.

    Args:
        branches: how many continuations of each open sequence are noted at least; those that the
            search followed are noted always.
        pruned: of those noted of a step, how many that the search did not follow are kept, the
            likeliest; all of them if not given. They are the likeliest of all that there are if
            `branches` is at least the width of the beam and this together.
    """

    def __init__(self, branches: int = 5, *, pruned: int | None = None):
        self.branches, self.pruned = branches, pruned
        self._nodes: list[list[Node]] = []
        # The nodes from which each source goes on; None where the way there is impossible.
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
        """The nodes in which a sequence ended or was cut, the best score first."""
        nodes = self._nodes[source]
        ends = [place for place, node in enumerate(nodes) if node.fate in (ENDED, CUT)]
        return sorted(ends, key=lambda place: -nodes[place].score)

    def plain(self, source: int) -> list[dict]:
        """The nodes as dicts of numbers and words, ready for JSON."""
        return [node._asdict() for node in self._nodes[source]]

    def begin(self, first_tokens: Tensor) -> None:
        """Called by a search: forget what was noted, and plant one root for each source (B,)."""
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
        """Called by a search at each step: note one more token.

        Args:
            sources: (A,) which sources are still searched.
            log_prob: (A, M, V) of M open sequences, each with each token after it.
            fates: for each of A, what the search followed; "kept" in the order of the next M.
            rule: makes scores of log-probabilities.
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
        """Which ways to go on are noted, slot by slot, best first: slot, token and log_prob."""
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
    """What becomes of one token a row (B,), where each row is the only open sequence."""
    return [
        [] if done else [(0, token, fate_of(token, eos=eos, cut=cut))]
        for token, done in zip(tokens.tolist(), finished.tolist(), strict=True)
    ]


def fate_of(token: int, *, eos: int | None, cut: bool) -> str:
    """What becomes of a sequence that is followed to this token; `cut` at the last step."""
    if token == eos:
        return ENDED
    return CUT if cut else KEPT
