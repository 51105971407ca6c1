"""The largest few of many, by blocks and by sorting all."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.top import BLOCK, MANY, top


@given(
    rows=st.integers(1, 5),
    size=st.integers(MANY - 2, MANY + BLOCK + 1),
    count=st.integers(1, MANY // BLOCK + 2),
    seed=st.integers(0, 1000),
)
def test_blocks_find_what_sorting_finds(rows, size, count, seed):
    numbers = torch.randperm(rows * size, generator=torch.Generator().manual_seed(seed)).float()
    numbers = numbers.view(rows, size)
    expected = numbers.topk(count, dim=1)
    values, places = top(numbers, count)
    assert torch.equal(values, expected.values)
    assert torch.equal(places, expected.indices)


@given(first=st.integers(0, MANY), count=st.integers(1, 9))
def test_the_largest_may_be_neighbours(first, count):
    """All in one block, or over an edge, or after the last whole block."""
    numbers = torch.full((1, MANY + 11), -torch.inf)
    numbers[0, first : first + count] = torch.arange(count, 0, -1.0)
    values, places = top(numbers, count)
    assert values[0].tolist() == list(range(count, 0, -1))
    assert places[0].tolist() == list(range(first, first + count))


def test_equals_stand_at_different_places():
    """Where many are equal, or nothing is possible, no place comes twice."""
    for value in (0.0, -torch.inf):
        values, places = top(torch.full((2, MANY), value), 7)
        assert (values == value).all()
        assert [len(set(row)) for row in places.tolist()] == [7, 7]
