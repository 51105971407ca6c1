"""A view of a small model of code, as a page without a kernel carries it.

    python -m tests.chromium.views.code_model.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the model. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from pathlib import Path

from gates2heads.browser.live.models import key
from gates2heads.views import CodeModel, ShowMe
from gates2heads.watching.next_token import score_tokens
from tests.chromium.samples.live_state import write
from tests.chromium.views.code_model.small_code import EXAMPLES, code_model, exported

SHOW_ME = [
    ShowMe("Greedy", "Only the most <probable> token is left.", {"min_p": 1.0, "steps": 12}),
    ShowMe("Without the cache", "The line rises.", {"cache": False, "steps": 30}),
    ShowMe("A long text", "Its beginning is grey.", {"text": EXAMPLES[2], "cache": True}),
]


def view() -> CodeModel:
    """The view that the samples show."""
    model, tokenizer = code_model()
    return CodeModel(
        exported(),
        score_tokens(model, EXAMPLES[0], tokenizer),
        EXAMPLES,
        labels=["a function", "<b>a class</b>", "imports"],
        title="A model of <code>",
        hint="Type & see.",
        about="Random parameters & <none> trained",
        steps=20,
        show_me=SHOW_ME,
    )


if __name__ == "__main__":
    path = Path(sys.argv[1])
    write(path, view())
    model = exported()
    (path.with_name("live") / f"{key(model)}.js").write_text(model.script(), encoding="utf-8")
