"""The view of induction heads without a browser: payload, bounds, arithmetic, words."""

import json
import random

import numpy as np
import pytest
import torch

from gates2heads.book.ch13.induction import scores, scores_without
from gates2heads.book.ch13.repeats import WORDS, twice, word_tokenizer
from gates2heads.browser.engine.export import Exported
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.layers.attention.heads_off import heads_of
from gates2heads.views import InductionHeads, ShowMe
from gates2heads.watching.repeats import observe_repeats
from tests.javascript import LIBRARY, run_javascript

PASSAGE = WORDS[3:90:5]
TEXT = " ".join(2 * PASSAGE)


@pytest.fixture(scope="module")
def models():
    """The two released models, as the page runs them."""
    return {"two layers": live_model("induction_two"), "one layer": live_model("induction_one")}


@pytest.fixture(scope="module")
def recorded():
    """What the model of two layers gives to the text."""
    one = shipped("induction_two")
    return observe_repeats(one.model, TEXT, one.source)


def test_show_me_begins_with_the_first_model_and_all_heads_on(models, recorded):
    buttons = [ShowMe("a", "b", {"word": 3}), ShowMe("c", "d", {"model": 1, "off": []})]
    one = InductionHeads(models, recorded, show_me=buttons)
    assert [button["state"] for button in one.show_me] == [
        {"model": 0, "off": [], "word": 3},
        {"model": 1, "off": []},
    ]


@pytest.fixture
def view(models, recorded):
    """A view with the second layer's first head selected."""
    return InductionHeads(models, recorded, layer=1, word=20)


def test_the_payload_holds_the_recorded_text(view, recorded):
    assert view.recorded["tokens"] == ["<bos>", *PASSAGE, *PASSAGE]
    assert view.recorded["bits"] == pytest.approx(recorded.bits.tolist(), abs=1e-6)
    length = len(recorded.tokens)
    assert view.recorded["shape"] == [2, 4, length, length]
    weights = np.frombuffer(view.weights, "<u2").reshape(2, 4, length, length) / 65535
    np.testing.assert_allclose(weights, recorded.weights.numpy(), atol=1e-5)
    best = [[word for word, _ in row] for row in view.recorded["top"]]
    assert best[-1] == [recorded.vocabulary[one] for one in recorded.likeliest[-1].tolist()]
    assert view.sizes == [[2, 4], [1, 4]]
    assert view.vocabulary == list(WORDS)
    assert (view.text, view.model, view.max_length) == (TEXT, 0, 64)
    assert (view.layer, view.head, view.word, view.off) == (1, 0, 20, [])
    assert repr(view) == f"InductionHeads(two layers, one layer; {2 * len(PASSAGE)} words)"


def test_positions_out_of_bounds_are_told_and_moved_where_a_browser_sends_them(view):
    for name, wrong, near in (
        ("model", 2, 1),
        ("layer", 1, 0),  # the model of one layer is shown now
        ("head", 4, 3),
        ("word", -1, 0),
    ):
        with pytest.raises(ValueError, match=f"{name} must"):
            setattr(view, name, wrong)
        view.set_state({name: wrong})
        assert getattr(view, name) == near


def test_only_heads_that_a_model_has_can_be_off(view):
    view.off = [["layers.1", 3], ["layers.0", 0]]
    for wrong in (["layers.2", 0], ["layers.0", 4], ["encoder", 0], [0, 0]):
        with pytest.raises(ValueError, match="off must"):
            view.off = [wrong]
    assert view.off == [["layers.1", 3], ["layers.0", 0]]


def test_a_mistake_gets_one_sentence(models, recorded):
    other = Exported("other", json.dumps({"model": {"kind": "GPT"}}), b"")
    bad_head = [ShowMe("a", "b", {"head": "x"})]
    for change, error, message in (
        ({"models": {"x": 3}}, TypeError, r"models\['x'\] must"),
        ({"models": {"x": other}}, TypeError, "must be an AttentionOnly, got 'GPT'"),
        ({"models": {}}, ValueError, "recorded must"),
        (
            {"models": dict(reversed(models.items()))},
            ValueError,
            "recorded must",
        ),
        ({"recorded": 3}, TypeError, "recorded must"),
        ({"layer": 2}, ValueError, "layer must"),
        ({"show_me": bad_head}, TypeError, "must hold what head takes"),
    ):
        with pytest.raises(error, match=message):
            InductionHeads(**{"models": models, "recorded": recorded, **change})


# ---- arithmetic and words, in Node


def in_node(body, given=None):
    here = LIBRARY / "views/induction_heads"
    return run_javascript(body, {"repeats": here / "repeats.js"}, given)


def test_repeats_are_those_whose_previous_word_was_followed_by_the_same_word():
    found = in_node(
        "return given.map((text) => repeats.kindsOf(['<bos>', ...text.split(' ')]).slice(1));",
        ["a b c a b d b c", "a a a", "a b b a b", "b a b a"],
    )
    assert [" ".join(kind[0] for kind in kinds) for kinds in found] == [
        "f f f o r f o r",
        "f o r",
        "f f o o r",
        "f f o r",
    ]


def test_the_page_measures_repeats_as_the_library_does():
    draw = random.Random(13)
    both = {name: shipped(name).model for name in ("induction_two", "induction_one")}
    for name, off in (("induction_two", 0), ("induction_two", -4), ("induction_one", 0)):
        model = both[name]
        heads = heads_of(model)[off:] if off else []
        passage = draw.sample(WORDS, 24)
        seen = observe_repeats(model, " ".join(2 * passage), word_tokenizer(), off=heads)
        top = [[[seen.vocabulary[one], 0] for one in row] for row in seen.likeliest.tolist()]
        given = {"tokens": seen.tokens, "bits": seen.bits.tolist(), "top": top}
        told = in_node(
            "return ['first', 'repeat'].map((kind) => repeats.measured(given, kind));", given
        )
        numbers = torch.tensor([word_tokenizer().encode(" ".join(passage), eos=False)])
        wanted = scores_without(model, twice(numbers), heads)
        assert [one["count"] for one in told] == [24, 23]
        assert told[1]["bits"] * np.log(2) == pytest.approx(wanted.repeat, abs=1e-4)
        assert told[1]["right"] == round(23 * wanted.accuracy)
        # the library counts the first word of the second half with the first occurrences
        rest = (24 * told[0]["bits"] + seen.bits[24].item()) / 25
        assert rest * np.log(2) == pytest.approx(wanted.first, abs=1e-4)
    assert scores(both["induction_two"], twice(numbers)).accuracy > 0.7


def test_texts_are_shuffled_and_chosen_anew():
    found = in_node(
        """const fixed = () => 0.5;
        const words = repeats.differentWords(" moon  lamp Moon\\n star lamp ");
        const other = repeats.reordered(words);
        const some = repeats.someWords(given, 30);
        return { words, twice: repeats.twice(words), other, some,
          again: [repeats.someWords(given, 5, fixed), repeats.someWords(given, 5, fixed)],
          halves: ["a b a b", "a b a", "a b b a", "a", "a a"]
            .map((text) => repeats.secondHalf(["<bos>", ...text.split(" ")])) };""",
        list(WORDS),
    )
    assert found["words"] == ["moon", "lamp", "star"]
    assert found["twice"] == "moon lamp star moon lamp star"
    assert sorted(found["other"]) == sorted(found["words"])
    assert found["other"] != found["words"]
    assert len(set(found["some"])) == 30
    assert set(found["some"]) <= set(WORDS)
    assert found["again"][0] == found["again"][1]
    assert found["halves"] == [3, None, None, None, 2]


def test_heads_have_names_from_one():
    found = in_node(
        """const all = (depth) => [0, 1, 2, 3].map((head) => [`layers.${depth}`, head]);
        return {
            heads: repeats.headsOf([2, 2]),
            name: repeats.headName(1, 0),
            kept: repeats.existing([["layers.1", 2], ["layers.0", 3], ["layers.0", 1]], [1, 4]),
            told: [[], [["layers.0", 1]], [["layers.0", 1], ["layers.1", 3]], all(1),
              [...all(1), ["layers.0", 0]]].map((off) => repeats.offInWords(off, [2, 4])),
        };"""
    )
    assert found["heads"] == [["layers.0", 0], ["layers.0", 1], ["layers.1", 0], ["layers.1", 1]]
    assert found["name"] == "2.1"
    assert found["kept"] == [["layers.0", 1], ["layers.0", 3]]
    assert found["told"] == [
        "all heads on",
        "head 1.2 off",
        "heads 1.2, 2.4 off",
        "layer 2 off",
        "head 1.1 and layer 2 off",
    ]


def test_attention_in_words():
    found = in_node(
        """const tokens = ["<bos>", "wolf", "garden", "moon", "wolf", "garden"];
        const told = (at, row, more) =>
          repeats.attentionInWords({ tokens, row, at, name: "2.1", isOff: false, ...more });
        return [
          told(4, [0.2, 0, 0.51, 0.1, 0.19, 0]),
          told(4, [0.7, 0, 0.2, 0.1, 0, 0]),
          told(4, [0.2, 0, 0.1, 0.4, 0.3, 0], { isOff: true }),
          told(4, [0.2, 0.4, 0.3, 0.1, 0, 0]),
          told(3, [0, 0.6, 0.4, 0, 0, 0]),
          told(0, [1, 0, 0, 0, 0, 0]),
        ];"""
    )
    wolf = "From the second “wolf”, head 2.1 gives"
    after = "“garden”, the word after the earlier “wolf”, receives"
    assert found == [
        f"{wolf} 0.51 of its attention to “garden”, the word after the earlier “wolf”.",
        f"{wolf} 0.70 of its attention to the start of the sequence. {after} 0.20.",
        f"{wolf} 0.40 of its attention to “moon”, the previous word; no other word receives more. "
        f"{after} 0.10. This head is off: its output is not added.",
        f"{wolf} 0.40 of its attention to the earlier “wolf”; no other word receives more. "
        f"{after} 0.30.",
        "From “moon”, head 2.1 gives 0.60 of its attention to “wolf”, word 1.",
        "From the start of the sequence, head 2.1 gives 1.00 of its attention to itself.",
    ]


def test_what_comes_next_in_words():
    found = in_node(
        """const seen = { tokens: ["<bos>", "wolf", "moon"], bits: [7, 2],
          top: [[["key", 0.1]], [["moon", 0.25]], [["star", 0.5]]] };
        return { said: [0, 1, 2].map((at) => repeats.nextInWords(seen, at)),
          shades: [0, 5, 30].map(repeats.shade), none: repeats.inBits(null),
          after: ["a b a b", "a a", "a"].map((text) => {
            const tokens = ["<bos>", ...text.split(" ")];
            return tokens.map((_, at) => repeats.afterEarlier(tokens, at));
          }) };"""
    )
    assert found["said"] == [
        "The most probable next word is “key” (0.10); the text continues with “wolf” (0.01).",
        "The most probable next word is “moon” (0.25), which is the next word of the text.",
        "The most probable next word is “star” (0.50).",
    ]
    assert found["shades"] == [0, 0.5, 1]
    assert found["none"] == "–"
    assert found["after"] == [[None, None, None, 2, 3], [None, None, 2], [None, None]]
