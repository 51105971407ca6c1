"""fetch: the given folder first, then the cache, then the network; nothing half-read, ever."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from gates2heads.data.corpora import download
from gates2heads.data.corpora.download import FOLDER, REGISTRY, fetch

CONTENT = b"what upstream gives\n" * 997
NAME = "folder/file.txt"


class Upstream(BaseHTTPRequestHandler):
    """Serves CONTENT; /cut breaks off in the middle, /other gives something else."""

    asked: ClassVar[list[str]] = []

    def do_GET(self):
        Upstream.asked.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if self.path == "/cut":
            self.wfile.write(CONTENT[:313])
        else:
            self.wfile.write(CONTENT if self.path == "/whole" else CONTENT[::-1])

    def log_message(self, *_):
        """Keep the test's output clean."""


@pytest.fixture(scope="module")
def address():
    server = HTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def serve(address, tmp_path, monkeypatch):
    """Register NAME at a path of the server, with an empty cache; gives the cache folder."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv(FOLDER, raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr(download, "cache_folder", lambda: cache)

    def register(path, url=address):
        Upstream.asked.clear()
        entry = (url + path, hashlib.sha256(CONTENT).hexdigest())
        monkeypatch.setitem(REGISTRY, NAME, entry)
        return cache

    return register


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


def test_downloads_once(serve):
    cache = serve("/whole")
    path = fetch(NAME, progress=False)
    assert path.read_bytes() == CONTENT
    assert path == cache / NAME
    assert fetch(NAME, progress=False) == path
    assert Upstream.asked == ["/whole"]


def test_shows_a_bar(serve, capsys):
    serve("/whole")
    fetch(NAME)
    assert "100%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "reason"), [("/cut", "ChunkedEncodingError"), ("/missing", "HTTPError")]
)
def test_a_broken_download_leaves_nothing_behind(serve, path, reason):
    cache = serve(path)
    with pytest.raises(ConnectionError, match=rf"could not be downloaded .*{path} \({reason}\)"):
        fetch(NAME, progress=False)
    assert files_in(cache) == []
    serve("/whole")
    assert fetch(NAME, progress=False).read_bytes() == CONTENT  # the next attempt is not disturbed


def test_another_file_under_the_address_is_refused(serve):
    cache = serve("/other")
    with pytest.raises(ValueError, match=r"folder/file.txt came from .* with a wrong checksum"):
        fetch(NAME, progress=False)
    assert files_in(cache) == []


def test_a_damaged_file_in_the_cache_is_replaced(serve):
    cache = serve("/whole")
    (cache / "folder").mkdir(parents=True)
    (cache / NAME).write_bytes(CONTENT[:-1])
    assert fetch(NAME, progress=False).read_bytes() == CONTENT


def test_without_network_one_sentence_says_what_to_do(serve):
    serve("/file", url="http://127.0.0.1:9")  # nobody listens at the discard port
    with pytest.raises(ConnectionError) as caught:
        fetch(NAME, progress=False)
    assert str(caught.value) == (
        "folder/file.txt could not be downloaded from http://127.0.0.1:9/file (ConnectionError); "
        "connect to the network once, or set GATES2HEADS_DATA to a folder that holds it"
    )
    assert caught.value.__suppress_context__


def test_the_given_folder_comes_first(serve, tmp_path, monkeypatch):
    serve("/whole")
    given = tmp_path / "given" / NAME
    monkeypatch.setenv(FOLDER, str(tmp_path / "given"))
    assert fetch(NAME, progress=False) != given  # not there: downloaded into the cache
    given.parent.mkdir(parents=True)
    given.write_bytes(CONTENT)
    assert fetch(NAME, progress=False) == given
    given.write_bytes(CONTENT[1:])
    with pytest.raises(ValueError, match=r"must have the SHA-256 \w{16}…, got \w{16}…"):
        fetch(NAME, progress=False)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"name must"):
        fetch("train.de")


def test_every_address_names_a_commit():
    for address, checksum in REGISTRY.values():
        assert len(checksum) == 64
        assert any(len(part) == 40 for part in address.split("/"))
