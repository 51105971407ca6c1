"""The tree of a small search, as a figure."""

import pytest

from gates2heads.figures.diagrams.search import tree_of_a_beam
from gates2heads.watching.searches import compare
from gates2heads.watching.two_tables import BOS, EOS, NAMES, START, STEPS, two_tables


def nodes(**options):
    return compare(two_tables, START, bos=BOS, eos=EOS, max_length=STEPS, **options).nodes


def test_every_prefix_is_there_with_its_probability():
    """0.5 · 0.3 · 0.6 = 0.09 and 0.5 · 0.4 · 0.4 = 0.08 after step 3; 0.054 at the end."""
    (axis,) = tree_of_a_beam(nodes(width=2, pruned=1), NAMES).axes
    said = [text.get_text() for text in axis.texts]
    for prefix, prob in (
        ("A B", "0.200"), ("A C", "0.150"), ("A C B", "0.090"), ("A B C", "0.080"),
        ("A C B <eos>", "0.054"), ("A B C <eos>", "0.048"),
    ):  # fmt: skip
        assert prefix in said
        assert prob in said


def test_the_first_continuation_is_beside_its_prefix_and_the_others_are_below():
    """So no prefix shares an arrow with a prefix that it does not continue."""
    (axis,) = tree_of_a_beam(nodes(width=2, pruned=1), NAMES).axes
    height = {text.get_text(): text.get_position()[1] for text in axis.texts}
    for prefix in ("A", "A B", "A B C"):
        assert height[prefix] == pytest.approx(height["A B C <eos>"])
    for prefix in ("A C", "A C B"):
        assert height[prefix] == pytest.approx(height["A C B <eos>"])
    down = [height[prefix] for prefix in ("A B", "A B A", "A C", "A C B B", "A <eos>", "B", "C")]
    assert down == sorted(down) or down == sorted(down, reverse=True)


def test_as_many_pruned_prefixes_as_were_kept_in_the_trace():
    few, many = (tree_of_a_beam(nodes(width=2, pruned=n), NAMES) for n in (0, 2))
    assert len(few.axes[0].texts) < len(many.axes[0].texts)
