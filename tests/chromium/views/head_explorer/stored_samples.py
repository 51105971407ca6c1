"""The head explorer of `samples`, with the results of its *Show me* buttons stored.

    python -m tests.chromium.views.head_explorer.stored_samples STATE.json

As `samples` does, this writes the state and beside it a folder `live`.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.watching.head_changes import observe_change
from tests.chromium.samples.live_state import write
from tests.chromium.views.head_explorer.samples import SHOW_ME, explorer

if __name__ == "__main__":
    one = shipped("translator")
    stored = [
        observe_change(
            one.model,
            state["text"],
            one.source,
            one.target,
            off=state["off"],
            order=state.get("order", ()),
            positions=state.get("positions", True),
            max_length=40,
        )
        for _, _, state in SHOW_ME
    ]
    write(Path(sys.argv[1]), explorer(stored=stored))
