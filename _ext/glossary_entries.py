"""The glossary, for its readers: an index of its Chinese names, and entries that the search finds.

chapters/appendix/glossary.md has one row for each term: the term, its Chinese names, its meaning.
The first name is the usual one, and a name may carry the lecture notes that use it: "多头注意力
[S1], Multi-Head Attention [S0]". From these rows, and from nothing else, come:

- {stored-table} chinese-index: every name with a Chinese character, in the order of pinyin, each
  with a link to its row;
- the forms and names under which `book_search` leads to a row, whose text the result shows.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from docutils import nodes
from page_links import GLOSSARY, terms
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from stored_tables import ROOT, TABLES

ROW = re.compile(
    r'^\| <span id="(?P<anchor>term-[\w-]+)">\*\*(?P<term>.+?)\*\*</span> \| (?P<names>.+?) \| '
    r"(?P<meaning>.+) \|$",
    re.M,
)
BETWEEN = re.compile(r", (?![^\[]*\])")  # a comma, but none of "[S1, S2]"
NAME = re.compile(r"(?P<name>[^\[\]()]+?)(?: \[(?P<notes>S[0-4](?:, S[0-4])*)\])?")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ANCHOR = re.compile(r'<span id="(term-[\w-]+)">')
LANGUAGE = "zh-Hans"
# The common characters of GB 2312 are in the order of pinyin. These are not common, or are read in
# another way here; each is sorted as one that sounds alike.
SOUNDS = {"重置": "虫置", "重复": "虫复", "曝光": "暴光", "熵": "商"}
COMMON = ("啊".encode("gb2312"), "座".encode("gb2312"))  # the first and the last of them
LETTERS = "ABCDEFGHJKLMNOPQRSTWXYZ"
FIRST = "啊芭擦搭蛾发噶哈击喀垃妈拿哦啪期然撒塌挖昔压匝"  # the first character of each letter


@dataclass(frozen=True)
class Entry:
    """A row of the glossary; `names` are the Chinese names, the usual one first."""

    anchor: str
    term: str
    names: tuple[str, ...]


def entries(glossary: str) -> list[Entry]:
    """Read the rows of the glossary.

    Raises:
        ValueError: a name is not written as the glossary writes names.
    """
    return [
        Entry(row["anchor"], row["term"], names(row["names"])) for row in ROW.finditer(glossary)
    ]


def names(written: str) -> tuple[str, ...]:
    """Read the names of a row, without the notes that use them.

    Raises:
        ValueError: a name is not written as the glossary writes names.
    """
    found = []
    for one in BETWEEN.split(html.unescape(written)):
        if not (read := NAME.fullmatch(one)):
            raise ValueError(f"a name must be like 多头注意力 [S1], got {one!r}")
        found.append(read["name"])
    return tuple(found)


def pinyin_key(name: str) -> bytes:
    """Return what sorts a name by pinyin; a Latin letter comes before the characters of its letter.

    Raises:
        ValueError: a character has no place in the order; `SOUNDS` needs one that sounds alike.
    """
    key = b""
    for character in _as_heard(name):
        code = b"\0"
        if CHINESE.match(character):
            code = character.encode("gb2312")
            if not COMMON[0] <= code <= COMMON[1]:
                raise ValueError(f"{character} in {name} needs a character that sounds alike")
        key += letter(character).encode() + code
    return key


def letter(name: str) -> str:
    """Return the letter under which a name is sorted."""
    first = _as_heard(name)[0]
    if not CHINESE.match(first):
        return first.upper()
    starts = [character.encode("gb2312") for character in FIRST]
    return LETTERS[bisect_right(starts, first.encode("gb2312")) - 1]


def _as_heard(name: str) -> str:
    for written, sound in SOUNDS.items():
        name = name.replace(written, sound)
    return name


def chinese_names(glossary: str) -> list[tuple[str, Entry]]:
    """List every name that has a Chinese character, with its entry, in the order of pinyin."""
    found = [(name, one) for one in entries(glossary) for name in one.names if CHINESE.search(name)]
    return sorted(found, key=lambda pair: (pinyin_key(pair[0]), pair[1].term))


def chinese_index() -> list[str]:
    """Show the Chinese names, a list per letter."""
    listed = chinese_names((ROOT / f"{GLOSSARY}.md").read_text(encoding="utf-8"))
    by_letter = [(key, list(ones)) for key, ones in groupby(listed, lambda pair: letter(pair[0]))]
    links = (f'<a href="#pinyin-{key.lower()}">{key}</a>' for key, _ in by_letter)
    lines = [" · ".join(links), ""]
    for key, ones in by_letter:
        lines += [f'<p class="g2h-pinyin" id="pinyin-{key.lower()}">{key}</p>']
        lines += ['<ul class="g2h-chinese">', *(_item(*one) for one in ones), "</ul>", ""]
    return lines


def _item(name: str, entry: Entry) -> str:
    said = f'<span lang="{LANGUAGE}">{html.escape(name)}</span>'
    address = f"{Path(GLOSSARY).name}.html#{entry.anchor}"
    return f'<li><a href="{address}">{said}</a> {html.escape(entry.term)}</li>'


class AnchoredRows(SphinxTransform):
    """Give each row of the glossary its anchor, and its Chinese names their language."""

    default_priority = 500

    def apply(self) -> None:
        """Change the glossary, and no other page."""
        if self.env.docname != GLOSSARY:
            return
        text = Path(self.env.doc2path(GLOSSARY)).read_text(encoding="utf-8")
        known = searched(text)
        for row in self.document.findall(nodes.row):
            for raw in list(row.findall(nodes.raw)):
                if (anchor := ANCHOR.fullmatch(raw.astext())) and anchor[1] in known:
                    row["ids"].append(anchor[1])
                    row[1]["classes"].append(f"language-{LANGUAGE}")
                    self._unwrap(raw)

    @staticmethod
    def _unwrap(opened: nodes.raw) -> None:
        line = opened.parent
        closed = next(one for one in line.findall(nodes.raw) if one.astext() == "</span>")
        line.remove(opened)
        line.remove(closed)


def searched(glossary: str) -> dict[str, list[str]]:
    """Return the search terms of each row, by its anchor: all forms, and the Chinese names."""
    found = {one.anchor: [*one.names] for one in entries(glossary)}
    for form, anchor in terms(glossary).items():
        found[anchor].append(form)
    return found


TABLES["chinese-index"] = chinese_index


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_transform(AnchoredRows)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
