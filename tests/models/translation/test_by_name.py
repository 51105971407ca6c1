"""Translators by name: that each setting reaches its part, and that a recipe can spell them."""

import inspect
import json

import pytest
import torch
from torch import nn

from gates2heads.data.batches.pairs import collate
from gates2heads.decoding.beam import beam
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.record import record
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.by_name import convolutional_translator, recurrent_translator
from gates2heads.models.translation.convolutional import ConvolutionalDecoder
from gates2heads.models.translation.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    LuongDecoder,
    PlainDecoder,
)
from gates2heads.training.losses import sequence_loss

SOURCE_SIZE, V, E, U, BOS, EOS = 17, 13, 5, 14, 1, 2
PAIRS = [
    ([3, 9, 16, 5, 11, 4, EOS], [3, 12, 7, EOS]),
    ([8, EOS], [5, 5, 11, 9, EOS]),
    ([7, 3, 3, 14, EOS], [4, EOS]),
]
SMALL = {"embedding_size": E, "hidden_size": U, "max_length": 11}


def recurrent(**settings):
    return recurrent_translator(SOURCE_SIZE, V, **{**SMALL, **settings})


LADDER = {
    "lstm": lambda: recurrent(cell="lstm", num_layers=2),
    "gru": recurrent,
    "gru that reads its summary again": lambda: recurrent(repeat_summary=True),
    "bahdanau": lambda: recurrent(attention="bahdanau"),
    "luong": lambda: recurrent(attention="luong", score="general"),
    "convolutional": lambda: convolutional_translator(SOURCE_SIZE, V, **SMALL),
    "transformer": lambda: Transformer(SOURCE_SIZE, V, d_model=U, nhead=2, dim_feedforward=E),
}


@pytest.mark.parametrize("rung", LADDER)
def test_learns_and_translates(rung):
    model, batch = LADDER[rung](), collate(PAIRS)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    before = sequence_loss(model.eval(), batch).item()
    model.train()
    for _ in range(20):
        optimizer.zero_grad()
        sequence_loss(model, batch).backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
        optimizer.step()
    assert sequence_loss(model.eval(), batch).item() < before / 2
    state, bos = model.start(batch.source, mask=batch.source_mask), torch.full((3,), BOS)
    found = beam(model.step, state, bos=bos, eos=EOS, width=3, max_length=7)
    assert (found.log_prob > -20).all()


@pytest.mark.parametrize("rung", LADDER)
def test_runs_in_mixed_precision(rung):
    model, batch = LADDER[rung]().eval(), collate(PAIRS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = sequence_loss(model, batch)
        state = model.start(batch.source, mask=batch.source_mask)
        for last_tokens in batch.target_in[:, :3].unbind(1):  # the cached steps too
            log_probs, state = model.step(state, last_tokens)
    torch.testing.assert_close(loss, sequence_loss(model, batch), rtol=0.05, atol=0.05)
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    whole = model(batch)[:, 2].log_softmax(-1)
    torch.testing.assert_close(log_probs.float(), whole, rtol=0.1, atol=0.1)


def test_recurrent_settings_reach_their_parts():
    for attention, kind in [
        (None, PlainDecoder),
        ("bahdanau", BahdanauDecoder),
        ("luong", LuongDecoder),
    ]:
        model = recurrent(attention=attention, score="concat")
        assert type(model.decoder) is kind
        assert model.decoder.dropout == model.encoder.dropout == 0.3
        assert model.max_length == 11
        if attention:
            assert type(model.decoder.attention.score) is SCORES["concat"]
    assert type(recurrent(repeat_summary=True).decoder) is ChoDecoder
    model = recurrent(cell="lstm", num_layers=3, dropout=0.1, bidirectional=False)
    for part in (model.encoder, model.decoder):
        assert part.recurrent.num_layers == 3
        assert part.recurrent.dropout == part.dropout == 0.1
        assert part.embedding.embedding_dim == E
    assert model.encoder.recurrent.hidden_size == U
    assert recurrent().encoder.recurrent.hidden_size == U // 2
    assert model.encoder.embedding.num_embeddings == SOURCE_SIZE
    assert model.decoder.readout.out_features == V


def test_convolutional_settings_reach_their_parts():
    model = convolutional_translator(
        SOURCE_SIZE, V, kernel_size=5, encoder_dilations=[1, 2], decoder_dilations=[3], **SMALL
    )
    assert model.encoder.receptive_field == 1 + 4 + 8
    assert isinstance(model.decoder, ConvolutionalDecoder)
    assert [block.reach for block in model.decoder.blocks] == [4 * 3]
    assert model.encoder.dropout == model.decoder.dropout == 0.2
    assert model.max_length == model.decoder.max_length == len(model.encoder.positions.table) == 11
    batch = collate(PAIRS)
    with record(model) as trace:
        model(batch)
    assert trace.joined("decoder.attentions.0", "weights").shape == (3, 5, 7)


@pytest.mark.parametrize("build", [recurrent_translator, convolutional_translator])
def test_a_recipe_can_spell_the_settings(build):
    given = inspect.signature(build).parameters.values()
    settings = {one.name: one.default for one in given if one.default is not one.empty}
    assert [one.name for one in given if one.default is one.empty] == ["source_size", "target_size"]
    assert json.loads(json.dumps(settings)) == settings
    settings.update(embedding_size=E, hidden_size=U)
    assert isinstance(build(SOURCE_SIZE, V, **settings), nn.Module)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"attention": "bahdanau", "cell": "lstm"},
            "attention 'bahdanau' needs cell 'gru' and num_layers 1, got 'lstm' and 1",
        ),
        (
            {"attention": "bahdanau", "num_layers": 2},
            "attention 'bahdanau' needs cell 'gru' and num_layers 1, got 'gru' and 2",
        ),
        (
            {"attention": "luong", "repeat_summary": True},
            "repeat_summary must",
        ),
        ({"hidden_size": 7}, r"hidden_size must"),
    ],
)
def test_refuses_what_does_not_go_together(settings, message):
    with pytest.raises(ValueError, match=message):
        recurrent(**settings)


def test_a_convolution_that_looks_both_ways_has_a_middle():
    with pytest.raises(ValueError, match="kernel_size must"):
        convolutional_translator(SOURCE_SIZE, V, **{**SMALL, "kernel_size": 4})
