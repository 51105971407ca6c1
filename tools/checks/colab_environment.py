"""A second environment with Colab's widget versions, which borrows all the rest from the first.

    python tools/checks/colab_environment.py          make .venv-colab
    python tools/checks/colab_environment.py --check  print and assert which version is from where

Only the packages below are installed; a .pth file appends the main environment's site-packages
behind them, so that torch is there once.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / ".venv-colab"

# What Colab has preinstalled, and what these two cannot share with the main environment.
PINS = {
    "ipywidgets": "7.7.1",
    "anywidget": "0.9.21",
    "ipython_genutils": "0.2.0",
    "jupyterlab_widgets": "1.1.11",
    "widgetsnbextension": "3.6.10",
}
BORROWED = ("torch", "ipykernel", "nbval", "gates2heads")

PROBE = """
import importlib, importlib.metadata, json, sys
names = json.loads(sys.argv[1])
found = {}
for name in names:
    spec = importlib.util.find_spec(name)
    place = spec.origin or next(iter(spec.submodule_search_locations))
    found[name] = [importlib.metadata.version(name), place]
print(json.dumps(found))
"""


def python_of(environment: Path) -> Path:
    """Return an environment's interpreter."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make() -> None:
    """Build the environment from nothing."""
    shutil.rmtree(TARGET, ignore_errors=True)
    venv.create(TARGET, with_pip=False)
    wanted = [f"{name}=={version}" for name, version in PINS.items()]
    pip = [sys.executable, "-m", "pip", "--python", str(python_of(TARGET))]
    subprocess.run([*pip, "install", "-q", "--no-compile", "--no-deps", *wanted], check=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(TARGET)}))
    # addsitedir also reads the main environment's own .pth files (the editable install).
    line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (own / "zz_main_environment.pth").write_text(line)
    kernel = TARGET / "share" / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    arguments = [str(python_of(TARGET)), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": arguments, "display_name": "Python 3 (Colab's widgets)", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec, indent=2) + "\n")


def check() -> None:
    """Print each version and its folder.

    Raises:
        SystemExit: a version or a path is not the expected one.
    """
    names = json.dumps([*PINS, *BORROWED])
    done = subprocess.run(
        [python_of(TARGET), "-c", PROBE, names], check=True, capture_output=True, text=True
    )
    wrong = []
    for name, (version, place) in json.loads(done.stdout).items():
        own = Path(place).is_relative_to(TARGET)
        print(f"{name:20} {version:14} {'.venv-colab' if own else 'borrowed'}")
        if own != (name in PINS) or version != PINS.get(name, version):
            wrong.append(f"{name} {version} from {place}")
    if wrong:
        raise SystemExit(f"Colab's environment is not what it says: {'; '.join(wrong)}")


def main() -> None:
    """Make the environment, or check the one that is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        make()
    check()


if __name__ == "__main__":
    main()
