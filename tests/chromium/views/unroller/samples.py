"""An unroller with the shipped networks, as a page without a kernel carries it.

    python -m tests.chromium.views.unroller.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.browser.live.models import live_model
from gates2heads.views import Unroller
from gates2heads.watching.forced_tokens import observe_forcing
from tests.chromium.samples.live_state import write

NAMES = {
    "teacher forcing": "forced_teacher",
    "free running": "forced_free",
    "a <mixture>": "forced_mixed",
}
EXAMPLES = [
    "Mon, Feb 4, 1974",
    "4 février 1974",
    "1974年2月4日",
    "الأربعاء، 2 سبتمبر 1964",
    "среда, 19 февраля 1936\u202fг.",
]
HELD = {2: "-"}


def unroller() -> Unroller:
    """The view that the samples show."""
    one = shipped(NAMES["teacher forcing"])
    return Unroller(
        {name: live_model(model) for name, model in NAMES.items()},
        EXAMPLES,
        observe_forcing(one.model, EXAMPLES[0], one.source, one.target, held=HELD, max_length=16),
        held=HELD,
        labels=["English", "<b>French</b>", "Chinese", "Arabic", "Russian"],
        title="Unrolled <here>",
        hint="Hold one & see.",
        about="128 units & <none> more",
        step=19,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), unroller())
