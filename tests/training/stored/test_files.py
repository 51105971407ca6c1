"""Files: whole or not at all, in a place that was tried, and nothing of others touched."""

import errno
import os

import pytest

from gates2heads.training.files import as_file, as_path, clear_parts, try_place, write_whole


def test_a_file_is_written_whole_and_replaced_whole(tmp_path):
    path = tmp_path / "new" / "folder" / "file"
    for text in (b"old", b"newer"):
        write_whole(path, lambda file, text=text: file.write(text))
        assert path.read_bytes() == text
        assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_whole(path, lambda file: file.write(b"old"))

    def fail(file):
        file.write(b"ne")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    def fill(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"cannot be written: No space left on device: '.*/file'$"):
        write_whole(tmp_path / "file", fill)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "plain").write_text("")
    for under in ("plain/file", "plain/folder/file"):
        with pytest.raises(OSError, match=rf"cannot be written: .*: '.*{under}'"):
            try_place(tmp_path / under)
    with pytest.raises(OSError, match=r"cannot be written: File name too long"):
        try_place(tmp_path / ("x" * 250))


def test_trying_a_place_leaves_it_as_it_was(tmp_path):
    path = tmp_path / "folder" / "file"
    try_place(path)
    assert list(path.parent.iterdir()) == []
    path.write_text("mine")
    try_place(path)
    assert path.read_text() == "mine"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such files")
def test_links_devices_and_folders_are_not_replaced(tmp_path):
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name, message in [
        ("link", "path must"),
        ("dangling", "path must"),
        ("pipe", "path must"),
        (".", "path must"),
    ]:
        with pytest.raises(ValueError, match=message):
            try_place(tmp_path / name)
        with pytest.raises(ValueError, match=message.replace("path", "output", 1)):
            as_file(tmp_path / name, name="output")
    assert (tmp_path / "target").read_text() == "mine"
    assert as_file(tmp_path / "target") == as_file(str(tmp_path / "target")) == tmp_path / "target"


def test_a_name_that_no_file_can_have_is_refused():
    for wrong in (3, None, b"bytes"):
        with pytest.raises(TypeError, match=r"path must"):
            as_path(wrong)
    for wrong in ("a\0b", "a\ud800"):
        with pytest.raises(ValueError, match="path must"):
            as_path(wrong)


def test_what_killed_writers_left_is_cleared_and_nothing_else(tmp_path):
    own = ["y.17.part", f"y.{os.getpid()}.part", "y.7.safetensors.17.part"]
    others = ["y.best.17.part", "yy.17.part", "y.7", "y.part", "y"]
    for name in [*own, *others]:
        (tmp_path / name).write_text("")
    clear_parts(tmp_path / "y")
    assert {file.name for file in tmp_path.iterdir()} == set(others)
    clear_parts(tmp_path / "nowhere" / "y")
