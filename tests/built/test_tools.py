"""The tools that the Makefile calls: offline runner, asset fetcher, server, browser finder."""

import base64
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import urllib.request
from pathlib import Path

import pytest

from tools import fetch_assets, serve
from tools.book import find_browser
from tools.checks import calibration, offline

ROOT = Path(__file__).resolve().parents[2]
PROBE = """
import os, socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), timeout=5).close()
state = os.environ["GATES2HEADS_NETWORK"]
print("inside", "reached")
if state == "cut":  # never try the outside when it is there
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=5)
    except OSError as error:
        print("outside", type(error).__name__)
print("network", state, os.getuid())
"""

CUT = ["inside reached", "outside OSError", f"network cut {os.getuid()}"]


def run_offline(*command):
    """Run a command through the tool, in a process of its own."""
    tool = [sys.executable, str(ROOT / "tools" / "checks" / "offline.py")]
    return subprocess.run([*tool, *command], capture_output=True, text=True, check=False)


def test_offline_cuts_the_network_and_leaves_this_machine():
    done = run_offline(sys.executable, "-c", PROBE)
    assert done.returncode == 0, done.stderr
    if "network on" in done.stdout:
        assert "The network stays on" in done.stderr
        pytest.skip("this system allows no network namespace")
    assert done.stdout.splitlines() == [
        "inside reached",
        "outside OSError",
        f"network cut {os.getuid()}",
    ]


def test_offline_works_through_a_user_namespace():
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); import offline\n"
        "try: offline.cut(as_user=True)\n"
        "except (OSError, AttributeError): sys.exit(77)\n"
        "os.environ['GATES2HEADS_NETWORK'] = 'cut'\n" + PROBE
    )
    command = [sys.executable, "-c", code, str(ROOT / "tools" / "checks")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this system allows no user namespace")
    assert done.stdout.splitlines() == [
        "inside reached",
        "outside OSError",
        f"network cut {os.getuid()}",
    ]


def test_offline_passes_on_the_exit_status():
    assert run_offline(sys.executable, "-c", "raise SystemExit(7)").returncode == 7


def test_offline_says_when_there_is_no_such_command():
    done = run_offline("no-such-command-here")
    assert done.returncode == 1
    assert "no-such-command-here: no such command" in done.stderr


def test_offline_needs_a_command():
    assert "usage: python tools/checks/offline.py" in run_offline().stderr


def test_offline_goes_on_where_nothing_is_allowed(monkeypatch, capsys):
    started = []
    monkeypatch.setattr(offline, "_works", lambda **_: False)
    monkeypatch.setattr(os, "execvpe", lambda *call: started.append(call))
    offline.main(["true"])
    (call,) = started
    assert call[2]["GATES2HEADS_NETWORK"] == "on"
    assert capsys.readouterr().err.count("\n") == 1


def archive(path, **files):
    """Write an npm-like archive."""
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def package(wanted=lambda path: path):
    """Make a package whose pinned digest is wrong for every archive."""
    return fetch_assets.Package("thing", "1.2.3", "not-a-digest", "thing", wanted)


def test_assets_with_another_digest_are_refused(tmp_path):
    path = archive(tmp_path / "thing.tgz", **{"index.js": "1"})
    with pytest.raises(SystemExit, match=r"thing 1\.2\.3 has sha512 .*, expected not-a-digest"):
        fetch_assets.verify(path, package())


def test_assets_stay_inside_their_folder(tmp_path):
    path = archive(tmp_path / "thing.tgz", **{"../../outside.js": "1", "inside.js": "2"})
    fetch_assets.unpack(path, package(), tmp_path / "to" / "thing")
    written = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.js")]
    assert written == ["to/thing/inside.js"]


def test_an_interrupted_fetch_leaves_the_old_assets(tmp_path, monkeypatch):
    target = tmp_path / "assets" / "vendor"
    target.mkdir(parents=True)
    (target / "old.js").touch()

    def broken(arguments, cwd):
        (cwd / "half.tgz").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(fetch_assets, "_npm", broken)
    with pytest.raises(KeyboardInterrupt):
        fetch_assets.fetch(target, fetch_assets.PAGES)
    assert [p.name for p in target.parent.rglob("*")] == ["vendor", "old.js"]
    assert not fetch_assets.is_complete(target, fetch_assets.PAGES)


def test_a_finished_fetch_is_known_by_its_manifest(tmp_path, monkeypatch):
    path = archive(tmp_path / "thing.tgz", **{"index.js": "1"})
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    one = fetch_assets.Package("thing", "1.2.3", digest, "thing", lambda name: name)
    monkeypatch.setattr(fetch_assets, "_npm", lambda _, cwd: shutil.copy(path, cwd))
    target = tmp_path / "vendor"
    fetch_assets.fetch(target, (one,))
    assert (target / "thing" / "index.js").read_text() == "1"
    assert fetch_assets.is_complete(target, (one,))
    assert not fetch_assets.is_complete(target, fetch_assets.PAGES)
    (target / "manifest.json").write_text('{"thing": "0.0.0"}')
    assert not fetch_assets.is_complete(target, (one,))


def test_the_server_gives_pages_on_this_machine_only(tmp_path, capsys):
    (tmp_path / "index.html").write_text("hello")
    server = serve.make_server(tmp_path)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    host, port = server.server_address[:2]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as response:
        assert response.read() == b"hello"
    server.shutdown()
    server.server_close()
    thread.join()
    assert host == "127.0.0.1"
    assert capsys.readouterr().err == ""


def test_the_server_needs_a_built_book(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no built book in .*: run make book first"):
        serve.make_server(tmp_path)


def test_two_servers_find_a_port_each(tmp_path):
    (tmp_path / "index.html").touch()
    with serve.make_server(tmp_path) as one, serve.make_server(tmp_path) as other:
        assert one.server_address != other.server_address


def test_the_named_browser_comes_first(tmp_path, monkeypatch):
    mine = tmp_path / "my-browser"
    mine.touch(mode=0o755)
    monkeypatch.setenv("CHROMIUM", str(mine))
    assert find_browser.find() == str(mine)
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    with pytest.raises(SystemExit, match="CHROMIUM is set to no-such-browser, which is no program"):
        find_browser.find()


def test_no_browser_means_one_sentence_on_what_to_install(monkeypatch, tmp_path):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(find_browser, "MAC", ())
    monkeypatch.setattr(find_browser, "_playwright_browser", lambda: None)
    monkeypatch.setattr(sys, "argv", ["find_browser.py"])
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        find_browser.main()


def test_seconds_stand_beside_a_calibration():
    assert calibration.beside(62.04, 1.5) == "   62.0 s =    41 × calibration"


def test_the_calibration_is_the_time_of_a_loop(monkeypatch):
    monkeypatch.setattr(calibration.time, "perf_counter", iter([10.0, 12.5]).__next__)
    monkeypatch.setattr(calibration, "STEPS", 8)
    assert calibration.calibrate() == 2.5
