"""An n-gram model that chooses among unseen pairs by counts at a distance.

For `paired_captions.py`, the study of chapter 3.

After a token, an n-gram model has nothing but continuation counts to choose among the tokens that
never followed it: the earlier tokens of the context are lost. How much of what a network gains
there is plain counting? `SkipCounts` keeps the probability of every seen pair, and the mass of all
unseen ones together. Among the unseen ones it weighs the continuation counts by how often each
token came two, three and four positions after the earlier tokens of the context:

    choice(w) ∝ p(w)^a_1 · Π_d (p_d(w | x_{t−d}) / p(w))^a_d,    d = 2, 3, 4,

with p(w) from the continuation counts and p_d = (c_d(x w) + κ p(w)) / (c_d(x) + κ). The four
weights and κ are fitted to the unseen pairs of the validation captions. No embedding is involved.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.base import LanguageModel
from gates2heads.models.language.ngram import KneserNey

DISTANCES = (2, 3, 4)
PRIORS = (1.0, 10.0, 100.0)  # the values of κ that are tried
ITERATIONS = 50
Texts = Sequence[Sequence[int]]


class SkipCounts(LanguageModel):
    """Reweight the choice of a Kneser–Ney model among the tokens that form an unseen pair.

    Args:
        base: gives the probability of seen pairs, and that of all unseen pairs together.
        train: the texts in which it counts.
        validation: the texts on whose unseen pairs the weights are fitted.
    """

    def __init__(self, base: KneserNey, train: Texts, validation: Texts):
        self.base, self.vocabulary_size = base, base.vocabulary_size
        self.single = base._probs(())  # (V,), from continuation counts
        self.followers: dict[int, set[int]] = defaultdict(set)
        self.counts = {d: defaultdict(Counter) for d in DISTANCES}
        for text in train:
            for end, token in enumerate(text):
                *_, last = read = _padded(text[:end])
                self.followers[last].add(token)
                for d in DISTANCES:
                    self.counts[d][read[-d]][token] += 1
        self.kappa, self.weights = self._fitted(validation)

    def ratios(self, prefix: Sequence[int], kappa: float) -> Tensor:
        """Logarithms of p(w) and, for each distance, of p_d / p: (4, V); −∞ for a seen pair."""
        out, read = [self.single.log()], _padded(prefix)
        for d in DISTANCES:
            met = self.counts[d].get(read[-d], {})
            of = torch.zeros_like(self.single)
            of[list(met)] = torch.tensor(list(met.values()), dtype=of.dtype)
            out.append(((of / self.single + kappa) / (of.sum() + kappa)).log())
        found = torch.stack(out)
        found[:, self.single == 0] = 0
        found[0, self.single == 0] = -torch.inf
        found[0, list(self.followers[read[-1]])] = -torch.inf
        return found

    def _fitted(self, validation: Texts) -> tuple[float, Tensor]:
        """κ and the four weights with the least surprise at the choice among unseen tokens."""
        prefixes = [
            (text[:end], token)
            for text in validation
            for end, (last, token) in enumerate(pairwise([Vocabulary.bos, *text]))
            if token not in self.followers[last]
        ]
        tokens = torch.tensor([token for _, token in prefixes])
        best = None
        for kappa in PRIORS:
            given = torch.stack([self.ratios(prefix, kappa) for prefix, _ in prefixes])
            weights = torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=given.dtype, requires_grad=True)
            optimiser = torch.optim.LBFGS(
                [weights], max_iter=ITERATIONS, line_search_fn="strong_wolfe"
            )

            def loss(given=given, weights=weights, optimiser=optimiser):
                optimiser.zero_grad()
                scores = _scores(given, weights).log_softmax(dim=-1)
                value = -scores.gather(1, tokens[:, None]).mean()
                value.backward()
                return value

            optimiser.step(loss)
            reached = loss().item()
            if best is None or reached < best[0]:
                best = reached, kappa, weights.detach()
        return best[1:]

    def probs(self, prefix: Sequence[int]) -> Tensor:
        """p(w | prefix) for every token: (V,)."""
        probs = self.base.probs(prefix).clone()
        scores = _scores(self.ratios(prefix, self.kappa), self.weights)
        unseen = scores > -torch.inf
        probs[unseen] = probs[unseen].sum() * scores.softmax(dim=-1)[unseen]
        return probs

    def _score(self, tokens: Tensor, mask: Tensor) -> Tensor:
        rows = [row[kept].tolist() for row, kept in zip(tokens, mask, strict=True)]
        scores = torch.zeros(tokens.shape, dtype=self.single.dtype)
        for row, text in enumerate(rows):
            for end, token in enumerate(text):
                scores[row, end] = self.probs(text[:end])[token].log()
        return scores


def _padded(prefix: Sequence[int]) -> list[int]:
    """The last tokens of a prefix with <bos> in front, as many as the longest distance."""
    return ([Vocabulary.bos] * max(DISTANCES) + list(prefix))[-max(DISTANCES) :]


def _scores(given: Tensor, weights: Tensor) -> Tensor:
    """The unnormalised log-probabilities of a choice, −∞ where the first row is: (…, V)."""
    barred = given[..., 0, :] == -torch.inf
    filled = given.masked_fill(barred[..., None, :], 0.0)
    scores = (filled * weights[:, None]).sum(-2)
    return scores.masked_fill(barred, -torch.inf)
