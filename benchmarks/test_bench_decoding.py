"""Cached beam search against `generate` of 🤗 transformers: sentences a second, and their ratio.

A Transformer and a Marian of one size, random weights, beams of 5, 40 tokens for each sentence and
no `<eos>`, so that both write the same amount.
"""

import pytest
import torch

from benchmarks.marian import marian
from gates2heads.decoding.beam import beam
from gates2heads.models.transformer import Transformer

V, D, H, DEPTH, HIDDEN = 8000, 256, 4, 3, 512
WIDTH, WRITTEN, READ, BOS = 5, 40, 17, V - 1


def own():
    """The library's model."""
    sizes = {"d_model": D, "nhead": H, "dim_feedforward": HIDDEN, "tie": "all"}
    return Transformer(V, V, num_encoder_layers=DEPTH, num_decoder_layers=DEPTH, **sizes).eval()


def other():
    """The reference's model of the same size."""
    sizes = {"d_model": D, "nhead": H, "depths": (DEPTH, DEPTH), "dim_feedforward": HIDDEN}
    options = {"activation_function": "relu", "max_position_embeddings": 64, "eos_token_id": None}
    return marian(V, blank=BOS, **sizes, **options)


@pytest.mark.parametrize(("batch", "at_least", "rounds"), [(1, 1.5, 8), (32, 1.3, 2)])
def test_beam_search(in_turn, batch, at_least, rounds):
    """Sentences a second, ours over theirs."""
    torch.manual_seed(7)
    model, reference = own(), other()
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
