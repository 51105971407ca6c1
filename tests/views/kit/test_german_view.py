"""What every view of German has without a browser: its partner, its counts, its row of words."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from gates2heads.browser.engine.export import Exported
from gates2heads.browser.live.models import live_model
from gates2heads.data.corpora.caption_words import pack, packed_caption_words
from gates2heads.data.corpora.multi30k import CaptionPair
from gates2heads.views import BeamLaboratory, HeadExplorer, ModelWalk, Translate
from gates2heads.views.kit.german_view import GermanView
from gates2heads.views.kit.live_view import key, named
from tests.javascript import LIBRARY, run_javascript

PARTNER = Exported("to_german", "{}", b"\x03\x04\x05")
WORDS = pack([CaptionPair("Ein Hund und ein Mädchen", "A dog and a girl")])
MODEL = Exported("small", json.dumps({"words": WORDS}), b"\x01", PARTNER)


def view(model: Exported) -> Translate:
    recorded = SimpleNamespace(
        source=[" s"] * 5, target=["a", "<eos>"], weights=np.ones((2, 3, 2, 5))
    )
    return Translate(model, [("dog", "Ein Hund und das MÄDCHEN")], recorded)


def test_the_partner_is_named_and_sent_to_who_asks():
    shown = view(MODEL)
    assert shown.english == [named(PARTNER)]
    sent = []
    shown.send = lambda content, buffers=None: sent.append((content, buffers))
    shown._handle_custom_msg({"ask": key(PARTNER)}, [])
    ((content, buffers),) = sent
    assert content["sha256"] == PARTNER.sha256
    assert b"".join(bytes(one) for one in buffers) == PARTNER.data


def test_the_counts_of_the_recorded_words_are_there_before_any_model_is():
    counts = {"ein": 2, "hund": 1, "und": 1, "das": 0, "maedchen": 1}
    assert view(MODEL).seen == {"captions": 1, "counts": counts}


def test_the_words_of_every_stored_example_are_counted():
    one = SimpleNamespace(source=[" s"] * 5, target=["a", "<eos>"], weights=np.ones((2, 3, 2, 5)))
    shown = Translate(MODEL, [("dog", "Ein Hund"), ("cat", "Und KATZE"), ("c", "Affe")], [one] * 2)
    assert shown.seen["counts"] == {"ein": 2, "hund": 1, "und": 1, "katze": 0}


def test_a_stored_text_is_likened_as_a_live_one():
    """By the counts of its own words alone, as the page has them before any model."""
    modules = {"words": LIBRARY / "browser/live/word_counts.js"}
    body = """
      const [german, english] = given.tables.map(words.tableOf);
      return given.texts.map((text) => [
        words.storedLikeness(text, Object.fromEntries(german.counts)),
        words.likeness(text, { german, english }, "german"),
      ]);
    """
    tables = [WORDS["german"], WORDS["english"]]
    texts = ["Ein Hund", "Ein MÄDCHEN und Affen, 5!", "Katze", "... 12"]
    for stored, counted in run_javascript(body, modules, {"tables": tables, "texts": texts}):
        assert stored == counted


def test_a_text_of_unseen_or_rare_words_is_remarked_on():
    modules = {"words": LIBRARY / "browser/live/word_counts.js"}
    body = """
      const counts = { ein: 9000, hund: 353, bin: 2, zwölf: 9, der: 10, katzen: 40 };
      return given.map((text) =>
        words.likenessInWords(words.storedLikeness(text, counts), "german"),
      );
    """
    texts = ["Ein Hund", "Der Hund bin", "Hund bin", "Bin", "Bin bin Hund", "Bin müde Hund ein ein"]
    where = "fewer than 10 times in the German training captions, so the translation is a guess."
    assert run_javascript(body, modules, texts) == [
        "",
        "",
        f"1 of these 2 words occurs {where}",
        f"This word occurs {where}",
        f"2 of these 3 words occur {where}",
        "",
    ]


def test_a_question_is_noticed_in_either_language():
    modules = {"words": LIBRARY / "browser/live/word_counts.js"}
    texts = ["Is this a dog?", "“Wer ist das?”", "A dog.", "What? A dog."]
    said = run_javascript("return given.map(words.questionInWords);", modules, texts)
    question = "The training captions contain almost no questions: expect nonsense."
    assert said == [question, question, "", ""]


def test_a_model_without_partner_or_counts_has_neither():
    shown = view(Exported("small", "{}", b"\x01"))
    assert (shown.english, shown.seen) == ([], None)


def test_every_view_of_german_is_one():
    for kind in (BeamLaboratory, HeadExplorer, ModelWalk, Translate):
        assert issubclass(kind, GermanView)


@pytest.mark.slow
def test_the_shipped_translator_brings_both():
    model = live_model("translator")
    assert model.partner is live_model("translator_to_german")
    assert json.loads(model.header)["words"] == packed_caption_words()
    assert "words" not in json.loads(model.partner.header)


# ---- the row of words, in Node

ROW = {"row": LIBRARY / "views/kit/word_row.js"}


def test_words_come_with_counts_and_pieces_and_without_signs():
    source = [" Drei", " M", "äd", "chen", ",", " ", "<0xE2>", "<0x98>", "<0x83>", " 5", "<eos>"]
    body = "return row.countedWords(given.source, given.counts);"
    counts = {"drei": 7, "maedchen": 2, "5": 0}
    found = run_javascript(body, ROW, {"source": source, "counts": counts})
    assert [(one["text"], one["count"], one["pieces"]) for one in found] == [
        ("Drei", 7, ["Drei"]),
        ("Mädchen", 2, ["M", "äd", "chen"]),
        ("5", 0, ["5"]),
    ]


def test_a_word_in_words():
    words = [
        {"text": "Hund", "count": 1732, "pieces": ["Hund"], "isRaw": False},
        {"text": "Suppe", "count": 1, "pieces": ["Su", "ppe"], "isRaw": False},
        {"text": "Quitte", "count": 0, "pieces": ["Qu", "itte"], "isRaw": False},
        {"text": "Zug", "count": 0, "pieces": ["Zug"], "isRaw": False},
        {"text": "小狗", "count": 0, "pieces": ["<0xE5>", "<0xB0>"], "isRaw": True},
    ]
    said = run_javascript("return given.map((word) => row.wordInWords(word, 29000));", ROW, words)
    where = "in the 29,000 German training captions"
    assert said == [
        f"“Hund” occurs 1,732 times {where}.",
        f"“Suppe” occurs once {where}.",
        f"“Quitte” does not occur {where}; the model reads it as the tokens Qu · itte.",
        f"“Zug” does not occur {where}.",
        f"“小狗” does not occur {where}; the model reads it as single bytes.",
    ]


def test_a_bar_grows_with_the_count_and_ends_at_its_edge():
    counts = [0, 1, 2, 10, 100, 18_855, 10**9]
    shares = run_javascript("return given.map(row.shareOf);", ROW, counts)
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-2] < 1 == shares[-1]
