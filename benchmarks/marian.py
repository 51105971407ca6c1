"""Marian of 🤗 transformers in any size: what our Transformer and our beam search stand beside."""

import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # random weights: nothing is to be fetched


def marian(
    vocabulary_size: int,
    *,
    d_model: int,
    nhead: int,
    depths: tuple[int, int],
    dim_feedforward: int,
    blank: int,
    **options,
):
    """Give a MarianMTModel with random weights, in evaluation mode.

    Args:
        vocabulary_size: of source and target.
        d_model, nhead, dim_feedforward: as in our `Transformer`, the same on both sides.
        depths: layers of the encoder, layers of the decoder.
        blank: the token that pads, and that the decoder reads first.
        options: what else `MarianConfig` takes.
    """
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.MarianConfig(
        vocab_size=vocabulary_size,
        d_model=d_model,
        encoder_layers=depths[0],
        decoder_layers=depths[1],
        encoder_attention_heads=nhead,
        decoder_attention_heads=nhead,
        encoder_ffn_dim=dim_feedforward,
        decoder_ffn_dim=dim_feedforward,
        pad_token_id=blank,
        decoder_start_token_id=blank,
        forced_eos_token_id=None,
        **options,
    )
    return transformers.MarianMTModel(config).eval()
