"""Counts of words and what they tell of a text, in Node, beside the counts that Python makes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gates2heads.data.corpora.caption_words import (
    caption_words,
    packed_caption_words,
    word_key,
    words_in,
)
from gates2heads.data.corpora.multi30k import multi30k
from tests.javascript import LIBRARY, run_javascript
from tests.needs import needs_data

MODULES = {
    "counts": LIBRARY / "browser" / "live" / "word_counts.js",
    "task": LIBRARY / "browser" / "live" / "tasks" / "count.js",
}
# Scripts whose letters no version of Unicode has changed lately
LETTERS = st.characters(max_codepoint=0x6FF, exclude_categories=["Cn", "Cs"])
LIKENESS = """
const tables = { german: counts.tableOf(given.words.german), english:
  counts.tableOf(given.words.english) };
return given.texts.map((text) => {
  const found = counts.likeness(text, tables, given.read);
  return { ...found, said: counts.likenessInWords(found, given.read) };
});
"""


def likeness(texts, read="german"):
    words = dict(packed_caption_words())
    return run_javascript(LIKENESS, MODULES, {"words": words, "texts": texts, "read": read})


@settings(max_examples=5, deadline=None)
@given(st.lists(st.text(LETTERS), min_size=60))
def test_words_and_keys_are_pythons(texts):
    body = "return given.map((text) => counts.wordsIn(text).map(counts.wordKey));"
    found = run_javascript(body, MODULES, texts)
    assert found == [[word_key(word) for word in words_in(text)] for text in texts]


def test_a_table_holds_every_count():
    body = """
      const { counts: found, total } = counts.tableOf(given);
      return { found: Object.fromEntries(found), total };
    """
    for language in ("german", "english"):
        told = run_javascript(body, MODULES, packed_caption_words()[language])
        counts = caption_words(language)
        assert told == {"found": counts, "total": sum(counts.values())}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Drei Mädchen kochen in einer kleinen Küche eine Suppe.", ""),
        ("DREI MAEDCHEN KOCHEN", ""),
        ("Wo ist der Bahnhof?", ""),
        ("Der Mann trinkt Quittenschnaps.", ""),
        ("Ein Hund 🐕 springt.", ""),
        (
            "The dog runs in the park.",
            "This looks like English, but the model translates from German.",
        ),
        ("A man in a hat", "This looks like English, but the model translates from German."),
        ("soup", "This looks like English, but the model translates from German."),
        ("🐕🐕", "This text contains no words, so the translation is a guess."),
        ("12 345 !?", "This text contains no words, so the translation is a guess."),
        (
            "小狗在雪地里跑。",
            "This word does not occur in the German training captions, so the translation is a "
            "guess.",
        ),
        (
            "Quantenverschränkung verblüfft Physiker",
            "None of these 3 words occurs in the German training captions, so the translation is "
            "a guess.",
        ),
        (
            "Der Mathematikprofessor erläutert Differentialgleichungen.",
            "3 of these 4 words do not occur in the German training captions, so the translation "
            "is a guess.",
        ),
        (
            "Guten Appetit",
            "1 of these 2 words does not occur in the German training captions, so the "
            "translation is a guess.",
        ),
        (
            "Le chien court dans la neige.",
            "3 of these 6 words do not occur in the German training captions, so the translation "
            "is a guess.",
        ),
    ],
)
def test_what_is_said_of_a_text(text, said):
    (found,) = likeness([text])
    assert found["said"] == said


def test_the_same_is_said_of_english():
    texts = ["A dog runs.", "Ein Hund rennt durch den Schnee.", "Xyzzy frobnicates."]
    assert [one["said"] for one in likeness(texts, "english")] == [
        "",
        "This looks like German, but the model translates from English.",
        "None of these 2 words occurs in the English training captions, so the translation is a "
        "guess.",
    ]


@needs_data
def test_captions_that_were_not_counted_are_told_apart():
    pairs = [pair for split in ("validation", "test") for pair in multi30k(split)]
    german = likeness([pair.german for pair in pairs])
    english = likeness([pair.english for pair in pairs])
    assert not any(one["other"] for one in german)
    said = [one["said"] for one in german if one["said"]]
    assert sum("not occur" in one for one in said) <= 2  # of 2,014
    assert len(said) <= 15  # the others by words that occur, but rarely
    assert sum(one["other"] for one in english) >= 0.99 * len(pairs)
    assert all(one["said"] for one in english)


def test_the_task_counts_what_was_asked():
    body = """
      const tokens = [" Ein", " Su", "ppe"];
      const source = { encode: () => [0, 1, 2], vocabulary: { tokens } };
      const finish = (steps) => {
        for (;;) { const { done, value } = steps.next(); if (done) return value; }
      };
      const ask = (loaded) => finish(task.countWords(loaded, given.payload));
      return [ask({ source, words: given.words }), ask({ source })];
    """
    payload = {"text": "Ein Mädchen isst SUPPE, constructor", "read": "german"}
    told, silent = run_javascript(
        body, MODULES, {"words": dict(packed_caption_words()), "payload": payload}
    )
    german = caption_words("german")
    keys = ["ein", "maedchen", "isst", "suppe", "constructor"]
    assert told["seen"] == {
        "captions": 29_000,
        "counts": {key: german.get(key, 0) for key in keys},
    }
    assert told["source"] == [" Ein", " Su", "ppe"]
    assert told["likeness"] == {"words": 5, "unseen": 1, "rare": 2, "other": False}
    assert silent is None
