"""Carry the repository's address from its one place to all that names it.

    python tools/repository.py           say what does not follow, and fail if anything does not
    python tools/repository.py --write   make it follow

The place is `repository` in `_config.yml`. The book's buttons read it themselves (see
`_ext/repository_links.py`). Written by this tool: the set-up cell of each chapter, which must know
without the book where Colab finds the library, and the clone line of the README. Without an
address there is no button, and the set-up cell asks for the library's wheel.

The README also gets a line that leads to the published book: to `html_baseurl` under `sphinx` and
`config` if that is set, else to the GitHub Pages of the repository. Without an address it has none.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.folding import TITLE, fold  # noqa: E402

CLONE = re.compile(r"(?<=^git clone ).+\ncd .+$", re.M)
ONLINE = re.compile(r"(?<=^<!-- online -->\n)(?:.+\n)?(?=<!-- /online -->$)", re.M)
GITHUB = re.compile(r"https://github\.com/([^/]+)/([^/]+)")
SETUP = """\
import glob
import importlib.util
import os

# The book's repository, as pip knows it; empty where it has no address.
BOOK = "{source}"
if importlib.util.find_spec("gates2heads") is None:  # Colab, or a new kernel
    wheels = sorted(glob.glob("gates2heads-*-none-any.whl"))
    places = [os.environ.get("GATES2HEADS_SOURCE"), *wheels[-1:], BOOK]
    source = next(filter(None, places), None)
    if source is None:
        raise ModuleNotFoundError(
            "gates2heads is not installed: put its wheel beside this notebook, "
            "or set GATES2HEADS_SOURCE to the folder or git address of the "
            "book, and run this cell again."
        )
    %pip install -q "$source"
    importlib.invalidate_caches()"""


@dataclass(frozen=True)
class Repository:
    """Where the book's source is published; an empty address if it is not."""

    url: str
    branch: str

    @classmethod
    def of(cls, config: Path) -> Repository:
        """Read the setting.

        Raises:
            ValueError: the address is neither empty nor one of the web.
        """
        told = yaml.safe_load(config.read_text(encoding="utf-8"))["repository"]
        url = told["url"].rstrip("/")
        if url and not re.fullmatch(r"https://[^\s\"'/]+/[^\s\"']+", url):
            raise ValueError(f"repository.url must be empty or begin with https://, got {url!r}")
        return cls(url.removesuffix(".git"), told["branch"])

    def setup_cell(self) -> str:
        """Give the code of a chapter's set-up cell, without its title."""
        return SETUP.replace("{source}", f"git+{self.url}@{self.branch}" if self.url else "")

    def clone_lines(self) -> str:
        """Give what stands behind `git clone` in the README, and the line after it."""
        if not self.url:
            return "<address of this repository>\ncd <its folder>"
        return f"{self.url}\ncd {self.url.rpartition('/')[2]}"


def site_address(config: Path) -> str:
    """Give the address of the published book, empty if it has none.

    Raises:
        ValueError: `html_baseurl` is neither empty nor an address of the web.
    """
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    given = settings.get("sphinx", {}).get("config", {}).get("html_baseurl") or ""
    if given and not re.fullmatch(r"https?://[^\s\"'<>]+", given):
        raise ValueError(f"html_baseurl must be empty or begin with https://, got {given!r}")
    on_github = GITHUB.fullmatch(Repository.of(config).url)
    if given or not on_github:
        return given
    owner, name = on_github.groups()
    site = f"https://{owner.lower()}.github.io/"
    return site if f"https://{name.lower()}/" == site else f"{site}{name}/"


def with_online_line(readme: str, address: str) -> str:
    """Put the line that leads to the published book between its two marks, or take it away.

    Raises:
        ValueError: the text does not hold the marks once.
    """
    line = f"Read it online: <{address}>\n" if address else ""
    changed, times = ONLINE.subn(lambda _: line, readme)
    if times != 1:
        raise ValueError(
            f"README.md must hold <!-- online --> and <!-- /online --> once, it does {times} times"
        )
    return changed


def with_setup(notebook: dict, code: str) -> dict:
    """Copy a notebook with this code in its first code cell, below the title, if it has one."""
    changed = copy.deepcopy(notebook)
    first = next(cell for cell in changed["cells"] if cell["cell_type"] == "code")
    title = TITLE.match("".join(first["source"]))
    first["source"] = ((title[0] if title else "") + code).splitlines(keepends=True)
    fold(first)
    return changed


def fresh_texts(root: Path) -> dict[Path, str]:
    """Give each file that does not follow the setting, with the text that would."""
    repository = Repository.of(root / "_config.yml")
    fresh = {}
    for path in sorted((root / "chapters").glob("*.ipynb")):
        stored = json.loads(path.read_text(encoding="utf-8"))
        wanted = with_setup(stored, repository.setup_cell())
        if wanted != stored:
            fresh[path] = json.dumps(wanted, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8")
    wanted, places = CLONE.subn(lambda _: repository.clone_lines(), text)
    if places != 1:
        raise ValueError(f"README.md must hold `git clone` once, it does {places} times")
    wanted = with_online_line(wanted, site_address(root / "_config.yml"))
    if wanted != text:
        fresh[readme] = wanted
    return fresh


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Say which files do not follow the setting, or write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the files that do not follow")
    options = parser.parse_args(arguments)
    fresh = fresh_texts(root)
    for path, text in fresh.items():
        if options.write:
            path.write_text(text, encoding="utf-8")
        said = "written" if options.write else "does not follow _config.yml: run make repository"
        print(f"{path.relative_to(root)} {said}")
    return int(bool(fresh) and not options.write)


if __name__ == "__main__":
    sys.exit(main())
