"""A slider of ipywidgets and a view that the browser keeps together, saved as the samples are.

    python -m tests.chromium.samples.linked_samples STATE.json

A widget manager draws both; the built pages show views alone.
"""

import json
import sys
from pathlib import Path

import ipywidgets

from tests.chromium.samples.together_samples import saved, viewer


def linked() -> ipywidgets.VBox:
    """The slider reaches too far."""
    slider = ipywidgets.IntSlider(max=9)
    picture = viewer()
    ipywidgets.jslink((slider, "value"), (picture, "index"))
    return ipywidgets.VBox([slider, picture])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(saved([linked()])), encoding="utf-8")
