"""A beam laboratory on the shipped translator, as a page without a kernel carries it.

    python -m tests.chromium.views.beam_laboratory.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.decoding.lengths import Power
from gates2heads.views import BeamLaboratory, ShowMe
from gates2heads.watching.searches import watch
from tests.chromium.samples.live_state import write

EXAMPLES = [
    "Ein Hund bringt seinem Herrchen den Stock zurück.",
    "Eine Gruppe von Menschen steht vor einem Iglu.",
]


def laboratory() -> BeamLaboratory:
    """The view that the samples show."""
    one = shipped("translator")
    seen = watch(one.model, EXAMPLES[0], one.source, one.target, width=5, length_rule=Power(0.75))
    hint = "Click any candidate & the search must go <that> way."
    plain = {"table": False, "prefix": [], "sampling": False}
    show_me = [
        ShowMe(
            "An <igloo>", "The & path.", {**plain, "text": EXAMPLES[1], "width": 3, "alpha": 0.5}
        ),
        ShowMe("Two tables", "A C B.", {**plain, "table": True, "width": 2, "alpha": 0.0}),
    ]
    return BeamLaboratory(
        live_model("translator"),
        EXAMPLES,
        seen,
        title="Beam <laboratory>",
        hint=hint,
        show_me=show_me,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), laboratory())
