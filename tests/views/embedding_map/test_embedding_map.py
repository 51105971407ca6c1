"""The embedding map without a browser: its payload, its bounds, where its labels stand."""

import math

import pytest
import torch

from gates2heads.browser.engine.export import Exported, export_model
from gates2heads.metrics.words.questions import ask_words
from gates2heads.metrics.words.vectors import WordVectors
from gates2heads.models.words.subword_table import SubwordTable
from gates2heads.views import EmbeddingMap
from tests.javascript import LIBRARY, run_javascript

MODEL = Exported("small", "{}", b"\x00\x01")
WORDS = [f"w{n}" for n in range(23)]
VECTORS = WordVectors(WORDS, torch.randn(23, 7))


def embedding_map(**change) -> EmbeddingMap:
    given = {"models": {"one": MODEL, "two": MODEL}, "examples": ["w1 w2", "w3"]}
    return EmbeddingMap(**given | {"recorded": ask_words(VECTORS, ["w1", "w2"], count=4)} | change)


def words_js(body, given):
    return run_javascript(body, {"places": LIBRARY / "views/embedding_map/word_places.js"}, given)


def test_payload_holds_the_answer():
    answer = ask_words(VECTORS, ["w1", "w2"], count=4)
    view = embedding_map()
    assert view.recorded["found"] == [[list(pair) for pair in one] for one in answer.found]
    assert view.recorded["places"] == answer.places.tolist()
    assert (view.text, view.model, view.count, view.exclude) == ("w1 w2", 0, 4, True)
    assert view.labels == view.examples == ["w1 w2", "w3"]
    assert repr(view) == "EmbeddingMap(one, two, 2 examples)"


def test_it_finds_the_table_that_is_made_of_ngrams():
    assert embedding_map().subword == -1
    made = SubwordTable(["a", "man"], torch.tensor([5, 3]), 7, buckets=11)
    models = {"one": MODEL, "subword": export_model(made, name="s")}
    assert embedding_map(models=models).subword == 1


def test_an_unseen_word_in_words():
    body = "return given.map(places.unseenInWords);"
    ngrams = [["<do", 0.5], ["dog", 0.3], ["<dog", 0.25], ["og>", -0.05]]
    given = [{"word": "dogz", "ngrams": ngrams[:size]} for size in (1, 2, 4)]
    one, two, four = words_js(body, given)
    begin = "“dogz” is not in the training vocabulary; its vector is "
    only = "that of its only known character n-gram, “<do”, and therefore unreliable."
    assert one == begin + only
    mean = f"{begin}the mean of {{}} known character n-grams, "
    assert two == mean.format(2) + "“<do” (50 %) and “dog” (30 %)."
    named = "“<do” (50 %), “dog” (30 %) and “<dog” (25 %)"
    assert four == f"{mean.format(4)}of which {named} contribute most."
    (long,) = words_js(body, [{"word": "x" * 500, "ngrams": ngrams[:1]}])
    assert long.startswith(f"“{'x' * 30}…” is not in")
    body = "return places.answerInWords(given);"
    answer = {"asked": ["dogz"], "cosines": [], "found": [[["dog", 0.9]]], "shares": [0.5, 0.2]}
    told = words_js(body, {"unseen": given[:1], **answer})
    assert told.startswith(f"{one} The nearest neighbour of “dogz” is “dog” (cosine 0.90).")
    assert told.endswith("captures 70 % of the variance of these vectors.")
    told = words_js(body, {"unseen": [], **answer, "shares": [0.3, 0.2]})
    warning = ", so distances on it can mislead."
    assert told.endswith(f"captures 50 % of the variance of these vectors{warning}")


@pytest.mark.parametrize(
    ("unknown", "suggested"),
    [
        ("bycicle", ["bicycle"]),
        ("dogz", ["dog", "dogs"]),  # the most frequent first
        ("guitra", ["guitar"]),  # two neighbours are swapped
        ("bicycel", ["bicycle", "bicycles"]),  # the most similar first
        ("zq", []),
        ("猫", []),  # one letter from “a”, but they have none in common
        ("snowboardings", ["snowboarding"]),
    ],
)
def test_words_with_a_similar_spelling_are_suggested(unknown, suggested):
    known = ["a", "by", "dog", "dogs", "bytes", "bicycles", "bicycle", "guitar", "snowboarding"]
    tasks = {"tasks": LIBRARY / "browser/live/tasks/words.js"}
    body = "return tasks.suggestions(given.known, given.unknown);"
    assert run_javascript(body, tasks, {"known": known, "unknown": unknown}) == suggested


def test_numbers_out_of_bounds_are_told_and_moved_where_a_browser_sends_them():
    view = embedding_map()
    with pytest.raises(ValueError, match="model must"):
        view.model = 2
    with pytest.raises(ValueError, match="count must"):
        view.count = 21
    view.set_state({"count": 99, "model": 7})
    assert (view.count, view.model) == (20, 1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"models": {}}, ValueError, "models must"),
        ({"models": {"a": None}}, TypeError, r"models\[0\] must"),
        ({"labels": ["a"]}, ValueError, "labels must"),
        ({"examples": ["w3"]}, ValueError, "recorded must"),
    ],
)
def test_a_mistake_gets_one_sentence(change, error, message):
    with pytest.raises(error, match=message):
        embedding_map(**change)


def test_points_keep_their_distances_and_labels_stay_on_the_paper():
    paper = {"width": 400, "height": 300, "letter": 7, "line": 17, "edge": 70}
    for asked in (["w1"], ["w1", "w2"], ["w1", "w2", "w3"]):
        answer = ask_words(VECTORS, asked, count=20)
        given = {"places": answer.places.tolist(), "points": list(answer.points), "paper": paper}
        laid = words_js("return places.laidOut(given.places, given.points, given.paper);", given)
        drawn = torch.tensor([[one["x"], -one["y"]] for one in laid], dtype=torch.double)
        ours, theirs = (torch.pdist(one) for one in (answer.places, drawn))
        torch.testing.assert_close(theirs / theirs.max(), ours / ours.max())
        assert all(0 <= one["x"] <= 400 and 0 <= one["y"] <= 300 for one in laid)
        for one, word in zip(laid, answer.points, strict=True):
            share = {"start": 0, "middle": 0.5, "end": 1}[one["anchor"]]
            left = one["left"] - share * 7 * len(word)
            assert left >= 0
            assert left + 7 * len(word) <= 400


def test_the_answer_in_words():
    body = "return [places.answerInWords(given), places.headings(given), places.arrows(given)];"
    told = []
    for asked in (["w1"], ["w1", "w2"], ["w1", "w2", "w3"]):
        answer = ask_words(VECTORS, asked, count=3)
        given = {"asked": asked, "cosines": answer.cosines, "found": answer.found}
        told.append((answer, *words_js(body, given | {"shares": answer.shares})))
    (one, said, heads, arrows), *more = told
    word, cosine = one.found[0][0]
    number = f"{cosine:.2f}".replace("-", "−")
    assert said.startswith(f"The nearest neighbour of “w1” is “{word}” (cosine {number}).")
    assert f"captures {math.floor(100 * sum(one.shares) + 0.5)} % of" in said
    assert (heads, arrows) == (["nearest to “w1”"], [])
    (two, said, heads, arrows), (three, fourth, third_head, third_arrows) = more
    assert f"The cosine between “w1” and “w2” is {two.cosines[0]:.2f}".replace("-", "−") in said
    assert (heads, arrows) == (["nearest to “w2” − “w1”", "nearest to “w1” − “w2”"], [["w1", "w2"]])
    assert fourth.startswith(f"“w1” is to “w2” as “w3” is to “{three.found[0][0][0]}” (cosine")
    assert third_head == ["nearest to “w2” − “w1” + “w3”"]
    assert third_arrows == [["w1", "w2"], ["w3", "b − a + c"]]
