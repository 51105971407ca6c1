"""A walk through the shipped translator, as a page without a kernel carries it.

    python -m tests.chromium.views.model_walk.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.views import ModelWalk
from gates2heads.watching.walk import walk
from tests.chromium.samples.live_state import write

EXAMPLES = [
    "Ein kleiner Hund springt durch den tiefen Schnee.",
    "Zwei Kinder bauen am Strand eine Burg aus Sand.",
    "Eine <i>Frau</i> spielt.",
]


def model_walk() -> ModelWalk:
    """The view that the samples show."""
    one = shipped("translator")
    walked = walk(one.model, EXAMPLES[0], one.source, one.target, max_length=40)
    written = one.target.decode(one.target.vocabulary.encode(walked.target))
    return ModelWalk(
        live_model("translator"),
        EXAMPLES,
        walked,
        written,
        title="The whole <model>",
        hint="Walk on & see.",
        about="6 million weights & <none> more",
        place=6,
        step=2,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), model_walk())
