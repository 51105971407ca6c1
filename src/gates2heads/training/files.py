"""Files that are written completely or not at all, to a path that is tested in advance."""

import os
from collections.abc import Callable
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import IO

from gates2heads.accepts.shown import in_line, shown


def as_path(path: str | os.PathLike, *, name: str = "path") -> Path:
    """Convert to a `Path`; reject values that are not paths.

    Args:
        path: any value.
        name: its name in the message.

    Raises:
        TypeError: it is not a path.
        ValueError: no file can have such a name.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a string or a pathlib.Path, got {shown(path)}")
    path = Path(path)
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ValueError(f"{name} must be a name that a file can have, got {shown(str(path))}")
    return path


def as_file(path: str | os.PathLike, *, name: str = "path") -> Path:
    """The path of a file that will be written, and may be replaced.

    Args:
        path: of a regular file, or of no file yet.
        name: its name in the message.

    Raises:
        TypeError, ValueError: as in `as_path`; or it is a folder, a link or a device, which must
            not be replaced.
    """
    path = as_path(path, name=name)
    if path.is_dir():
        raise ValueError(f"{name} must name a file, but {in_line(path)} is a folder")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        kind = "a link" if path.is_symlink() else "a device or a pipe"
        raise ValueError(
            f"{name} must name a regular file, or none yet, but {in_line(path)} is {kind}"
        )
    return path


def write_whole(path: str | os.PathLike, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically: others read the old one or the new one, never a part.

    Args:
        path: the file; its folder is created if necessary.
        write: called with an open binary file.

    Raises:
        OSError: the path is not writable, or the disk is full; the message names the file.
    """
    path = as_path(path)
    part = _write_part(path, write)
    try:
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def try_place(path: str | os.PathLike) -> None:
    """Test whether a file can be written later, by writing and deleting a few bytes.

    Args:
        path: the later file; its folder is created if necessary.

    Raises:
        ValueError: as in `as_file`.
        OSError: as in `write_whole`.
    """
    path = as_file(path)
    _write_part(path, lambda file: file.write(bytes(4096))).unlink(missing_ok=True)


def _write_part(path: Path, write: Callable[[IO[bytes]], object]) -> Path:
    """Write the file under another name in the same folder, and flush it to the disk."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):  # the error of a full disk does not name the file
            reason = f"cannot be written: {error.strerror or error}"
            raise OSError(error.errno, reason, str(path)) from error
        raise
    return part


def clear_parts(path: str | os.PathLike) -> None:
    """Delete temporary files of interrupted writers of this file.

    A file must have only one writer at a time.

    Args:
        path: the file that should have been written, or the beginning of the names of several that
            are numbered, such as `Snapshots` writes.
    """
    path = as_path(path)
    for part in path.parent.glob(f"{escape(path.name)}.[0-9]*.part"):
        part.unlink(missing_ok=True)
