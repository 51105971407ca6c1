"""An attention explorer with two shipped readers, as a page without a kernel carries it.

    python -m tests.chromium.views.attention_explorer.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.views import AttentionExplorer
from gates2heads.watching.observation import observe
from tests.chromium.samples.live_state import write

READERS = {"one vector": "dates_none", "dot": "dates_dot"}
EXAMPLES = ["14 juillet 1989", "9 نوفمبر 1989"]


def explorer() -> AttentionExplorer:
    """The view that the samples show."""
    seen = {}
    for name, file in READERS.items():
        one = shipped(file)
        limit = one.decoding["max_length"]
        seen[name] = observe(one.model, EXAMPLES[0], one.source, one.target, max_length=limit)
    models = [live_model(file) for file in READERS.values()]
    return AttentionExplorer(
        seen,
        models,
        EXAMPLES,
        labels=["July <14>", "an Arabic date"],
        title="Two <readers>",
        hint="Type & see.",
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), explorer())
