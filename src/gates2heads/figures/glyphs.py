"""Fonts for figures with text in any script, and a warning about missing characters."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from matplotlib import font_manager, get_cachedir
from matplotlib.figure import Figure
from matplotlib.text import Text

# Tried in this order for characters that are not in DejaVu Sans, matplotlib's font.
_WIDE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
)
_MISSING = re.compile(r"Glyph (\d+) .*missing from")


class MissingGlyphWarning(UserWarning):
    """A picture has an empty box instead of a letter; `make execute` refuses to store it."""


def wide_families() -> list[str]:
    """List the installed fonts with characters that matplotlib's own font lacks."""
    return [name for name in _WIDE_FONTS if _is_installed(name)]


@lru_cache
def _is_installed(family: str) -> bool:
    try:
        return bool(font_manager.findfont(family, fallback_to_default=False))
    except ValueError:
        return False


@contextmanager
def fonts_of(figure: Figure, families: list[str]) -> Iterator[None]:
    """Draw the texts of a figure with several fonts, each for characters that previous ones lack.

    The families must be set in the texts themselves: of a generic family such as sans-serif,
    matplotlib uses only the first font.
    """
    before = {text: text.get_fontfamily() for text in figure.findobj(Text)}
    for text in before:
        text.set_fontfamily(families)
    try:
        yield
    finally:
        for text in figure.findobj(Text):
            text.set_fontfamily(before.get(text, ["sans-serif"]))


@contextmanager
def warn_of_missing_glyphs() -> Iterator[None]:
    """Warn once about all letters that were drawn as empty boxes; pass on other warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    found = [_MISSING.match(str(one.message)) for one in caught]
    for one, glyph in zip(caught, found, strict=True):
        if glyph is None:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    letters = "".join(sorted({chr(int(glyph[1])) for glyph in found if glyph}))
    if letters:
        warnings.warn(
            f"no font of this machine has {letters}: the picture shows empty boxes there. Install "
            "one that does, such as Noto Sans CJK, and delete matplotlib's list of fonts in "
            f"{get_cachedir()}. The built book draws with its reader's own fonts.",
            MissingGlyphWarning,
            stacklevel=5,
        )
