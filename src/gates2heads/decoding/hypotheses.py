"""The finished hypotheses of a search, best first."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.decoding.lengths import LengthRule
from gates2heads.decoding.search import Output


class Hypotheses(NamedTuple):
    """The N best sequences for each of B sources, the best first.

    Where fewer than N sequences have a probability above zero, the rest are empty: length 0,
    log_prob and score −∞.
    """

    tokens: Tensor  # (B, N, T) long, without <bos>; after `length` tokens all is padding
    length: Tensor  # (B, N) long, in tokens, <eos> counted
    log_prob: Tensor  # (B, N), in nats
    score: Tensor  # (B, N), log_prob under the length normalisation
    finished: Tensor  # (B, N) bool, True where <eos> was generated within max_length
    scored: Tensor  # (B,) long, how many sequences the search computed a score for

    def best(self) -> Output:
        """The best sequence for each source, as greedy search would return it."""
        tokens = self.tokens[:, 0, : int(self.length[:, 0].max())]
        return Output(tokens, self.log_prob[:, 0], self.finished[:, 0])


class Pool:
    """Collects finished hypotheses, and keeps the best ones of each source.

    Of two with the same score, the one that came first stays; so the initial empty ones are not
    displaced by sequences of probability zero.

    Args:
        sources: B.
        n_best: N.
        pad: fills the tokens after the end.
        device: the device of the tensors.
    """

    def __init__(self, sources: int, n_best: int, *, pad: int, device: torch.device):
        shape, self.pad = (sources, n_best), pad
        self.log_prob = torch.full(shape, -torch.inf, device=device)
        self.score = self.log_prob.clone()
        self.length = torch.zeros(shape, dtype=torch.long, device=device)
        self.finished = torch.zeros(shape, dtype=torch.bool, device=device)
        self.tokens = torch.zeros(*shape, 0, dtype=torch.long, device=device)

    def add(
        self, sources: Tensor, tokens: Tensor, log_prob: Tensor, finished: Tensor, rule: LengthRule
    ) -> None:
        """Offer C sequences of one length for each of A sources.

        Args:
            sources: (A,) long, their numbers.
            tokens: (A, C, L) long, L at least that of the previous call.
            log_prob: (A, C); −∞ offers nothing.
            finished: (A, C) bool, whether the last token is <eos>.
            rule: converts log-probabilities into scores.
        """
        n_best, length = self.score.shape[1], tokens.shape[2]
        self.log_prob, self.score = (known.to(log_prob) for known in (self.log_prob, self.score))
        scores = torch.cat([self.score[sources], rule.score(log_prob, length)], dim=1)
        order = scores.sort(dim=1, descending=True, stable=True).indices[:, :n_best]  # (A, N)

        def merge(known: Tensor, new: Tensor) -> Tensor:
            return torch.cat([known[sources], new], dim=1).gather(1, order)

        self.score[sources] = scores.gather(1, order)
        lengths = torch.full_like(finished, length, dtype=torch.long)
        self.length[sources] = merge(self.length, lengths)
        self.log_prob[sources] = merge(self.log_prob, log_prob)
        self.finished[sources] = merge(self.finished, finished)
        self.tokens = F.pad(self.tokens, (0, length - self.tokens.shape[2]), value=self.pad)
        texts = torch.cat([self.tokens[sources], tokens], dim=1)  # (A, N + C, L)
        self.tokens[sources] = texts.gather(1, order[..., None].expand(-1, -1, length))

    def worst(self, sources: Tensor) -> Tensor:
        """The score (A,) that a sequence must exceed to be among the N best of these sources."""
        return self.score[sources, -1]

    def result(self, scored: Tensor) -> Hypotheses:
        """The N best of each source; `scored` (B,) counts the scores that the search computed."""
        tokens = self.tokens[..., : int(self.length.max())]
        return Hypotheses(tokens, self.length, self.log_prob, self.score, self.finished, scored)
