"""Write what runs in the page to files beside the pages: the engine, and each model.

Every name holds a hash, so a page finds the very model that its notebook was made with, and a
browser may keep the file for ever. Files of other hashes are taken away.

    python tools/book/export_live.py [--to FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gates2heads.browser.live.models import live_files
from gates2heads.training.checkpoints import write_whole

ROOT = Path(__file__).resolve().parents[2]


def export(folder: Path) -> list[Path]:
    """Write the files that are missing, take away those that nothing asks for.

    Args:
        folder: made if it is not there.

    Returns:
        the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = {folder / name: text.encode() for name, text in live_files().items()}
    for path, content in written.items():
        if not path.is_file() or path.read_bytes() != content:
            write_whole(path, lambda file, content=content: file.write(content))
    for path in set(folder.glob("*.js")) - set(written):
        path.unlink()
    return list(written)


def main() -> None:
    """Write them and say so."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "_assets" / "live")
    for path in export(parser.parse_args().to.resolve()):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
