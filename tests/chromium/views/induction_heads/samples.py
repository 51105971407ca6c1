"""A view of induction heads with the released models, as a page without a kernel carries it.

    python -m tests.chromium.views.induction_heads.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.views import InductionHeads, ShowMe
from gates2heads.watching.repeats import observe_repeats
from tests.chromium.samples.live_state import write

WORDS = [
    "wolf",
    "garden",
    "candle",
    "river",
    "Emma",
    "castle",
    "lemon",
    "horse",
    "window",
    "piano",
    "bread",
    "star",
    "tiger",
    "milk",
    "snow",
    "bridge",
    "knife",
    "ocean",
    "Felix",
    "road",
    "apple",
    "clock",
    "train",
    "glass",
]
OTHER = " ".join(2 * sorted(WORDS))
LAST = [["layers.1", head] for head in range(4)]
SELECTED = {"text": " ".join(2 * WORDS), "layer": 1, "head": 0, "word": 30}
SHOW_ME = [
    ShowMe("The second time", "The word after the earlier “castle” is <predicted>.", SELECTED),
    ShowMe("Layer 2 off", "No repeat is predicted.", {**SELECTED, "off": LAST}),
    ShowMe("Another order", "The same words in another order.", {**SELECTED, "text": OTHER}),
    ShowMe("One layer", "One layer cannot copy.", {**SELECTED, "model": 1, "layer": 0}),
]


def view() -> InductionHeads:
    """The view that the samples show."""
    one = shipped("induction_two")
    return InductionHeads(
        {
            "two layers": live_model("induction_two"),
            "<i>one</i> layer": live_model("induction_one"),
        },
        observe_repeats(one.model, SELECTED["text"], one.source),
        title="Induction heads <in> a small model",
        hint="Select a word of the second half & see.",
        about="50 thousand parameters & <none> more",
        layer=1,
        word=30,
        show_me=SHOW_ME,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), view())
