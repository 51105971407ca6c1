"""Docstrings: read without running anything, in a fixed order, no paragraph in two splits."""

import sys

import pytest

from gates2heads.data.corpora.python import docstrings as module
from gates2heads.data.corpora.python.docstrings import (
    Docstring,
    docstrings,
    fingerprint,
    folder_of,
    read_folder,
    read_packages,
)
from gates2heads.data.corpora.splits import SPLITS

SOURCE = '''"""The module says what it is for."""
raise RuntimeError("parsed, never run")

def first():
    """The first function returns one number."""
    def inner():
        """The inner function is read as well."""

class Second:
    """The second thing here is a class."""
    async def third(self):
        """The third one is a coroutine method."""

add_newdoc("place", "fourth", """The fourth is compiled and documented apart.""")
add_newdoc("place", "fifth", ("attribute", """The fifth documents only one attribute."""))
add_newdoc("place", "sixth", text)
print("The seventh is no docstring at all")
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "madeup"
    (folder / "tests").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "b.py").write_text(SOURCE)
    (folder / "a.py").write_text('"""The module says what it is for.\n\nIt is read before b.py."""')
    (folder / "broken.py").write_text("def (")
    (folder / "old.py").write_text('"""An old spelling gives no warning here."""\n"\\d"')
    (folder / "tests" / "c.py").write_text('"""Nothing below tests is ever read."""')
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_reading_by_hand(package):
    read = list(read_folder(package, "madeup"))
    assert [(path, name) for _, path, name, _ in read] == [
        ("a.py", ""),
        *[("b.py", name) for name in ("", "fourth", "attribute", "first", "first.inner")],
        *[("b.py", name) for name in ("Second", "Second.third")],
        ("old.py", ""),
    ]
    assert "madeup" not in sys.modules


def test_a_repeated_paragraph_stands_once(package):
    documents = read_packages.__wrapped__(("madeup",))
    everything = [text for document in documents for text in document.paragraphs]
    assert everything.count("The module says what it is for.") == 1
    assert next(d.name for d in documents if d.module == "b.py") == "fourth"
    assert "Nothing below tests is ever read." not in everything


def test_a_docstring_shows_sentences_and_entry():
    document = Docstring("numpy", "x.py", "A.argmax", ("One is here. Two is here.", "Three."))
    assert document.sentences == ["One is here.", "Two is here.", "Three."]
    assert document.entry == ("argmax: One is here. Two is here.", "Three.")
    assert Docstring("numpy", "x.py", "A._hidden", ("One.",)).entry == ("One.",)
    assert Docstring("numpy", "x.py", "", ("One.",)).entry == ("One.",)


def test_the_package_is_found_without_importing_it(package):
    assert folder_of("madeup") == package
    assert "madeup" not in sys.modules
    assert (folder_of("python") / "ast.py").exists()


def test_splits_part_the_modules_of_a_real_package():
    parts = {split: docstrings(split, packages=["babel"]) for split in SPLITS}
    modules = {split: {d.module for d in documents} for split, documents in parts.items()}
    assert not modules["train"] & (modules["validation"] | modules["test"])
    assert not modules["validation"] & modules["test"]
    assert sum(map(len, parts.values())) == len(read_packages(("babel",))) > 100
    texts = [p.casefold() for part in parts.values() for d in part for p in d.paragraphs]
    assert len(texts) == len(set(texts))


def test_the_fingerprint_names_versions_and_changes_with_the_text(monkeypatch):
    from importlib.metadata import version

    first = fingerprint(["babel"])
    assert first.startswith(f"babel {version('babel')}: ")
    assert first == fingerprint(["babel"])
    kept = read_packages(("babel",))[:-1]
    monkeypatch.setattr(module, "read_packages", lambda packages: kept)
    assert fingerprint(["babel"]).split("sha256")[1] != first.split("sha256")[1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: docstrings("test", packages=()), "packages must"),
        (lambda: docstrings("test", packages=["no_such"]), "installed packages, got 'no_such'"),
        (lambda: docstrings("test", packages=["os.path"]), "installed packages, got 'os.path'"),
    ],
)
def test_a_mistake_gets_one_sentence(call, sentence):
    with pytest.raises((TypeError, ValueError)) as caught:  # the sentence is asserted below
        call()
    assert sentence in str(caught.value)


@pytest.mark.slow
def test_the_whole_corpus_is_english_and_large_enough():
    words = {split: 0 for split in SPLITS}
    for split in SPLITS:
        for document in docstrings(split):
            words[split] += sum(len(text.split()) for text in document.paragraphs)
    assert 300_000 < sum(words.values()) < 900_000
    assert all(words[split] > 0.01 * sum(words.values()) for split in SPLITS)
    text = " ".join(p for d in docstrings("train") for p in d.paragraphs)
    assert not any(noise in text for noise in (">>>", ":func:", "http://", "\\"))
    assert text.count("`") < 0.001 * words["train"]
    assert text.count(" the ") > 0.04 * words["train"]
