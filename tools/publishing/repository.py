"""Copy the book's addresses from `_config.yml` to all files that contain them.

    python tools/publishing/repository.py          say what does not follow, and fail if it does not
    python tools/publishing/repository.py --write  make it follow
    python tools/publishing/repository.py --write --url https://github.com/owner/name
                               set the addresses first; `--url ""` takes them away

They are in `_config.yml`: `repository.url` for the source, `html.baseurl` for the published book.
The book reads them itself (in `_ext`). Written by this tool: the set-up cell of each chapter, which
must know without the book where Colab finds the library; the first page's ways to read; and in the
README the clone line, the line that leads to the published book, and the links to the chapters,
which lead to the published pages once there are any. The set-up cell installs the release of this
version, never a branch, which would move under a notebook that a reader has saved.
Without an address there is no button, and the set-up cell asks for the library's wheel.
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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.notebooks.folding import TITLE, fold  # noqa: E402
from tools.publishing.ways_to_read import ways  # noqa: E402

PLACEHOLDER = "# the address of the repository; if you have this folder, skip to make book"
CLONE = re.compile(r"(?<=^git clone ).+\ncd .+$", re.M)
VERSION = re.compile(r'^version = "(.+)"$', re.M)
URL = re.compile(r"https://[^\s\"'/]+/[^\s\"']+")
SITE = re.compile(r"https?://[^\s\"'/?#]+/([^\s\"'?#]+/)?")
GITHUB = re.compile(r"https://github\.com/([\w-]+)/([\w.-]+)")
ONLINE = re.compile(r"(?<=^<!-- online -->\n)(?:.+\n)?(?=<!-- /online -->$)", re.M)
CHAPTER = re.compile(
    r"(?<=\]\()(?:https?://[^)\s]*/)?chapters/(intro|\d\d_\w+|appendix/\w+)\.(?:ipynb|md|html)(?=\))"
)
SETUP = """\
import glob
import importlib.util
import os

# The models are small: two threads gain nothing, and wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The release of the book, as pip knows it; empty where the book has no address.
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
    """Where the book's source and its pages are published; empty addresses if they are not."""

    url: str
    site: str
    version: str

    @classmethod
    def of(cls, root: Path) -> Repository:
        """Read the settings of the book in a folder.

        Raises:
            ValueError: an address is neither empty nor one of the web.
        """
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        url, site = plain(config["repository"]["url"]), config["html"]["baseurl"]
        if url and not URL.fullmatch(url):
            raise ValueError(f"repository.url must be empty or begin with https://, got {url!r}")
        if site and not SITE.fullmatch(site):
            raise ValueError(
                f"html.baseurl must be empty, or begin with https:// and end with /, got {site!r}"
            )
        project = (root / "pyproject.toml").read_text(encoding="utf-8")
        return cls(url, site, VERSION.search(project)[1])

    @property
    def tag(self) -> str:
        """Return the name of the release that belongs to this version."""
        return f"v{self.version}"

    def setup_cell(self) -> str:
        """Return the code of a chapter's set-up cell, without its title."""
        return SETUP.replace("{source}", f"git+{self.url}@{self.tag}" if self.url else "")

    def clone_lines(self) -> str:
        """Return what follows `git clone` in the README, and the line after it."""
        if not self.url:
            return f"ADDRESS gates2heads   {PLACEHOLDER}\ncd gates2heads"
        return f"{self.url} gates2heads\ncd gates2heads"


def plain(url: str) -> str:
    """Return an address of a repository without what pip and git do not need."""
    return url.rstrip("/").removesuffix(".git")


def pages_of(url: str) -> str:
    """Return the address under which GitHub Pages shows a repository; empty for other hosts."""
    found = GITHUB.fullmatch(plain(url))
    if not found:
        return ""
    owner, name = found[1].lower(), found[2]
    return f"https://{owner}.github.io/" + (
        "" if name.lower() == f"{owner}.github.io" else f"{name}/"
    )


def set_addresses(config: Path, url: str, site: str) -> None:
    """Write both addresses to `_config.yml`.

    Raises:
        ValueError: the file does not hold each of them once.
    """
    text = config.read_text(encoding="utf-8")
    for key, value in (("url", url), ("baseurl", site)):
        text, places = re.subn(rf"(?<=^  {key}: ).*$", json.dumps(value), text, flags=re.M)
        if places != 1:
            raise ValueError(f"_config.yml must hold `{key}` once, it does {places} times")
    config.write_text(text, encoding="utf-8")


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


def with_chapter_links(readme: str, address: str) -> str:
    """Lead the links to chapters to the pages of the published book, or to their sources."""

    def led(link: re.Match) -> str:
        ending = "md" if link[1].startswith("appendix/") else "ipynb"
        return f"{address}chapters/{link[1]}.{'html' if address else ending}"

    return CHAPTER.sub(led, readme)


def with_setup(notebook: dict, code: str) -> dict:
    """Copy a notebook with this code in its first code cell, below the title, if it has one."""
    changed = copy.deepcopy(notebook)
    first = next(cell for cell in changed["cells"] if cell["cell_type"] == "code")
    title = TITLE.match("".join(first["source"]))
    first["source"] = ((title[0] if title else "") + code).splitlines(keepends=True)
    fold(first)
    return changed


def fresh_texts(root: Path) -> dict[Path, str]:
    """Return each file that does not follow the setting, with the text that would."""
    repository = Repository.of(root)
    fresh, ways_here = {}, ways(repository.url, repository.version)
    for path in sorted((root / "chapters").glob("*.ipynb")):
        stored = json.loads(path.read_text(encoding="utf-8"))
        wanted = with_setup(stored, repository.setup_cell())
        for cell in wanted["cells"] if path.name == "intro.ipynb" else ():
            if cell["id"] in ways_here:
                cell["source"] = ways_here[cell["id"]].splitlines(keepends=True)
        if wanted != stored:
            fresh[path] = json.dumps(wanted, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8")
    wanted, places = CLONE.subn(lambda _: repository.clone_lines(), text)
    if places != 1:
        raise ValueError(f"README.md must hold `git clone` once, it does {places} times")
    wanted = with_online_line(wanted, repository.site)
    wanted = with_chapter_links(wanted, repository.site)
    if wanted != text:
        fresh[readme] = wanted
    return fresh


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Report which files do not follow the settings, or write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the files that do not follow")
    parser.add_argument("--url", help="the repository's address, to be set first; empty for none")
    parser.add_argument("--site", help="the book's address; that of GitHub Pages if not given")
    options = parser.parse_args(arguments)
    if options.url is not None and not options.write:
        parser.error("--url needs --write")
    if options.site is not None and options.url is None:
        parser.error("--site needs --url")
    config = root / "_config.yml"
    before = config.read_text(encoding="utf-8")
    try:
        if options.url is not None:
            site = pages_of(options.url) if options.site is None else options.site
            set_addresses(config, options.url, site)
        fresh = fresh_texts(root)
    except ValueError as error:
        config.write_text(before, encoding="utf-8")
        parser.error(str(error))
    for path, text in fresh.items():
        if options.write:
            path.write_text(text, encoding="utf-8")
        said = "written" if options.write else "does not follow _config.yml: run make repository"
        print(f"{path.relative_to(root)} {said}")
    return int(bool(fresh) and not options.write)


if __name__ == "__main__":
    sys.exit(main())
