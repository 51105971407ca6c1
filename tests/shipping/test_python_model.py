"""The command of the released model of Python source: what it trains, scores and writes."""

import sys

import pytest
import torch

from gates2heads.book.ch12.python_text import PythonText, bits_per_character
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.training.cards import rebuild
from gates2heads.training.loop import History
from shipping import python_model

SOURCE = "def add(a, b):\n    return a + b\n" * 20
SIZES = {"d_model": 16, "nhead": 2, "num_layers": 1, "dim_feedforward": 24, "max_length": 256}


@pytest.fixture
def asked(monkeypatch):
    """A small tokenizer and model, and a text of one function."""
    tokenizer, found = BPETokenizer.train([SOURCE], 280), []
    numbers = torch.tensor(tokenizer.encode(SOURCE * 12))
    text = PythonText(numbers, 12 * len(SOURCE) + 1)

    def train(steps, seed, *, dropout):
        found.append((steps, seed, dropout))
        torch.manual_seed(seed)
        history = History()
        history.seconds = 61.4
        return DecoderOnly(len(tokenizer), **SIZES, **LLAMA, dropout=dropout).eval(), history

    monkeypatch.setattr(python_model, "train_python_model", train)
    monkeypatch.setattr(python_model, "python_tokenizer", lambda: tokenizer)
    monkeypatch.setattr(python_model, "python_text", lambda split: text)
    monkeypatch.setattr(python_model, "source_fingerprint", ", ".join)
    return found, text


@pytest.mark.parametrize(
    ("words", "given", "command"),
    [
        ([], (8_000, 0, 0.0), "--steps 8000"),
        (["--steps", "7", "--seed", "3"], (7, 3, 0.0), "--steps 7"),
        (["--steps", "7", "--dropout", "0.1"], (7, 0, 0.1), "--steps 7 --dropout 0.1"),
    ],
)
def test_the_file_holds_the_rounded_model_and_its_scores(
    tmp_path, monkeypatch, capsys, asked, words, given, command
):
    found, text = asked
    path = tmp_path / "model.safetensors"
    monkeypatch.setattr(sys, "argv", ["python_model", *words, "--to", str(path)])
    python_model.main()
    assert found == [given]
    assert f"{path}: " in capsys.readouterr().out
    told = rebuild(path)
    card = told.card
    assert card["command"] == f"python -m shipping.python_model {command}"
    assert (card["steps"], card["seed"], card["seconds"]) == (given[0], given[1], 61)
    assert card["tokens"] == given[0] * 32 * 256
    assert card["parameters"] == sum(one.numel() for one in told.model.parameters())
    assert told.source.decode(told.source.encode(SOURCE)) == SOURCE
    score = bits_per_character(told.model, text)
    assert card["bits_per_character_small"]["test"] == pytest.approx(score, abs=1e-6)
    assert card["bits_per_character"]["test"] == pytest.approx(score, abs=0.05)
