"""Back-translation on a few sentences: the same file after a kill, and no file for bad input."""

import gzip
from itertools import count

import pytest

from gates2heads.data.corpora.machine_pairs import read_machine_pairs
from gates2heads.training.checkpoints import shipped_weights
from shipping import back_translation
from shipping.back_translation import folder_of, main

WEIGHTS = shipped_weights("translator")
TEXTS = [
    *("Ein Hund läuft.", "Zwei Kinder spielen.", "Eine Frau singt.", "Männer arbeiten."),
    *("Wort " * 60, "Ein Mann liest.", "Ein Kind springt."),
]
FEW = [text for text in TEXTS if len(text) < 50]
HOW = {"sample": False, "width": 1, "temperature": 1.0, "seed": 0}


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    asked = {"German": TEXTS}
    monkeypatch.setattr(back_translation, "descriptions", asked.__getitem__)
    monkeypatch.setattr(back_translation, "PART", 4)
    monkeypatch.setattr(back_translation, "AT_ONCE", 3)


def test_each_sentence_gets_a_translation(tmp_path, capsys):
    output = tmp_path / "pairs.gz"
    assert main(["translator", str(output), "--sentences", "5"]) == 0
    pairs = read_machine_pairs(output)
    assert [german for german, _ in pairs] == FEW[:5]  # the one of 60 words is left out
    assert "dog" in pairs[0].english
    assert capsys.readouterr().out.endswith(f"{output}: 5 pairs\n")
    assert list(tmp_path.iterdir()) == [output]
    head = gzip.decompress(output.read_bytes()).decode().partition("\n")[0]
    assert head.endswith(f"python -m shipping.back_translation translator {output} --sentences 5")


@pytest.mark.parametrize("way", [["--sample"], ["--sample", "--seed", "1"], ["--width", "2"]])
def test_a_stopped_run_goes_on_to_the_same_file(tmp_path, monkeypatch, capsys, way):
    output, kept = tmp_path / "pairs.gz", back_translation.part
    words = [str(WEIGHTS), str(output), *way]
    calls = count()

    def stopped(*given):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return kept(*given)

    monkeypatch.setattr(back_translation, "part", stopped)
    assert main(words) == 130
    assert "the same command resumes" in capsys.readouterr().err
    assert not output.exists()
    assert main(words) == 0
    content = output.read_bytes()
    assert main(words) == 2
    assert "pairs.gz is there; --overwrite" in capsys.readouterr().err
    assert main([*words, "--overwrite"]) == 0
    told = gzip.decompress(output.read_bytes()).decode().splitlines()
    assert told[1:] == gzip.decompress(content).decode().splitlines()[1:]
    assert list(tmp_path.iterdir()) == [output]


def test_seeds_draw_differently(tmp_path):
    drawn = []
    for seed in (0, 1):
        output = tmp_path / f"{seed}.gz"
        assert main(["translator", str(output), "--sample", "--seed", str(seed)]) == 0
        drawn.append([english for _, english in read_machine_pairs(output)])
    assert drawn[0] != drawn[1]


def test_what_is_not_finished_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(
        back_translation, "translated", lambda *given: ["A.", None, " "][: len(given[1])]
    )
    output = tmp_path / "pairs.gz"
    assert main(["translator", str(output)]) == 0
    assert {english for _, english in read_machine_pairs(output)} == {"A."}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text",
        gzip.compress(b"{", mtime=0),
        gzip.compress(b"[]", mtime=0),
        gzip.compress(b'{"written": [1]}', mtime=0),
    ],
)
def test_a_damaged_part_is_told(tmp_path, capsys, content):
    output = tmp_path / "pairs.gz"
    kept = folder_of(WEIGHTS, output, HOW)
    kept.mkdir()
    (kept / "0000.json.gz").write_bytes(content)
    assert main(["translator", str(output)]) == 2
    assert "delete it to go on" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["translator", "src/pairs.gz"], "output must"),
        (["translator", "."], "output must"),
        (["nobody", "OUT"], "name must"),
        (["dates_none", "OUT"], "weights must"),
        ([__file__, "OUT"], "is truncated or is not a safetensors file"),
        (["translator", "OUT", "--sentences", "0"], "--sentences must"),
        (["translator", "OUT", "--width", "0"], "--width must"),
        (["translator", "OUT", "--seed", "-1"], "--seed must"),
        (["translator", "OUT", "--temperature", "nan"], "--temperature must"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, capsys, words, told):
    monkeypatch.chdir(back_translation.ROOT)
    words = [str(tmp_path / "pairs.gz") if word == "OUT" else word for word in words]
    assert main(words) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
