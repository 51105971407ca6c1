"""A gate explorer with the shipped networks, as a page without a kernel carries it.

    python -m tests.chromium.views.gate_explorer.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.views import FoundUnit, GateExplorer
from gates2heads.watching.gates import observe_gates
from tests.chromium.samples.live_state import write

EXAMPLES = [
    "print(max(len(name), (width + 2) * 3))\n",
    "if a < b & c:\n    x = '<i>&amp;</i>'  # (not read as HTML\n",
    "def f(x):\n    return [\n        x,\n    ]\n",
]


def explorer() -> GateExplorer:
    """The view that the samples show."""
    one = shipped("gates_lstm")
    return GateExplorer(
        {"LSTM": live_model("gates_lstm"), "GRU": live_model("gates_gru")},
        EXAMPLES,
        observe_gates(one.model, EXAMPLES[0], one.source),
        labels=["brackets", "<b>text</b>", "indent"],
        found=[
            FoundUnit("LSTM", 55, "brackets", "Unit 55 tells <inside> from outside."),
            FoundUnit("LSTM", 61, "indent"),
            FoundUnit("GRU", 7, "<i>seven</i>"),
        ],
        title="Gates <at work>",
        hint="Hold one & see.",
        about="96 units & <none> more",
        unit=55,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), explorer())
