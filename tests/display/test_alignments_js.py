"""What the explorer knows without a page, run in Node beside plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gates2heads.display.widgets import Alignment, AlignmentExplorer
from tests.javascript import DISPLAY, run_javascript

MODULES = {"it": DISPLAY / "widgets" / "alignments.js"}
READ = """
  const data = new DataView(Uint8Array.from(given.bytes).buffer);
  return it.readAlignments(given.catalogue, data);
"""


def rows(target: int, source: int, seed: int) -> np.ndarray:
    weights = np.random.default_rng(seed).random((target, source))
    return weights / weights.sum(1, keepdims=True)


def call(body: str, given=None):
    return run_javascript(body, MODULES, given)


def test_the_payload_is_read_as_python_wrote_it():
    sizes = {"dot": [(2, 7), (5, 3)], "additive": [(11, 7), (1, 3)]}
    given_rows = {
        name: [rows(*size, seed) for seed, size in enumerate(each)] for name, each in sizes.items()
    }
    view = AlignmentExplorer(
        {
            name: [Alignment(["s"] * w.shape[1], ["t"] * w.shape[0], w) for w in each]
            for name, each in given_rows.items()
        }
    )
    read = call(READ, {"bytes": list(view.weights), "catalogue": view.catalogue})
    for mine, (_, each) in zip(read, given_rows.items(), strict=True):
        for one, weights in zip(mine, each, strict=True):
            assert one["source"] == ["s"] * weights.shape[1]
            assert one["target"] == ["t"] * weights.shape[0]
            np.testing.assert_array_equal(np.float32(one["rows"]), weights.astype(np.float32))


@settings(max_examples=5)
@given(
    st.lists(
        st.lists(st.integers(0, 100), min_size=1, max_size=11).filter(any), min_size=1, max_size=7
    )
)
def test_the_places_worth_naming_are_the_largest(counts):
    named = call("return given.map((w) => [it.peakOf(w), it.mostLookedAt(w)]);", [
        [count / sum(row) for count in row] for row in counts
    ])  # fmt: skip
    for row, (peak, few) in zip(counts, named, strict=True):
        weights = np.array(row) / sum(row)
        order = sorted(range(len(row)), key=lambda at, row=row: -row[at])
        expected = [at for rank, at in enumerate(order) if not rank or weights[at] >= 0.05]
        assert few == expected[:3]
        assert peak == few[0] == weights.argmax()


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ((0, 1, 3), (0, 1, 3)),
        ((9, 9, 9), (1, 1, 1)),
        ((-1, -1, -1), (0, 0, 0)),
        ((1, 0, 9), (1, 0, 4)),
        ((None, "1", "x"), (0, 1, 0)),
    ],
)
def test_positions_stay_inside_what_there_is(asked, there):
    lengths = [[3, 7], [5, 2]]  # targets, by score and sentence
    body = """
      const all = given.lengths.map((row) => row.map((n) => ({ target: Array(n).fill("t") })));
      const [score, sentence, step] = given.asked;
      const at = it.placeInside(all, { score, sentence, step });
      return [at.score, at.sentence, at.step];
    """
    assert call(body, {"lengths": lengths, "asked": asked}) == list(there)


def test_a_place_is_scrolled_into_what_is_seen_and_stays_where_it_is_seen():
    body = "return given.map((one) => it.scrolledTo(...one));"
    # place, scrolled so far, from, to: names cover the first 60 pixels of a box of 300
    asked = [[200, 0, 60, 300], [70, 0, 60, 300], [500, 0, 60, 300], [90, 40, 60, 300]]
    # seen at 200; under the names; off the right edge; at 50, under the names again
    assert call(body, asked) == [0, 70 - 180, 500 - 180, 90 - 180]


def test_text_is_joined_and_blanks_are_seen():
    body = "return [given.map(it.joined), it.visible(' '), it.visible('a'), it.linkPath(1, 3, 8)];"
    texts = [["m", "a", "i", "<eos>"], ["le", "chat"], ["é", "中", "𝄞"], ["<eos>"]]
    expected = ["mai<eos>", "le chat", "é中𝄞", "<eos>"]
    assert call(body, texts) == [expected, "␣", "a", "M1 8 C1 4 3 4 3 0"]


def test_keys_move_one_step_or_sentence():
    goals = call("return it.stepsOf({ sentence: 2, step: 3 }, 9);")
    assert goals["ArrowLeft"] == {"step": 2}
    assert goals["ArrowRight"] == {"step": 4}
    assert goals["ArrowUp"] == {"sentence": 1}
    assert goals["ArrowDown"] == {"sentence": 3}
    assert (goals["Home"], goals["End"]) == ({"step": 0}, {"step": 9})
