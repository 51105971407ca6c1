"""Files of sentence pairs: written and read again, and one sentence for every damage."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.corpora import machine_pairs
from gates2heads.data.corpora.machine_pairs import KIND, LONGEST, pairs_file, read_machine_pairs

PAIRS = [("Ein Hund läuft.", "A dog runs."), ("Zwei Äpfel", "Two apples")]
SIDE = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(str.strip)


def test_what_was_written_is_read_again(tmp_path):
    path = tmp_path / "pairs.gz"
    path.write_bytes(pairs_file(PAIRS, "by hand,\n twice"))
    assert read_machine_pairs(path) == read_machine_pairs(str(path)) == PAIRS
    assert read_machine_pairs(path)[0].german == "Ein Hund läuft."
    assert gzip.decompress(path.read_bytes()).decode().splitlines() == [
        *(f"{KIND}\tby hand, twice", "Ein Hund läuft.\tA dog runs.", "Zwei Äpfel\tTwo apples")
    ]
    assert pairs_file(PAIRS, "x") == pairs_file(PAIRS, "x")


@given(st.lists(st.tuples(SIDE, SIDE), min_size=1))
def test_any_text_survives_but_for_its_blanks(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pairs") / "pairs.gz"
    path.write_bytes(pairs_file(pairs, "drawn"))
    assert read_machine_pairs(path) == [
        tuple(" ".join(side.split()) for side in pair) for pair in pairs
    ]


def packed(*lines: str) -> bytes:
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


HEAD = f"{KIND}\ttest"
WHOLE = pairs_file(PAIRS, "by hand")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "does not begin with"),
        (b"plain text", "is damaged: Not a gzipped file"),
        (WHOLE[:-9], "is damaged: Compressed file ended"),
        (WHOLE[:40] + bytes([WHOLE[40] ^ 255]) + WHOLE[41:], "damaged"),
        (gzip.compress(b"\xff\xfe", mtime=0), "is damaged: 'utf-8' codec"),
        (packed("something else", "a\tb"), "does not begin with"),
        (packed(HEAD), "holds no pair"),
        (packed(HEAD, "a\tb", "a"), r"line 3 must hold two sentences .* got \['a'\]"),
        (packed(HEAD, "a\tb\tc"), "line 2 must hold two sentences"),
        (packed(HEAD, "a\t "), "line 2 must hold two sentences"),
        (packed(HEAD, ""), "line 2 must hold two sentences"),
        (packed(HEAD, "a\t" + "b" * (LONGEST + 1)), "line 2 must hold two sentences"),
        (packed(HEAD, "a" * 10_000_000), "line 2 must hold two sentences"),
        (packed("x" * 10_000_000), "does not begin with"),
        (packed(HEAD, "a\tb", "c\td", "e\tf", "g\th"), "holds more than 3 pairs"),
    ],
)
def test_a_bad_file_gets_one_sentence(tmp_path, monkeypatch, content, told):
    monkeypatch.setattr(machine_pairs, "MOST", 3)
    path = tmp_path / "pairs.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=told) as caught:
        read_machine_pairs(path)
    assert len(str(caught.value)) < 600


def test_bad_input(tmp_path):
    with pytest.raises(FileNotFoundError, match="which is not there"):
        read_machine_pairs(tmp_path)
    for pair in (("a", ""), ("a",), ("a", "b", "c"), ("a", "b" * (LONGEST + 1))):
        with pytest.raises(ValueError, match=r"pairs\[1\] must"):
            pairs_file([PAIRS[0], pair], "by hand")
