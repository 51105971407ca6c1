"""A view of a scaling law with made runs of all roles, and a page's state.

    python -m tests.chromium.views.scaling_explorer.samples STATE.json

Also run by an interpreter with Colab's widget versions, so it uses only what both have.
"""

import json
import sys
from pathlib import Path

from ipywidgets.embed import embed_data

from gates2heads.metrics.scaling_laws import ScalingLaw
from gates2heads.views import ScaledRun, ScalingExplorer, ShowMe

LAW = ScalingLaw(1.2, 60.0, 0.3, 300.0, 0.3)
SIZES = (90_000, 280_000, 530_000, 1_050_000)
TOKENS = (250_000, 1_000_000, 4_000_000)
SHOW_ME = [
    ShowMe("A small model", "It is far to the left.", {"compute": 13.0, "parameters": 4.9}),
    ShowMe("A large <model>", "It is far to the right.", {"compute": 13.0, "parameters": 6.8}),
]


def view() -> ScalingExplorer:
    """The view that the sample page shows."""
    runs = [
        ScaledRun(f"{size} & {tokens}", size, tokens, LAW.loss(size, tokens) * (1 + at / 500))
        for at, (size, tokens) in enumerate((n, d) for n in SIZES for d in TOKENS)
    ]
    runs += [
        ScaledRun("larger", 2_160_000, 8_000_000, 3.9, "predicted"),
        ScaledRun("your run", 150_000, 700_000, 7.4, "yours"),
    ]
    return ScalingExplorer(
        runs,
        LAW,
        compute=1e13,
        title="Loss <against> compute",
        hint="Move the budget, then the size of the model.",
        show_me=SHOW_ME,
    )


if __name__ == "__main__":
    data = embed_data([view()], drop_defaults=False)
    shown = [view["model_id"] for view in data["view_specs"]]
    saved = {"state": data["manager_state"], "shown": shown}
    Path(sys.argv[1]).write_text(json.dumps(saved), encoding="utf-8")
