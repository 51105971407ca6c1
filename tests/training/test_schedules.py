"""Schedules: up, along, down to nothing."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.training.schedules import warmup_cosine, warmup_linear


def test_by_hand():
    share = warmup_linear(10, warmup=2, decay=0.5)
    # Two steps up (1/2, 2/2), flat to step 5, then fifths of what is left of the last five steps.
    expected = [0.5, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]
    assert [share(step) for step in range(10)] == pytest.approx(expected)
    assert share(10) == 0
    assert share(99) == 0


def test_without_rise_or_fall():
    flat = warmup_linear(7, decay=0)
    assert [flat(step) for step in range(9)] == [1.0] * 9
    falling = warmup_linear(4)
    assert [falling(step) for step in range(5)] == [1, 0.75, 0.5, 0.25, 0]


@given(st.integers(1, 200), st.data())
def test_rises_stays_and_falls(total, data):
    decay = data.draw(st.floats(0, 1))
    warmup = data.draw(st.integers(0, int(total - decay * total)))
    share = warmup_linear(total, warmup=warmup, decay=decay)
    shares = [share(step) for step in range(total)]
    assert all(0 < s <= 1 for s in shares)
    assert shares[:warmup] == sorted(shares[:warmup])
    assert shares[warmup:] == sorted(shares[warmup:], reverse=True)
    if warmup:
        assert share(warmup - 1) == 1
    assert share(total) == 0 or decay * total == 0


def test_sets_the_rates_of_an_optimizer():
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=8.0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup_linear(4, warmup=2, decay=0.5))
    rates = []
    for _ in range(4):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert rates == [4, 8, 8, 4]


def test_refuses_what_cannot_be():
    for arguments, error, message in [
        ({"total": 0}, ValueError, "total must"),
        ({"total": 2.5}, TypeError, r"total must"),
        ({"total": 5, "decay": 1.5}, ValueError, r"decay must"),
        ({"total": 5, "decay": float("nan")}, ValueError, r"decay must"),
        ({"total": 5, "decay": None}, TypeError, "decay must"),
        ({"total": 5, "warmup": -1}, ValueError, "warmup must"),
        ({"total": 5, "warmup": 1}, ValueError, "warmup must"),
        ({"total": 9, "warmup": 6, "decay": 0.5}, ValueError, "warmup must"),
    ]:
        with pytest.raises(error, match=message):
            warmup_linear(**arguments)


def test_cosine_by_hand():
    # Two steps up, then half a wave over the four steps that are left: 1, (1 + √½)/2, ½, …, 0.
    share = warmup_cosine(6, warmup=2)
    high = (1 + 0.5**0.5) / 2
    expected = [0.5, 1, 1, high, 0.5, 1 - high, 0, 0]
    assert [share(step) for step in range(8)] == pytest.approx(expected)


@given(st.integers(1, 200), st.data())
def test_cosine_rises_and_falls(total, data):
    warmup = data.draw(st.integers(0, total - 1))
    share = warmup_cosine(total, warmup=warmup)
    shares = [share(step) for step in range(total)]
    assert all(0 < s <= 1 for s in shares)
    assert shares[:warmup] == sorted(shares[:warmup])
    assert shares[warmup:] == sorted(shares[warmup:], reverse=True)
    assert shares[warmup] == 1
    assert share(total) == pytest.approx(0)


def test_cosine_agrees_with_torch():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    reference = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=13)
    share = warmup_cosine(13)
    for step in range(13):
        assert share(step) == pytest.approx(reference.get_last_lr()[0])
        optimizer.step()
        reference.step()


def test_cosine_bad_input():
    with pytest.raises(ValueError, match="warmup must"):
        warmup_cosine(7, warmup=7)
