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

from tools import repository
from tools.repository import Repository

ROOT = Path(__file__).resolve().parents[2]
URL = "https://github.com/example/gates-to-heads"
CONF = """
import sys
import yaml
from jupyter_book.config import yaml_to_sphinx

with open("_config.yml") as file:
    html_theme_options = yaml_to_sphinx(yaml.safe_load(file))[0]["html_theme_options"]
sys.path.insert(0, {ext!r})
extensions = ["sphinx_external_toc", "myst_nb", "repository_links"]
external_toc_path = "_toc.yml"
html_theme = "sphinx_book_theme"
nb_execution_mode = "off"
"""


def set_url(config, url):
    text = config.read_text(encoding="utf-8")
    changed, places = re.subn(r"(?<=^  url: ).*$", json.dumps(url), text, flags=re.M)
    assert places == 1
    config.write_text(changed, encoding="utf-8")


@pytest.fixture
def copied(tmp_path):
    """The setting and what follows it, in a folder of their own."""
    (tmp_path / "chapters").mkdir()
    for path in (ROOT / "_config.yml", ROOT / "README.md", *(ROOT / "chapters").glob("*.ipynb")):
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
    assert f"\ngit clone {URL}\ncd gates-to-heads\n" in readme
    cells = list(first_cells(copied))
    assert cells
    assert all(f'\nBOOK = "git+{URL}@main"\n' in cell for cell in cells)
    set_url(copied / "_config.yml", "")
    assert repository.main(["--write"], copied) == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("url", "given", "site"),
    [
        ("", "", ""),
        ("https://github.com/Some/Book", "", "https://some.github.io/Book/"),
        ("https://github.com/some/some.github.io", "", "https://some.github.io/"),
        ("https://git.example.org/some/book", "", ""),
        ("https://github.com/some/book", "https://book.org/en/", "https://book.org/en/"),
        ("", "https://book.org/en/", "https://book.org/en/"),
    ],
)
def test_the_readme_leads_to_the_published_book(tmp_path, url, given, site):
    settings = {"repository": {"url": url, "branch": "main"}}
    settings["sphinx"] = {"config": {"html_baseurl": given}}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    assert repository.site_address(tmp_path / "_config.yml") == site
    bare = (ROOT / "README.md").read_text(encoding="utf-8")
    bare = repository.with_online_line(bare, "")
    assert "Read it online" not in bare
    written = repository.with_online_line(bare, site)
    assert written.count(f"\nRead it online: <{site}>\n") == (1 if site else 0)
    assert repository.with_online_line(written, "") == bare


@pytest.mark.parametrize("given", ["book.org", "ftp://book.org", "https://book.org/a b"])
def test_an_address_of_pages_that_is_none_is_refused(tmp_path, given):
    settings = {"repository": {"url": "", "branch": "main"}}
    settings["sphinx"] = {"config": {"html_baseurl": given}}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    with pytest.raises(ValueError, match=r"html_baseurl must be empty or begin with https://, got"):
        repository.site_address(tmp_path / "_config.yml")


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
        Repository.of(copied / "_config.yml")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Give a function that builds one chapter with the book's own settings and an address."""

    def built(url):
        folder = tmp_path_factory.mktemp("book")
        (folder / "chapters").mkdir()
        for name in ("chapters/05_attention.ipynb", "_config.yml"):
            shutil.copyfile(ROOT / name, folder / name)
        set_url(folder / "_config.yml", url)
        (folder / "conf.py").write_text(CONF.format(ext=str(ROOT / "_ext")))
        (folder / "_toc.yml").write_text("format: jb-book\nroot: chapters/05_attention\n")
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", folder, folder / "html"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        page = folder / "html" / "chapters" / "05_attention.html"
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        return [link["href"] for link in soup.select(".article-header-buttons a[href]")]

    return built


@pytest.mark.slow
def test_with_an_address_the_page_has_its_buttons(build):
    links = build(URL)
    assert URL in links
    page = "main/chapters/05_attention.ipynb"
    assert f"https://colab.research.google.com/github/example/gates-to-heads/blob/{page}" in links
    binder = "https://mybinder.org/v2/gh/example/gates-to-heads/main?urlpath=lab/tree/chapters"
    assert f"{binder}/05_attention.ipynb" in links


@pytest.mark.slow
def test_without_an_address_no_button_leads_out(build):
    links = build("")
    assert links
    assert [link for link in links if "://" in link] == []


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


def test_binder_takes_the_same_uv_as_the_book():
    pinned = re.search(r"^uv==.*$", (ROOT / "requirements.txt").read_text(), re.M)[0]
    assert pinned in (ROOT / ".binder" / "requirements.txt").read_text().splitlines()
