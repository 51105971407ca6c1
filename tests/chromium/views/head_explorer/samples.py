"""A head explorer with the shipped translator, as a page without a kernel carries it.

    python -m tests.chromium.views.head_explorer.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.views import HeadExplorer, ShowMe
from gates2heads.watching.observation import observe_heads
from tests.chromium.samples.live_state import write

EXAMPLES = [
    "Ein kleiner Hund springt durch den tiefen Schnee.",
    "Zwei Kinder bauen am Strand eine Burg aus Sand.",
    "Eine <i>Frau</i> spielt.",
]

SHOW_ME = [
    ShowMe(
        "One head <off>",
        "The dog is & stays.",
        {
            "text": EXAMPLES[0],
            "off": [["encoder_layers.1.self_attn", 3]],
            "layer": 1,
        },
    ),
    ShowMe(
        "No order",
        "A set has none.",
        {"text": EXAMPLES[1], "off": [], "order": [*range(9)][::-1], "positions": False},
    ),
]


def explorer(stored=()) -> HeadExplorer:
    """The view that the samples show."""
    one = shipped("translator")
    seen = observe_heads(one.model, EXAMPLES[0], one.source, one.target, max_length=40)
    written = one.target.decode(one.target.vocabulary.encode(seen.target))
    return HeadExplorer(
        live_model("translator"),
        EXAMPLES,
        seen,
        written,
        title="Thirty-six <heads>",
        hint="Switch one off & see.",
        about="6 million weights & <none> more",
        show_me=SHOW_ME,
        stored=stored,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), explorer())
