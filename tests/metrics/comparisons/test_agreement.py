"""The measure of agreement itself: by hand, and against a planted difference."""

import pytest
import torch

from gates2heads.metrics.agreement import largest_difference
from gates2heads.metrics.exact_match import parts_right


def test_the_same_function_agrees_to_the_last_bit():
    inputs = [torch.randn(3, 5), torch.randn(5, 7)]
    assert largest_difference(torch.matmul, torch.matmul, inputs) == (0, 0)


def test_by_hand():
    # f = 2x and g = 3x at x = (1, -4): outputs differ by 1 and 4.
    # d(Σf²)/dx = 8x and d(Σg²)/dx = 18x differ by 10·|x|, at most 40.
    x = torch.tensor([1.0, -4.0])
    assert largest_difference(lambda x: 2 * x, lambda x: 3 * x, [x]) == (4.0, 40.0)
    assert not x.requires_grad


def test_equal_outputs_with_another_gradient_are_noticed():
    difference = largest_difference(lambda x: x, lambda x: x.detach() + 0 * x, [torch.ones(3)])
    assert difference.outputs == 0
    assert difference.gradients == 2


def test_outputs_of_unlike_shape_are_refused():
    with pytest.raises(ValueError, match=r"same shape, got \(3,\) and \(\)"):
        largest_difference(torch.sin, torch.sum, [torch.ones(3)])


def test_parts_by_hand():
    # Right: a, c | none of two, the first missing its place | all three parts of "x y z" but one.
    assert parts_right(["a b c", "y", "x y"], ["a x c", "x y", "x y z"]) == pytest.approx(4 / 8)
    assert parts_right(["1|2"], ["1|2"], separator="|") == 1


def test_parts_refuse_what_is_no_text():
    with pytest.raises(ValueError, match="separator must"):
        parts_right(["a"], ["a"], separator="")
    with pytest.raises(TypeError, match=r"hypotheses\[0\]"):
        parts_right([["a"]], ["a"])
