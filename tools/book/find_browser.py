"""Find a Chromium or Chrome, install one where that may be done, and print its path.

python tools/book/find_browser.py [--install]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The shell is the same engine without windows. It comes first: a whole browser without a screen now
# and then stops drawing frames, and a page that waits for one waits for ever.
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
# A browser for tests asks nobody for anything, also not its maker.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
ADVICE = (
    "The browser tests need Chromium or Chrome and none was found. Install one "
    "(Debian, Ubuntu: apt-get install chromium-headless-shell; Fedora: dnf install chromium; "
    "macOS: brew install --cask google-chrome), or set CHROMIUM to the path of yours."
)


def _playwright_browser() -> str | None:
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  (costs half a second)

        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Exception:  # Playwright missing or broken counts as no browser.
        return None
    return path if Path(path).exists() else None


def find() -> str | None:
    """Return the path of the browser to use, $CHROMIUM first, or None."""
    if wish := os.environ.get("CHROMIUM"):
        if found := shutil.which(wish):
            return found
        raise SystemExit(f"CHROMIUM is set to {wish}, which is no program.")
    for name in (*NAMES, *MAC):
        if found := shutil.which(name):
            return found
    return _playwright_browser()


def launched() -> AbstractContextManager[Browser]:
    """A headless browser for a `with`; where there is none, one sentence ends the command."""
    executable = find()
    if executable is None:
        raise SystemExit(ADVICE)
    return _launched(executable)


@contextmanager
def _launched(executable: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (costs half a second)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


def install() -> None:
    """Try the system's packages as root on Debian's kin, else Playwright's own download."""
    attempts = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        names = SHELL, "chromium"
        attempts = [*(["apt-get", "install", "-y", "-q", name] for name in names), *attempts]
        subprocess.run(["apt-get", "update", "-q"], stdout=sys.stderr, check=False)
    for command in attempts:
        print(f"No browser found; trying: {' '.join(command)}", file=sys.stderr)
        done = subprocess.run(command, stdout=sys.stderr, stdin=subprocess.DEVNULL, check=False)
        if done.returncode == 0 and find():
            return


def main() -> None:
    """Print the path, or one sentence on what to install."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--install", action="store_true", help="install a browser if there is none")
    options = parser.parse_args()
    path = find()
    if path is None and options.install:
        install()
        path = find()
    if path is None:
        raise SystemExit(ADVICE)
    print(path)


if __name__ == "__main__":
    main()
