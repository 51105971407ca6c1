"""Conversion of matplotlib's stand-alone SVG file to inline SVG in the page's text colour."""

import hashlib
import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_NAMESPACE = re.compile(r"\{[^}]*\}")
_REFERENCE = re.compile(r"(url\(#)([^)]+)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_FONT = re.compile(r"((?:[a-z]+ )*)([\d.]+px)")


def page_svg(drawn: bytes, head: Mapping[str, str], inks: Mapping[str, str]) -> str:
    """Reduce a drawing to the parts that a page needs, with black replaced by the text colour.

    Args:
        drawn: matplotlib's file.
        head: the attributes of the `<svg>` element.
        inks: colour → its name in the page, for lines and for areas.

    Returns:
        an `<svg>` element with unique ids, the same for the same drawing on every machine.
    """
    root = ElementTree.fromstring(drawn)  # drops declarations and comments
    _strip(root)
    for element in root.iter():
        element.tag = _NAMESPACE.sub("", element.tag)
        element.attrib = {
            _NAMESPACE.sub("", name) if "xlink" in name else name: _plain(name, value, inks)
            for name, value in element.attrib.items()
            if not (name == "transform" and value.startswith("rotate(-0 "))
        }
    root.attrib = dict(head)
    _own_ids(root)
    return ElementTree.tostring(root, encoding="unicode")


def _strip(element: Element) -> None:
    """Remove, from the leaves up, invisible elements, and the spaces between elements."""
    for child in list(element):
        _strip(child)
        kind = _NAMESPACE.sub("", child.tag)
        if kind not in ("text", "tspan") or len(child):
            child.text = None
        child.tail = "\n"
        # Cells of weight zero are paths with neither fill nor stroke: most of a heat map's bytes.
        unseen = kind == "path" and child.get("style") == "fill: none"
        if unseen or kind in ("metadata", "style") or (kind in ("defs", "g") and not len(child)):
            element.remove(child)


def _plain(name: str, value: str, inks: Mapping[str, str]) -> str:
    """An attribute's value in the page's colour and font, with rounded numbers."""
    if name == "style":
        parts = (_declaration(one.strip(), inks) for one in value.split(";"))
        value = "; ".join(part for part in parts if part)
    if name.endswith("href"):  # an address, or a picture's bytes
        return value
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", value)


def _declaration(one: str, inks: Mapping[str, str]) -> str:
    """One declaration of a style, without the font family, which is set by the page."""
    name, _, value = one.partition(": ")
    if name in ("fill", "stroke"):
        return f"{name}: {inks.get(value.lower(), value)}"
    if name == "font" and (found := _FONT.match(value)):
        # Older matplotlib writes the shorthand, which requires a family.
        words = found[1].split()
        style = "font-style: italic; " if {"italic", "oblique"} & set(words) else ""
        weight = "font-weight: bold; " if "bold" in words else ""
        return f"{style}{weight}font-size: {found[2]}"
    return "" if name == "font-family" else one


def _own_ids(root: Element) -> None:
    """Keep the referenced ids, numbered, and mark them as this figure's."""
    used = {}
    # matplotlib's own ids hash unrounded coordinates, which differ between machines.
    _refer(root, lambda name: used.setdefault(name, str(len(used))))
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.attrib = {"id": used[name], **element.attrib}
    mark = "g" + hashlib.sha256(ElementTree.tostring(root)).hexdigest()[:10]
    _refer(root, lambda number: f"{mark}-{number}")
    for element in root.iter():
        if "id" in element.attrib:
            element.set("id", f"{mark}-{element.get('id')}")


def _refer(root: Element, rename: Callable[[str], str]) -> None:
    """Rename the references of elements."""
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "href" and value.startswith("#"):
                element.set(name, f"#{rename(value[1:])}")
            elif "url(#" in value:
                element.set(name, _REFERENCE.sub(lambda to: f"{to[1]}{rename(to[2])}", value))
