"""Plans of slides: short, without numbers of their own, and each part found in its page."""

import re

import pytest
from bs4 import BeautifulSoup

from tests.stored_prose import prose_of, prose_of_outputs, read
from tools.slides import slide_parts, slides

PLANS = sorted(path.stem for path in slides.PLANS.glob("*.yml"))
each_plan = pytest.mark.parametrize("name", PLANS)
PAGE = """<html><head><script>gates2heads_engine = "engine-1.js"</script></head><body><article>
<section id="top"><h1>5 · Attention<a class="headerlink">#</a></h1><p>Why? Because of 3.</p>
<section id="one"><h2>5.1 A limit<a class="headerlink">#</a></h2>
<p><strong>Question.</strong> How long is <em>it</em>? See <a href="#x">section 5.2</a>.
It is short.</p>
<p>They said “enough.” Then they left. The rest is short.</p>
<details class="solution"><p>The solution is here.</p></details>
<div><figure id="figure-5-1"><svg id="kept"></svg></figure></div>
<p><strong>Figure 5.1.</strong> <em>One curve. Two axes.</em></p>
<div class="highlight"><pre>def f(x):
    return x</pre></div>
<div class="highlight"><pre>(a) the first
(b) `the` second</pre></div>
</section></section></article></body></html>"""


def sentences_of(text):
    paragraph = BeautifulSoup(f"<p>{text}</p>", "html.parser").p
    return ["".join(map(slide_parts.plain, one)) for one in slide_parts.sentences(paragraph)]


def words_of(name):
    """Return what the notebook of a chapter says, in text and in outputs, without its marks."""
    notebook = read(slides.ROOT / "chapters" / f"{name}.ipynb")
    text = f"{prose_of(notebook)} {prose_of_outputs(notebook)}".replace("\\sigma", "σ")
    return slide_parts.tidy(re.sub(r"[*`$]|\]\([^)]*\)", "", text))


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "05_attention.html"
    path.write_text(PAGE, encoding="utf-8")
    return slide_parts.Page(path)


@each_plan
def test_a_plan_types_no_number(name):
    for entry in slides.plan_of(name):
        assert not re.search(r"\d", entry.get("title", "")), entry


@each_plan
def test_a_plan_begins_with_the_question_and_ends_with_the_exercises(name):
    first, *_, last = slides.plan_of(name)
    assert first["section"] == ""
    assert first["say"]
    assert "exercises" in last


@each_plan
def test_a_plan_has_a_view_a_prediction_and_a_bug(name):
    kinds = set().union(*slides.plan_of(name))
    assert {"view", "predict", "options", "figure", "equation"} <= kinds


@each_plan
def test_the_notebook_still_says_what_a_plan_quotes(name):
    words = words_of(name)
    for entry in slides.plan_of(name):
        predicted = [entry["predict"]] if "predict" in entry else []
        for quoted in [*entry.get("say", []), *entry.get("notes", []), *predicted]:
            assert quoted in words, f"section {entry['section']}: {quoted}"


def test_a_paragraph_is_cut_after_its_sentences():
    assert sentences_of("One. Two? <b>Three.</b> Four (five). “Six.” Seven") == [
        "One.", "Two? ", "Three.", " Four (five).", "“Six.”", "Seven"
    ]  # fmt: skip
    assert sentences_of("Bahdanau et al. call it <i>x</i>. <b>Then</b> 0.5 is left.") == [
        "Bahdanau et al. call it x. ", "Then 0.5 is left."
    ]  # fmt: skip


def test_a_sentence_comes_without_its_links(page):
    said, paragraph = page.sentence(page.section("5.1"), "See section")
    assert str(said) == "<p>See section 5.2.</p>"
    assert slide_parts.plain(paragraph).startswith("Question.")


@pytest.mark.parametrize("words", ["is short", "is nowhere", "solution is here"])
def test_a_sentence_that_is_not_the_only_one_is_refused(page, words):
    with pytest.raises(slide_parts.NotFoundError, match="expected once"):
        page.sentence(page.section("5.1"), words)


def test_a_figure_keeps_its_drawing_and_the_first_sentence_of_its_caption(page):
    (slide,) = slides.made(page, {"section": "5.1", "figure": "5.1"})
    assert (slide.title, slide.anchor) == ("A limit", "one")
    assert '<svg id="kept">' in slide.shown
    assert "One curve." in slide.shown
    assert "Two axes." not in slide.shown
    assert "Two axes." in slide_parts.plain(slide.notes[0])


def test_options_become_a_list(page):
    (slide,) = slides.made(page, {"section": "5.1", "options": "(a) the"})
    assert "<li><span><code>the</code> second</span></li>" in slide.shown


@pytest.mark.parametrize(
    "entry",
    [
        {"section": "5.2", "say": ["x"]},
        {"section": "5.1", "figure": "5.2"},
        {"section": "5.1", "equation": "5.1"},
        {"section": "5.1", "table": "5.1"},
        {"section": "5.1", "listing": "def g"},
        {"section": "5.1", "view": "A view"},
        {"section": "5.1", "predict": "How"},
        {"section": "5.1", "picture": "5.1"},
    ],
)
def test_what_a_page_does_not_have_stops_the_command_with_the_place_in_the_plan(page, entry):
    with pytest.raises(slide_parts.NotFoundError, match="05_attention, entry 2: "):
        slides.slides_of(page, [{"section": "", "say": ["Why?"]}, entry])


def test_without_a_book_the_command_says_what_to_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="run make book first"):
        slides.write([], tmp_path / "slides", tmp_path)
