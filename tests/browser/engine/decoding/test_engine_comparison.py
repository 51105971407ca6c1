"""Greedy search beside a beam in the engine: ranking, parts and tree as in the library."""

import math

import pytest

from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.decoding.lengths import Power
from gates2heads.watching.searches import compare, watch
from gates2heads.watching.two_tables import AFTER_C, BOS, EOS, START, STEPS, TABLE, two_tables
from tests.browser.engine.decoding.test_engine_searches import (
    COUNTS,
    WAYS,
    camel,
    cases,
    levels,
    same_nodes,
)
from tests.browser.engine.models.test_engine_translator import SENTENCES
from tests.needs import needs_data

NEAR = 2e-3  # two float32 passes, summed in another order
LIMIT = 40


def same_found(ours, theirs, *, within=1e-9):
    assert ours["tokens"] == theirs.tokens
    assert ours["parts"] == pytest.approx(theirs.parts, abs=within)
    assert ours["log_prob"] == pytest.approx(theirs.log_prob, abs=within)
    assert ours["score"] == pytest.approx(theirs.score, abs=within)
    assert ours["finished"] == theirs.finished


def same_comparison(ours, theirs):
    assert same_nodes(ours["nodes"], [node._asdict() for node in theirs.nodes])
    for mine, other in zip(ours["ranking"], theirs.ranking, strict=True):
        same_found(mine, other)
    same_found(ours["greedy"], theirs.greedy)
    assert (ours["scored"], ours["steps"]) == (theirs.scored, theirs.steps)


@WAYS
@pytest.mark.parametrize("count", COUNTS)
def test_equals_the_library_on_generated_tables(node, count, way):
    asked, expected = [], []
    for number, (tables, search, options, *_) in enumerate(way(cases(count))):
        given = {**search, "width": options["width"], "length_rule": options["length_rule"]}
        given["pruned"] = number % 5
        asked.append({"op": "compare", "levels": levels(tables), "options": camel(given)})
        expected.append(compare(tables.step, tables.start, **given))
    assert len({len(one.ranking) for one in expected}) > 3
    for ours, theirs in zip(node.ask(asked), expected, strict=True):
        same_comparison(ours, theirs)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 256])
def test_equals_the_library_on_the_two_tables(node, width):
    options = {"bos": BOS, "eos": EOS, "max_length": STEPS, "length_rule": Power(0.75)}
    given = camel({**options, "width": width, "pruned": 4})
    ours = node.one("compare", tables=[TABLE, AFTER_C], options=given)
    there = compare(two_tables, START, **options, width=width)
    if width <= 4:
        same_comparison(ours, there)
    same_found(ours["ranking"][0], there.ranking[0])  # of equals, each takes its own first
    assert ours["scored"] == there.scored


def laboratory(node, tables, *asked):
    words = [f" {letter}" for letter in "abcde"[: tables.size]]
    sides = {"bos": 0, "eos": 1, "maxLength": tables.length}
    return node.one("laboratory", levels=levels(tables), words=words, sides=sides, asked=asked)


def test_the_laboratory_runs_free_forced_and_sampling_and_remembers(node):
    ((tables, *_),) = [one for one in cases(40) if one[0].size == 5 and one[0].length == 4][:1]
    plain = {"width": 3, "alpha": 0.5}
    sampling = {"temperature": 0.7, "topK": 0, "topP": 0.9, "seed": 4}
    forced = {**plain, "prefix": [2, 3], "sampling": sampling}
    first, second, again, other = laboratory(
        node, tables, plain, forced, {**plain, "alpha": 1.5}, {**forced, "sampling": None}
    )
    options = {"bos": 0, "eos": 1, "max_length": 4, "width": 3}
    for found, alpha in ((first, 0.5), (second, 0.5), (again, 1.5)):
        there = compare(tables.step, tables.start, **options, length_rule=Power(alpha))
        same_comparison(unnamed(found["free"]), there)
    there = compare(tables.step, tables.start, **options, length_rule=Power(0.5), prefix=[2, 3])
    same_comparison(unnamed(second["forced"]), there)
    assert first["forced"] is first["sample"] is None
    assert second["sample"]["tokens"][:2] == [2, 3]
    assert second["sample"]["pieces"][:2] == [" c", " d"]
    assert other["forced"] == second["forced"]
    assert all(
        node_["piece"] == " " + "abcde"[node_["token"]] for node_ in first["free"]["nodes"][1:]
    )
    assert first["calls"] < second["calls"] == again["calls"] == again["size"]


def unnamed(compared):
    """Without the pieces that the page needs."""
    drop = ("piece", "pieces")

    def plain(one):
        return {name: part for name, part in one.items() if name not in drop}

    ranking = [plain(one) for one in compared["ranking"]]
    nodes = [plain(one) for one in compared["nodes"]]
    return {**compared, "nodes": nodes, "ranking": ranking, "greedy": plain(compared["greedy"])}


def asked_of(text, width, alpha, prefix=()):
    payload = {"text": text, "limit": LIMIT, "width": width, "alpha": alpha}
    return payload | {"prefix": list(prefix), "pruned": 4}


def library(trained, text, width, alpha, prefix=None):
    sides = trained.source, trained.target
    options = {"width": width, "length_rule": Power(alpha), "prefix": prefix}
    return watch(trained.model, text, *sides, max_length=LIMIT, **options)


def told_apart(ours, theirs):
    """Whether two trees differ where the candidates are further apart than the passes round."""
    seen = [
        {(tuple(way), n["fate"]): n["log_prob"] for way, n in walked(t)} for t in (ours, theirs)
    ]
    for here, there in (seen, seen[::-1]):
        for key, log_prob in here.items():
            if key in there:
                if abs(log_prob - there[key]) > NEAR:
                    return f"{key}: {log_prob} and {there[key]}"
            elif not any(
                len(other[0]) == len(key[0]) and other != key and abs(log_prob - value) < NEAR
                for other, value in here.items()
            ):
                return f"{key} is in one tree only"
    return None


def walked(nodes):
    """Each node with its tokens."""
    ways = []
    for node in nodes:
        ways.append([] if node["parent"] is None else [*ways[node["parent"]], node["token"]])
    return zip(ways, nodes, strict=True)


def check_on_text(node, translator, trained, text, width, alpha, *, force=True):
    ours = node.one("watch", key=translator, payload=asked_of(text, width, alpha))
    there = library(trained, text, width, alpha)
    assert ours["source"] == there.source
    assert ours["size"] == len(there.words)
    pairs = [(ours["free"], there.compared)]
    if force:
        prefix = there.compared.ranking[-1].tokens[: 1 + len(text) % 3]
        payload = asked_of(text, width, alpha, prefix)
        again = node.one("watch", key=translator, payload=payload)
        pairs.append((again["forced"], library(trained, text, width, alpha, prefix).compared))
    for mine, theirs in pairs:
        nodes = [one._asdict() for one in theirs.nodes]
        assert told_apart(mine["nodes"], nodes) is None, text
        assert mine["scored"] == theirs.scored, text
        same_found(mine["greedy"], theirs.greedy, within=NEAR)
        for one, other in zip(mine["ranking"], theirs.ranking, strict=True):
            assert one["score"] == pytest.approx(other.score, abs=NEAR), text
        same_found(mine["ranking"][0], theirs.ranking[0], within=NEAR)


@pytest.mark.parametrize("width", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_the_translator_s_tree_is_the_library_s(node, translator, trained, width):
    for text in SENTENCES[:2] if width == 3 else SENTENCES:
        check_on_text(node, translator, trained, text, width, 0.75)


@pytest.mark.slow
@needs_data
def test_the_trees_of_a_hundred_captions_are_the_library_s(node, translator, trained):
    texts = [pair.german for pair in multi30k("test")[::10]]
    assert len(texts) == 100
    for number, text in enumerate(texts):
        width, alpha = 1 + number % 5, (number % 4) / 2
        check_on_text(node, translator, trained, text, width, alpha, force=number % 5 == 0)


def test_a_text_that_has_no_room_is_refused_in_a_sentence(node, translator):
    payload = asked_of("Hund " * 60, 2, 0.75)
    told = node.one("watch", key=translator, payload=payload)
    assert told == {"refused": "Too long: 62 tokens (maximum 40)."}


def test_a_node_in_one_tree_only_is_noticed():
    tree = [{"parent": None, "token": 1, "fate": "kept", "log_prob": 0.0}]
    more = [*tree, {"parent": 0, "token": 3, "fate": "pruned", "log_prob": math.log(0.5)}]
    assert told_apart(more, tree) == "((3,), 'pruned') is in one tree only"
    moved = [tree[0], {**more[1], "log_prob": -1.0}]
    assert "(3,)" in told_apart(more, moved)
    assert told_apart(more, more) is None
