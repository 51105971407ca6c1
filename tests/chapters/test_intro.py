"""What the first page says about its translator, asked of the translator and of its captions."""

import json
import re
from pathlib import Path

import pytest
import torch

from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.translation import align_heads, translate
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from tests.needs import needs_data

INTRO = Path(__file__).parents[2] / "chapters" / "intro.ipynb"
STATE = "application/vnd.jupyter.widget-state+json"


@pytest.fixture(scope="module")
def trained():
    return load(shipped_weights("translator"))


def examples() -> dict[str, tuple[str, str]]:
    """Label -> (text, what to watch), as the page has them."""
    notebook = json.loads(INTRO.read_text(encoding="utf-8"))
    states = notebook["metadata"]["widgets"][STATE]["state"].values()
    (found,) = (one["state"]["examples"] for one in states if "examples" in one["state"])
    return {label: (text, watch) for label, text, watch in found}


def written(trained, label: str, **search) -> str:
    sides = trained.source, trained.target
    return translate(trained.model, [examples()[label][0]], *sides, max_length=80, **search)[0]


def most_looked_at(trained, label: str, word: str) -> list[str]:
    """Source pieces in the order in which a written word looks at them, in the last layer."""
    there = align_heads(trained.model, examples()[label][0], trained.source, trained.target)
    weights = there.weights[-1].mean(0)[there.target.index(f" {word}")]
    return [there.source[place].strip() for place in weights.argsort(descending=True)]


def test_there_are_ten_and_each_says_what_to_watch():
    assert len(examples()) == 10
    assert all(watch for _, watch in examples().values())


def test_words_of_the_first_stand_in_order(trained):
    there = align_heads(
        trained.model, examples()["dog in the snow"][0], trained.source, trained.target
    )
    assert there.source[6:8] == [" tie", "fen"]  # pieces of one word, as the view adds them up
    of_pieces = there.weights[-1].mean(0)
    of_words = torch.cat(
        [of_pieces[:, :6], of_pieces[:, 6:8].sum(1, keepdim=True), of_pieces[:, 8:]], dim=1
    )
    for weights in (of_pieces, of_words):
        looked = weights.argmax(-1).tolist()
        assert looked == sorted(looked)


@pytest.mark.parametrize(
    ("label", "word", "source"),
    [
        ("sandcastle", "beach", ["Strand"]),
        ("verb at the end", "wearing", ["wirft", "trägt"]),
        ("a long one", "dancing", ["tanzt"]),
    ],
)
def test_a_word_looks_where_the_page_says(trained, label, word, source):
    assert most_looked_at(trained, label, word)[: len(source)] == source


def test_it_writes_what_the_page_says(trained):
    assert written(trained, "bench or bank?").count("bench") == 2
    assert written(trained, "who throws?") == "The ball is throwing the boy."
    assert not re.search(r"\b(no|not|without)\b", written(trained, "no dog"), re.I)
    assert "snow" in written(trained, "a new word")
    assert "chancellor" not in written(trained, "a name").lower()
    wider = written(trained, "no caption", width=5, length_rule=Power(1.2))
    assert wider != written(trained, "no caption")
    assert "love you" not in wider


def test_it_counts_to_nine_and_most_larger_numbers_become_smaller_ones(trained):
    nouns = {
        "Männer laufen.": "men",
        "Hunde spielen im Schnee.": "dogs",
        "Kinder sitzen auf einer Bank.": "children",
    }

    def begins(number: str, as_english: str) -> bool:
        texts = [f"{number} {rest}" for rest in nouns]
        english = translate(trained.model, texts, trained.source, trained.target, max_length=80)
        return all(
            text.startswith(f"{as_english} ") and noun in text
            for text, noun in zip(english, nouns.values(), strict=True)
        )

    small = ["Zwei", "Drei", "Vier", "Fünf", "Sechs", "Sieben", "Acht", "Neun"]
    names = ["Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"]
    assert all(begins(*pair) for pair in zip(small, names, strict=True))
    smaller = {"Zehn": "Two", "Dreizehn": "Three", "Vierzehn": "Four", "Fünfzehn": "Five"}
    smaller |= {"Sechzehn": "Six", "Zwanzig": "Two", "Dreißig": "Three", "Vierzig": "Four"}
    smaller |= {"Fünfzig": "Five"}
    others = ("Elf", "Zwölf", "Hundert")
    became = [number for number in smaller if begins(number, smaller[number])]
    assert len(became) > (len(smaller) + len(others)) / 2
    assert begins("Zwölf", "Twelve")


@needs_data
def test_its_captions_hold_what_the_page_says():
    german = [pair.german for pair in multi30k("train")]

    def share(pattern: str) -> float:
        return sum(bool(re.search(pattern, text)) for text in german) / len(german)

    assert share(r"^(Den|Einen)\b") == 0
    assert 0 < share(r"\b[Kk]ein") < 0.001
    assert share(r"[Kk]anzler") == 0
    assert share(r"\b[Dd]ich\b") == 0
    assert share(r"\bBank\b") > 0.005


@needs_data
@pytest.mark.slow
def test_the_links_name_the_word_that_matters_most(trained):
    """The mean of the last layer's heads, beside what happens when a word is hidden."""
    from tests.chapters.hidden_words import agreement

    pairs = multi30k("test")[:40]
    shares = agreement(trained, [pair.german for pair in pairs])
    print({name: round(share, 3) for name, share in shares.items()})
    assert shares["last layer"] > 0.7
    assert shares["last layer"] > max(
        share for name, share in shares.items() if name.startswith("head")
    )
