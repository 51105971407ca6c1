"""A blind comparison of two invented systems, as a page without a kernel carries it.

    python -m tests.chromium.views.blind_comparison.samples STATE.json

Also run by an interpreter with Colab's widget versions, so it uses only what both have.
"""

import json
import sys
from pathlib import Path

from ipywidgets.embed import embed_data

from gates2heads.views import BlindComparison, BlindPair


def comparison() -> BlindComparison:
    """The view that the sample page shows."""
    return BlindComparison(
        [
            BlindPair("Ein <b>Hund</b>.", "A dog & no more.", "A <i>dog</i>.", "Dog!", "first"),
            BlindPair("Zwei Hunde.", "Two dogs.", "Two dogs.", "Dogs two.", "tie"),
            BlindPair("Drei Hunde.", "Three dogs.", "Dogs.", "Three dogs.", "second"),
            BlindPair("Vier Hunde.", "Four dogs.", "Four dog.", "Four dogs.", "second"),
            BlindPair("Fünf Hunde.", "Five dogs.", "Five dogs.", "A dog.", "first"),
        ],
        systems=["the <old> system", "the new system"],
        metric="chrF & co.",
        title="Blind <comparison>",
        hint="Choose & see.",
    )


if __name__ == "__main__":
    data = embed_data([comparison()], drop_defaults=False)
    shown = [view["model_id"] for view in data["view_specs"]]
    saved = {"state": data["manager_state"], "shown": shown}
    Path(sys.argv[1]).write_text(json.dumps(saved), encoding="utf-8")
