"""A view of cache sizes with a model of our own beside the published ones, and a page's state.

    python -m tests.chromium.views.cache_sizes.samples STATE.json

Also run by an interpreter with Colab's widget versions, so it uses only what both have.
"""

import json
import sys
from pathlib import Path

from ipywidgets.embed import embed_data

from gates2heads.models.costs import PUBLISHED, Configuration
from gates2heads.views import CacheSizes, ShowMe

OURS = Configuration("our <small> model", 4, 4, 2, 32, 256, parameters=1_200_000)
UNCOUNTED = Configuration("a model of unknown size", 24, 16, 1, 96, 2000, 500)
LLAMA = {"layers": 80, "heads": 64, "head_width": 128, "window": 0, "length": 4096}
SHOW_ME = [
    ShowMe(
        "Multi-head attention",
        "With 64 key–value heads instead of 8, the cache of Llama 2 70B is eight times as large.",
        {**LLAMA, "kv_heads": 64, "batch": 1, "number_format": "bf16"},
    ),
    ShowMe(
        "Grouped-query attention",
        "Eight query heads share one key–value head.",
        {**LLAMA, "kv_heads": 8, "batch": 1, "number_format": "bf16"},
    ),
    ShowMe(
        "A long context",
        "At 131,072 tokens and a batch of 16, the cache is larger than the parameters.",
        {**LLAMA, "kv_heads": 8, "batch": 16, "number_format": "bf16", "length": 131_072},
    ),
    ShowMe(
        "One byte per number",
        "With int8 both bars are half as long in bytes as with bf16.",
        {**LLAMA, "kv_heads": 8, "batch": 16, "number_format": "int8", "length": 131_072},
    ),
]


def view() -> CacheSizes:
    """The view that the sample page shows."""
    return CacheSizes(
        [OURS, *PUBLISHED, UNCOUNTED],
        start=2,
        title="The size of the <KV> cache",
        hint="Load a model, then change its key–value heads, the context or the number format.",
        show_me=SHOW_ME,
    )


if __name__ == "__main__":
    data = embed_data([view()], drop_defaults=False)
    shown = [view["model_id"] for view in data["view_specs"]]
    saved = {"state": data["manager_state"], "shown": shown}
    Path(sys.argv[1]).write_text(json.dumps(saved), encoding="utf-8")
