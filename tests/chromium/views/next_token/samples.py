"""A next-token view with the shipped models, as a page without a kernel carries it.

    python -m tests.chromium.views.next_token.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.views import Column, NextToken
from gates2heads.watching.next_token import foresee
from tests.chromium.samples.live_state import write

EXAMPLES = [
    "A cat is sleeping on a chair",
    "Two dogs <b>run</b> & 3 cats",
    "A man is playing the",
]


def view() -> NextToken:
    """The view that the samples show."""
    counted = shipped("captions_ngram")
    models = {
        "counts & zeros": ("captions_ngram", counted.model.counts_alone(), 0),
        "Kneser–Ney": ("captions_ngram", counted.model, 1),
        "<i>GRU</i>": ("captions_gru", shipped("captions_gru").model, 0),
        "Transformer": ("captions_transformer", shipped("captions_transformer").model, 0),
    }
    columns = [
        Column(name, live_model(file), foresee(model, EXAMPLES[0], counted.source), place)
        for name, (file, model, place) in models.items()
    ]
    return NextToken(
        columns,
        EXAMPLES,
        labels=["a cat", "<b>dogs</b>", "the …"],
        title="Next <token>",
        hint="Type & see.",
        about="Three files & <none> more",
        source=1,
        barred=["<eos>", ".", "!", "?"],
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), view())
