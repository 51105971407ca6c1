"""Length rules: what a log-probability is divided by, so that long sequences stand a chance.

Every further token makes a sequence less likely, so the likeliest sequence tends to be short. A
rule divides the log-probability of a sequence of L tokens, `<eos>` counted, by a number that
grows with L.
"""

import math
from dataclasses import dataclass

from gates2heads.accepts import a, accepts, number


@accepts(alpha=number)
@dataclass(frozen=True)
class LengthRule:
    """Score = log P / divisor(L), where the divisor is positive and rises, or falls, with L.

    Args:
        alpha: how strongly length counts; 0 is not at all.
    """

    alpha: float

    def divisor(self, length: int) -> float:
        """The number for sequences of this many tokens."""
        raise NotImplementedError(f"{type(self).__name__} must say by what it divides")

    def score(self, log_prob, length: int):
        """The score of sequences of one length: log_prob, a number or a tensor, divided."""
        return log_prob / self.divisor(length)

    def bound(self, log_prob, length: int, max_length: int):
        """The highest score that a sequence can reach by growing further.

        Let p ≤ 0 be the log-probability of its first `length` tokens. Every further token has a
        log-probability of at most 0, so a sequence of L > `length` tokens has log P ≤ p, and its
        score is at most p / divisor(L). As p ≤ 0, that is highest where the divisor is greatest;
        as the divisor rises or falls all the way, that is at L = length + 1 or L = max_length.
        Rounding does not break this: adding a number ≤ 0 never makes a float greater, and
        dividing by the same number keeps the order.
        """
        return log_prob / max(self.divisor(length + 1), self.divisor(max_length))

    def check(self, max_length: int) -> None:
        """Refuse a rule that is not a positive finite number up to this length.

        Raises:
            ValueError: with the first and the last divisor's trouble in one sentence.
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
    """Divide by L^α; α = 1 is the mean log-probability a token.

    Source: Zhang et al. 2023, section 10.8, with its common value α = 0.75.
    """

    alpha: float = 0.75

    def divisor(self, length: int) -> float:
        """L^α."""
        return float(length) ** self.alpha


@accepts(alpha=number)
@dataclass(frozen=True)
class Wu(LengthRule):
    """Divide by ((5 + L) / 6)^α, which treats short sequences more alike.

    Source: Wu et al. 2016, eq. 14, with its best α for a model trained by likelihood alone, about
    0.6. Departs from it in leaving out its penalty for parts of the source that no attention
    covered: a search that knows no model cannot see them.
    """

    alpha: float = 0.6

    def divisor(self, length: int) -> float:
        """((5 + L) / 6)^α."""
        return ((5 + float(length)) / 6) ** self.alpha


NO_RULE = Power(0.0)
RULE = a(LengthRule, "such as Power(0.75)")  # how the searches declare one
