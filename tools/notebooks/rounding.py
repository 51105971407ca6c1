"""Run the notebooks as other processors would, and name each cell that then shows something else.

    python tools/notebooks/rounding.py [NOTEBOOK …]

The last digits of a sum hang on the order of its terms, and each processor has an order of its own.
The libraries below can be told to use what older processors have; so one machine can stand for
several. Outputs are compared with the stored ones as always (`tools.notebooks.notebook_report`).

Other machines differ by more than these kernels do. What a trained model does, and what grows from
step to step, needs more room than a run of this leaves it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.checks.test_all import NBVAL, TWO_AT_A_TIME  # noqa: E402

# torch itself, its convolutions, its matrix products, numpy's matrix products, threads.
NAMES = [
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "OPENBLAS_CORETYPE",
    "OMP_NUM_THREADS",
]
KERNELS = {
    "the oldest": ("default", "SSE41", "COMPATIBLE", "Nehalem", "1"),
    "AVX2, two threads": ("avx2", "AVX2", "AVX2", "Haswell", "2"),
    "AVX2, old products": ("avx2", "SSE41", "COMPATIBLE", "Haswell", "1"),
}
DIFFERS = re.compile(r"^(?:FAILED|ERROR) (\S*::.+?)(?: - .*)?$", re.M)


def differences(kernel: Sequence[str], paths: Sequence[str | Path]) -> list[str]:
    """Run notebooks under a kernel, and print how they went.

    Returns:
        The cells that show something else, "chapters/01_recurrent_gates.ipynb::Cell 11".
    """
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", *NBVAL]
    if kernel[-1] == "1":  # two notebooks of two threads would wait for each other
        command += TWO_AT_A_TIME
    found = []
    with subprocess.Popen(
        [*command, "-c", ROOT / "pyproject.toml", *paths],
        cwd=ROOT,
        env=os.environ | dict(zip(NAMES, kernel, strict=True)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            found += DIFFERS.findall(line)
    return found if found or not process.returncode else ["the run itself failed"]


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks that the command line names, all by default, under every kernel."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", default=["chapters"], metavar="NOTEBOOK")
    paths = parser.parse_args(arguments).notebooks
    found = {}
    for name, kernel in KERNELS.items():
        print(f"\n──── {name}: {dict(zip(NAMES, kernel, strict=True))}", flush=True)
        found[name] = differences(kernel, paths)
    print("\n──── what other kernels change")
    for name, cells in found.items():
        print("\n".join(f"{name}: {cell}" for cell in cells) or f"{name}: nothing")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
