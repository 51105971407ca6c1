"""Length rules: their formulas, and the bound that early stopping rests on."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.lengths import NO_RULE, LengthRule, Power, Wu


def test_by_hand():
    assert Power(0.5).divisor(9) == 3
    assert Power(1.0).score(-6.0, 4) == -1.5
    assert Wu(2.0).divisor(13) == pytest.approx(9.0)  # ((5 + 13) / 6)²
    assert Wu(0.6).divisor(1) == 1
    assert NO_RULE.score(-6.0, 4) == -6


def test_the_bound_by_hand():
    # Up to 16 tokens under 1/√L: -6 now may end as -6 / √16; where length costs, as soon as it can.
    assert Power(0.5).bound(-6.0, 3, 16) == -1.5
    assert Power(-1.0).bound(-6.0, 3, 16) == pytest.approx(-24)


@given(
    rule=st.builds(Power, st.floats(-3, 3)) | st.builds(Wu, st.floats(-3, 3)),
    log_probs=st.lists(st.floats(-50, 0), min_size=2, max_size=12),
    data=st.data(),
)
def test_no_sequence_grows_beyond_its_bound(rule, log_probs, data):
    length = data.draw(st.integers(1, len(log_probs) - 1))
    start = torch.tensor(sum(log_probs[:length]))
    bound, total = rule.bound(start, length, len(log_probs)), start
    for grown in range(length + 1, len(log_probs) + 1):
        total = total + log_probs[grown - 1]
        assert rule.score(total, grown) <= bound


class Nothing(LengthRule):
    def divisor(self, length):
        return length - 1


@pytest.mark.parametrize("rule", [Power(1e6), Power(-1e6), Nothing(1)])
def test_a_rule_divides_by_positive_finite_numbers(rule):
    with pytest.raises(ValueError, match="length_rule must"):
        rule.check(100)


def test_a_rule_says_by_what_it_divides():
    with pytest.raises(NotImplementedError, match="LengthRule must"):
        LengthRule(1.0).divisor(3)
