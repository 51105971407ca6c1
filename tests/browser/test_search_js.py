"""The ranking of the search, in Node, on pages of a few sentences."""

import json

from sphinx.search.en import js_porter_stemmer

from tests.javascript import run_javascript
from tools.fetch_assets import ROOT, VENDOR

RANKING = ROOT / "_ext" / "search" / "ranking.js"
MINISEARCH = VENDOR / "minisearch" / "minisearch.js"


def section(anchor, heading, text=""):
    return [anchor, heading, text]


PAGES = {
    "one": {
        "title": "1 · Search",
        "weight": 1,
        "sections": [
            section("", "1 · Search", "What a search is for. The chapter has five parts."),
            section(
                "beam",
                "1.1 Beam search",
                "Nobody had been in a search. A beam search keeps k prefixes. Beams are wide.",
            ),
            section("ex", "Exercise 1.1 · Layer normalisation", "Write layer normalisation."),
        ],
    },
    "two": {
        "title": "2 · Layers",
        "weight": 1,
        "sections": [
            section("", "2 · Layers", "Layer normalisation needs a mean. A pre-training task."),
            section("n", "2.1 Layer normalisation", "It divides by the standard deviation."),
        ],
    },
    "list": {
        "title": "Sources",
        "weight": 0.3,
        "sections": [section("", "Sources", "beam search, beam search, layer normalisation")],
    },
    "glossary": {
        "title": "Glossary",
        "weight": 0.5,
        "sections": [section("", "Glossary")],
        "rows": [["term-beam", "beam search", "A search with k prefixes.", "beam search / 束搜索"]],
    },
}


def searched(*queries, pages=None):
    return run_javascript(
        """
        const { runInThisContext } = await import("node:vm");
        globalThis.self = globalThis;
        const files = given.files.map((file) => readFileSync(file, "utf8"));
        for (const script of [given.stemmer, ...files]) runInThisContext(script);
        const stem = (word) => new globalThis.Stemmer().stemWord(word);
        const { bookSearch, MiniSearch } = globalThis;
        const book = bookSearch(given.pages, { MiniSearch, stem, stopwords: ["a", "of", "in"] });
        return given.queries.map((query) => book.search(query));
        """,
        given={
            "stemmer": js_porter_stemmer,
            "files": [str(MINISEARCH), str(RANKING)],
            "pages": pages or PAGES,
            "queries": queries,
        },
    )


def order(answer):
    return [(one["page"], one["sections"][0]["anchor"]) for one in answer["results"]]


def test_headings_come_before_lists_and_the_glossarys_entry_second():
    (found,) = searched("beam search")
    assert order(found) == [("one", "beam"), ("glossary", "term-beam"), ("list", "")]


def test_an_exercise_comes_after_what_teaches_and_american_spelling_is_found():
    found, wrong = searched("layer normalization", "layer normalsation")
    assert order(found)[0] == ("two", "n")
    assert order(found) == order(wrong)
    assert found["asked"] == "layer normalization"
    assert wrong["asked"] == "layer normalisation"


def test_a_misspelt_word_is_mended_by_what_it_stands_beside():
    beside, alone, none = searched("beem search", "serach", "xylophone")
    assert beside["asked"] == "beam search"  # "been" is as near, and not beside "search"
    assert alone["asked"] == "search"
    assert none == {"asked": "xylophone", "results": []}


def test_words_with_a_hyphen_and_chinese_names_are_found():
    parts, whole, chinese, stop = searched("pre-training", "pretraining", "束搜索", "of a")
    assert order(parts)[0] == order(whole)[0] == ("two", "")
    assert order(chinese) == [("glossary", "term-beam")]
    assert json.dumps(stop["results"])


def test_the_excerpt_is_the_sentence_with_both_words():
    (found,) = searched("beam search")
    parts = found["results"][0]["sections"][0]["excerpt"]
    assert "".join(text for text, _ in parts).startswith("A beam search keeps k prefixes.")
    assert [text for text, asked in parts if asked] == ["beam", "search", "Beams"]


def test_nothing_a_reader_types_breaks_it():
    queries = ["", "   ", "<b>", "a" * 500, "C++ & [", "__proto__", "constructor", "🙂"]
    for answer in searched(*queries):
        assert isinstance(answer["results"], list)
