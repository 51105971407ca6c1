"""Decoders: against torch.nn, against the papers written as loops, and with every attention."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.batches.pairs import Batch, collate
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.search import greedy
from gates2heads.layers.attention.hard import HardAttention, reinforce_loss
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.scores import AdditiveScore, DotScore, GeneralScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.record import record
from gates2heads.models.translation.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    LuongDecoder,
    PlainDecoder,
)
from gates2heads.models.translation.encoders import ConvolutionalEncoder, RecurrentEncoder
from gates2heads.models.translation.seq2seq import Decoder, SequenceToSequence
from gates2heads.models.translation.writer import DecoderState
from gates2heads.training.losses import sequence_loss

SOURCE_SIZE, V, E, U, LAYERS = 17, 13, 5, 14, 2
BOS, EOS = Vocabulary.bos, Vocabulary.eos
PAIRS = [
    ([3, 9, 16, 5, 11, 4, EOS], [3, 12, 7, EOS]),
    ([8, EOS], [5, 5, 11, 9, EOS]),
    ([7, 3, 3, 14, EOS], [4, EOS]),
]
TWINS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
ATTENTIONS = {
    "soft": lambda: Attention(AdditiveScore(U, U)),
    "hard": lambda: HardAttention(DotScore(U, U)),
    "monotonic": lambda: LocalAttention(GeneralScore(U, U), 1),
    "predictive": lambda: LocalAttention(DotScore(U, U), 2, predictive=True),
}
DECODERS = {
    "plain": lambda: PlainDecoder(V, E, U, num_layers=LAYERS),
    "plain lstm": lambda: PlainDecoder(V, E, U, cell="lstm"),
    "cho": lambda: ChoDecoder(V, E, U),
    "cho lstm": lambda: ChoDecoder(V, E, U, cell="lstm", num_layers=LAYERS),
    "luong": lambda: LuongDecoder(V, E, U, ATTENTIONS["soft"](), num_layers=LAYERS),
    "luong hard": lambda: LuongDecoder(V, E, U, ATTENTIONS["hard"](), cell="rnn"),
    "luong monotonic": lambda: LuongDecoder(V, E, U, ATTENTIONS["monotonic"](), cell="gru"),
    "luong unfed": lambda: LuongDecoder(V, E, U, ATTENTIONS["soft"](), input_feeding=False),
    "bahdanau": lambda: BahdanauDecoder(V, E, U, ATTENTIONS["soft"]()),
    "bahdanau hard": lambda: BahdanauDecoder(V, E, U, ATTENTIONS["hard"](), reset_after=True),
    "bahdanau predictive": lambda: BahdanauDecoder(V, E, U, ATTENTIONS["predictive"]()),
}
pairs_of = st.lists(
    st.tuples(
        st.lists(st.integers(3, SOURCE_SIZE - 1), max_size=6).map(lambda text: [*text, EOS]),
        st.lists(st.integers(3, V - 1), max_size=6).map(lambda text: [*text, EOS]),
    ),
    min_size=1,
    max_size=4,
)


def build(kind, encoder="gru"):
    torch.manual_seed(3)
    if encoder == "convolutional":
        reader = ConvolutionalEncoder(SOURCE_SIZE, E, U)
    else:
        reader = RecurrentEncoder(SOURCE_SIZE, E, U, cell=encoder, bidirectional=True)
    return SequenceToSequence(reader, DECODERS[kind](), max_length=31).double().eval()


@pytest.mark.parametrize("cell", TWINS)
def test_plain_agrees_with_torch_run_along_the_whole_target(cell, parity):
    decoder = PlainDecoder(V, E, U, cell=cell, num_layers=LAYERS)
    model = SequenceToSequence(RecurrentEncoder(SOURCE_SIZE, E, U), decoder).double()
    twin = TWINS[cell](E, U, LAYERS, batch_first=True).double()
    twin.load_state_dict(decoder.recurrent.state_dict())
    batch = collate(PAIRS)
    _, summary = model.encoder(batch.source, mask=batch.source_mask)
    # Rows of the bridge: hidden of layer 0, hidden of layer 1, and the same for the cell.
    rows = torch.tanh(decoder.bridge(summary)).split(U, dim=1)
    first = torch.stack(rows[:LAYERS])
    if cell == "lstm":
        first = (first, torch.stack(rows[LAYERS:]))
    outputs, _ = twin(decoder.embedding(batch.target_in), first)
    logits, expected = model(batch), decoder.readout(outputs)
    assert logits.shape == (3, 5, V)
    direction = torch.randn_like(logits)
    shared = [decoder.embedding.weight, decoder.bridge.weight, model.encoder.embedding.weight]
    ours = torch.autograd.grad(
        (logits * direction).sum(), [*shared, *decoder.recurrent.parameters()]
    )
    named = dict(twin.named_parameters())
    theirs = torch.autograd.grad(
        (expected * direction).sum(),
        [*shared, *(named[name] for name, _ in decoder.recurrent.named_parameters())],
    )
    parity(
        "PlainDecoder",
        f"nn.{TWINS[cell].__name__} all at once",
        ([logits], [expected]),
        (ours, theirs),
    )


def larger_of_pairs(t):
    return torch.stack([torch.maximum(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])


def slow_cho(w, states, summary, target_in):
    """Cho et al. 2014, appendix A.1.2, one vector at a time, on nn.GRUCell; `states` is unread."""
    cell = nn.GRUCell(E + U, U).double()
    own = {name: w[f"recurrent.{name}_l0"] for name, _ in cell.named_parameters()}
    h = torch.tanh(w["bridge.weight"] @ summary + w["bridge.bias"])
    logits = []
    for number in target_in:
        y = w["embedding.weight"][number]
        h = torch.func.functional_call(cell, own, (torch.cat([y, summary]), h))
        o_h, o_y, o_c = w["combine.weight"].split([U, E, U], dim=1)
        read = larger_of_pairs(o_h @ h + o_y @ y + o_c @ summary + w["combine.bias"])
        logits.append(w["readout.weight"] @ read + w["readout.bias"])
    return torch.stack(logits)


def slow_bahdanau(w, states, summary, target_in):
    """Bahdanau et al. 2015, appendix A, one vector at a time; Z keeps the old state."""
    s = torch.tanh(w["bridge.weight"] @ summary + w["bridge.bias"])
    logits = []
    for number in target_in:
        y = w["embedding.weight"][number]
        energy = [
            w["attention.score.vector.weight"][0]
            @ torch.tanh(
                w["attention.score.query_layer.weight"] @ s
                + w["attention.score.key_layer.weight"] @ h
            )
            for h in states
        ]
        alpha = torch.stack(energy).softmax(0)
        c = sum(a * h for a, h in zip(alpha, states, strict=True))
        wx, wh = w["cell.weight_ih"].chunk(3), w["cell.weight_hh"].chunk(3)
        bias = (w["cell.bias_ih"] + w["cell.bias_hh"]).chunk(3)
        to = [m[:, :E] @ y + m[:, E:] @ c + b for m, b in zip(wx, bias, strict=True)]
        r, z = torch.sigmoid(to[0] + wh[0] @ s), torch.sigmoid(to[1] + wh[1] @ s)
        s = z * s + (1 - z) * torch.tanh(to[2] + wh[2] @ (r * s))
        u, v, o = w["combine.weight"].split([U, E, U], dim=1)
        maxout = larger_of_pairs(u @ s + v @ y + o @ c + w["combine.bias"])
        logits.append(w["readout.weight"] @ maxout + w["readout.bias"])
    return torch.stack(logits)


def slow_luong(w, states, summary, target_in):
    """Luong et al. 2015, eq. 5–6 and section 3.3, on two layers of nn.LSTMCell, general score."""
    cells = [nn.LSTMCell(E + U, U).double(), nn.LSTMCell(U, U).double()]
    rows = torch.tanh(w["bridge.weight"] @ summary + w["bridge.bias"]).split(U)
    hidden, kept, fed = list(rows[:2]), list(rows[2:]), torch.zeros(U).double()
    logits = []
    for number in target_in:
        x = torch.cat([w["embedding.weight"][number], fed])
        for layer, cell in enumerate(cells):
            own = {name: w[f"recurrent.{name}_l{layer}"] for name, _ in cell.named_parameters()}
            state = (hidden[layer][None], kept[layer][None])
            h, c = torch.func.functional_call(cell, own, (x[None], state))
            hidden[layer], kept[layer] = h[0], c[0]
            x = hidden[layer]
        align = torch.stack([x @ w["attention.score.bilinear.weight"] @ h for h in states]).softmax(
            0
        )
        context = sum(a * h for a, h in zip(align, states, strict=True))
        fed = torch.tanh(w["combine.weight"] @ torch.cat([context, x]))
        logits.append(w["readout.weight"] @ fed + w["readout.bias"])
    return torch.stack(logits)


@pytest.mark.parametrize("slow", [slow_cho, slow_bahdanau, slow_luong])
def test_decoders_are_the_papers_loops(slow, parity):
    if slow is slow_cho:
        decoder = ChoDecoder(V, E, U, maxout_size=7)
    elif slow is slow_bahdanau:
        decoder = BahdanauDecoder(V, E, U, Attention(AdditiveScore(U, U)), maxout_size=7)
    else:
        decoder = LuongDecoder(V, E, U, Attention(GeneralScore(U, U)), num_layers=2)
    model = SequenceToSequence(RecurrentEncoder(SOURCE_SIZE, E, U), decoder).double()
    batch, names = collate(PAIRS), [name for name, _ in decoder.named_parameters()]
    logits = model(batch)
    w = {n: p.detach().clone().requires_grad_() for n, p in decoder.named_parameters()}
    ours, theirs = [], []
    for row, (source, target) in enumerate(PAIRS):
        one = torch.tensor([source])
        states, summary = model.encoder(one, mask=torch.ones_like(one).bool())
        theirs.append(slow(w, states[0], summary[0], [BOS, *target[:-1]]))
        ours.append(logits[row, : len(target)])
    directions = [torch.randn_like(rows) for rows in ours]
    reads = model.encoder.embedding.weight
    losses = [
        sum((r * d).sum() for r, d in zip(rows, directions, strict=True)) for rows in (ours, theirs)
    ]
    mine = torch.autograd.grad(losses[0], [*decoder.parameters(), reads])
    other = torch.autograd.grad(losses[1], [*(w[name] for name in names), reads])
    parity(type(decoder).__name__, "the paper as loops over vectors", (ours, theirs), (mine, other))


@pytest.mark.parametrize("kind", DECODERS)
@settings(max_examples=10)
@given(pairs=pairs_of)
def test_step_by_step_is_forward_and_padding_counts_for_nothing(kind, pairs):
    model, batch = build(kind), collate(pairs)
    with torch.no_grad():
        whole = model(batch).log_softmax(-1)
        state = model.start(batch.source, mask=batch.source_mask)
        for t in range(batch.target_in.shape[1]):
            log_probs, state = model.step(state, batch.target_in[:, t])
            torch.testing.assert_close(log_probs, whole[:, t])
            assert state.steps.tolist() == [t + 1] * len(pairs)
        for row, pair in enumerate(pairs):
            alone = model(collate([pair])).log_softmax(-1)[0]
            torch.testing.assert_close(whole[row, : len(pair[1])], alone)


@pytest.mark.parametrize("kind", DECODERS)
def test_no_step_sees_a_later_token_and_every_step_sees_the_source(kind):
    model, batch = build(kind), collate([([3, 4, 5, EOS], [6, 7, 8, EOS])])
    tables = model.decoder.embedding.weight, model.encoder.embedding.weight
    logits = model(batch)
    for t in range(4):
        target, source = torch.autograd.grad(logits[0, t].square().sum(), tables, retain_graph=True)
        seen = target.abs().sum(1).nonzero()[:, 0].tolist()
        assert seen == batch.target_in[0, : t + 1].tolist()
        assert set(source.abs().sum(1).nonzero()[:, 0].tolist()) == {2, 3, 4, 5}


@pytest.mark.parametrize("kind", DECODERS)
def test_free_running_is_teacher_forcing_on_its_own_output(kind):
    model, batch = build(kind), collate(PAIRS)
    logits = model(batch, forced=0.0)
    own = logits.argmax(-1)
    shifted = torch.cat([batch.target_in[:, :1], own[:, :-1]], dim=1)
    assert not torch.equal(shifted, batch.target_in)
    torch.testing.assert_close(model(Batch(**{**vars(batch), "target_in": shifted})), logits)
    state = model.start(batch.source, mask=batch.source_mask)
    bos = torch.full((3,), BOS)
    unused = next(token for token in range(V) if token not in own)  # so that no row ends
    output = greedy(model.step, state, bos=bos, eos=unused, max_length=5)
    assert torch.equal(output.tokens, own)


@pytest.mark.parametrize("kind", [k for k in DECODERS if "monotonic" in k or "predictive" in k])
def test_local_attention_moves_on_with_the_steps(kind):
    model, batch = build(kind), collate([([3, 4, 5, 6, 7, 8, 9, EOS], [3, 4, 5, 6, 7, EOS])])
    with record(model) as trace:
        model(batch)
    weights = trace.joined("decoder.attention", "weights")[0]  # (T, S)
    centre = trace.joined("decoder.attention", "centre")[0]
    window = model.decoder.attention.window
    if "monotonic" in kind:
        assert centre.tolist() == [0, 1, 2, 3, 4, 5]
    near = (torch.arange(8) - centre[:, None]).abs() <= window
    assert torch.equal(weights > 0, near)


@pytest.mark.parametrize("kind", [k for k in DECODERS if "hard" in k])
def test_hard_attention_draws_once_a_step_and_learns_from_the_reward(kind):
    model, batch = build(kind).train(), collate(PAIRS)
    attention = model.decoder.attention
    with attention.choices() as choices, record(model) as trace:
        logits = model(batch)
    assert len(choices) == 5
    picked = trace.joined("decoder.attention", "picked")
    assert picked.shape == (3, 5, 7)
    assert ((picked == 0) | (picked == 1)).all()
    assert (picked.sum(-1) == 1).all()
    reward = logits.log_softmax(-1).gather(2, batch.target_out[..., None]).sum((1, 2)).detach()
    reinforce_loss(reward, choices, mask=batch.target_mask).backward()
    assert model.encoder.embedding.weight.grad.abs().sum() > 0


def test_input_feeding_feeds_and_without_it_nothing_is_fed():
    fed, unfed, batch = build("luong"), build("luong unfed"), collate(PAIRS)
    state = fed.start(batch.source, mask=batch.source_mask)
    assert torch.equal(state.attentional_state, torch.zeros(3, U).double())
    log_probs, state = fed.step(state, torch.tensor([BOS] * 3))
    # What was fed is what the readout read.
    fed_again = fed.decoder.readout(state.attentional_state)
    torch.testing.assert_close(fed_again.log_softmax(-1), log_probs)
    changed = state._replace(attentional_state=state.attentional_state + 1)
    last = torch.tensor([3, 4, 5])
    assert not torch.allclose(fed.step(state, last)[0], fed.step(changed, last)[0])
    assert unfed.start(batch.source).attentional_state.shape == (3, 0)


@pytest.mark.parametrize("encoder", ["rnn", "gru", "lstm", "convolutional"])
@pytest.mark.parametrize("kind", ["plain", "plain lstm", "cho", "luong", "bahdanau"])
def test_every_encoder_goes_with_every_decoder(encoder, kind):
    model, batch = build(kind, encoder).train(), collate(PAIRS)
    before = sequence_loss(model, batch)
    before.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.sub_(0.05 * parameter.grad)
    assert sequence_loss(model, batch) < before


def test_the_older_parts_fit_the_frame_too():
    model = SequenceToSequence(RecurrentEncoder(SOURCE_SIZE, E, U), PlainDecoder(V, E, U))
    other = SequenceToSequence(RecurrentEncoder(SOURCE_SIZE, E, U), Decoder(V, E, U))
    for one in (model, other):
        assert one(collate(PAIRS)).shape == (3, 5, V)


@pytest.mark.parametrize("kind", ["plain lstm", "luong", "bahdanau"])
def test_runs_in_mixed_precision(kind):
    model, batch = build(kind).float(), collate(PAIRS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = sequence_loss(model, batch)
    torch.testing.assert_close(loss, sequence_loss(model, batch), rtol=0.05, atol=0.05)
    loss.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("kind", DECODERS)
def test_a_source_without_a_real_token_gives_finite_numbers(kind):
    model = build(kind)
    mask = torch.tensor([[False, False], [True, True]])
    state = model.start(torch.tensor([[3, 4], [5, 6]]), mask=mask)
    log_probs, _ = model.step(state, torch.tensor([BOS, BOS]))
    log_probs[:, 0].sum().backward()
    assert log_probs.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_dropout_is_for_training_alone():
    soft = ATTENTIONS["soft"]
    for decoder in (
        PlainDecoder(V, E, U, dropout=0.5),
        ChoDecoder(V, E, U, dropout=0.5),
        LuongDecoder(V, E, U, soft(), dropout=0.5),
        BahdanauDecoder(V, E, U, soft(), dropout=0.5),
    ):
        model, batch = (
            SequenceToSequence(RecurrentEncoder(SOURCE_SIZE, E, U), decoder),
            collate(PAIRS),
        )
        assert not torch.equal(model(batch), model(batch))
        model.eval()
        assert torch.equal(model(batch), model(batch))


def test_refuses_parts_that_do_not_fit_each_other():
    for build_ in (LuongDecoder, BahdanauDecoder):
        with pytest.raises(ValueError, match=r"keys of hidden_size 14, got \(14, 3\)"):
            build_(V, E, U, Attention(AdditiveScore(U, 3)))
    encoder, decoder = RecurrentEncoder(SOURCE_SIZE, E, U), PlainDecoder(V, E, U)
    for given_, error, message in [
        ((nn.Linear(2, 3), decoder), TypeError, "encoder must"),
        ((encoder, encoder), TypeError, "decoder must"),
        (
            (encoder, PlainDecoder(V, E, 7)),
            ValueError,
            "encoder and decoder must have the same hidden_size, got 14 and 7",
        ),
    ]:
        with pytest.raises(error, match=message):
            SequenceToSequence(*given_)


@pytest.mark.parametrize("kind", ["plain", "luong", "bahdanau"])
def test_refuses_steps_that_do_not_fit(kind):
    model = build(kind)
    state = model.start(torch.tensor([[3, 4], [5, 6]]))
    assert isinstance(state, DecoderState)
    with pytest.raises(ValueError, match="last_tokens must"):
        model.step(state, torch.tensor([BOS]))
    with pytest.raises(TypeError, match="state must"):
        model.step(None, torch.tensor([1]))
    with pytest.raises(ValueError, match="source must"):
        model.start(torch.full((1, 32), 3))
