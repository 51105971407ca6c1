"""Python source: whole modules in a few characters, cut where lines begin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.corpora.python import source as module
from gates2heads.data.corpora.python.source import (
    CHARACTERS,
    KNOWN,
    UNKNOWN,
    known_characters,
    passage_starts,
    passages,
    python_source,
    read_modules,
    source_fingerprint,
)
from gates2heads.data.corpora.splits import SPLITS


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A standard library of seven files, four of which are read."""
    files = {
        "first.py": "x = 1\n",
        "inner/second.py": "# caf\u00e9\n\tpass\r\n",
        "third.py": "z = 3\n",
        "fourth.py": "w = 4\n",
        "test/fifth.py": "assert True\n",
        "pydoc_data/topics.py": "topics = {}\n",
        "config-3.11-linux/sixth.py": "a = 1\n",
        "_sysconfigdata_linux.py": "build = {}\n",
        "empty.py": " \n",
        "notes.txt": "x",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    (tmp_path / "latin.py").write_bytes(b"# \xe9\n")
    monkeypatch.setattr(module, "folder_of", lambda name: tmp_path)
    read_modules.cache_clear()
    yield tmp_path
    read_modules.cache_clear()


def test_what_is_read_by_hand(library):
    found = {one.path: one.text for one in read_modules()}
    assert found == {
        "first.py": "x = 1\n",
        "fourth.py": "w = 4\n",
        "inner/second.py": f"# caf{UNKNOWN}\n    pass\n",
        "third.py": "z = 3\n",
    }
    assert list(found) == sorted(found)


def test_every_module_is_in_one_split_and_none_is_lost(library):
    splits = {split: {one.path for one in python_source(split)} for split in SPLITS}
    assert sorted(path for paths in splits.values() for path in paths) == sorted(
        one.path for one in read_modules()
    )
    assert all(one.split == split for split in SPLITS for one in python_source(split))


def test_the_fingerprint_changes_with_a_letter(library):
    before = source_fingerprint()
    assert "4 modules, sha256 " in before
    (library / "third.py").write_text("z = 4\n")
    read_modules.cache_clear()
    assert source_fingerprint() != before


@pytest.fixture
def two_packages(tmp_path, monkeypatch):
    """A standard library of two modules, and a package of three files, two of which are read."""
    files = {
        "python/first.py": "x = 1\n",
        "python/second.py": "y = 2\n",
        "numpy/first.py": "z = 3\n",
        "numpy/core/third.py": "w = 4\n",
        "numpy/tests/test_first.py": "assert True\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "folder_of", lambda name: tmp_path / name)
    read_modules.cache_clear()
    yield
    read_modules.cache_clear()


def test_several_packages_are_read_one_after_another(two_packages):
    both = ("python", "numpy")
    found = [one for split in SPLITS for one in python_source(split, packages=both)]
    assert {(one.package, one.path): one.text for one in found} == {
        ("python", "first.py"): "x = 1\n",
        ("python", "second.py"): "y = 2\n",
        ("numpy", "first.py"): "z = 3\n",
        ("numpy", "core/third.py"): "w = 4\n",
    }
    assert len(found) == 4
    alone = [one for split in SPLITS for one in python_source(split)]
    assert {one.package for one in alone} == {"python"}
    for split in SPLITS:
        told = [one.package for one in python_source(split, packages=both)]
        assert told == sorted(told, key=both.index)


def test_the_fingerprint_names_each_package(two_packages, monkeypatch):
    monkeypatch.setattr(module, "version", {"numpy": "9.9"}.__getitem__)
    told = source_fingerprint(("python", "numpy"))
    assert told.startswith("standard library of Python 3")
    assert ", numpy 9.9: 4 modules, sha256 " in told
    assert told != source_fingerprint(("numpy", "python"))


def test_a_package_that_is_not_installed_is_told():
    with pytest.raises(ValueError, match="nobody"):
        python_source("test", packages=("nobody",))


@pytest.mark.slow
def test_the_library_of_this_python_is_read_in_known_characters():
    modules = read_modules()
    assert len(modules) > 300
    assert {"json/decoder.py", "argparse.py"} <= {one.path for one in modules}
    assert set().union(*(one.text for one in modules)) <= set(CHARACTERS)
    assert not any("test" in one.path.split("/")[:-1] for one in modules)


def test_characters_by_hand():
    assert len(KNOWN) == len(set(KNOWN)) == 96  # 95 that ASCII prints, and the end of a line
    assert known_characters("a\tb\r\n\u732b\x00~\r") == f"a    b\n{UNKNOWN}{UNKNOWN}~{UNKNOWN}"


def test_passages_by_hand():
    # Cut after five characters; the line in which a passage ends is read again from its beginning,
    # unless it began the passage.
    assert passages("ab\ncd\nefghijk\nl", 5) == ["ab\ncd", "cd\nef", "efghi", "jk\nl"]
    assert passages("ab\n", 3) == ["ab\n"]
    assert passages("", 3) == []


@given(st.text("ab\n", max_size=60), st.integers(1, 11))
def test_passages_cover_a_text_in_order(text, length):
    starts = passage_starts(text, length)
    assert starts == sorted(set(starts))
    end = 0
    for start in starts:
        assert start <= end  # nothing is left out
        long_line = start == end
        assert start == 0 or text[start - 1] == "\n" or long_line
        end = min(start + length, len(text))
    assert end == len(text)
    assert [text[start : start + length] for start in starts] == passages(text, length)
