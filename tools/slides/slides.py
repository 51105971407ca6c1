"""Write slides of chapters: HTML that opens from disk, with figures, equations and live views.

    python tools/slides/slides.py [CHAPTER …]

A plan in `chapters/slides/` names the parts of the built page that each slide shows. Text, numbers,
typeset equations, drawings and views are those of the page; see `tools/slides/slide_parts.py`. The
slides are in `_build/slides/`, which needs nothing but the files in it; links lead to the built
book.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.slides.slide_kinds import SHOWN, option_list  # noqa: E402
from tools.slides.slide_parts import (  # noqa: E402
    STATE,
    NotFoundError,
    Page,
    plain,
    tidy,
    unlinked,
    wrapped,
)

BOOK = ROOT / "_build" / "html"
SLIDES = ROOT / "_build" / "slides"
PLANS = ROOT / "chapters" / "slides"
DECK = ROOT / "tools" / "slides"  # the style sheet and the script of the slides
STYLES = ("tokens.css", "pygments.css", "book.css")
WORDS = 40  # of sentences on a slide, beside its figure, table, equation, code, view or list
ASKED = 60  # of the question of a prediction, which needs its numbers
PARTS = {"section", "title", "say", "notes"}
LETTERS = "abcdefgh"
LABELS = {"question": "Predict first", "result": "The result"}
PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-content_root="">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · slides</title>
<link rel="icon" href="_static/favicon.svg">
{styles}
<script>window.gates2heads_engine = "{engine}";</script>
<script type="{kind}">{state}</script>
<script defer src="_static/host.js"></script>
<script defer src="_static/slides.js"></script>
</head>
<body>
<main>
{slides}
</main>
<nav aria-label="Slides">
<button type="button" id="back" title="Previous slide (←)">←</button>
<span id="number" aria-live="polite"></span>
<button type="button" id="next" title="Next slide (→)">→</button>
<button type="button" id="speaker" title="A window with the speaker's notes (N)">Notes</button>
</nav>
</body>
</html>
"""
SLIDE = """<section class="slide" id="slide-{number}" data-kind="{kind}"
 aria-label="Slide {number}">
<h2 tabindex="-1">{label}{title}</h2>
<div class="body bd-article">
{body}
</div>
<footer><span>{chapter}</span><a href="{link}">{where}</a></footer>
<div class="notes" hidden>
{notes}
</div>
</section>"""


@dataclass
class Slide:
    """What one slide shows, as HTML, and what its speaker reads."""

    kind: str
    title: str
    section: str
    anchor: str
    say: list[Tag] = field(default_factory=list)
    shown: str = ""
    notes: list[Tag] = field(default_factory=list)

    @property
    def words(self) -> int:
        """How many words its sentences have."""
        return sum(len(tidy(plain(one)).split()) for one in self.say)


def heading(section: Tag, shown: Tag | None) -> str:
    """Return the heading above a part, without its number, as a title."""
    above = shown.find_previous(["h2", "h3"]) if shown is not None else None
    found = above or section.find(["h1", "h2"])
    return re.sub(r"^(\d+\.\d+|\d+ ·) ", "", tidy(plain(found)))


def made(page: Page, plan: dict) -> list[Slide]:
    """Make the slides of one entry of a plan: two of a prediction, one of everything else.

    Raises:
        NotFoundError: the entry names what the page does not have.
    """
    section = page.section(str(plan["section"]))
    kind = next(iter(set(plan) - PARTS), "text")
    if kind == "predict":
        return predicted(page, section, plan)
    if kind not in (*SHOWN, "text"):
        raise NotFoundError(f"{kind}: no such kind of slide")
    said = [page.sentence(section, words) for words in plan.get("say", [])]
    notes = [paragraph for _, paragraph in said]
    shown, part = "", said[0][1] if said else None
    if kind in SHOWN:
        shown, part, captions = SHOWN[kind](page, section, plan[kind])
        notes += captions
    notes += map(page.paragraph, plan.get("notes", []))
    title = plan.get("title") or (plan["view"] if kind == "view" else heading(section, part))
    return [
        Slide(
            kind, title, str(plan["section"]), section.get("id", ""),
            [sentence for sentence, _ in said], shown,
            list({tidy(plain(note)): note for note in notes}.values()),
        )
    ]  # fmt: skip


def predicted(page: Page, section: Tag, plan: dict) -> list[Slide]:
    """Make the question of a prediction, and its result on the next slide."""
    twin, state = page.prediction(plan["predict"])
    asked, reasons = twin.find("ol"), twin.select_one("details.predict ol")
    options = [unlinked(li.p or li).decode_contents() for li in asked.find_all("li")]
    right = [
        at for at, li in enumerate(reasons.find_all("li")) if plain(li).strip().startswith("Right.")
    ]
    answer, reason = options[right[0]], unlinked(reasons.find_all("li")[right[0]])
    reason = (reason.p or reason).decode_contents().replace("<strong>Right.</strong> ", "")
    title = plan.get("title") or heading(section, twin)
    own = {"section": str(plan["section"]), "anchor": section.get("id", "")}
    drawing = BeautifulSoup(state["result"]["svg"], "html.parser")
    shown = (
        f'<figure class="g2h-figure">{drawing}</figure><p class="caption">'
        f"<strong>({LETTERS[right[0]]})</strong> {answer}</p>"
    )
    later = [page.paragraph(words) for words in plan.get("notes", [])]
    said = wrapped(BeautifulSoup(reason, "html.parser").contents)
    return [
        Slide(
            "question", title, shown=option_list(options), say=[unlinked(twin.p)],
            notes=[], **own,
        ),
        Slide("result", title, shown=shown, notes=[said, *later], **own),
    ]  # fmt: skip


def slides_of(page: Page, plan: list[dict]) -> list[Slide]:
    """Make all slides of a chapter, its title first.

    Raises:
        NotFoundError: an entry names what the page does not have; the message says which entry.
    """
    found = []
    for at, entry in enumerate(plan, start=1):
        try:
            found += made(page, entry)
        except NotFoundError as error:
            raise NotFoundError(f"{page.name}, entry {at}: {error}") from None
    found[0].kind = "title"
    return found


def written(page: Page, slides: list[Slide]) -> str:
    """Write the slides of a chapter as one page."""
    texts = []
    for number, slide in enumerate(slides, start=1):
        where = f"section {slide.section}" if slide.section else "this chapter"
        say, label = "".join(map(str, slide.say)), LABELS.get(slide.kind)
        texts.append(
            SLIDE.format(
                number=number,
                kind=slide.kind,
                label=f"<small>{label}:</small> " if label else "",
                title=html.escape(slide.title),
                body=f'<div class="say">{say}</div>{slide.shown}' if say else slide.shown,
                chapter=html.escape(page.title),
                link=f"../html/chapters/{page.name}.html#{slide.anchor}",
                where=f"{where} in the book",
                notes="".join(str(wrapped(note.contents)) for note in slide.notes),
            )
        )
    shown = {key: page.state[key] for key in views_of(slides)}
    styles = [*STYLES, "slides.css"]
    sheets = ["vendor/katex/katex.min.css", *(f"_static/{name}" for name in styles)]
    return PAGE.format(
        title=html.escape(page.title),
        styles="\n".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets),
        engine=page.engine,
        kind=STATE,
        state=json.dumps({"state": shown}).replace("</", "<\\/"),
        slides="\n".join(texts),
    )


def views_of(slides: list[Slide]) -> list[str]:
    """Name the views that the slides show."""
    return re.findall(r'\{"model_id": "(\w+)"\}', "".join(slide.shown for slide in slides))


def plan_of(name: str) -> list[dict]:
    """Read the plan of a chapter."""
    return yaml.safe_load((PLANS / f"{name}.yml").read_text(encoding="utf-8"))


def write(names: list[str], to: Path = SLIDES, book: Path = BOOK) -> list[tuple[Path, int]]:
    """Write the slides of chapters, with all files that they need.

    Args:
        names: of chapters, such as "05_attention".
        to: the folder; replaced.
        book: the folder of the built pages.

    Returns:
        Each file, and its number of slides.

    Raises:
        FileNotFoundError: the book is not built.
        NotFoundError: a plan names what its page does not have.
    """
    if not (book / "index.html").is_file():
        raise FileNotFoundError(f"no built book in {book}: run make book first")
    pages = [Page(book / "chapters" / f"{name}.html") for name in names]
    decks = [slides_of(page, plan_of(page.name)) for page in pages]
    shutil.rmtree(to, ignore_errors=True)
    for folder in ("_static", "live"):
        (to / folder).mkdir(parents=True)
    shutil.copytree(book / "vendor" / "katex", to / "vendor" / "katex")
    for name in (*STYLES, "host.js", "favicon.svg"):
        shutil.copy2(book / "_static" / name, to / "_static" / name)
    for path in DECK.iterdir():
        shutil.copy2(path, to / "_static" / path.name)
    files = []
    for page, slides in zip(pages, decks, strict=True):
        models = [file for view in views_of(slides) for file in page.files_of(view)]
        for name in {page.engine, *models}:
            shutil.copy2(book / "live" / name, to / "live" / name)
        path = to / f"{page.name}.html"
        path.write_text(written(page, slides), encoding="utf-8")
        files.append((path, len(slides)))
    return files


def main() -> None:
    """Write the slides, and say where they are."""
    planned = sorted(path.stem for path in PLANS.glob("*.yml"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help=f"of {', '.join(planned)}")
    options = parser.parse_args()
    try:
        found = write(options.chapters or planned)
    except (FileNotFoundError, NotFoundError) as error:
        raise SystemExit(str(error)) from None
    for path, count in found:
        print(f"{path}: {count} slides")


if __name__ == "__main__":
    main()
