"""Find what a slide shows in a built page: sentences, figures, equations, tables, code, views.

A plan (`chapters/slides/*.yml`) names each part by its number or by words of it, so that text and
numbers come from the page and never from the plan. A part that is not found, or that several
parts match, is an error.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString, Tag

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
ENDS = re.compile(r"(?:(?<=[.!?])|(?<=[.!?]”))\s+(?=[A-Z“(])")
ENDED = re.compile(r"[.!?]”?\s*$")
# What gives an answer away, and the forms beside the exercises.
HIDDEN = "details.solution, form.g2h-answer, .g2h-task"


class NotFoundError(Exception):
    """A plan names something that the page does not have, or has more than once."""


def plain(node: Tag | NavigableString) -> str:
    """Return the words of a node in one line; a formula counts once, without its MathML."""
    if isinstance(node, NavigableString):
        return str(node)
    node = copy.copy(node)
    for twice in node.select(".katex-mathml, .headerlink"):
        twice.decompose()
    return node.get_text()


def tidy(text: str) -> str:
    """Join what several lines hold, and write apostrophes as the pages do."""
    return " ".join(text.replace("'", "’").replace("\u200b", "").split())


def sentences(paragraph: Tag) -> Iterator[list[Tag | NavigableString]]:
    """Cut a paragraph after its sentences; an element inside one is never cut."""
    now: list[Tag | NavigableString] = []
    for child in paragraph.contents:
        if isinstance(child, Tag):
            if now and isinstance(now[-1], NavigableString) and re.search(r"[.!?]”?\s+$", now[-1]):
                yield now
                now = []
            now.append(child)
            continue
        text = str(child)
        if now and text[:1].isspace() and ENDED.search(plain(now[-1])):
            yield now
            now = []
        *whole, rest = ENDS.split(text)
        for part in whole:
            yield [*now, NavigableString(part)]
            now = []
        now.append(NavigableString(rest))
    if now:
        yield now


def unlinked(node: Tag) -> Tag:
    """Copy a node without its links and the sign that a heading has."""
    node = copy.copy(node)
    for sign in node.select(".headerlink"):
        sign.decompose()
    for link in node.select("a"):
        link.unwrap()
    for marked in [node, *node.select("[id]")]:
        if not marked.find_parent("svg") and marked.name != "svg":
            marked.attrs.pop("id", None)
    return node


def wrapped(nodes: list[Tag | NavigableString], name: str = "p") -> Tag:
    """Copy nodes into a new element."""
    made = BeautifulSoup("", "html.parser").new_tag(name)
    for node in nodes:
        made.append(copy.copy(node))
    return unlinked(made)


def one(found: list, what: str) -> Tag:
    """Return the only one that was found.

    Raises:
        NotFoundError: there are none or several.
    """
    if len(found) != 1:
        raise NotFoundError(f"{what}: found {len(found)} times, expected once")
    return found[0]


class Page:
    """A built chapter, and what slides may take from it."""

    def __init__(self, path: Path) -> None:
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        self.name = path.stem
        self.article = soup.select_one("article")
        self.title = tidy(plain(self.article.h1))
        script = soup.find("script", type=STATE)
        self.state = json.loads(script.string)["state"] if script else {}
        self.engine = re.search(r'gates2heads_engine = "([^"]+)"', str(soup.head))[1]
        for answer in self.article.select(HIDDEN):
            answer.decompose()

    def section(self, number: str) -> Tag:
        """Return a section by its number; "" is what comes before the first one."""
        if not number:
            top = copy.copy(self.article.section)
            for below in top.find_all("section", recursive=False):
                below.decompose()
            return top
        found = [h.parent for h in self.article.find_all("h2") if plain(h).startswith(number + " ")]
        return one(found, f"section {number}")

    def sentence(self, section: Tag, words: str) -> tuple[Tag, Tag]:
        """Return the only sentence that contains these words, and its paragraph."""
        found = [
            (wrapped(nodes), paragraph)
            for paragraph in section.select("p, li")
            if not paragraph.find(["p", "ul", "ol"]) and not paragraph.find_parent("table")
            for nodes in sentences(paragraph)
            if tidy(words) in tidy("".join(map(plain, nodes)))
        ]
        return one(found, f"a sentence with “{words}”")

    def paragraph(self, words: str) -> Tag:
        """Return the paragraph that begins with these words, wherever it is."""
        found = [p for p in self.article.select("p") if tidy(plain(p)).startswith(tidy(words))]
        own = [p for p in found if not p.find_parent(["table", "li"])]
        return one(own, f"a paragraph “{words} …”")

    def figure(self, number: str) -> tuple[Tag, Tag]:
        """Return a figure and its caption."""
        figure = one(
            self.article.select(f"figure[id='figure-{number.replace('.', '-')}']"),
            f"figure {number}",
        )
        return figure, figure.parent.find_next_sibling("p")

    def equation(self, number: str) -> Tag:
        """Return an equation by its number."""
        tags = self.article.select("div.math .katex-mathml mtext, div.math .katex-tag")
        found = [tag.find_parent("div", class_="math") for tag in tags if f"({number})" in tag.text]
        return one(list({id(one_of): one_of for one_of in found}.values()), f"equation {number}")

    def table(self, section: Tag, words: str) -> tuple[Tag, Tag | None]:
        """Return a table by its number, or by what its header begins with; and its caption."""
        tables = section.select(".pst-scrollable-table-container")
        if not re.fullmatch(r"\d+\.\d+", words):
            return one([t for t in tables if tidy(plain(t)).startswith(words)], words), None
        above = [(t, t.find_previous("p")) for t in tables]
        return one([(t, p) for t, p in above if plain(p).startswith(f"Table {words}.")], words)

    def listing(self, section: Tag, words: str) -> Tag:
        """Return the code that begins with these words."""
        found = [c for c in section.select("div.highlight") if plain(c).strip().startswith(words)]
        return one(found, f"code “{words} …”")

    def view(self, title: str) -> str:
        """Return the id of the view with this title."""
        found = [
            name
            for name, kept in self.state.items()
            if kept["model_name"] == "AnyModel" and kept["state"].get("title") == title
        ]
        return one(found, f"the view “{title}”")

    def prediction(self, words: str) -> tuple[Tag, dict]:
        """Return the printed form of a prediction whose text holds these words, and its state."""
        twins = [t for t in self.article.select(".g2h-twin") if tidy(words) in tidy(plain(t.p))]
        twin = one(twins, f"a prediction “{words} …”")
        states = [s["state"] for s in self.state.values() if s["state"].get("twin") == twin["id"]]
        return twin, one(states, f"the state of the prediction “{words} …”")

    def exercises(self) -> list[Tag]:
        """Return the headings of the exercises."""
        return [h for h in self.article.find_all("h3") if plain(h).startswith("Exercise ")]

    def files_of(self, view: str) -> list[str]:
        """Name the models that a view loads."""
        kept = self.state[view]["state"]
        models = [*kept.get("live", []), *kept.get("english", [])]
        return [f"{model['name']}-{model['hash']}.js" for model in models]
