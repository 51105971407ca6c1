"""What a head looks at, as numbers: by hand, against sums over all pairs, and what is refused."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.watching.head_statistics import head_statistics

YES = torch.ones(1, 3).bool()


def test_by_hand():
    # Three heads over three places: one looks at itself, one at the place before (the first at
    # itself), one evenly. Distances: 0; (0 + 1 + 1)/3; even: (1 + 2/3 + 1)/3 = 8/9.
    before = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    weights = torch.stack([torch.eye(3), before, torch.full((3, 3), 1 / 3)])[None]
    told = head_statistics(weights, queries=YES, keys=YES)
    wanted = {
        "distance": [0, 2 / 3, 8 / 9],
        "entropy": [0, 0, math.log(3)],
        "previous": [0, 2 / 3, 2 / 9],
        "itself": [1, 1 / 3, 1 / 3],
        "next": [0, 0, 2 / 9],
        "first": [1 / 3, 2 / 3, 1 / 3],
        "last": [1 / 3, 0, 1 / 3],
    }
    assert list(told) == list(wanted)
    for name, values in wanted.items():
        assert torch.allclose(told[name], torch.tensor(values, dtype=torch.float32)), name


def test_marked_keys_are_summed():
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375], [0.0, 0.0, 1.0]])[None, None]
    marked = torch.tensor([[False, True, True]])
    told = head_statistics(weights, queries=YES, keys=YES, marked=marked)
    # Rows give 0.5, 0.875 and 1 to the two marked keys; their mean is 2.375/3.
    assert told["marked"].item() == pytest.approx(2.375 / 3)


def slowly(weights, queries, keys, measure):
    """The mean over real queries of Σ_s weight · measure(t, s, last), one head after the other."""
    means = []
    for head in range(weights.shape[1]):
        found = []
        for row, query, key in zip(weights[:, head], queries, keys, strict=True):
            last = max(s for s in range(len(key)) if key[s])
            for t in range(len(query)):
                if query[t]:
                    found.append(sum(row[t, s] * measure(t, s, last) for s in range(len(key))))
        means.append(sum(found) / len(found))
    return torch.stack(means)


@given(st.integers(1, 5), st.integers(1, 7), st.integers(0, 99))
def test_it_is_the_sum_over_all_pairs_and_padding_does_not_count(length, size, seed):
    draw = torch.Generator().manual_seed(seed)
    weights = torch.rand(2, 3, length, size, generator=draw).softmax(-1)
    queries, keys = (torch.rand(2, n, generator=draw) > 0.4 for n in (length, size))
    queries[:, 0] = keys[:, 0] = True
    told = head_statistics(weights, queries=queries, keys=keys)
    measures = {
        "distance": lambda t, s, last: abs(t - s),
        "previous": lambda t, s, last: float(s == t - 1),
        "itself": lambda t, s, last: float(s == t),
        "next": lambda t, s, last: float(s == t + 1),
        "first": lambda t, s, last: float(s == 0),
        "last": lambda t, s, last: float(s == last),
    }
    for name, measure in measures.items():
        assert torch.allclose(told[name], slowly(weights, queries, keys, measure), atol=1e-5), name
    changed = weights.clone()
    changed[~queries[:, None].expand(-1, 3, -1)] = 1 / size  # rows of padding
    for name, values in head_statistics(changed, queries=queries, keys=keys).items():
        assert torch.allclose(values, told[name], atol=1e-6), name


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"queries": ~YES}, "queries must"),
    ],
)
def test_bad_input(given_, message):
    good = {"weights": torch.full((1, 1, 3, 3), 1 / 3), "queries": YES, "keys": YES}
    with pytest.raises((TypeError, ValueError), match=message):
        head_statistics(**{**good, **given_})


def test_half_precision_counts_many_queries():
    # 70,001 queries, more than half precision can count: every head looks at the first of two keys.
    weights = torch.tensor([1.0, 0.0]).half().expand(70_001, 1, 1, 2)
    told = head_statistics(
        weights, queries=torch.ones(70_001, 1).bool(), keys=torch.ones(70_001, 2).bool()
    )
    assert {name: value.item() for name, value in told.items()} == {
        "distance": 0, "entropy": 0, "previous": 0, "itself": 1, "next": 0, "first": 1, "last": 0
    }  # fmt: skip
