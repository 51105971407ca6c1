"""Pack the built book as one zip file that opens from disk, without a server or a network.

    python tools/book/pack_book.py

Whoever unpacks it opens `index.html` in the folder `gates2heads-book`.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
PACKED = ROOT / "_build" / "gates2heads-book.zip"
FOLDER = "gates2heads-book"  # what everything in the zip file is in
LEFT_OUT = {".buildinfo"}  # of the builder alone


def pack(book: Path = BOOK, to: Path = PACKED) -> Path:
    """Write every file of the built book, and the licence, to one zip file.

    Args:
        book: the folder of the built pages.
        to: the zip file; replaced when the new one is complete.

    Raises:
        FileNotFoundError: there is no built book in the folder.
    """
    if not (book / "index.html").is_file():
        raise FileNotFoundError(f"no built book in {book}: run make book first")
    half = to.with_suffix(".tmp")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(book.rglob("*")):
            if path.is_file() and path.name not in LEFT_OUT:
                packed.write(path, f"{FOLDER}/{path.relative_to(book).as_posix()}")
        packed.write(ROOT / "LICENSE", f"{FOLDER}/LICENSE")
    half.replace(to)
    return to


def main() -> None:
    """Pack, and say where the file is and how large."""
    try:
        packed = pack()
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None
    print(f"{packed}: {packed.stat().st_size / 1e6:.0f} MB. Unpack it and open index.html.")


if __name__ == "__main__":
    sys.exit(main())
