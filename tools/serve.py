"""Serve the built book on this machine and print its address.

python tools/serve.py [--folder FOLDER] [--port PORT]
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each; an address that leads nowhere still prints one."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing on success."""


class BookServer(http.server.ThreadingHTTPServer):
    """A server that ignores it if a reader leaves a page before all of it has arrived."""

    request_queue_size = 128  # a page opens many connections in parallel; with 5, some are reset

    def handle_error(self, request, client_address):
        """Report what went wrong, unless the other side hung up."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def make_server(folder: Path, port: int = 0) -> http.server.ThreadingHTTPServer:
    """Bind a server for one folder to 127.0.0.1.

    Args:
        folder: the built pages.
        port: 0 takes any free one.
    Raises:
        FileNotFoundError: there is no built book in the folder.
    """
    if not (folder / "index.html").is_file():
        raise FileNotFoundError(f"no built book in {folder}: run make book first")
    handler = functools.partial(QuietHandler, directory=str(folder))
    return BookServer(("127.0.0.1", port), handler)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder in the background and give its address, for as long as the block runs."""
    server = make_server(folder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    try:
        server = make_server(options.folder, options.port)
    except (FileNotFoundError, OSError) as error:
        raise SystemExit(str(error)) from None
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    print(f"Gates to Heads is at {address} (Ctrl-C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nStopped.")


if __name__ == "__main__":
    main()
