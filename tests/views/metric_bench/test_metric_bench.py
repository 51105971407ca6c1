"""The metric bench: what the page works out beside the library, its words, wrong arguments."""

import string

import pytest

from gates2heads.metrics.bleu import sentence_bleu
from gates2heads.metrics.chrf import sentence_chrf
from gates2heads.metrics.exact_match import exact_match
from gates2heads.metrics.rouge import rouge_l, rouge_n
from gates2heads.views import Judged, MetricBench
from tests.javascript import LIBRARY, run_javascript
from tests.metrics.conftest import Texts

EXAMPLES = [
    Judged("by hand", "the dog the dog runs", ["the dog runs on the beach"]),
    Judged("two", "A man rides.", ["A man rides a bike.", "He rides."]),
]
MODULES = {
    "metrics": LIBRARY / "views/kit/metrics.js",
    "answers": LIBRARY / "browser/metrics/answers.js",
}
SETTINGS = {"tokenize": "13a", "smooth": "exp", "lowercase": False}


def answer_words(text):
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    return [word for word in plain.split() if word not in ("a", "an", "the")]


def in_node(body, given):
    return run_javascript(body, MODULES, given)


def test_the_rows_of_the_table_are_the_librarys_scores():
    source, states = Texts(19), []
    for number in range(520):
        hypothesis, references = source.hypothesis_and_references()
        tokenize = ("13a", "none", "char", "rouge")[number % 4]
        smooth = ("exp", "none", "floor", "add-k")[number // 4 % 4]
        states.append(
            {"hypothesis": hypothesis, "references": references, "tokenize": tokenize}
            | {"smooth": smooth, "lowercase": number % 3 == 0, "order": 4 - number % 3}
        )
    told = in_node(
        "return given.map((one) =>"
        " [...metrics.scoreRows(metrics.measure(one)), ...answers.answerRows(one)]);",
        states,
    )
    for state, rows in zip(states, told, strict=True):
        x, s, lowercase = state["hypothesis"], state["references"], state["lowercase"]
        bleu = sentence_bleu(
            x,
            s,
            tokenize=state["tokenize"],
            smooth_method=state["smooth"],
            lowercase=lowercase,
            max_ngram_order=state["order"],
        )
        chrf = sentence_chrf(x, s, lowercase=lowercase)
        rouge = [rouge_n(x, s), rouge_n(x, s, 2), rouge_l(x, s)]
        words = [answer_words(text) for text in (x, *s)]
        f1 = max(rouge_n(words[0], [other]).f_measure for other in words[1:])
        wanted = [bleu.score, chrf.score, *(100 * one.f_measure for one in rouge)]
        wanted += [100 * f1, 100 * max(exact_match([words[0]], [other]) for other in words[1:])]
        assert [row[3] for row in rows] == pytest.approx(wanted, abs=1e-8), state
        assert rows[1][1:3] == pytest.approx([chrf.precision, chrf.recall], abs=1e-8)
        for row, one in zip(rows[2:5], rouge, strict=True):
            assert row[1:3] == pytest.approx([100 * one.precision, 100 * one.recall], abs=1e-8)


def test_an_answer_by_hand():
    # {in, kitchen} and {kitchen}: P = 1/2, R = 1, F1 = 2/3, no exact match
    state = {**SETTINGS, "hypothesis": "in the kitchen", "references": ["The kitchen!"]}
    told = in_node(
        "return ['in the kitchen', 'a kitchen', ''].map((hypothesis) =>"
        " answers.answerRows({ ...given, hypothesis }));",
        state,
    )
    assert told[0][0][1:] == pytest.approx([50, 100, 100 * 2 / 3])
    assert told[0][1] == ["exact match", None, None, 0]
    assert told[1] == [["answer F1", 100, 100, 100], ["exact match", None, None, 100]]
    assert [row[-1] for row in told[2]] == [0, 0]


def test_fates_and_places_by_hand():
    # x: the dog the dog runs; s: the dog runs on the beach
    given = {"hypothesis": EXAMPLES[0].hypothesis, "references": EXAMPLES[0].references, **SETTINGS}
    words, pairs, subsequence = in_node(
        "return [0, 1, 4].map((shown) => metrics.picture(given, shown));", given
    )
    assert [run["fate"] for run in words["runs"]] == ["match"] * 3 + ["clipped", "match"]
    assert [run["text"] for run in pairs["runs"]] == ["the dog", "dog the", "the dog", "dog runs"]
    assert [run["fate"] for run in pairs["runs"]] == ["match", "miss", "clipped", "match"]
    marked = [token["text"] for token in pairs["references"][0] if token["marked"]]
    assert marked == ["the", "dog", "runs"]
    assert subsequence["length"] == 3
    assert [run["fate"] for run in subsequence["runs"]].count("match") == 3


def test_the_state_is_told_in_words():
    told = in_node(
        "const one = (state) => metrics.measuredInWords(metrics.measure(state));"
        "const runs = metrics.picture(given, 0).runs;"
        "return [one(given), one({ ...given, hypothesis: ' ' }), metrics.runInWords(runs[1]),"
        " metrics.runInWords(metrics.picture({ ...given, hypothesis: 'cat' }, 0).runs[0]),"
        " metrics.runInWords(metrics.picture(given, 4).runs[4]),"
        " one({ ...given, references: [''] }), one({ ...given, hypothesis: 'the' })];",
        {"hypothesis": EXAMPLES[0].hypothesis, "references": EXAMPLES[0].references, **SETTINGS},
    )
    assert told[0] == (
        "Matches: 4 of 5 unigrams, 2 of 4 bigrams, 1 of 3 trigrams, 0 of 2 4-grams; the "
        "hypothesis has 5 tokens, the reference 6: brevity penalty 0.819. BLEU is 34.98."
    )
    assert told[1] == "The hypothesis is empty: there is nothing to count."
    assert told[2] == (
        "“dog” occurs 2 times in the hypothesis and at most once in a single reference: 1 match."
    )
    assert told[3] == "“cat” occurs once in the hypothesis and in no reference: no match."
    assert told[4] == "“runs” is in the longest common subsequence."
    assert told[5] == "The references are empty: there is nothing to compare with."
    assert told[6].startswith(
        "Matches: 1 of 1 unigram; the hypothesis has 1 token, the reference 6"
    )


def test_what_smoothing_changed_is_marked():
    given = {"hypothesis": "the dog the dog runs", "references": ["the dog runs"], **SETTINGS}
    told = in_node(
        "return ['exp', 'none', 'add-k'].map((smooth) =>"
        " metrics.orderRows(metrics.measure({ ...given, smooth }).bleu).map((row) => row[4]));",
        given,
    )
    # found are 3 of 5, 2 of 4, 1 of 3, 0 of 2
    assert told[0] == [False, False, False, True]
    assert told[1] == [False] * 4
    assert told[2] == [False, True, True, True]


def test_what_the_page_gets():
    view = MetricBench(EXAMPLES, title="T", hint="H", tokenize="char", shown="subsequence")
    assert view.hypothesis == "the dog the dog runs"
    assert view.references == ["the dog runs on the beach"]
    assert (view.tokenize, view.smooth, view.lowercase, view.shown) == ("char", "exp", False, 4)
    assert view.examples[1]["references"] == ["A man rides a bike.", "He rides."]
    assert repr(view) == "MetricBench(2 examples)"


def test_a_page_that_asks_for_too_much_is_moved_into_bounds():
    view = MetricBench(EXAMPLES)
    view.set_state({"shown": 99, "order": 9, "hypothesis": "<b>", "references": ["a", "b"]})
    assert (view.shown, view.hypothesis, view.references) == (4, "<b>", ["a", "b"])
    assert view.order == 4
    with pytest.raises(ValueError, match="order must"):
        view.order = 0
    with pytest.raises(ValueError, match="references must"):
        view.references = []
    with pytest.raises(ValueError, match="smooth must"):
        view.smooth = "x"
    with pytest.raises(ValueError, match="shown must"):
        view.shown = 5


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"examples": [Judged("a", "b", [])]}, ValueError, "must hold 1 to 3 texts"),
        ({"examples": [Judged("a", "b", "cd")]}, TypeError, "references must"),
        ({"examples": [Judged("a", "b" * 501, ["c"])]}, ValueError, "at most 500 characters"),
        ({"examples": [Judged("a", 3, ["c"])]}, TypeError, "hypothesis must"),
    ],
)
def test_wrong_arguments_get_a_sentence(changes, kind, message):
    given = {"examples": EXAMPLES, **changes}
    with pytest.raises(kind, match=message):
        MetricBench(given.pop("examples"), **given)
