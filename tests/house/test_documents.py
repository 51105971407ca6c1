"""The README and the documents behind it: short, with links, commands and numbers that hold."""

import json
import re
import struct
from pathlib import Path

import pytest
import yaml
from PIL import Image

from gates2heads.__main__ import main
from gates2heads.book.studies import read_study, results_of
from tests import stored_prose
from tools.book.picture import PARTS, SCHEMES, SIZE

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "DATA.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
WEIGHTS = sorted((ROOT / "src/gates2heads/models/weights").glob("*.safetensors"))
LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|srcset)=\"([^\"]+)\"")
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(text):
    """The anchors that headings get on a code host."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def notebook_anchors(path):
    """The anchors that the headings of a notebook get in JupyterLab and on a code host."""
    text = stored_prose.prose_of(stored_prose.read(path))
    return {one.replace(" ", "-") for one in re.findall(r"^#+ (.+)$", text, re.M)}


def anchors_of(path):
    """The anchors of a document or a notebook."""
    is_notebook = path.suffix == ".ipynb"
    return notebook_anchors(path) if is_notebook else anchors(path.read_text(encoding="utf-8"))


def broken_links(path):
    """The links to files and headings that do not exist."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    for link in map("".join, LINK.findall(SPAN.sub("", text))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            yield link


def made(text):
    """The targets of all commands of make that a document names."""
    lines = [line for block in FENCED.findall(text) for line in block.splitlines()]
    commands = [*lines, *(" ".join(one.split()) for one in SPAN.findall(FENCED.sub("", text)))]
    for command in commands:
        words = re.sub(r"\s+#.*|\"[^\"]*\"", "", command).split()
        if "make" in words:
            yield from (word for word in words[words.index("make") + 1 :] if "=" not in word)


def targets():
    """The names of the Makefile's rules, as patterns."""
    rules = re.findall(r"^([a-z][\w%. -]*):(?!=)", read("Makefile"), re.M)
    names = {name for rule in rules for name in rule.split()}
    return [re.compile(re.escape(name).replace("%", r"[\w.-]+")) for name in names]


def test_the_readme_fits_a_screen():
    readme = read("README.md")
    online = re.search(r"^<!-- online -->\n(.+\n)?<!-- /online -->$", readme, re.M)[1]
    assert len(readme.splitlines()) + (online is None) < 120  # a published copy has one line more


@each_document
def test_links_lead_somewhere(path):
    assert list(broken_links(path)) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "b.md").write_text("# One heading, two\n", encoding="utf-8")
    cell = {"cell_type": "markdown", "source": ["# 1\n", "## 1.1 A name: it"]}
    (tmp_path / "d.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    page = tmp_path / "a.md"
    page.write_text(
        "[a](b.md) [b](b.md#one-heading-two) [c](https://c.org/d) `[d](e)`\n"
        '[e](c.md) [f](b.md#three) [g](#four) <img src="g.png">\n'
        "[h](d.ipynb#1.1-A-name:-it) [i](d.ipynb#1.2-Gone)\n",
        encoding="utf-8",
    )
    broken = ["c.md", "b.md#three", "#four", "d.ipynb#1.2-Gone", "g.png"]
    assert sorted(broken_links(page)) == sorted(broken)


@each_document
def test_commands_of_make_exist(path):
    known = targets()
    named = set(made(path.read_text(encoding="utf-8")))
    assert [name for name in named if not any(one.fullmatch(name) for one in known)] == []


def test_a_command_of_make_is_found_wherever_it_stands():
    text = "`make a`, `X=1 make\nb Y=2`\n\n```sh\nmake c d  # make e\ncd f\n```\nmake sure\n"
    assert sorted(made(text)) == ["a", "b", "c", "d"]
    assert set(made(read("README.md"))) >= {"book", "test", "serve"}


def test_links_of_the_data_page_work_in_the_book_too():
    links = ["".join(one) for one in LINK.findall(read("DATA.md"))]
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
    assert "{include} ../../DATA.md" in read("chapters/appendix/data.md")


def test_every_page_of_the_contents_has_one_sentence_of_description():
    contents = yaml.safe_load(read("_toc.yml"))
    pages = [contents["root"]]
    for entry in (one for part in contents["parts"] for one in part["chapters"]):
        pages += [one["file"] for one in (entry, *entry.get("sections", []))]
    described = yaml.safe_load(read("_ext/descriptions.yml"))
    assert list(described) == pages
    assert len(set(described.values())) == len(pages)
    for page, sentence in described.items():
        assert 60 <= len(sentence) <= 180, page
        assert re.fullmatch(r"[A-Z][^.]+\.", sentence), page


def test_one_version_everywhere():
    (version,) = re.findall(r'^version = "(.+)"$', read("pyproject.toml"), re.M)
    citation = yaml.safe_load(read("CITATION.cff"))
    assert str(citation["version"]) == version
    numbered = re.findall(r"^## (\d+\.\d+\.\d+) - (\S+)$", read("CHANGELOG.md"), re.M)
    assert numbered[0] == (version, str(citation["date-released"]))
    cited = re.findall(r"^> The authors of .+ Version (\S+), (\d{4})\.$", read("README.md"), re.M)
    assert cited == [(version, str(citation["date-released"].year))]


def test_the_citation_has_what_the_format_asks_for():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation.keys() >= {"cff-version", "message", "title", "authors"}
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in {"software", "dataset"}
    assert all(author["name"] for author in citation["authors"])
    assert f"{citation['license']} License" in read("LICENSE")
    book = citation["preferred-citation"]
    assert book["type"] == "book"
    assert [book[key] for key in ("title", "authors", "version")] == [
        citation[key] for key in ("title", "authors", "version")
    ]
    assert book["year"] == citation["date-released"].year


def test_the_readme_shows_both_pictures_and_they_are_small():
    pictures = sorted((ROOT / "docs" / "images").iterdir())
    assert [path.stem for path in pictures] == ["translator-dark", "translator-light"]
    readme = read("README.md")
    assert all(f'"docs/images/{path.name}"' in readme for path in pictures)
    assert re.search(r'<img [^>]*alt="[^"]{40,}"', readme)
    sizes = []
    for path in pictures:
        with Image.open(path) as image:
            sizes.append(image.size)
    assert sizes[0] == sizes[1]
    assert 1000 <= sizes[0][0] <= 1250
    assert sum(path.stat().st_size for path in pictures) <= 300_000


def test_the_thumbnails_are_small_and_the_readme_and_the_first_page_show_them():
    pictures = {path.name: path for path in (ROOT / "_static" / "thumbnails").iterdir()}
    parts = [f"{one.name}-{scheme}.png" for one in PARTS for scheme in SCHEMES]
    assert sorted(pictures) == sorted(parts)
    readme, page = read("README.md"), read("chapters/intro.ipynb")
    alternatives = dict(
        re.findall(r'thumbnails/(\w+)-light\.png" width="\d+" alt="([^"]{60,})"', readme)
    )
    told = dict(re.findall(r"!\[([^\]]+)\]\(\.\./_static/thumbnails/(\w+)-light\.png\)", page))
    assert list(alternatives) == list(told.values()) == [one.name for one in PARTS]
    for alternative, name in told.items():
        assert alternatives[name].endswith(f". {alternative}")
        assert f"_static/thumbnails/{name}-dark.png" in readme
    for path in pictures.values():
        assert path.stat().st_size <= 60_000
        with Image.open(path) as image:
            assert image.size == SIZE


def test_the_example_of_the_readme_runs_in_python_and_on_the_command_line(capsys):
    ((_, text),) = re.findall(r"gates2heads translate (\")([^\"]+)\"", read("README.md"))
    assert main(["translate", text]) == 0
    assert capsys.readouterr().out.strip() == "A dog runs through the snow."
    ((_, code),) = re.findall(r"^```(python)\n(.+?)^```", read("README.md"), re.M | re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip() == "['A dog runs through the snow.']"


def test_the_readme_counts_the_models():
    size = round(sum(path.stat().st_size for path in WEIGHTS) / 1e6)
    assert f"contains {len(WEIGHTS)} trained models ({size} MB)" in read("README.md")


def card(path):
    """The card of a weights file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["card"])


def test_every_file_of_parameters_is_in_the_table_of_models():
    assert WEIGHTS
    models = read("docs/models.md")
    assert [path.stem for path in WEIGHTS if f"`{path.stem}`" not in models] == []
    assert f"contains {len(WEIGHTS)} files of parameters" in read("DATA.md")


def test_the_table_of_models_has_the_minutes_of_the_cards():
    rows = [
        row.split(" | ") for row in read("docs/models.md").splitlines() if row.count(" | ") == 4
    ]
    told = {}
    for files, _, _, minutes, _ in (row for row in rows if "`" in row[0]):
        names = re.findall(r"`(\w+)`", files)
        of_each = minutes.removesuffix(" (bf16)").split(", ")
        told |= zip(names, of_each if minutes != "–" else ["–"] * len(names), strict=True)
    seconds = {path.stem: card(path).get("seconds") for path in WEIGHTS}
    assert told == {
        name: "–" if taken is None else "< 1" if taken < 60 else f"{taken / 60:.0f}"
        for name, taken in seconds.items()
    }


@pytest.mark.parametrize("name", ["translator", "translator_distilled", "translator_to_german"])
def test_the_translators_reach_what_is_said(name):
    path = next(path for path in WEIGHTS if path.stem == name)
    bleu = card(path)["scores_small"]["test"]["bleu"]
    (row,) = [line for line in read("docs/models.md").splitlines() if f"| `{name}` |" in line]
    assert row.endswith(f"| {bleu:.1f} BLEU |")
    assert f"({bleu:.1f} BLEU" in read("CHANGELOG.md")


def test_the_readme_tells_the_size_and_the_score_of_the_translator():
    told = card(next(path for path in WEIGHTS if path.stem == "translator_distilled"))
    readme = " ".join(read("README.md").split())
    assert f"a Transformer with {told['parameters'] / 1e6:.1f} million parameters" in readme
    assert (
        f"It reaches {told['scores_small']['test']['bleu']:.1f} BLEU on the Multi30k 2016" in readme
    )
    (seen,) = results_of(read_study("ch10/distilled_translator"), "seen")
    descriptions = sum(seen[one]["descriptions"] for one in ("German", "English"))
    assert f"{descriptions:,} descriptions" in readme
    assert "three larger models" in readme
