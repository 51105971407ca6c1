"""Print the built book as one PDF: pages in the order of `_toc.yml`, numbers, an outline, links.

    python tools/book/print_book.py [--to FILE] [PAGE …]

Chromium prints each built page with the print style of `_static/book.css`; pypdf joins the pages.
Solutions are moved to the end of their page, so that no answer is beside its exercise.
"""

from __future__ import annotations

import argparse
import html
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from playwright.sync_api import Browser, Page
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, Destination, FloatObject, NameObject, NullObject

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.book.find_browser import launched  # noqa: E402
from tools.book.view_heights import DRAWN, SETTLED  # noqa: E402
from tools.serve import served  # noqa: E402

SITE = ROOT / "_build" / "html"
PRINTED = ROOT / "_build" / "book.pdf"
BOOK = "Gates to Heads"
WIDTH = 658  # of the text on A4, in CSS pixels
WAIT = 600_000  # milliseconds: only a page that hangs takes as long
LEAST = 1.0  # square points: no reader can click a smaller link
# Solutions go to the end. A link that nobody sees makes Chromium note where an anchor is.
PREPARE = """() => {
  const article = document.querySelector(".bd-article");
  const solutions = [...article.querySelectorAll("details.solution")];
  if (solutions.length) {
    const page = article.querySelector("section") ?? article;
    const end = page.appendChild(document.createElement("section"));
    end.append(Object.assign(document.createElement("h2"), { textContent: "Solutions" }));
    for (const one of solutions) {
      const named = (at) => {
        for (let node = at; node && node !== article; node = node.parentElement) {
          for (let before = node; before; before = before.previousElementSibling)
            if (/^H[2-6]$/.test(before.tagName)) return before;
        }
      };
      const told = named(one)?.cloneNode(true);
      told?.querySelector(".headerlink")?.remove();
      const [title, where, body] = ["h3", "p", "div"].map((tag) => document.createElement(tag));
      title.textContent = told?.textContent ?? "Solution";
      where.textContent = "The solution is at the end of this chapter.";
      one.replaceWith(where);
      body.append(...[...one.childNodes].filter((node) => node.nodeName !== "SUMMARY"));
      end.append(title, body);
    }
  }
  const links = article.appendChild(document.createElement("div"));
  links.hidden = true;
  for (const { id } of article.querySelectorAll("[id]:not(svg *)"))
    links.append(Object.assign(document.createElement("a"), { href: `#${id}` }));
  return document.fonts.ready.then(() => document.querySelector("h1").childNodes[0].textContent);
}"""
FOOTER = """<style>
  @page {{ size: A4; margin: 0; }}
  body {{ margin: 0; font: 9px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; }}
  div {{ box-sizing: border-box; height: 297mm; padding: 283mm 18mm 0; break-after: page;
        display: flex; justify-content: space-between; align-items: start; color: #5c5a55; }}
  div:last-child {{ break-after: auto; }}
</style>{numbers}"""


@dataclass
class Entry:
    """A page of the book, or a part's caption, with its subordinate entries in the contents."""

    page: str | None
    title: str = ""
    below: list[Entry] = field(default_factory=list)


def contents(toc: dict) -> list[Entry]:
    """Read the contents: the first page, then each part with its chapters and their sections."""
    entries = [Entry(toc["root"])]
    for part in toc["parts"]:
        chapters = [
            Entry(one["file"], below=[Entry(more["file"]) for more in one.get("sections", [])])
            for one in part["chapters"]
        ]
        entries.append(Entry(None, part["caption"], chapters))
    return entries


def in_order(entries: list[Entry]) -> Iterator[Entry]:
    """Return the entries that are pages, as a reader turns them."""
    for entry in entries:
        if entry.page:
            yield entry
        yield from in_order(entry.below)


def only(entries: list[Entry], wanted: set[str]) -> list[Entry]:
    """Keep the entries that are wanted, and the parts and chapters that contain them."""
    kept = []
    for entry in entries:
        below = only(entry.below, wanted)
        if below or entry.page in wanted:
            kept.append(Entry(entry.page if entry.page in wanted else None, entry.title, below))
    return kept


def opened(browser: Browser, address: str) -> Page:
    """Open a page as it is printed: views drawn, solutions at the end."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 960})
    page.set_default_timeout(WAIT)
    page.emulate_media(media="print", color_scheme="light", reduced_motion="reduce")
    page.goto(address)
    page.wait_for_function(DRAWN)
    page.evaluate(SETTLED)
    return page


def printed(browser: Browser, address: str) -> tuple[str, bytes]:
    """Return the title of a built page, and the page as PDF."""
    page = opened(browser, address)
    title = page.evaluate(PREPARE)
    made = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
    page.close()
    return title, made


def numbered(browser: Browser, titles: list[str]) -> PdfReader:
    """Print the foot of each page: the book, the page's title, its number."""
    feet = "".join(
        f"<div><span>{BOOK}</span><span>{html.escape(title)}</span><span>{number}</span></div>"
        for number, title in enumerate(titles, start=1)
    )
    page = browser.new_page()
    page.set_default_timeout(WAIT)
    page.set_content(FOOTER.format(numbers=feet))
    made = page.pdf(prefer_css_page_size=True)
    page.close()
    return PdfReader(io.BytesIO(made))


@dataclass
class Printed:
    """A page of the book in the PDF: where it begins, and where its anchors are."""

    first: int
    anchors: dict[str, tuple[int, float]]


def anchors(reader: PdfReader) -> dict[str, tuple[int, float]]:
    """Locate each anchor: the page, counted from 0, and the height on it."""
    found = {}
    for name, place in reader.named_destinations.items():
        number = reader.get_destination_page_number(place)
        found[name.lstrip("/")] = (number, float(place.top or 800))
    return found


def target(annotation: dict, site: str, page: str) -> tuple[str, str] | None:
    """Return the page of the book and the anchor that a link leads to, or None if elsewhere."""
    action = annotation.get("/A", {})
    if "/Dest" in annotation or action.get("/S") == "/GoTo":
        name = annotation.get("/Dest", action.get("/D"))
        return page, str(name).lstrip("/")
    address, _, anchor = str(action.get("/URI", "")).partition("#")
    if not address.startswith(site) or not address.endswith(".html"):
        return None
    return address.removeprefix(site).removesuffix(".html"), anchor


def lead_links(writer: PdfWriter, page: str, places: dict[str, Printed], site: str, count: int):
    """Let the links of a page lead into the same PDF; drop those that nobody sees."""
    for sheet in writer.pages[places[page].first : places[page].first + count]:
        kept = ArrayObject()
        for reference in sheet.get("/Annots", []):
            annotation = reference.get_object()
            left, low, right, high = map(float, annotation["/Rect"])
            if abs((right - left) * (high - low)) < LEAST:
                continue
            there = target(annotation, site, page)
            if there and there[0] in places:
                aim(writer, annotation, places[there[0]], there[1])
            address = str(annotation.get("/A", {}).get("/URI", ""))
            if not address.startswith(site):
                kept.append(reference)  # what the built book has beside its pages is not in the PDF
        sheet[NameObject("/Annots")] = kept


def aim(writer: PdfWriter, annotation: dict, place: Printed, anchor: str) -> None:
    """Set where a link leads; without the anchor, to the beginning of the page."""
    number, top = place.anchors.get(anchor, (0, 842.0))
    sheet = writer.pages[place.first + number].indirect_reference
    where = [sheet, NameObject("/XYZ"), NullObject(), FloatObject(top), NullObject()]
    annotation.pop("/A", None)
    annotation[NameObject("/Dest")] = ArrayObject(where)


def outline(writer: PdfWriter, entries: list[Entry], places: dict[str, Printed], headings: dict):
    """Write the outline: parts, pages, and the headings of each page."""

    def place_of(entry: Entry) -> int:
        return places[entry.page].first if entry.page else place_of(entry.below[0])

    def add(entry: Entry, parent: object) -> None:
        first = place_of(entry)
        item = writer.add_outline_item(title=entry.title, page_number=first, parent=parent)
        for title, number, deeper in headings.get(entry.page, []):
            under = writer.add_outline_item(title=title, page_number=first + number, parent=item)
            for name, at in deeper:
                writer.add_outline_item(title=name, page_number=first + at, parent=under)
        for below in entry.below:
            add(below, item)

    for entry in entries:
        add(entry, None)


def sections(reader: PdfReader) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Read Chromium's outline of a page: sections and their subsections, with page numbers."""
    flat = list(_flat(reader, reader.outline, 0))
    found: list[tuple[str, int, list]] = []
    for depth, title, number in flat:
        if depth == 1:
            found.append((title, number, []))
        elif depth == 2 and found:
            found[-1][2].append((title, number))
    return found


def _flat(reader: PdfReader, items: list, depth: int) -> Iterator[tuple[int, str, int]]:
    for item in items:
        if isinstance(item, Destination):
            yield depth, item.title.rstrip("#").strip(), reader.get_destination_page_number(item)
        else:
            yield from _flat(reader, item, depth + 1)


def print_book(browser: Browser, entries: list[Entry], to: Path, site: Path = SITE) -> Path:
    """Print pages of the built book to one file.

    Args:
        browser: Chromium, running.
        entries: the contents; titles of pages are filled in.
        to: the file; replaced when the new one is complete.
        site: the folder of the built pages.
    """
    writer, places, counts, headings, titles = PdfWriter(), {}, {}, {}, []
    with served(site) as address:
        for entry in in_order(entries):
            entry.title, made = printed(browser, f"{address}{entry.page}.html")
            reader = PdfReader(io.BytesIO(made))
            places[entry.page] = Printed(len(writer.pages), anchors(reader))
            counts[entry.page] = len(reader.pages)
            headings[entry.page] = sections(reader)
            titles += [entry.title] * len(reader.pages)
            writer.append(reader, import_outline=False)
            print(f"{entry.page}: {len(reader.pages)} pages", flush=True)
    for sheet, foot in zip(writer.pages, numbered(browser, titles).pages, strict=True):
        sheet.merge_page(foot)
        sheet.compress_content_streams()
    for page, count in counts.items():
        lead_links(writer, page, places, address, count)
    writer.root_object.pop("/Names", None)  # anchors of the single pages; links no longer use them
    writer.root_object.pop("/Dests", None)
    outline(writer, entries, places, headings)
    writer.add_metadata({"/Title": BOOK, "/Author": "the authors of Gates to Heads"})
    writer.page_mode = "/UseOutlines"
    writer.compress_identical_objects()
    half = to.with_suffix(".tmp")
    writer.write(half)
    half.replace(to)
    return to


def main() -> None:
    """Print, and say where the file is and how large."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", type=Path, default=PRINTED)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as chapters/08_decoding")
    options = parser.parse_args()
    entries = contents(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    if options.pages:
        entries = only(entries, set(options.pages))
    with launched() as browser:
        made = print_book(browser, entries, options.to)
    print(f"{made}: {made.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
