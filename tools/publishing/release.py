"""Report whether the release that the pages name holds what they show.

    python tools/publishing/release.py

A published page offers its notebook on Colab and on Binder, which open the release of this version
and install its library. So the tag must exist, it must hold every notebook of the book, and the
library must be the tagged one. A change of text alone needs no new release. And the pages must know
the book's address, without which their readers are told to ask whoever provided the copy.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.publishing.repository import Repository  # noqa: E402

RAISE = "raise the version in pyproject.toml, run make repository, commit, and tag it"


def git(root: Path, *words: str) -> str:
    """Return what a command of git prints."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def faults(root: Path) -> list[str]:
    """List, in a sentence each, what keeps the pages of a checkout from being published."""
    here = Repository.of(root)
    if not here.url:
        return ["The book has no address: make repository URL=https://github.com/YOU/NAME"]
    tag = here.tag
    if tag not in git(root, "tag", "--list", tag).split():
        return [f"There is no tag {tag}: git tag {tag} && git push origin {tag}"]
    new = git(root, "diff", "--name-only", "--diff-filter=A", tag, "HEAD", "--", "chapters/*.ipynb")
    found = [f"{name} is not in {tag}: {RAISE}" for name in new.splitlines()]
    if changed := git(root, "diff", "--name-only", tag, "HEAD", "--", "src", "pyproject.toml"):
        count = len(changed.splitlines())
        found.append(f"The library differs from {tag} in {count} files: {RAISE}")
    return found


def main() -> int:
    """Print the problems; fail if there are any."""
    found = faults(ROOT)
    print("\n".join(found) or "The release holds what the pages show.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
