"""Places, sizes and words of the model walk, in Node."""

from tests.javascript import LIBRARY, run_javascript

MODULES = {"walks": LIBRARY / "views/model_walk/walks.js"}

# Two encoder blocks, one decoder block; two tokens are read, three written.
SETUP = """
const counted = (length) => Float32Array.from({ length }, (_, at) => at);
const stage = (stack, block, part, base, heads = null) => ({
  stack, block, part,
  before: block ? [base, base + 1, base + 2] : null,
  added: block ? [0.5, 1, 2] : null,
  after: [base + 1, base + 2, base + 3],
  weights: heads && { shape: heads, data: counted(heads[0] * heads[1] * heads[2]) },
});
const stages = [
  stage("encoder", 0, "embedding", 1),
  stage("encoder", 1, "self_attn", 2, [2, 2, 2]), stage("encoder", 1, "feed_forward", 3),
  stage("encoder", 2, "self_attn", 4, [2, 2, 2]), stage("encoder", 2, "feed_forward", 5),
  stage("decoder", 0, "embedding", 6),
  stage("decoder", 1, "self_attn", 7, [2, 3, 3]), stage("decoder", 1, "cross_attn", 8, [2, 3, 2]),
  stage("decoder", 1, "feed_forward", 9),
];
const readouts = {
  words: [[["<bos>", " a"], [" a", "b"], ["b", " a"]], [[" a", "b"], ["b", " a"], ["<eos>", "b"]]],
  logProbs: [[[-0.1, -3], [0, -9], [-0.5, -1]], [[-0.2, -2], [-0.7, -0.8], [-6, -7]]],
  rank: [[1, 1, 4999], [0, 0, 0]],
  written: [[-3, -9, -8], [-0.2, -0.7, -6]],
};
const cache = { shape: [1, 2, 3], source: 24, target: [12, 24, 36], without: [36, 84, 144] };
const sides = { source: [" x", "<eos>"], target: [" a", "b", "<eos>"], written: "ab" };
const result = { ...sides, stages, readouts, cache };
const boxes = walks.boxesOf(stages);
"""


def ask(body: str):
    return run_javascript(SETUP + body, MODULES)


def test_stages_become_boxes():
    found = ask(
        "return boxes.map((box) => [box.stack, box.name, box.stages.length,"
        " walks.partsInWords(box)]);"
    )
    assert found == [
        ["encoder", "embedding", 1, "token + position"],
        ["encoder", "block 1", 2, "self · FFN"],
        ["encoder", "block 2", 2, "self · FFN"],
        ["decoder", "embedding", 1, "token + position"],
        ["decoder", "block 1", 3, "self · cross · FFN"],
    ]


def test_the_way_leads_through_all_boxes_and_then_through_the_decoder_for_each_word():
    forth = ask(
        "const way = []; let at = { place: 0, step: 0 };"
        "while (at) { way.push([at.place, at.step]); at = walks.goOn(at, boxes, 3, true); }"
        "return way;"
    )
    assert forth == [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [3, 1], [4, 1], [3, 2], [4, 2]]
    back = ask(
        "const way = []; let at = { place: 4, step: 2 };"
        "while (at) { way.push([at.place, at.step]); at = walks.goOn(at, boxes, 3, false); }"
        "return way;"
    )
    assert back == forth[::-1]


def test_a_token_opens_a_box_of_its_side_as_deep_as_there_is():
    found = ask(
        "return boxes.map((_, place) => ['encoder', 'decoder'].map((stack) =>"
        " walks.placeWithin(boxes, place, stack)));"
    )
    assert found == [[0, 3], [1, 4], [2, 4], [0, 3], [1, 4]]


def test_a_part_at_a_place():
    found = ask(
        "const words = walks.wordsOfWalk(result), at = { step: 1, token: 0 };"
        "return [words, ...boxes[4].stages.map((stage) => walks.partOf(stage, at, words, 6)),"
        " walks.partOf(stages[1], at, words, 6), walks.partOf(stages[0], at, words, 6)];"
    )
    words, own, cross, network, encoder, embedding = found
    assert words == {
        "read": ["x", "end"],
        "written": ["a", "-b", "end"],
        "before": ["start", "a", "-b"],
    }
    assert own["heads"] == [[3, 4], [12, 13]]  # what is yet to be written is not seen
    assert own["seen"] == ["start", "a"]
    assert (own["before"], own["added"], own["after"]) == (8, 1, 9)
    assert cross["heads"] == [[2, 3], [8, 9]]
    assert (cross["seen"], cross["isCross"]) == (["x", "end"], True)
    assert network["heads"] is None
    assert network["shape"] == "1 × D = 1 × 6"
    assert (encoder["shape"], encoder["before"]) == ("S × D = 2 × 6", 2)
    assert encoder["heads"] == [[0, 1], [4, 5]]
    assert (embedding["before"], embedding["after"]) == (None, 2)


def test_shares_and_chances():
    found = ask(
        "return [walks.shareOf({ before: 4, added: 1 }), walks.shareOf({ before: 0, added: 1 }),"
        " walks.chance(-0.1), walks.chance(-9), walks.rankInWords(0), walks.rankInWords(4999)];"
    )
    assert found == [0.25, 0, "0.90", "0.00", "rank 1", "rank 5,000"]


def test_what_the_layers_say():
    found = ask(
        "const cells = walks.cellsOf(result);"
        "return [cells.map((steps) => steps.map(({ word, isFinal }) => [word, isFinal])),"
        " [0, 1, 2].map((step) => walks.settledAt(cells, step)), walks.agreements(cells),"
        " [' a', 'b', '<bos>', '<eos>', ' '].map(walks.wordShown)];"
    )
    cells, settled, agreements, shown = found
    assert cells == [
        [["<bos>", False], [" a", False], ["b", False]],
        [[" a", True], ["b", True], ["<eos>", True]],
    ]
    assert settled == [1, 1, 1]
    assert agreements == [0, 3]
    assert shown == ["a", "-b", "start", "end", "␣"]


def test_a_word_that_was_right_too_early_is_settled_only_where_it_stays():
    cells = [[True], [False], [True], [True]]
    found = run_javascript(
        "return walks.settledAt(given.map((row) => row.map((isFinal) => ({ isFinal }))), 0);",
        MODULES,
        cells,
    )
    assert found == 2


def test_what_is_kept():
    told = ask("return [walks.keptAt(cache, 1), walks.keptInWords(cache, 1)];")
    assert told[0] == {
        **{"each": 12, "layers": 1, "width": 6, "source": 24},
        **{"target": 24, "total": 48, "without": 84},
    }
    assert told[1] == (
        "Each token takes 1 block × (key + value) × 6 = 12 numbers. The cache holds 24 for the "
        "source, computed once, and 24 for the output so far: 48 in total. Without any cache, 84 "
        "would have been computed by now, 1.8 times as many."
    )


def test_places_in_words():
    found = ask(
        "return [[0, 0, 1], [2, 0, 0], [3, 0, 0], [4, 1, 0]].map(([place, step, token]) =>"
        " walks.placeInWords(result, { place, step, token })).concat(walks.walkInWords(result));"
    )
    assert found == [
        "Encoder, embedding, at “end”: a vector with RMS 3.00.",
        "Encoder, block 2, at “x”: the block changes the RMS of the vector from 4.00 to 6.00.",
        "Decoder, embedding, predicting “a”: a vector with RMS 7.00.",
        "Decoder, block 1, predicting “-b”: "
        "the block changes the RMS of the vector from 8.00 to 11.00. "
        "The output is “-b” (0.50).",
        "Output: “ab”.",
    ]


def test_the_lens_tells_the_input_token_of_a_step_and_how_many_rank_first():
    found = ask(
        "const deeper = { ...result, written: 'ab.', readouts: { ...readouts,"
        " words: [readouts.words[0], [[' a', 'b'], [' a', 'b'], ['b', ' a']], readouts.words[1]],"
        " logProbs: [readouts.logProbs[0], ...[1, 2].map(() => readouts.logProbs[1])] } };"
        "return [walks.lensInWords(deeper, 1, 1), walks.lensInWords(deeper, 1, 0),"
        " walks.walkInWords(deeper)];"
    )
    assert found == [
        "The logit lens after this block gives “a” (0.50), the input token of this step; "
        "the final output is “-b”.",
        "The logit lens after this block gives “a” (0.82); this is also the final output.",
        "Output: “ab.” 1 of the 3 output tokens already ranks first after block 1.",
    ]


def test_an_english_source_is_recognised():
    found = run_javascript(
        "return given.map(walks.looksEnglish);",
        MODULES,
        [
            "The dog runs in the park.",
            "A man is on the roof",
            "Ein Mann in der Stadt",
            "Der Mann mit the on",
            "",
            "park",
        ],
    )
    assert found == [True, True, False, False, False, False]
