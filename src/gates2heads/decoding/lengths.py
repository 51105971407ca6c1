"""Length normalisation: divisors of log-probabilities, against the bias to short outputs.

Every further token lowers the probability of a sequence, so the most probable sequence tends to be
short. Length normalisation divides the log-probability of a sequence of L tokens, `<eos>` counted,
by a number that grows with L.
"""

import math
from dataclasses import dataclass

from gates2heads.accepts import accepts, instance, number


@accepts(alpha=number)
@dataclass(frozen=True)
class LengthRule:
    """Score = log P / divisor(L), where the divisor is positive and rises, or falls, with L.

    Args:
        alpha: the strength of the normalisation; 0 disables it.
    """

    alpha: float

    def divisor(self, length: int) -> float:
        """The divisor for sequences of this length."""
        raise NotImplementedError(f"{type(self).__name__} must say by what it divides")

    def score(self, log_prob, length: int):
        """The score of sequences of one length: log_prob, a number or a tensor, divided."""
        return log_prob / self.divisor(length)

    def bound(self, log_prob, length: int, max_length: int):
        """The highest score that a sequence can reach by growing further.

        Let p ≤ 0 be the log-probability of its first `length` tokens. Every further token has a
        log-probability of at most 0, so a sequence of L > `length` tokens has log P ≤ p, and its
        score is at most p / divisor(L). As p ≤ 0, that is highest where the divisor is greatest; as
        the divisor is monotonic in L, that is at L = length + 1 or L = max_length. Rounding does
        not break this: adding a number ≤ 0 never makes a float greater, and dividing by the same
        number keeps the order.
        """
        return log_prob / max(self.divisor(length + 1), self.divisor(max_length))

    def check(self, max_length: int) -> None:
        """Reject a divisor that is not a positive finite number at every length up to this one.

        Raises:
            ValueError: if the first or the last divisor is invalid.
        """
        for length in (1, max_length):
            try:
                divisor = self.divisor(length)
            except OverflowError:
                divisor = math.inf
            if not 0 < divisor < math.inf:
                raise ValueError(
                    f"length_rule must divide by a positive finite number at every length, got "
                    f"{divisor} with alpha={self.alpha} at max_length {max_length:.3g}"
                )


@accepts(alpha=number)
@dataclass(frozen=True)
class Power(LengthRule):
    """Divide by L^α; α = 1 is the mean log-probability per token.

    Source: Zhang et al. 2023, section 10.8, with its common value α = 0.75.
    """

    alpha: float = 0.75

    def divisor(self, length: int) -> float:
        """L^α."""
        return float(length) ** self.alpha


@accepts(alpha=number)
@dataclass(frozen=True)
class Wu(LengthRule):
    """Divide by ((5 + L) / 6)^α, which differs less between short sequences.

    Source: Wu et al. 2016, eq. 14, with its best α for a model trained by likelihood alone, about
    0.6. Departs from it in leaving out its penalty for parts of the source that no attention
    covered: a search that is independent of the model has no access to attention.
    """

    alpha: float = 0.6

    def divisor(self, length: int) -> float:
        """((5 + L) / 6)^α."""
        return ((5 + float(length)) / 6) ** self.alpha


NO_RULE = Power(0.0)
RULE = instance(LengthRule, "such as Power(0.75)")  # the declaration of such an argument
