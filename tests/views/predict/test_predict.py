"""Predictions without a browser: payload, twin, messages, and in Node the words about an answer."""

import json

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from ipywidgets.widgets import widget
from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from gates2heads.figures.markdown import as_marked
from gates2heads.views import Guess, Predict, Question, predict
from tests.javascript import LIBRARY, run_javascript

TWIN = {"div", "details", "summary", "p", "ol", "li", "strong", "code", "em"}
TWIN |= {"table", "thead", "tbody", "tr", "th", "td"}
OPTIONS = [("`a` *b*", "Because.", False), ("c", "Since 2.", True)]
GUESS = ("How many?", 30.0, 0, 100, 5, "Counted.")
MODULES = {"it": LIBRARY / "views/predict/verdicts.js"}


def figure() -> Figure:
    drawn = Figure(figsize=(2, 1))
    drawn.add_subplot().plot([1, 3, 2])
    return drawn


# ---- what travels


def test_the_payload_holds_the_questions_and_the_result():
    view = Predict([Question("Q?", OPTIONS), Guess(*GUESS, unit="%", within=5)], result="Done.")
    first, second = json.loads(json.dumps(view.questions))
    assert first["text"] == "Q?"
    assert [list(option.values()) for option in first["options"]] == [list(o) for o in OPTIONS]
    assert second == {
        **{"text": "How many?", "answer": 30.0, "low": 0.0, "high": 100.0, "step": 5.0},
        **{"reason": "Counted.", "unit": "%", "within": 5.0},
    }
    assert view.result == {"text": "Done."}
    assert view.answers == [None, None]


def test_one_question_in_one_line():
    view = predict("Q?", OPTIONS, figure(), alt="A peak of 3.")
    assert view.questions == [Question("Q?", OPTIONS).payload()]
    assert view.result["svg"].startswith("<svg")
    assert 'aria-label="A peak of 3."' in view.result["svg"]
    assert (view.title, repr(view)) == ("Predict first", "Predict(1 question)")
    assert repr(Predict([Question("Q?", OPTIONS)] * 2)) == "Predict(2 questions)"


def test_a_table_keeps_its_words():
    view = predict("Q?", OPTIONS, [("model", "`x|y`"), ["a|b", 3]], alt="Three.")
    assert view.result == {"rows": [["model", "`x|y`"], ["a|b", "3"]], "text": "Three."}
    assert "| model | `x\\|y` |\n" in view.in_markdown()
    assert "| a\\|b | 3 |" in view.in_markdown()


ATTACK = "It is <svg><img src=x onerror=alert(1)></svg>"


def test_words_are_never_inserted_as_a_drawing():
    view = predict("Q?", OPTIONS, result=ATTACK, alt="Words.")
    assert view.result == {"text": ATTACK}
    rows = predict("Q?", OPTIONS, result=[(ATTACK, "b"), ("c", "d")])
    assert "svg" not in rows.result


@pytest.mark.parametrize("words", [ATTACK, "ends with <eos>", "&lt;b&gt;", "_a_ [b](c) $d$ * e"])
def test_the_twin_shows_words_as_they_are(words):
    options = [(words, words, True), ("no", f"not {words}", False)]
    views = (
        predict(words, options, result=words),
        predict("Q?", OPTIONS, result=[("head", words), ("row", "1")], alt=words),
        Predict([Guess(words, *GUESS[1:5], words, unit="<b>")]),
    )
    for view in views:
        page = BeautifulSoup(MarkdownIt("gfm-like").render(view.in_markdown()), "html.parser")
        assert {tag.name for tag in page.find_all()} <= TWIN
        shown = page.get_text()
        assert shown.count(words) == view.in_markdown().count(as_marked(words))
        assert words in shown


def test_the_twin_keeps_code_and_emphasis_and_makes_no_list_of_a_text():
    twin = predict("1. Is `a|b_c` *so* or 3 * 4?", OPTIONS).in_markdown()
    page = BeautifulSoup(MarkdownIt("gfm-like").render(twin), "html.parser")
    assert page.p.get_text() == "1. Is a|b_c so or 3 * 4?"
    assert (page.p.code.get_text(), page.p.em.get_text()) == ("a|b_c", "so")


def test_the_twin_says_all_of_it_folded_and_the_view_finds_it():
    questions = [Question("Which?", OPTIONS), Guess(*GUESS, unit="%")]
    view = Predict(questions, result=figure(), alt="A peak of 3.")
    text = view.in_markdown()
    open_part = text.partition("<details")[0]
    assert "Which?\n\n1. `a` *b*\n2. c\n" in open_part
    assert "Because." not in open_part
    assert "1. **No.** Because.\n2. **Right.** Since 2." in text
    assert "A number from 0 to 100 %." in text
    assert "**30 %.** Counted." in text
    assert "A peak of 3." in text
    assert text.count("<details") == text.count("</details>") == 3
    assert text.startswith(f'<div class="g2h-twin" id="{view.twin}">\n\n')
    same, other = Predict(questions), predict("Other?", OPTIONS)
    assert len({view.twin, same.twin, other.twin}) == 3
    assert Predict(questions).twin == same.twin


def test_displayed_it_brings_view_and_twin(monkeypatch):
    shown = []
    # The module, not the function of its name that the package hands on; ipywidgets 7 has its own.
    module = __import__(Predict.__module__, fromlist=["display"])
    for place in (module, widget):
        monkeypatch.setattr(
            place, "display", lambda data, **more: shown.append((data, more)), raising=False
        )
    view = predict("Q?", OPTIONS)
    view._ipython_display_()
    assert len(shown) == 2
    assert "application/vnd.jupyter.widget-view+json" in shown[0][0]
    assert "0x" not in shown[0][0]["text/plain"]
    assert shown[1][0] == {"text/markdown": view.in_markdown(), "text/plain": "Predict first"}


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ([OPTIONS[0]] * 2, ValueError, "exactly one that is right, got 0"),
        ([OPTIONS[1]] * 2, ValueError, "exactly one that is right, got 2"),
        ([OPTIONS[1], ("c", "x", False)], ValueError, "options must"),
        ([OPTIONS[0], ("c", "x")], TypeError, r"\(answer, reason, right\) of str, str, bool"),
        ([OPTIONS[0], ("c", "x", 1)], TypeError, r"of str, str, bool, got \('c', 'x', 1\)"),
        ([OPTIONS[0], "abc"], TypeError, "of str, str, bool, got 'abc'"),
        ([OPTIONS[0], ("c", " ", True)], ValueError, "each reason, must not be empty"),
        ([OPTIONS[0], ("", "x", True)], ValueError, "each answer, must not be empty"),
    ],
)
def test_options_that_are_none(options, kind, message):
    with pytest.raises(kind, match=message):
        Question("Q?", options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": 101}, "answer must"),
        ({"low": 100}, "high must"),
        ({"step": 101}, "step must"),
    ],
)
def test_guesses_that_are_none(change, message):
    names = ("text", "answer", "low", "high", "step", "reason")
    with pytest.raises(ValueError, match=message):
        Guess(**(dict(zip(names, GUESS, strict=True)) | change))


@pytest.mark.parametrize(
    ("questions", "options", "kind", "message"),
    [
        ([], {}, ValueError, "questions must"),
        (["Q?"], {}, TypeError, r"questions\[0\] must"),
        (Question("Q?", OPTIONS), {"result": figure()}, ValueError, "alt must"),
        (Question("Q?", OPTIONS), {"result": 3}, TypeError, "result must"),
        (Question("Q?", OPTIONS), {"result": " "}, ValueError, "result must"),
        (Question("Q?", OPTIONS), {"result": [("a",)]}, ValueError, "a head and rows of its"),
        (Question("Q?", OPTIONS), {"result": [("a",), ("b", "c")]}, ValueError, "a head and rows"),
        (Question("Q?", OPTIONS), {"result": ["ab", "cd"]}, ValueError, "a head and rows"),
    ],
)
def test_views_that_are_none(questions, options, kind, message):
    with pytest.raises(kind, match=message):
        Predict(questions, **options)


# ---- the words, in Node


def call(body: str, given=None):
    return run_javascript(body, MODULES, given)


def test_code_and_emphasis_become_parts_and_nothing_else_does():
    texts = ["`x*y*z` and *one two*", "3 * 4 * 5", "<b>*a*</b>`", "", "*`c`*"]
    parts = call("return given.map(it.marked);", texts)
    assert [[(part["tag"], part["text"]) for part in each] for each in parts] == [
        [("code", "x*y*z"), (None, " and "), ("em", "one two")],
        [(None, "3 * 4 * 5")],
        [(None, "<b>"), ("em", "a"), (None, "</b>`")],
        [],
        [("em", "`c`")],
    ]


@settings(max_examples=5)
@given(st.lists(st.text(), min_size=20, max_size=40))
def test_marks_lose_no_letter(texts):
    joined = call("return given.map((t) => it.marked(t).map((p) => p.text).join(''));", texts)
    strip = str.maketrans("", "", "`*")
    assert [text.translate(strip) for text in joined] == [text.translate(strip) for text in texts]


def test_verdicts_by_hand():
    question = Question("Q?", OPTIONS).payload()
    guess = Guess("How?", 0.3, 0, 1, 0.1, "So.", "%", 0.1).payload()
    bare = Guess("How?", 30, 0, 100, 5, "So.").payload()
    body = "return given.map(([q, a]) => [it.isRight(q, a), it.verdict(q, a)]);"
    cases = [
        (question, 0),
        (question, 1),
        (guess, 0.1 + 0.2),
        (guess, 0.4),
        (guess, 0.5),
        (bare, 5),
    ]
    assert call(body, cases) == [
        [False, "The correct answer is: c"],
        [True, "Correct."],
        [True, "Your answer: 0.3 %, which is correct."],
        [
            True,
            "Your answer: 0.4 %. The correct answer is 0.3 % (yours is 0.1 % too high, close "
            "enough).",
        ],
        [False, "Your answer: 0.5 %. The correct answer is 0.3 % (yours is 0.2 % too high)."],
        [False, "Your answer: 5. The correct answer is 30 (yours is 25 too low)."],
    ]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([None, None, None], "0 of 3 answered."),
        ([1, None, 30], "2 of 3 answered."),
        ([1, 1, 30], "All 3 correct."),
        ([0, 1, 30], "2 of 3 correct. Worth another look: question 1."),
        ([0, 1, 35], "1 of 3 correct. Worth another look: questions 1, 3."),
    ],
)
def test_the_score_is_told_in_words(answers, words):
    questions = [Question("Q?", OPTIONS).payload()] * 2 + [Guess(*GUESS).payload()]
    given_both = {"questions": questions, "answers": answers}
    assert call("return it.score(given.questions, given.answers);", given_both) == words


def test_a_single_question_has_no_score_and_places_are_percentages():
    guess = Guess("How?", 3, 1, 5, 1, "So.").payload()
    body = "return [it.score([given], [3]), [1, 2, 5].map((x) => it.percentAlong(given, x))];"
    assert call(body, guess) == ["", [0, 25, 100]]
