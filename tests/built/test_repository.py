"""One setting holds the repository's address, and everything that names it follows."""

import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from tools.book.site_check import pages
from tools.publishing import repository
from tools.publishing.repository import Repository

ROOT = Path(__file__).resolve().parents[2]
URL = "https://github.com/example/gates-to-heads"
SITE = "https://example.github.io/gates-to-heads/"
TAG = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]


def set_url(config, url, site=""):
    repository.set_addresses(config, url, site)


@pytest.fixture
def copied(tmp_path):
    """The setting and what follows it, in a folder of their own."""
    (tmp_path / "chapters").mkdir()
    names = ("_config.yml", "README.md", "pyproject.toml")
    for path in (*(ROOT / name for name in names), *(ROOT / "chapters").glob("*.ipynb")):
        shutil.copyfile(path, tmp_path / path.relative_to(ROOT))
    return tmp_path


def first_cells(root):
    for path in sorted((root / "chapters").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))


def test_all_files_follow_the_setting():
    assert [str(path) for path in repository.fresh_texts(ROOT)] == []


def test_an_address_reaches_every_chapter_and_the_readme_and_leaves_again(copied, capsys):
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    set_url(copied / "_config.yml", URL + ".git/")
    assert repository.main([], copied) == 1
    assert "README.md does not follow _config.yml: run make repository" in capsys.readouterr().out
    assert repository.main(["--write"], copied) == 0
    assert repository.main([], copied) == 0
    readme = (copied / "README.md").read_text(encoding="utf-8")
    assert f"\ngit clone {URL} gates2heads\ncd gates2heads\n" in readme
    first = (copied / "chapters" / "intro.ipynb").read_text(encoding="utf-8")
    assert f"git clone {URL} gates2heads" in first
    assert "rocket button" in first
    assert "Upload notebook" not in first
    cells = list(first_cells(copied))
    assert cells
    assert all(f'\nBOOK = "git+{URL}@v{TAG}"\n' in cell for cell in cells)
    set_url(copied / "_config.yml", "")
    assert repository.main(["--write"], copied) == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("site", ["", SITE])
def test_the_readme_leads_to_the_published_book(site):
    bare = repository.with_online_line((ROOT / "README.md").read_text(encoding="utf-8"), "")
    assert "Read it online" not in bare
    written = repository.with_online_line(bare, site)
    assert written.count(f"\nRead it online: <{site}>\n") == bool(site)
    assert repository.with_online_line(written, "") == bare


def test_the_readmes_links_to_chapters_lead_to_the_published_pages():
    bare = repository.with_chapter_links((ROOT / "README.md").read_text(encoding="utf-8"), "")
    assert len(re.findall(r"\]\(chapters/\w+\.ipynb\)", bare)) >= 12
    led = repository.with_chapter_links(bare, SITE)
    assert f"]({SITE}chapters/05_attention.html)" in led
    assert f"]({SITE}chapters/appendix/claims.html)" in led
    assert repository.with_chapter_links(led, "") == bare
    assert "](chapters/" not in led
    assert repository.with_chapter_links(led, "https://a.org/") == led.replace(
        f"{SITE}chapters/", "https://a.org/chapters/"
    )
    assert repository.with_chapter_links(led, "") == bare


def test_a_readme_without_the_marks_is_refused():
    with pytest.raises(ValueError, match=r"must hold <!-- online --> and <!-- /online --> once"):
        repository.with_online_line("# A book\n", "https://book.org/")


def test_a_title_stays_where_it_is():
    code = {"cell_type": "code", "metadata": {"tags": ["setup"]}, "source": ["# @title A\n", "1"]}
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# B"]}
    changed = repository.with_setup({"cells": [text, code, copy.deepcopy(code)]}, "2\n3")["cells"]
    assert changed[1]["source"] == ["# @title A\n", "2\n", "3"]
    assert changed[1]["metadata"]["mystnb"]["code_prompt_show"] == "A · 2 lines"
    assert changed[2] == code


@pytest.mark.parametrize(
    "url", ["github.com/a/b", "http://a.org/b", "https://a.org", "https://a/b c"]
)
def test_an_address_that_is_none_is_refused(copied, url):
    set_url(copied / "_config.yml", url)
    with pytest.raises(
        ValueError, match=r"repository.url must be empty or begin with https://, got"
    ):
        Repository.of(copied)


@pytest.mark.parametrize("site", ["https://a.org", "ftp://a.org/", "https://a.org/b", "a.org/"])
def test_a_site_that_is_none_is_refused(copied, site):
    set_url(copied / "_config.yml", URL, site)
    with pytest.raises(ValueError, match=r"html.baseurl must be empty, or begin with https://"):
        Repository.of(copied)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        (URL, SITE),
        (URL + ".git", SITE),
        ("https://github.com/Example/example.github.io", "https://example.github.io/"),
        ("https://gitlab.com/example/book", ""),
    ],
)
def test_the_pages_of_a_repository_are_where_its_host_shows_them(url, site):
    assert repository.pages_of(url) == site


def test_one_command_sets_both_addresses(copied):
    assert repository.main(["--write", "--url", URL], copied) == 0
    told = Repository.of(copied)
    assert (told.url, told.site) == (URL, SITE)
    assert f"Read it online: <{SITE}>" in (copied / "README.md").read_text(encoding="utf-8")
    assert repository.main(["--write", "--url", URL, "--site", "https://a.org/book/"], copied) == 0
    assert Repository.of(copied).site == "https://a.org/book/"
    assert repository.main(["--write", "--url", ""], copied) == 0
    assert Repository.of(copied).url == Repository.of(copied).site == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--url", URL], "--url needs --write"),
        (["--write", "--site", SITE], "--site needs --url"),
        (["--write", "--url", "nowhere"], "repository.url must be empty or begin with https://"),
    ],
)
def test_a_refused_command_changes_nothing(copied, capsys, given, told):
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit):
        repository.main(given, copied)
    assert told in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Give a function that builds two pages with the book's own settings and two addresses."""

    def built(url, site):
        folder = tmp_path_factory.mktemp("book")
        (folder / "chapters").mkdir()
        for name in (
            "_ext",
            "_static",
            "_assets",
            "docs",
            "src",
            "references.bib",
            "pyproject.toml",
        ):
            (folder / name).symlink_to(ROOT / name)
        for name in ("chapters/intro.ipynb", "chapters/05_attention.ipynb", "_config.yml"):
            shutil.copyfile(ROOT / name, folder / name)
        set_url(folder / "_config.yml", url, site)
        toc = "format: jb-book\nroot: chapters/intro\nchapters:\n- file: chapters/05_attention\n"
        (folder / "_toc.yml").write_text(toc)
        command = [Path(sys.executable).parent / "jupyter-book", "build", "-q", folder]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return folder / "_build" / "html"

    return built


@pytest.fixture(scope="module")
def published(build):
    """The pages of a book that has both addresses."""
    return build(URL + ".git", SITE)


def read(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def buttons(site):
    page = read(site / "chapters" / "05_attention.html")
    return [link["href"] for link in page.select(".article-header-buttons a[href]")]


def named(page, name):
    return [tag["content"] for tag in page.select(f'meta[name="{name}"], meta[property="{name}"]')]


@pytest.mark.book
def test_with_an_address_the_page_has_its_buttons(published):
    links = buttons(published)
    page = "chapters/05_attention.ipynb"
    assert URL in links
    assert f"{URL}/edit/main/{page}" in links
    assert any(link.startswith(f"{URL}/issues/new?") for link in links)
    colab = "https://colab.research.google.com/github/example/gates-to-heads/blob"
    assert f"{colab}/v{TAG}/{page}" in links
    binder = f"https://mybinder.org/v2/gh/example/gates-to-heads/v{TAG}?urlpath=lab/tree"
    assert f"{binder}/{page}" in links
    cells = json.loads((ROOT / page).read_text(encoding="utf-8"))["cells"]
    (asked,) = (one["id"] for one in cells if "check_pool(" in "".join(one["source"]))
    task = read(published / "chapters" / "05_attention.html").select_one(
        '.g2h-task[data-exercise="5.1"]'
    )
    addresses = [link["href"] for link in task.select("a")]
    assert addresses == [f"{colab}/v{TAG}/{page}#scrollTo={asked}", f"../_sources/{page}"]


@pytest.mark.book
def test_with_an_address_pages_carry_it(published):
    page = read(published / "chapters" / "05_attention.html")
    address = f"{SITE}chapters/05_attention.html"
    assert page.select_one('link[rel="canonical"]')["href"] == address
    assert named(page, "og:url") == [address]
    assert named(page, "og:site_name") == ["Gates to Heads"]
    assert named(page, "og:description") == named(page, "description")
    (picture,) = named(page, "og:image")
    assert (published / picture.removeprefix(SITE)).is_file()
    for first in ("index.html", "chapters/intro.html"):
        assert read(published / first).select_one('link[rel="canonical"]')["href"] == SITE
    listed = (published / "sitemap.xml").read_text(encoding="utf-8")
    found = set(re.findall(r"<loc>(.+?)</loc>", listed))
    assert found == {SITE, f"{SITE}chapters/05_attention.html"}


@pytest.mark.book
def test_with_an_address_a_wrong_one_leads_on(published):
    page = read(published / "404.html")
    assert page.find("h1", string="Page not found")
    path = SITE.partition("github.io")[2]
    links = [tag["href"] for tag in page.find_all(["a", "link"], href=True)]
    links += [tag["src"] for tag in page.find_all(["script", "img"], src=True)]
    own = [link for link in links if not link.startswith(("#", "http"))]
    assert f"{path}chapters/05_attention.html" in own
    assert [link for link in own if not link.startswith(path)] == []
    files = (
        published / link.removeprefix(path).partition("?")[0].partition("#")[0] for link in own
    )
    assert [file for file in files if not file.exists()] == []


@pytest.mark.book
def test_without_an_address_nothing_leads_out(build):
    site = build("", "")
    links = buttons(site)
    assert links
    assert [link for link in links if "://" in link] == []
    page = read(site / "chapters" / "05_attention.html")
    assert page.select_one('link[rel="canonical"]') is None
    assert [tag for tag in page.find_all("meta", property=True)] == []
    assert not (site / "404.html").exists()
    assert not (site / "sitemap.xml").exists()


@pytest.mark.book
def test_every_page_has_a_title_and_a_description_of_its_own(site):
    described = {path: read(path) for path in pages(site) if path.name != "search.html"}
    sentences = {path: named(page, "description") for path, page in described.items()}
    assert {path: found for path, found in sentences.items() if len(found) != 1} == {}
    own = [text for path, (text,) in sentences.items() if path != site / "index.html"]
    assert len(set(own)) == len(own)
    assert [text for text in own if not 60 <= len(text) <= 180] == []
    titles = {path: page.title.text for path, page in described.items()}
    assert titles[site / "index.html"] == "Gates to Heads"
    assert all(title.strip() for title in titles.values())


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_commands_that_the_makefile_has(path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    lines = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    named = {word for line in lines for word in re.findall(r"^make ([a-z]+)", line)}
    assert named or path.stem != "test"
    assert [name for name in named if not re.search(rf"^{name}\b", makefile, re.M)] == []
    assert all(job["timeout-minutes"] <= 90 for job in jobs.values())


def test_a_pull_request_is_tested_once_and_only_main_is_published():
    told = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    events = told[True]  # YAML reads the word `on` so
    assert events["push"] == {"branches": ["main"]}
    assert "pull_request" in events
    assert told["env"]["TORCH_BACKEND"] == "cpu"
    assert "github.ref == 'refs/heads/main'" in told["jobs"]["publish"]["if"]


def test_binder_takes_the_same_uv_as_the_book():
    pinned = re.search(r"^uv==.*$", (ROOT / "requirements-test.txt").read_text(), re.M)[0]
    assert pinned in (ROOT / ".binder" / "requirements.txt").read_text().splitlines()
