"""What the studies of chapter 10 are tested with."""

from types import SimpleNamespace

import pytest

from studies.ch10 import decoding_times


@pytest.fixture
def two_captions(monkeypatch):
    """Let the study of decoding times read two short sources, in place of the captions."""
    words = type("Words", (), {"bos": 1, "__len__": lambda self: 50})()
    tokenizer = SimpleNamespace(vocabulary=words)
    read = ([[5, 6, 2], [7, 2]], 3, tokenizer, tokenizer)
    monkeypatch.setattr(decoding_times, "captions", lambda: read)
