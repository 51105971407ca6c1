"""Cached beam search against `generate` of 🤗 transformers: sentences a second, and their ratio.

A Transformer and a Marian of one size, random weights, beams of 5, 40 tokens for each sentence and
no `<eos>`, so that both write the same amount.
"""

import os

import pytest
import torch

from gates2heads.decoding.beam import beam
from gates2heads.models.transformer import Transformer

os.environ.setdefault("HF_HUB_OFFLINE", "1")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

V, D, H, DEPTH, HIDDEN = 8000, 256, 4, 3, 512
WIDTH, WRITTEN, READ, BOS = 5, 40, 17, V - 1


def own():
    """The library's model."""
    sizes = {"d_model": D, "nhead": H, "dim_feedforward": HIDDEN, "tie": "all"}
    return Transformer(V, V, num_encoder_layers=DEPTH, num_decoder_layers=DEPTH, **sizes).eval()


def marian():
    """The reference's model of the same size."""
    config = transformers.MarianConfig(
        vocab_size=V,
        d_model=D,
        encoder_layers=DEPTH,
        decoder_layers=DEPTH,
        encoder_attention_heads=H,
        decoder_attention_heads=H,
        encoder_ffn_dim=HIDDEN,
        decoder_ffn_dim=HIDDEN,
        activation_function="relu",
        max_position_embeddings=64,
        pad_token_id=BOS,
        decoder_start_token_id=BOS,
        eos_token_id=None,
        forced_eos_token_id=None,
    )
    return transformers.MarianMTModel(config).eval()


@pytest.mark.parametrize(("batch", "at_least", "rounds"), [(1, 1.5, 8), (32, 1.3, 2)])
def test_beam_search(in_turn, batch, at_least, rounds):
    """Sentences a second, ours over theirs."""
    torch.manual_seed(7)
    model, reference = own(), marian()
    source = torch.randint(4, BOS, (batch, READ))
    bos = torch.full((batch,), BOS)

    def ours():
        with torch.inference_mode():
            state = model.start(source)
            return beam(model.step, state, bos=bos, eos=None, max_length=WRITTEN, width=WIDTH)

    def theirs():
        return reference.generate(
            source,
            attention_mask=torch.ones_like(source),
            num_beams=WIDTH,
            max_new_tokens=WRITTEN,
            max_length=None,
            do_sample=False,
            bad_words_ids=None,
        )

    assert ours().tokens.shape == (batch, 1, WRITTEN)
    assert theirs().shape == (batch, 1 + WRITTEN)
    in_turn(
        f"beam of {WIDTH}, batch {batch}",
        "generate of transformers, Marian",
        ours,
        theirs,
        rounds=rounds,
        work=(batch, "sentences"),
        at_least=at_least,
    )
