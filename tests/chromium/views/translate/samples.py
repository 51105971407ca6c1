"""A Translate view with the shipped translator, as a page without a kernel carries it.

    python -m tests.chromium.views.translate.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the model. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.live.models import live_model
from gates2heads.decoding.translation import align_heads
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from gates2heads.views import Example, Translate
from tests.chromium.samples.live_state import write

EXAMPLES = [
    Example(
        "snow", "Ein kleiner Hund springt durch den tiefen Schnee.", "Point at a word.", "easy"
    ),
    Example("sand", "Zwei Kinder bauen am Strand eine Burg aus Sand.", group="easy"),
    Example("<i>ball</i>", "Den Ball wirft der Junge.", "Who <b>throws</b>?", "<b>hard</b>"),
    Example("no caption", "Ich liebe dich.", group="<b>hard</b>"),
]

PAIRS = [("A small dog jumps through <i>deep</i> snow.", EXAMPLES[0].text)]


def translator(stored: int = 1, **options) -> Translate:
    """The view that the samples show, with the model's outputs for the first few examples."""
    trained = load(shipped_weights("translator"))
    sides = trained.source, trained.target
    recorded = [
        align_heads(trained.model, text, *sides, max_length=trained.task.max_length)
        for _, text, *_ in EXAMPLES[:stored]
    ]
    model = live_model("translator")
    about = "6 million weights & <none> more"
    return Translate(model, EXAMPLES, recorded, about=about, pairs=PAIRS, **options)


if __name__ == "__main__":
    write(Path(sys.argv[1]), translator())
