"""Run scripts that make views, in the process that asks or, all in one, in another interpreter.

    python -m tests.chromium.samples.scripts '[["views/gate_explorer/samples.py", "STATE.json"], …]'

To start an interpreter with PyTorch takes longer than most of them.
"""

import json
import runpy
import sys
from pathlib import Path
from unittest.mock import patch

CHROMIUM = Path(__file__).parents[1]


def make(script: str, *arguments: Path | str) -> None:
    """Run a script, by its path in `tests/chromium`, as if it were called from a command line."""
    with patch.object(sys, "argv", [script, *map(str, arguments)]):
        runpy.run_path(str(CHROMIUM / script), run_name="__main__")


if __name__ == "__main__":
    for job in json.loads(sys.argv[1]):
        print(*job, file=sys.stderr, flush=True)  # the last line names what failed
        make(*job)
