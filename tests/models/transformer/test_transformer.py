"""The whole Transformer: beside Marian of 🤗 transformers, step by step, and under the searches."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.batches.pairs import collate
from gates2heads.decoding.search import greedy
from gates2heads.decoding.state import select
from gates2heads.layers.masks import causal_mask
from gates2heads.layers.positions import sinusoids
from gates2heads.layers.record import record
from gates2heads.layers.transformer_layers import DECODER_NAMES, ENCODER_NAMES, rename
from gates2heads.models.transformer.transformer import Transformer, TransformerState
from gates2heads.models.transformer.universal import UniversalTransformer

V, W, D, H, HIDDEN, DEPTH = 17, 19, 12, 3, 23, 2
SIZES = {
    "d_model": D,
    "nhead": H,
    "num_encoder_layers": DEPTH,
    "num_decoder_layers": DEPTH + 1,
    "dim_feedforward": HIDDEN,
    "dropout": 0.0,
}
FORMS = {
    "pre-norm": {},
    "post-norm": {"norm_first": False},
    "untied": {"tie": None},
    "learned": {"positions": "learned", "max_length": 29},
    "rms": {"norm": "rms", "activation": "silu"},
    "rotary": {"rotary": True},
}
families = pytest.mark.parametrize("family", [Transformer, UniversalTransformer])
forms = pytest.mark.parametrize("form", FORMS)


def build(family=Transformer, form="pre-norm", **options):
    torch.manual_seed(7)
    return family(V, W, **{**SIZES, **FORMS[form], **options}).double()


def example(lengths=((5, 7), (2, 3), (11, 1)), seed=0):
    generator = torch.Generator().manual_seed(seed)

    def draw(size, length):
        return torch.randint(4, size, (length,), generator=generator).tolist()

    return collate([(draw(V, source), draw(W, target)) for source, target in lengths])


def step_through(model, batch):
    state = model.start(batch.source, mask=batch.source_mask)
    rows = []
    for last_tokens in batch.target_in.unbind(1):
        log_probs, state = model.step(state, last_tokens)
        rows.append(log_probs)
    return torch.stack(rows, dim=1), state


@families
@forms
def test_cached_steps_equal_teacher_forcing(family, form):
    model, batch = build(family, form), example()
    log_probs, state = step_through(model, batch)
    mask = batch.target_mask
    torch.testing.assert_close(log_probs[mask], model(batch).log_softmax(-1)[mask])
    assert len(state.past) == len(state.memory) == DEPTH + 1
    assert state.past[0].keys.shape == (3, H, 7, D // H)
    assert state.memory[0].keys.shape == (3, H, 11, D // H)


@families
@forms
def test_recorded_equals_unrecorded(family, form):
    model, batch = build(family, form), example()
    expected = model(batch)
    with record(model) as trace:
        logits = model(batch)
    torch.testing.assert_close(logits, expected)
    rounds = DEPTH if family is UniversalTransformer else 1
    weights = trace["encoder_layers.0.self_attn"]["weights"]
    assert [tuple(noted.shape) for noted in weights] == [(3, H, 11, 11)] * rounds
    cross = trace["decoder_layers.0.cross_attn"]["weights"][0]
    assert cross.shape == (3, H, 7, 11)
    assert not cross.masked_select(~batch.source_mask[:, None, None]).any()
    torch.testing.assert_close(cross.sum(-1), torch.ones(3, H, 7).double())


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # a short cut it cannot take
def test_pre_norm_equals_torch(parity):
    """The stacks, their last norms included, beside nn.Transformer between our tables."""
    model, batch = build(), example()
    twin = nn.Transformer(
        D, H, DEPTH, DEPTH + 1, HIDDEN, 0.0, norm_first=True, batch_first=True
    ).double()
    stacks = (
        (model.encoder_layers, twin.encoder, ENCODER_NAMES),
        (model.decoder_layers, twin.decoder, DECODER_NAMES),
    )
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    for layers, stack, names in stacks:
        for layer, other in zip(layers, stack.layers, strict=True):
            layer.load_state_dict(rename(other.state_dict(), names))
    model.encoder_norm.load_state_dict(twin.encoder.norm.state_dict())
    model.decoder_norm.load_state_dict(twin.decoder.norm.state_dict())

    def enter(tokens, table):
        vectors = table[tokens] * math.sqrt(D)
        return vectors + sinusoids(torch.arange(tokens.shape[1]).double(), D)

    vectors = twin(
        enter(batch.source, model.source_table),
        enter(batch.target_in, model.target_table),
        tgt_mask=~causal_mask(batch.target_in.shape[1]),
        src_key_padding_mask=~batch.source_mask,
        memory_key_padding_mask=~batch.source_mask,
    )
    tables = [model.source_table, model.target_table]
    results = []
    for module, logits in (
        (model, model(batch)),
        (twin, vectors @ model.target_table.T + model.readout_bias),
    ):
        loss = logits.log_softmax(-1)[..., 5].sum()
        norms = [
            *(module.encoder_norm if module is model else module.encoder.norm).parameters(),
            *(module.decoder_norm if module is model else module.decoder.norm).parameters(),
        ]
        results.append(([logits], torch.autograd.grad(loss, tables + norms)))
    parity("Transformer, pre-norm", "nn.Transformer", *zip(*results, strict=True))


@families
@given(step=st.integers(0, 6), seed=st.integers(0, 1000))
def test_no_position_sees_a_later_token(family, step, seed):
    model, batch = build(family), example(seed=seed)
    changed = batch.target_in.clone()
    changed[:, step] = (changed[:, step] + 1) % W
    other = type(batch)(
        batch.source, batch.source_mask, changed, batch.target_out, batch.target_mask
    )
    moved = (model(batch) - model(other)).abs().amax((0, 2)) > 1e-12
    assert not moved[:step].any()
    assert moved[step]


@families
@given(extra=st.integers(1, 4), seed=st.integers(0, 1000))
def test_padding_changes_nothing(family, extra, seed):
    """A pair alone and the same pair beside a longer one."""
    model = build(family)
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(4, V, (5,), generator=generator).tolist()
    target = torch.randint(4, W, (3,), generator=generator).tolist()
    alone = model(collate([(source, target)]))
    longer = ([4] * (5 + extra), [4] * (3 + extra))
    together = model(collate([(source, target), longer]))
    torch.testing.assert_close(together[:1, :3], alone)
    padded = torch.tensor([source + [0] * extra])
    mask = torch.arange(5 + extra)[None] < 5
    log_probs, _ = model.step(model.start(padded, mask=mask), torch.tensor([5]))
    expected, _ = model.step(model.start(torch.tensor([source])), torch.tensor([5]))
    torch.testing.assert_close(log_probs, expected)


@families
@given(order=st.permutations(range(3)))
def test_rows_of_the_state_can_be_reordered(family, order):
    """What a search does with the state; the past is copied only when it grows."""
    model, batch = build(family), example()
    state = model.start(batch.source, mask=batch.source_mask)
    _, state = model.step(state, batch.target_in[:, 0])
    expected, _ = model.step(state, batch.target_in[:, 1])
    moved = select(state, torch.tensor(order), 3)
    assert moved.past is state.past
    shuffled, _ = model.step(moved, batch.target_in[order, 1])
    torch.testing.assert_close(shuffled, expected[order])


@families
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_order_matters_through_the_positions_alone(family, positions):
    model = build(family, positions=positions)
    source = torch.tensor([[4, 9, 13, 5]])
    order = [2, 0, 3, 1]
    vectors = model.encode(source)
    assert not torch.allclose(model.encode(source[:, order]), vectors[:, order])
    model._add_positions = lambda vectors, positions, **where: vectors
    torch.testing.assert_close(model.encode(source[:, order]), model.encode(source)[:, order])
    turned = build(family, "rotary")
    turned._add_positions = model._add_positions
    assert not torch.allclose(turned.encode(source[:, order]), turned.encode(source)[:, order])


def test_ties():
    free, target, every = (Transformer(V, V, **SIZES, tie=tie) for tie in (None, "target", "all"))
    counts = [sum(p.numel() for p in model.parameters()) for model in (free, target, every)]
    assert counts[0] - counts[1] == counts[1] - counts[2] == V * D
    assert len(every.state_dict()) == len({t.data_ptr() for t in every.state_dict().values()})
    tokens = torch.tensor([[5, 6]])
    every(collate([([5], [6])])).sum().backward()
    assert every.target_table.grad[5].any()  # as a source token
    before = every.encode(tokens)
    with torch.no_grad():
        every.target_table += 1.0
    assert not torch.allclose(every.encode(tokens), before)


def test_the_scale_of_embeddings():
    model = build(d_model=96, nhead=2)
    entries = model._embed(torch.arange(W)[None], model.target_table)
    assert entries.std().item() == pytest.approx(1, abs=0.1)  # like sines and cosines
    assert model.target_table.std().item() == pytest.approx(1 / math.sqrt(96), rel=0.1)


def test_a_universal_transformer_has_one_layer_and_runs_it_again():
    model = build(UniversalTransformer)
    assert len(model.encoder_layers) == len(model.decoder_layers) == 1
    deeper = build(UniversalTransformer, num_encoder_layers=5, num_decoder_layers=5)
    assert sum(p.numel() for p in model.parameters()) == sum(p.numel() for p in deeper.parameters())
    deeper.load_state_dict(model.state_dict())
    source = torch.tensor([[4, 9, 13]])
    assert not torch.allclose(model.encode(source), deeper.encode(source))


@pytest.mark.parametrize("family", [Transformer, UniversalTransformer])
def test_dropout_falls_on_the_embeddings_once(family):
    """With no dropout in the layers, what is left is that on the embeddings: half are zero."""
    model, seen = build(family, dropout=0.5), []
    for layer in [*model.encoder_layers, *model.decoder_layers]:
        for part in layer.modules():
            part.dropout = 0.0
    model.encoder_layers[0].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    source = torch.full((1, 97), 4)
    model.train()
    model.encode(source)
    assert (seen[0] == 0).float().mean().item() == pytest.approx(0.5, abs=0.1)
    if family is UniversalTransformer:  # the same layer again: nothing is dropped from then on
        assert not (seen[1] == 0).any()
    dropped, seen[:] = seen[0], []
    model.eval()
    model.encode(source)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * seen[0][kept])


def test_universal_rounds_by_hand():
    """Dehghani et al. 2019: add position and round, then apply the layer, twice."""
    model = build(UniversalTransformer)
    source = torch.tensor([[4, 9, 13]])
    vectors = model.source_table[source] * math.sqrt(D)
    for depth in range(DEPTH):
        for place in range(3):
            for dim in range(D):
                rate = 10000 ** (-2 * (dim // 2) / D)
                wave = math.cos if dim % 2 else math.sin
                with torch.no_grad():
                    vectors[0, place, dim] += wave(place * rate) + wave(depth * rate)
        vectors = model.encoder_layers[0](vectors).detach()
    torch.testing.assert_close(
        model.encode(source), model.encoder_norm(vectors), atol=1e-5, rtol=1e-5
    )


def test_greedy_search_writes_the_likeliest_tokens():
    model, batch = build(), example()
    state = model.start(batch.source, mask=batch.source_mask)
    output = greedy(model.step, state, bos=torch.full((3,), 2), eos=W - 1, max_length=5)
    given_tokens = torch.cat([torch.full((3, 1), 2), output.tokens[:, :-1]], dim=1)
    forced = type(batch)(
        batch.source, batch.source_mask, given_tokens, output.tokens, output.tokens >= 0
    )
    best = model(forced).argmax(-1)
    for row in range(3):
        ends = (output.tokens[row] == W - 1).nonzero().flatten().tolist()
        length = ends[0] + 1 if ends else output.tokens.shape[1]
        assert torch.equal(best[row, :length], output.tokens[row, :length])


def test_dropout_only_while_training():
    model, batch = build(dropout=0.5), example()
    assert not torch.equal(model(batch), model(batch))
    model.eval()
    assert torch.equal(model(batch), model(batch))


def test_half_precision():
    model, batch = build().float(), example()
    expected = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(batch)
    torch.testing.assert_close(logits.float(), expected, atol=0.2, rtol=0.1)


MODEL = build()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Transformer(V, W, nhead=7), "num_heads must"),
        (lambda: Transformer(V, W, tie="all"), "tie 'all' needs one vocabulary for so"),
        (
            lambda: MODEL.start(torch.zeros(1, 513).long()),
            "source must",
        ),
        (
            lambda: MODEL.step(MODEL.start(torch.tensor([[4]])), torch.tensor([1, 2])),
            r"last_tokens must",
        ),
        (
            lambda: build(max_length=3)(collate([([4], [5] * 4)])),
            "target_in must",
        ),
    ],
)
def test_arguments_that_do_not_go_together(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_batch():
    batch = example()
    uneven = type(batch)(
        batch.source, batch.source_mask, batch.target_in[:2], batch.target_out, batch.target_mask
    )
    with pytest.raises(ValueError, match="source and target_in must agree in batch, got 3 and 2"):
        MODEL(uneven)
    assert isinstance(MODEL.start(batch.source), TransformerState)
