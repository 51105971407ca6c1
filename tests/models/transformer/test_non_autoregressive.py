"""All tokens at once: against torch.nn without a causal mask, and what independence costs."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.batches.pairs import Batch, collate, pad
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.beam import beam
from gates2heads.decoding.search import greedy
from gates2heads.layers.transformer_layers import DECODER_NAMES, ENCODER_NAMES, rename
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.models.transformer.non_autoregressive import (
    NonAutoregressiveLanguageModel,
    NonAutoregressiveTransformer,
    SlotsState,
)
from gates2heads.training.losses import sequence_loss

SOURCE_SIZE, V, D, H, F, LAYERS, SLOTS = 17, 13, 22, 11, 19, 2, 7
BOS, EOS = Vocabulary.bos, Vocabulary.eos
PAIRS = [
    ([3, 9, 16, 5, 11, 4, EOS], [3, 12, 7, EOS]),
    ([8, EOS], [5, 5, 11, 9, EOS]),
    ([7, 3, 3, 14, EOS], [4, EOS]),
]
SIZES = {"d_model": D, "nhead": H, "dim_feedforward": F, "dropout": 0.0}


def language_model(**options):
    torch.manual_seed(3)
    sizes = {**SIZES, "num_layers": LAYERS, "max_length": SLOTS}
    return NonAutoregressiveLanguageModel(V, **{**sizes, **options}).double()


def translator(**options):
    torch.manual_seed(3)
    sizes = {**SIZES, "num_encoder_layers": 1, "num_decoder_layers": LAYERS, "slots": SLOTS}
    return NonAutoregressiveTransformer(SOURCE_SIZE, V, **{**sizes, **options}).double()


def shared_gradients(pairs, names):
    """(ours, theirs) of layers whose parameters go by other names."""
    gradients = []
    for ours, theirs in pairs:
        renamed = rename({name: p.grad for name, p in theirs.named_parameters()}, names)
        gradients += [(p.grad, renamed[name]) for name, p in ours.named_parameters()]
    return gradients


def test_language_model_agrees_with_nn_transformer_encoder_on_positions(parity):
    model = language_model(positions="learned")
    layer = nn.TransformerEncoderLayer(D, H, F, 0.0, norm_first=True, batch_first=True)
    twin = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).double()
    for parameter in twin.parameters():
        nn.init.normal_(parameter, std=0.3)
    for ours, theirs in zip(model.layers, twin.layers, strict=True):
        ours.load_state_dict(rename(theirs.state_dict(), ENCODER_NAMES))
    places = model.positions.table.detach().clone().requires_grad_()
    logits = model(collate([([EOS], target) for _, target in PAIRS]))
    # The last norm of a fresh model has a gain of 1 and no shift, and the readout no bias.
    vectors = twin(places[None])
    expected = nn.functional.layer_norm(vectors, (D,)) @ model.table.detach().T
    expected = expected[:, :5].expand(3, -1, -1)
    direction = torch.randn_like(logits)
    (logits * direction).sum().backward()
    (expected * direction).sum().backward()
    pairs = [(model.positions.table.grad, places.grad)]
    pairs += shared_gradients(zip(model.layers, twin.layers, strict=True), ENCODER_NAMES)
    parity(
        "NonAutoregressiveLanguageModel",
        "nn.TransformerEncoder on positions",
        ([logits], [expected]),
        tuple(zip(*pairs, strict=True)),
    )


def test_translator_agrees_with_nn_transformer_decoder_on_positions(parity):
    model = translator(positions="learned", norm_first=False)
    layer = nn.TransformerDecoderLayer(D, H, F, 0.0, batch_first=True)
    twin = nn.TransformerDecoder(layer, LAYERS).double()
    for parameter in twin.parameters():
        nn.init.normal_(parameter, std=0.3)
    for ours, theirs in zip(model.decoder_layers, twin.layers, strict=True):
        ours.load_state_dict(rename(theirs.state_dict(), DECODER_NAMES))
    batch = collate(PAIRS)
    places = model.target_positions.table.detach().clone().requires_grad_()
    logits = model(batch)
    memory = model.encode(batch.source, mask=batch.source_mask).detach()
    vectors = twin(
        places[:SLOTS].expand(3, -1, -1), memory, memory_key_padding_mask=~batch.source_mask
    )
    expected = (vectors @ model.target_table.detach().T)[:, :5]
    direction = torch.randn_like(logits)
    (logits * direction).sum().backward()
    (expected * direction).sum().backward()
    pairs = [(model.target_positions.table.grad, places.grad)]
    pairs += shared_gradients(zip(model.decoder_layers, twin.layers, strict=True), DECODER_NAMES)
    parity(
        "NonAutoregressiveTransformer",
        "nn.TransformerDecoder on positions",
        ([logits], [expected]),
        tuple(zip(*pairs, strict=True)),
    )


@settings(max_examples=10)
@given(
    texts=st.lists(
        st.lists(st.integers(3, V - 1), max_size=SLOTS - 1).map(lambda text: [*text, EOS]),
        min_size=1,
        max_size=5,
    )
)
def test_language_model_steps_scores_and_padding(texts):
    model = language_model()
    tokens, mask = pad(texts)
    with torch.no_grad():
        ours = model.log_probs(tokens, mask=mask)
        state = model.start(len(texts))
        for t in range(tokens.shape[1]):
            # What was written last changes nothing.
            log_probs, state = model.step(state, torch.randint(V, (len(texts),)))
            chosen = log_probs.gather(1, tokens[:, t, None])[:, 0].masked_fill(~mask[:, t], 0.0)
            torch.testing.assert_close(ours[:, t], chosen)
        for row, text in enumerate(texts):
            alone = model.log_probs(torch.tensor([text]))[0]
            torch.testing.assert_close(ours[row, : len(text)], alone)


@settings(max_examples=10)
@given(
    pairs=st.lists(
        st.tuples(
            st.lists(st.integers(3, SOURCE_SIZE - 1), min_size=1, max_size=9),
            st.lists(st.integers(3, V - 1), min_size=1, max_size=SLOTS),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_translator_steps_are_forward_and_neither_padding_nor_target_counts(pairs):
    model, batch = translator(), collate(pairs)
    with torch.no_grad():
        logits = model(batch)
        other = torch.full_like(batch.target_in, 6)
        assert torch.equal(logits, model(Batch(**{**vars(batch), "target_in": other})))
        state = model.start(batch.source, mask=batch.source_mask)
        for t in range(batch.target_in.shape[1]):
            log_probs, state = model.step(state, torch.randint(V, (len(pairs),)))
            torch.testing.assert_close(log_probs, logits[:, t].log_softmax(-1))
        for row, pair in enumerate(pairs):
            alone = model(collate([pair]))[0]
            torch.testing.assert_close(logits[row, : len(pair[1])], alone)


def test_every_slot_sees_every_slot_and_the_whole_source():
    model = translator(positions="learned")
    tables = model.target_positions.table, model.source_table
    batch = collate([([3, 4, 5, EOS], [6, EOS])])
    logits = model(batch)
    for t in range(2):
        slots, source = torch.autograd.grad(logits[0, t, 3], tables, retain_graph=True)
        assert slots.abs().sum(1).nonzero()[:, 0].tolist() == list(range(SLOTS))
        assert source.abs().sum(1).nonzero()[:, 0].tolist() == [2, 3, 4, 5]


def trained(model, texts):
    batch = collate([([EOS], text) for text in texts])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(120):
        optimiser.zero_grad()
        sequence_loss(model, batch).backward()
        optimiser.step()
    return model.eval()


def test_independence_mixes_two_texts_that_the_twin_keeps_apart():
    # Half of the texts are 3 4, half are 5 6. Slot by slot, 3 and 5, then 4 and 6, are even:
    # 3 4, 3 6, 5 4 and 5 6 each get 1/2 · 1/2, though two of them never occur.
    texts = [[3, 4, EOS], [5, 6, EOS]]
    every = torch.tensor([[3, 4, EOS], [3, 6, EOS], [5, 4, EOS], [5, 6, EOS]])
    at_once = trained(language_model(num_layers=1).float(), texts)
    probs = at_once.log_probs(every).sum(1).exp()
    torch.testing.assert_close(probs, torch.full((4,), 0.25), atol=0.02, rtol=0)
    in_turn = trained(RecurrentLanguageModel(V, embedding_size=7, hidden_size=11), texts)
    probs = in_turn.log_probs(every).sum(1).exp()
    torch.testing.assert_close(probs, torch.tensor([0.5, 0, 0, 0.5]), atol=0.02, rtol=0)
    # No model of independent slots can do better than the entropy of the slots: 2 log 2.
    bits = -at_once.log_probs(every[[0, 3]]).sum(1).mean().item() / math.log(2)
    assert bits == pytest.approx(2, abs=0.1)
    assert -in_turn.log_probs(every[[0, 3]]).sum(1).mean().item() / math.log(2) < 1.1


def test_a_trained_translator_writes_what_it_learned():
    model, batch = translator(num_decoder_layers=1).float(), collate(PAIRS)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        sequence_loss(model, batch).backward()
        optimiser.step()
    state = model.eval().start(batch.source, mask=batch.source_mask)
    output = greedy(model.step, state, bos=torch.tensor([BOS] * 3), eos=EOS, max_length=SLOTS)
    written = [[token for token in row if token] for row in output.tokens.tolist()]
    assert written == [target for _, target in PAIRS]


def test_refuses_what_does_not_fit():
    model, other = translator(), language_model()
    with pytest.raises(ValueError, match="target_in must"):
        model(collate([([3], [4] * 8)]))
    batch = collate(PAIRS)
    with pytest.raises(ValueError, match="source and target_in must agree in batch, got 3 and 2"):
        model(Batch(**{**vars(batch), "target_in": batch.target_in[:2]}))
    with pytest.raises(ValueError, match="target_in must"):
        model(Batch(**{**vars(batch), "target_in": batch.source[:, :5]}))
    with pytest.raises(ValueError, match="slots must"):
        translator(max_length=5)
    for one, first in ((model, model.start(torch.tensor([[3]]))), (other, other.start())):
        assert isinstance(first, SlotsState)
        state = first
        with pytest.raises(ValueError, match=r"^last_tokens must"):
            one.step(state, torch.tensor([1, 1]))
        for _ in range(SLOTS):
            _, state = one.step(state, torch.tensor([3]))
        with pytest.raises(ValueError, match="state must"):
            one.step(state, torch.tensor([3]))
    with pytest.raises(ValueError, match=r"^tokens must"):
        other.log_probs(torch.full((1, 8), 3))


@pytest.mark.parametrize("build", [translator, language_model])
def test_the_states_lie_where_the_model_lies_whatever_the_default_device(build):
    model, last = build(), torch.tensor([BOS] * 3)
    given = [torch.full((3, 5), 4)] if build is translator else [3]
    with torch.device("meta"):
        state = model.start(*given)
        log_probs, after = model.step(state, last)
    assert {part.device.type for part in (*state, log_probs, *after)} == {"cpu"}
    texts = 3 if build is translator else 1
    assert [tuple(part.shape) for part in state] == [(3,), (texts, SLOTS, V), (3,)]


@given(width=st.integers(1, 5), seed=st.integers(0, 99))
def test_a_beam_copies_no_slots_and_finds_what_it_finds_with_copies(width, seed):
    model = translator()
    torch.nn.init.normal_(model.readout_bias, generator=torch.Generator().manual_seed(seed))
    batch = collate(PAIRS)
    with torch.no_grad():
        first = model.start(batch.source, mask=batch.source_mask)
    seen = []

    def step(state, last_tokens):
        seen.append(state.log_probs)
        return model.step(state, last_tokens)

    def copying(state, last_tokens):
        slots, steps = state
        return slots[:, int(steps[0])], (slots, steps + 1)

    options = {"bos": torch.tensor([BOS] * 3), "eos": EOS, "max_length": SLOTS, "width": width}
    ours = beam(step, first, **options).best()
    theirs = beam(copying, (first.log_probs, first.steps), **options).best()
    assert torch.equal(ours.tokens, theirs.tokens)
    assert all(slots is first.log_probs for slots in seen)
