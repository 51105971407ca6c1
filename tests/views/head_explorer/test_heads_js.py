"""What the head explorer works out by itself, in Node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.javascript import LIBRARY, run_javascript

HEADS = {"heads": LIBRARY / "views/kit/heads.js"}
ANSWERS = {"answers": LIBRARY / "views/head_explorer/head_answers.js"}
SHAPES = [[2, 3, 5, 5], [1, 3, 4, 4], [1, 3, 4, 5]]
ENCODER = [[f"encoder_layers.{depth}.self_attn", head] for depth in (0, 1) for head in range(3)]
DECODER, CROSS = (
    [[f"decoder_layers.0.{name}", head] for head in range(3)]
    for name in ("self_attn", "cross_attn")
)


def call(name, *arguments):
    """One function of the module on JSON."""
    return run_javascript(f"return heads.{name}(...given);", HEADS, arguments)


def block_of(weights):
    """Weights as the view holds them."""
    return {"shape": list(weights.shape), "data": weights.ravel().tolist()}


WITH_BLOCK = "const [block, ...rest] = given; block.data = Float32Array.from(block.data);"


def test_words_and_the_mark_at_the_end_which_stays_there():
    assert call("wordsIn", "Ein Hund, ein Ball.") == {
        "words": ["Ein", "Hund,", "ein", "Ball"],
        "end": ".",
    }
    assert call("wordsIn", "ein Koch") == {"words": ["ein", "Koch"], "end": ""}
    assert call("wordsIn", "Was?!") == {"words": ["Was"], "end": "?!"}
    assert call("wordsIn", "...") == {"words": [], "end": "..."}
    assert call("inOrder", "Den Ball wirft er.", [3, 2, 0, 1]) == "er wirft Den Ball."


@pytest.mark.parametrize("order", [[], [0, 1], [0, 1, 1], [0, 1, 3], [2, 1, 0, 3]])
def test_what_is_no_order_of_the_words_leaves_them_as_they_were_typed(order):
    assert call("inOrder", "a b c.", order) == "a b c."


def test_a_word_is_moved_to_the_left_and_to_the_right():
    assert call("moved", [0, 1, 2, 3], 0, 2) == [1, 2, 0, 3]
    assert call("moved", [0, 1, 2, 3], 3, 1) == [0, 3, 1, 2]


@settings(max_examples=5)
@given(st.lists(st.floats(0, 0.999), min_size=30, max_size=30), st.integers(2, 12))
def test_shuffled_is_an_order_and_never_the_typed_one(draws, count):
    body = "let at = 0; return heads.shuffled(given.count, () => given.draws[at++]);"
    order = run_javascript(body, HEADS, {"draws": draws, "count": count})
    assert sorted(order) == list(range(count)) != order


def test_one_word_and_none_cannot_be_shuffled():
    assert [call("shuffled", count) for count in (0, 1)] == [[], [0]]


def test_heads_of_a_layer_of_a_block_and_of_the_model():
    assert call("headsWithin", SHAPES, 0, 1) == ENCODER[3:]
    assert call("headsWithin", SHAPES, 0) == ENCODER
    assert call("headsWithin", SHAPES, 2) == CROSS
    assert call("headsWithin", SHAPES) == ENCODER + DECODER + CROSS


def test_switching_one_all_and_all_but_one():
    one, other = ENCODER[0], CROSS[2]
    assert call("toggled", [], one) == [one]
    assert call("toggled", [other, one], one) == [other]
    assert call("together", [one], ENCODER[:3]) == ENCODER[:3]
    assert call("without", [one, other], ENCODER) == [other]
    assert call("alone", [one, other], one, ENCODER[:3]) == [other, *ENCODER[1:3]]


def test_how_many_are_off_in_words():
    told = [call("offInWords", off, SHAPES) for off in ([], CROSS[:1], ENCODER)]
    assert told == ["All 12 heads are on", "1 of 12 heads is off", "6 of 12 heads are off"]


def test_labels_of_pieces():
    pieces = [" Schne", "eball", " ", "<0xC3>", ".", "<eos>", "<bos>", "\u202e"]
    labels = ["Schne", "-eball", "␣", "<0xC3>", ".", "end", "start", "U+202E"]
    assert call("labelsOf", pieces) == labels
    assert call("labelsOf", ["Hund"]) == ["Hund"]


def test_characters_that_are_read_as_bytes_get_a_warning():
    assert call("warningOf", [" Ein", " Hund", ".", "<eos>"]) == ""
    told = call("warningOf", [" ", "<0xE2>", "<0x98>", "<0x83>", "<eos>"])
    assert "never occurred in training" in told


def test_punctuation_does_not_make_another_word():
    parts = call("compared", "throws a ball.", "throws a ball to a dog.")
    assert all(part["isSame"] for part in parts)


def test_who_looks_and_at_what_in_each_block():
    result = {"source": [" Ein", " Hund", "<eos>"], "target": [" A", " dog", "<eos>"]}
    read, written = ["Ein", "Hund", "end"], ["A", "dog", "end"]
    told = [call("sidesOf", result, block) for block in range(3)]
    before = ["start", "A", "dog"]
    assert told == [
        {"rows": read, "columns": read},
        {"rows": before, "columns": before},
        {"rows": written, "columns": read},
    ]


def test_a_map_is_that_of_its_layer_and_head():
    weights = np.arange(2 * 3 * 5 * 7, dtype=np.float32).reshape(2, 3, 5, 7)
    body = WITH_BLOCK + "return heads.mapOf(block, ...rest);"
    for layer, head in ((0, 0), (1, 2), (0, 1)):
        found = run_javascript(body, HEADS, [block_of(weights), layer, head])
        np.testing.assert_array_equal(found, weights[layer, head])


def test_numbers_name_the_largest_of_any_head_in_their_places():
    maps = [[[0.1, 0.0, 0.6, 0.3]], [[0.0, 0.2, 0.1, 0.7]]]
    found = call("numbersOf", maps, 0, 2)
    assert found["head"] == [
        {"place": 2, "weights": [0.6, 0.1]},
        {"place": 3, "weights": [0.3, 0.7]},
    ]
    assert found["rest"]["count"] == 2
    np.testing.assert_allclose(found["rest"]["weights"], [0.1, 0.2])
    assert call("numbersOf", maps, 0, 4)["rest"] is None


def test_a_small_picture_has_a_square_for_each_weight_that_can_be_seen():
    found = call("thumbnail", [[1, 0], [0.05, 0.95], [0.5, 0.5]])
    assert [round(one["opacity"], 3) for one in found] == [0.5, 1]
    assert found[0]["path"] == "M0 2h1v1h-1zM1 2h1v1h-1z"
    assert found[1]["path"] == "M0 0h1v1h-1zM1 1h1v1h-1z"


def test_lines_are_drawn_of_what_is_worth_one():
    assert call("lines", [[0.5, 0.019], [0.02, 0]]) == [
        {"row": 0, "column": 0, "weight": 0.5},
        {"row": 1, "column": 0, "weight": 0.02},
    ]


def test_pieces_are_found_in_another_order():
    assert call("matched", ["a", "b", "a", "c"], ["c", "a", "a", "b"]) == [1, 3, 2, 0]
    assert call("matched", ["a", "b"], ["a", "c"]) is None
    assert call("matched", ["a"], ["a", "a"]) is None


@settings(max_examples=5)
@given(st.permutations(range(5)), st.integers(0, 2**31))
def test_the_gap_between_weights_that_moved_with_their_pieces(order, seed):
    random = np.random.default_rng(seed)
    typed = random.random((2, 3, 5, 5), dtype=np.float32)
    moved = typed[:, :, order][..., order]
    body = """
      const single = ({ shape, data }) => ({ shape, data: Float32Array.from(data) });
      const [block, other] = [single(given[0]), single(given[1])];
      return heads.gapBetween(block, other, given[2]);
    """
    assert run_javascript(body, HEADS, [block_of(moved), block_of(typed), order]) == 0
    moved[1, 2, 3, 4] += 0.25
    gap = run_javascript(body, HEADS, [block_of(moved), block_of(typed), order])
    assert gap == pytest.approx(0.25)


WORDS = st.lists(st.sampled_from(["a", "dog", "runs", "the"]), max_size=7)


@settings(max_examples=8)
@given(WORDS, WORDS)
def test_words_that_are_the_same_stand_in_both_in_one_order(ours, theirs):
    one, other = (
        call("compared", " ".join(left), " ".join(right))
        for left, right in ((ours, theirs), (theirs, ours))
    )
    assert [part["text"] for part in one] == ours
    common = [part["text"] for part in one if part["isSame"]]
    rest = iter(theirs)
    assert all(word in rest for word in common)
    assert len(common) == sum(part["isSame"] for part in other)


def test_two_translations_compared_by_hand():
    parts = call("compared", "A dog is jumping .", "A small dog jumps .")
    assert [part["text"] for part in parts if not part["isSame"]] == ["is", "jumping"]
    assert all(part["isSame"] for part in call("compared", "a b", "a b"))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (-2, -2.004, "as probable as before"),
        (-2, -2.04, "about as probable as before"),
        (-2, -1.94, "1.1 times more probable"),
        (-2, -3, "2.7 times less probable"),
        (-3, -2, "2.7 times more probable"),
        (-2, -14, "160,000 times less probable"),
        (-2, -60, "more than a million times less probable"),
    ],
)
def test_how_much_less_probable_in_words(before, after, words):
    assert call("timesInWords", before, after) == words


def test_a_number_of_nats_has_a_minus_sign():
    assert [call("nats", number) for number in (-2.046, 0, 1.5)] == ["−2.05", "0.00", "1.50"]


def told(**change):
    """The sentences about an answer; `base` and `now` are one unless something is changed."""
    body = """
      const answer = (one) => one && { ...one, blocks: one.blocks.map(({ shape, data }) =>
        ({ shape, data: Float32Array.from(data) })) };
      const base = answer(given.base);
      const now = given.now ? answer(given.now) : base;
      return answers.answerInWords({ ...given, base, now, unshuffled: answer(given.unshuffled) });
    """
    weights = np.full((2, 3, 2, 2), 0.5)
    base = {
        "written": "A dog",
        "source": [" Ein", " Hund"],
        "target": ["A"],
        "finished": True,
        "blocks": [block_of(weights)] * 3,
    }
    given_ = {"base": base, "off": [], "order": [0, 1], "positions": True} | change
    for name in ("now", "unshuffled"):
        if name in given_:
            given_[name] = base | given_[name]
    return run_javascript(body, ANSWERS, given_)


def test_what_an_answer_stands_for_in_sentences():
    assert told() == "All 18 heads are on."
    assert told(off=ENCODER[:1], now={}).endswith("is off. The translation does not change.")
    assert told(off=ENCODER[:2], now={"written": "No"}).endswith("The translation changes.")
    assert "stopped after 1 tokens without <eos>." in told(now={"finished": False}, off=CROSS)
    shuffled = told(order=[1, 0], positions=False, now={"source": [" Hund", " Ein"]}, unshuffled={})
    assert "The word order is changed. The encoder has no positional encodings." in shuffled
    assert shuffled.endswith(
        "With the words as typed, the output is the same: the encoder's weights differ only in "
        "their order (to within 0.00001)."
    )
