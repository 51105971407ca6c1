"""The picture of a search and its words: the page's pure functions, by hand and on random trees."""

import math

import pytest

from gates2heads.decoding.lengths import Power
from gates2heads.watching.searches import compare
from gates2heads.watching.two_tables import BOS, EOS, NAMES, START, STEPS, two_tables
from tests.decoding.step_functions import RandomTables
from tests.javascript import LIBRARY, run_javascript

MODULES = {"picture": LIBRARY / "views/beam_laboratory/search_tree.js"}
WORDS = [name if name == "<eos>" else f" {name}" for name in NAMES]


def told(compared, words=WORDS):
    """What a search found, as the page hears it."""

    def named(found):
        return {**found._asdict(), "pieces": [words[token] for token in found.tokens]}

    nodes = [
        {**node._asdict(), "piece": "" if node.parent is None else words[node.token]}
        for node in compared.nodes
    ]
    ranking = [named(found) for found in compared.ranking]
    plain = {"scored": compared.scored, "steps": compared.steps}
    return {"nodes": nodes, "ranking": ranking, "greedy": named(compared.greedy), **plain}


def search(width=2, alpha=0.75, **options):
    given = {"bos": BOS, "eos": EOS, "max_length": STEPS, "width": width}
    return told(compare(two_tables, START, **given, length_rule=Power(alpha), **options))


def call(function, *given):
    return run_javascript(f"return picture.{function}(...given);", MODULES, given)


def test_numbers_as_people_write_them():
    body = "return given.map(([name, ...rest]) => picture[name](...rest));"
    asked = {
        ("written", -2.046): "−2.05",
        ("written", -0.001): "0.00",
        ("written", 0.25, 3): "0.250",
        ("chance", math.log(0.054)): "0.054",
        ("chance", math.log(3.2e-7)): "3.2 · 10⁻⁷",
        ("grouped", 424000): "424,000",
        ("grouped", 999): "999",
        ("completeSequences", 4, 4): "121",
        ("completeSequences", 8000, 14): "about 10⁵⁵",
    }
    assert run_javascript(body, MODULES, [list(key) for key in asked]) == list(asked.values())


def test_tokens_as_they_are_seen():
    pieces = [
        ("A", True), (" dog", False), ("ing", False), (".", False), ("<eos>", False), (" ", False),
        ("\n", False), ("dog", True),
    ]  # fmt: skip
    signs = run_javascript("return given.map((one) => picture.signOf(...one));", MODULES, pieces)
    assert signs == ["A", "dog", "·ing", ".", "∎ end", "␣", "␊", "dog"]
    spelled = ["A", " gr", "<0xC3>", "<0xBC>", "n", "<eos>"]
    assert call("textOf", spelled) == "A grün"
    assert call("textOf", ["<eos>"]) == ""


def test_the_picture_of_the_two_tables_by_hand():
    found = search(width=2, pruned=2)
    layout = call("layOut", found, {"upTo": 4, "prefix": []})
    cells = [
        (WORDS[found["nodes"][cell["place"]]["token"]].strip(), cell["step"], cell["row"],
         cell["fate"], cell["isBest"], cell["isGreedy"])
        for cell in layout["cells"]
    ]  # fmt: skip
    assert cells[:4] == [
        ("A", 0, 0, "kept", True, True),
        ("B", 0, 1, "kept", False, False),
        ("C", 0, 2, "pruned", False, False),
        ("<eos>", 0, 3, "pruned", False, False),
    ]
    best = [name for name, *_, is_best, _ in cells if is_best]
    greedy = [name for name, *_, is_greedy in cells if is_greedy]
    assert best == ["A", "C", "B", "<eos>"]
    assert greedy == ["A", "B", "C", "<eos>"]
    assert [cut["step"] for cut in layout["cuts"]] == [0, 1, 2, 3]
    kinds = [edge["kind"] for edge in layout["edges"]]
    assert kinds.count("best") == 3
    assert len(kinds) == len(cells) - 4


@pytest.mark.parametrize("seed", range(4))
def test_every_node_has_its_place_and_no_two_share_one(seed):
    tables = RandomTables(1, 5, 5, seed, sharpness=2.0)
    words = [f" {letter}" for letter in "abcde"]
    compared = compare(tables.step, tables.start, bos=0, eos=1, max_length=5, width=3 + seed)
    found = told(compared, words)
    upto = 2 + seed % 4
    layout = call("layOut", found, {"upTo": upto, "prefix": compared.ranking[-1].tokens[:2]})
    shown = [place for place, node in enumerate(found["nodes"]) if 0 < node["length"] <= upto]
    assert sorted(cell["place"] for cell in layout["cells"]) == shown
    assert len({(cell["x"], cell["y"]) for cell in layout["cells"]}) == len(shown)
    at = {cell["place"]: cell for cell in layout["cells"]}
    for edge in layout["edges"]:
        assert at[edge["to"]]["x"] > at[edge["from"]]["x"]
        assert found["nodes"][edge["to"]]["parent"] == edge["from"]
    for cell in layout["cells"]:
        assert cell["x"] + 84 <= layout["width"]
        assert cell["y"] + 38 <= layout["height"]
        below = [o for o in layout["cells"] if o["step"] == cell["step"] and o["row"] > cell["row"]]
        for other in below:  # what was followed first, then by probability
            here, there = (found["nodes"][one["place"]] for one in (cell, other))
            ranks = [(one["fate"] == "pruned", -one["log_prob"]) for one in (here, there)]
            assert ranks[0] <= ranks[1]
    forced = [
        found["nodes"][cell["place"]]["token"] for cell in layout["cells"] if cell["isForced"]
    ]
    assert forced == compared.ranking[-1].tokens[:2]


def test_arrows_walk_the_tree():
    found = search(width=2, pruned=2)
    body = """
    const layout = picture.layOut(given, { upTo: 4 });
    const find = (fits) => layout.cells.find(fits);
    const go = (step, row, key) => {
      const { place } = find((one) => one.step === step && one.row === row);
      const to = picture.neighbour(layout, given.nodes, place, key);
      const there = find((one) => one.place === to);
      return there ? [there.step, there.row] : null;
    };
    return [
      go(0, 0, "ArrowDown"), go(0, 0, "ArrowUp"), go(0, 0, "ArrowRight"),
      go(1, 1, "ArrowRight"), go(2, 0, "ArrowLeft"), go(0, 2, "ArrowRight"),
      go(2, 2, "Home"), go(0, 0, "End"), go(0, 0, "x"),
    ];
    """
    walked = run_javascript(body, MODULES, found)
    assert walked == [[0, 1], None, [1, 0], [2, 0], [1, 1], [1, 0], [0, 0], [3, 0], None]


def test_a_node_s_sequence_and_its_parts():
    found = search(width=2)
    end = next(
        place for place, node in enumerate(found["nodes"])
        if node["fate"] == "ended" and node["log_prob"] == pytest.approx(math.log(0.054))
    )  # fmt: skip
    sequence = call("sequenceAt", found["nodes"], end)
    assert sequence["pieces"] == [" A", " C", " B", "<eos>"]
    assert [math.exp(part) for part in sequence["parts"]] == pytest.approx([0.5, 0.3, 0.6, 0.6])
    parts = call("decomposed", sequence, 0.75)
    assert parts["length"] == 4
    assert parts["power"] == pytest.approx(4**0.75)
    assert parts["score"] == pytest.approx(found["ranking"][0]["score"])


def test_the_outcome_in_words():
    free = search(width=2)
    assert call("outcome", {"free": free, "forced": None}, {"width": 2, "prefix": []}) == (
        "Beam search with k = 2 finds “A C B”, score −1.032. Greedy search outputs “A B C”, score "
        "−1.074; it is less probable than the result of beam search."
    )
    same = call("outcome", {"free": search(width=1), "forced": None}, {"width": 1, "prefix": []})
    assert same == (
        "Beam search with k = 1 finds “A B C”, score −1.074. Greedy search outputs the same."
    )
    for numbers, why in (
        (
            {"log_prob": -1.0, "score": -2.0},
            "; it is more probable, but its score is lower once length is taken into account.",
        ),
        ({"log_prob": -1.0, "score": -0.5}, "; that score is higher."),
    ):
        other = {**free, "greedy": {**free["greedy"], **numbers, "tokens": [2, 0]}}
        said = call("outcome", {"free": other, "forced": None}, {"width": 2, "prefix": []})
        assert said.endswith(f"{why} The beam pruned this path at step 1.")
    forced = search(width=1, prefix=[0, 2])
    narrow = {"free": search(width=1), "forced": forced}
    assert call("outcome", narrow, {"width": 1, "prefix": [0, 2]}) == (
        "Forced to begin with “A C”, the best hypothesis is “A C B”, score −1.032. The "
        "unconstrained search finds “A B C”, score −1.074. The forced score is 0.042 higher: the "
        "unconstrained beam had pruned it."
    )
    worse = {"free": free, "forced": search(width=2, prefix=[1])}
    assert "lower." in call("outcome", worse, {"width": 2, "prefix": [1]})
    nothing = {"free": free, "forced": {**forced, "ranking": []}}
    assert "No continuation" in call("outcome", nothing, {"width": 2, "prefix": [0, 2]})


def test_where_greedy_search_leaves_the_tree():
    found = search(width=2)
    assert call("leaves", found) is None
    gone = {**found, "greedy": {**found["greedy"], "tokens": [2, 0]}}  # C at step 1 is pruned
    assert call("leaves", gone) == 1
    assert call("leaves", {**found, "greedy": {**found["greedy"], "tokens": [0, 1, 9]}}) == 3


def test_the_rows_of_the_table():
    free, forced = search(width=2), search(width=2, prefix=[1])
    rows = call("rowsOf", {"free": free, "forced": None, "sample": None}, {"seed": 1})
    assert [(row["rank"], row["name"], row["isBest"], row["isGreedy"]) for row in rows] == [
        (1, "beam", True, False),
        (2, "beam", False, True),
        (None, "greedy", False, True),
    ]
    sample = free["greedy"]
    rows = call(
        "rowsOf", {"free": free, "forced": forced, "sample": sample},
        {"seed": 3, "everything": free["ranking"][0]},
    )  # fmt: skip
    assert [row["name"] for row in rows if row["isBeside"]] == [
        "forced, greedy",
        "unconstrained beam",
        "sample, seed 3",
        "exhaustive",
    ]


def test_the_cost_and_a_cell_in_words():
    cost = call("costInWords", {"scored": 424000, "steps": 14}, {"width": 5, "size": 8000})
    assert cost == (
        "Scored: 424,000 candidates, at most k · V = 5 · 8,000 in each of 14 steps (560,000 in "
        "all). Exhaustive search would score about 10⁵⁵ complete sequences of at most 14 tokens."
    )
    node = {"piece": " dog", "length": 2, "log_prob": -1.5, "fate": "pruned"}
    flags = {"isBest": False, "isGreedy": True, "isForced": False}
    words = call("cellInWords", node, flags)
    assert words == "dog, step 2, log P −1.50, pruned, on the path of greedy search"
    assert "forced" in call("cellInWords", node, {**flags, "isForced": True})
