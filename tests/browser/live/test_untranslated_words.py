"""Which texts hold a negation or a number word above nine, in Node."""

import pytest

from tests.javascript import LIBRARY, run_javascript

LOSSES = {"losses": LIBRARY / "browser/live/losses.js"}
NEGATION = "The model mistranslates most negations."
NUMBER = "The model gets most number words above nine wrong."
SAID = {
    "german": {
        NEGATION: (
            "Die Frau trägt keine Schuhe.",
            "KEIN Hund bellt.",
            "Das Kind weint nicht.",
            "Der Junge isst nichts.",
            "Sie lacht nie.",
            "Sie lacht niemals.",
            "Niemand ist da.",
            "Er spricht mit niemandem.",
        ),
        NUMBER: (
            "Zehn Männer laufen.",
            "Elf Hunde",
            "zwölf Kinder",
            "Siebzehn Frauen",
            "Dreißig Leute",
            "Einundzwanzig Boote",
            "hundert Menschen",
            "zweihundertfünf Autos",
            "Tausend Menschen",
        ),
        None: (
            "Neun Männer laufen.",
            "12 Männer laufen.",
            "Ein Mann ohne Hut",  # the models keep it
            "Ein zehnjähriger Junge",
            "Ein kleiner Hund und drei Kinder",
            "Eine Elfe mit Niete",
            "",
        ),
    },
    "english": {
        NEGATION: (
            "A man with no hat",
            "The dog is not black.",
            "There isn't a dog.",
            "It doesn’t bark.",
            "Nobody sits there.",
            "She never smiles.",
        ),
        NUMBER: ("Ten men", "twelve men", "Twenty-five men", "a hundred people", "forty boats"),
        None: ("Nine men", "12 men", "A man without a hat", "A tent", "A woman knots a net.", ""),
    },
}


@pytest.mark.parametrize("language", SAID)
def test_what_is_said_of_a_text(language):
    for sentence, texts in SAID[language].items():
        given = {"texts": texts, "language": language}
        body = "return given.texts.map((text) => losses.lossesInWords(text, given.language));"
        wanted = [[sentence] if sentence else []] * len(texts)
        assert run_javascript(body, LOSSES, given) == wanted, sentence
