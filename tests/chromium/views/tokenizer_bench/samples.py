"""The tokenizer bench with the merges of the captions, as a page without a kernel carries it.

    python -m tests.chromium.views.tokenizer_bench.samples STATE.json

Also run by an interpreter with Colab's widget versions, so it uses only what both have.
"""

import json
import sys
from pathlib import Path

from ipywidgets.embed import embed_data

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.views import ShowMe, TokenizerBench


def bench() -> TokenizerBench:
    """The view that the sample page shows."""
    return TokenizerBench(
        shipped("captions_ngram").source,
        "A snowboarder <b>flips</b> over the unbelievable halfpipe.",
        merges=300,
        word=1,
        title="Tokenizer <of> captions",
        hint="Type & see.",
        show_me=[
            ShowMe("Bytes <i>", "Every box is one byte.", {"text": "日本 👍", "merges": 0}),
            ShowMe("All merges", "The word is one token.", {"text": "snowboarder", "merges": 3741}),
        ],
    )


if __name__ == "__main__":
    data = embed_data([bench()], drop_defaults=False)
    shown = [view["model_id"] for view in data["view_specs"]]
    saved = {"state": data["manager_state"], "shown": shown}
    Path(sys.argv[1]).write_text(json.dumps(saved), encoding="utf-8")
