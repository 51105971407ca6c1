"""A tiny task for the training loop."""

import pytest
import torch

from gates2heads.data.batches.pairs import batches
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.translation.seq2seq import EncoderDecoder

SIZE, EOS = 11, Vocabulary.eos


def copying_pairs(count=31, seed=5):
    """Sequences to be written down as they are read."""
    draw = torch.Generator().manual_seed(seed)
    texts = [
        torch.randint(3, SIZE, (int(torch.randint(1, 6, (), generator=draw)),), generator=draw)
        for _ in range(count)
    ]
    return [([*text.tolist(), EOS], [*text.tolist(), EOS]) for text in texts]


def build(seed=3, hidden_size=6):
    torch.manual_seed(seed)
    return EncoderDecoder(SIZE, SIZE, embedding_size=5, hidden_size=hidden_size, score="dot")


@pytest.fixture
def tiny():
    """Make a model, and the batches of a run of any length."""

    def make(seed=3, hidden_size=6):
        return build(seed, hidden_size)

    return make


@pytest.fixture
def stream():
    """Four epochs of batches of the copying task; each call begins anew."""

    def make():
        return [batch for epoch in range(4) for batch in batches(copying_pairs(), 7, seed=epoch)]

    return make
