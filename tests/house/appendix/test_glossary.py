"""The glossary: its rows, its index of Chinese names, the summaries, and what the search finds."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "_ext"))
import book_search  # noqa: E402
import glossary_entries  # noqa: E402
import page_links  # noqa: E402

APPENDIX = ROOT / "chapters" / "appendix"
TEXT = (APPENDIX / "glossary.md").read_text(encoding="utf-8")
CHINESE = (APPENDIX / "chinese.md").read_text(encoding="utf-8")
ENTRIES = glossary_entries.entries(TEXT)
SUMMARY = re.compile(
    r"^### \[(?P<title>(?P<number>\d+) · .+?)\]\(\.\./(?P<page>\w+)\.ipynb\) (?P<name>.+)\n\n"
    r'<p lang="zh-Hans">(?P<text>.+)</p>$',
    re.M,
)
SUMMARIES = list(SUMMARY.finditer(CHINESE))
LONG = range(150, 251)  # characters of a summary, without spaces
# These have no Chinese name in use.
LATIN = {"BERT", "BLEU", "chrF", "ELMo", "ERNIE", "FlashAttention", "GloVe", "GPT", "pass@k"}
LATIN |= {"ROUGE", "SwiGLU", "Transformer", "Universal Transformer", "YaRN"}


def test_every_row_is_read_and_has_an_address_of_its_own():
    assert len(ENTRIES) == TEXT.count("| <span id=") > 200
    assert len({one.anchor for one in ENTRIES}) == len(ENTRIES)
    terms = [one.term.casefold() for one in ENTRIES]
    assert terms == sorted(set(terms))


def test_every_letter_leads_to_its_first_term():
    firsts = {}
    for one in ENTRIES:
        firsts.setdefault(one.term[0].upper(), one.anchor)
    links = re.findall(r'<a href="#(term-[\w-]+)">([A-Z])</a>', TEXT)
    assert links == [(anchor, letter) for letter, anchor in firsts.items()]


def test_every_term_has_its_usual_chinese_name():
    bare = {one.term for one in ENTRIES if not glossary_entries.CHINESE.search(one.names[0])}
    assert bare == LATIN
    for one in ENTRIES:
        assert len(set(one.names)) == len(one.names), one.term


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("多头注意力 [S1], Multi-Head Attention [S0]", ("多头注意力", "Multi-Head Attention")),
        ("精确率, 精度 [S1, S2]", ("精确率", "精度")),
        ("序列结束符, &lt;eos&gt; [S1]", ("序列结束符", "<eos>")),
    ],
)
def test_names_are_read(written, names):
    assert glossary_entries.names(written) == names


@pytest.mark.parametrize(
    "written", ["(对齐)", "束宽 (参数 K [S0])", "余弦距离 [S3, loosely]", "门 [S7]"]
)
def test_a_name_that_is_written_otherwise_is_refused(written):
    with pytest.raises(ValueError, match="a name must be like"):
        glossary_entries.names(written)


def test_names_are_sorted_by_pinyin():
    ordered = [
        "BIO 标注",
        "曝光偏差",
        "标签平滑",
        "残差连接",
        "重置门",
        "键",
        "门",
        "n 元语法",
        "熵率",
        "自注意力",
    ]
    assert sorted(reversed(ordered), key=glossary_entries.pinyin_key) == ordered
    assert "".join(map(glossary_entries.letter, ordered)) == "BBBCCJMNSZ"
    with pytest.raises(ValueError, match="sounds alike"):
        glossary_entries.pinyin_key("熵鼯")


def test_the_index_lists_every_chinese_name_with_a_link_to_its_entry():
    shown = "\n".join(glossary_entries.chinese_index())
    found = re.findall(
        r'<a href="glossary\.html#([\w-]+)"><span lang="zh-Hans">(.+?)</span>', shown
    )
    wanted = {
        (one.anchor, name)
        for one in ENTRIES
        for name in one.names
        if glossary_entries.CHINESE.search(name)
    }
    assert len(found) == len(wanted) > 300
    assert set(found) == wanted
    letters = re.findall(r'id="pinyin-(\w)"', shown)
    assert letters == sorted(set(letters))
    assert re.findall(r'href="#pinyin-(\w)"', shown) == letters


def test_every_chapter_has_a_summary_that_leads_to_it():
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [entry["file"] for part in contents["parts"] for entry in part["chapters"]]
    chapters = [Path(file).name for file in files if re.match(r"chapters/\d\d_", file)]
    assert [one["page"] for one in SUMMARIES] == chapters
    for one in SUMMARIES:
        cells = json.loads((ROOT / "chapters" / f"{one['page']}.ipynb").read_text("utf-8"))["cells"]
        assert "".join(cells[0]["source"]).splitlines()[0] == f"# {one['title']}"


@pytest.mark.parametrize("summary", SUMMARIES, ids=lambda one: f"chapter {one['number']}")
def test_a_summary_is_short_and_in_the_names_of_the_glossary(summary):
    text = re.sub(r"\s", "", summary["text"])
    assert len(text) in LONG
    assert text.endswith("。")
    assert not re.search(r"[,;:?!]|\.(?!\d)", text), "Chinese punctuation"
    assert other_names(summary["text"]) == []


def other_names(text):
    """The names in a Chinese text that the glossary lists after the usual one."""
    usual = {one.names[0] for one in ENTRIES} | {"注意力"}  # short for 注意力机制
    others = {name for one in ENTRIES for name in one.names[1:]} - usual
    found = []
    for name in sorted(usual | others, key=lambda name: (-len(name), name)):
        if name in text:
            text = text.replace(name, "|")
            found += [name] if name in others and len(name) > 1 else []
    return found


def test_another_name_is_noticed():
    assert other_names("用束搜索代替贪婪搜索，隐含状态与残差连接") == ["贪婪搜索", "隐含状态"]


def test_the_search_knows_the_short_forms_of_a_term():
    found = glossary_entries.searched(TEXT)
    assert {"cbow", "continuous bag of words", "连续词袋模型"} <= set(found["term-bag-of-words"])
    assert all(len(names) > 1 for names in found.values())


@pytest.mark.slow
def test_the_search_leads_to_the_entry(tmp_path):
    pages = {
        "conf.py": f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_parser", "stored_tables", "glossary_entries", "book_search"]
myst_enable_extensions = ["dollarmath"]
root_doc = "index"
""",
        "index.md": "# Book\n\n```{toctree}\n:glob:\nchapters/appendix/*\n```\n",
        f"{page_links.GLOSSARY}.md": re.sub(r"\]\(source_map\.md\)", "]", TEXT),
        "chapters/appendix/chinese.md": re.sub(r"\]\((source_map\.md|\.\./.+?)\)", "]", CHINESE),
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    library = tmp_path / "o" / book_search.LIBRARY
    library.parent.mkdir(parents=True)
    library.touch()
    build = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-b",
        "html",
        str(tmp_path),
        str(tmp_path / "o"),
    ]
    done = subprocess.run(build, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = book_search.written(tmp_path / "o" / book_search.INDEX)[page_links.GLOSSARY]["rows"]
    found = {anchor: (term, meaning, names.split(" / ")) for anchor, term, meaning, names in rows}
    for anchor, names in glossary_entries.searched(TEXT).items():
        term, meaning, stored = found[anchor]
        assert set(names) == set(stored), anchor
        assert term, anchor
        assert meaning, anchor
    built = (tmp_path / "o" / f"{page_links.GLOSSARY}.html").read_text(encoding="utf-8")
    for one in ENTRIES:
        (row,) = re.findall(rf'<tr [^>]*id="{one.anchor}"[^>]*>(.*?)</tr>', built, re.S)
        assert '<td lang="zh-Hans">' in row
        assert built.count(f'id="{one.anchor}"') == 1
    other = (tmp_path / "o" / "chapters" / "appendix" / "chinese.html").read_text(encoding="utf-8")
    assert other.count('href="glossary.html#term-') > 300
