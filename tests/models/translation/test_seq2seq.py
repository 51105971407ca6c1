"""The encoder–decoder: against one put together from torch.nn, and against the papers in loops."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from gates2heads.data.batches.pairs import Batch, collate
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.search import greedy
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.record import record
from gates2heads.models.translation.seq2seq import DecoderState, EncoderDecoder
from gates2heads.training.losses import sequence_loss

SOURCE_SIZE, TARGET_SIZE, E, U = 17, 13, 5, 14  # 14 = 2 · 7: the width must be even
BOS, EOS = Vocabulary.bos, Vocabulary.eos
KINDS = [None, *SCORES]
PAIRS = [
    ([3, 9, 16, 5, 11, 4, EOS], [3, 12, 7, EOS]),
    ([8, EOS], [5, 5, 11, 9, EOS]),
    ([7, 3, 3, 14, EOS], [4, EOS]),
]


def build(score="additive", *, seed=3):
    torch.manual_seed(seed)
    sizes = {"embedding_size": E, "hidden_size": U}
    return EncoderDecoder(SOURCE_SIZE, TARGET_SIZE, score=score, **sizes).double()


class Assembled(nn.Module):
    """The model without attention, from the modules that a reader would take from torch.nn."""

    def __init__(self):
        super().__init__()
        self.source_embedding = nn.Embedding(SOURCE_SIZE, E)
        self.gru = nn.GRU(E, U // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(U, U)
        self.target_embedding = nn.Embedding(TARGET_SIZE, E)
        self.cell = nn.GRUCell(E + U, U)
        self.readout = nn.Linear(2 * U + E, TARGET_SIZE)

    def forward(self, source, lengths, target_in):
        packed = pack_padded_sequence(
            self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False
        )
        _, final = self.gru(packed)  # (2, B, U/2)
        summary = torch.cat([final[0], final[1]], dim=1)
        hidden = self.bridge(summary).tanh()
        logits = []
        for t in range(target_in.shape[1]):
            token = self.target_embedding(target_in[:, t])
            hidden = self.cell(torch.cat([token, summary], dim=1), hidden)
            logits.append(self.readout(torch.cat([hidden, summary, token], dim=1)))
        return torch.stack(logits, dim=1)


NAMES = {  # ours -> the assembled model's
    "encoder.embedding.": "source_embedding.",
    "encoder.recurrent.": "gru.",
    "decoder.bridge.": "bridge.",
    "decoder.embedding.": "target_embedding.",
    "decoder.cell.": "cell.",
    "decoder.readout.": "readout.",
}


def their_name(name):
    prefix = next(prefix for prefix in NAMES if name.startswith(prefix))
    return NAMES[prefix] + name.removeprefix(prefix)


def test_without_attention_agrees_with_the_model_assembled_from_torch(parity):
    model, reference, batch = build(None), Assembled().double(), collate(PAIRS)
    reference.load_state_dict({their_name(n): p for n, p in model.state_dict().items()})
    logits = model(batch)
    expected = reference(batch.source, batch.source_mask.sum(1), batch.target_in)
    assert logits.shape == (3, 5, TARGET_SIZE)
    direction = torch.randn_like(logits)
    (logits * direction).sum().backward()
    (expected * direction).sum().backward()
    theirs = dict(reference.named_parameters())
    ours = dict(model.named_parameters())
    parity(
        "EncoderDecoder, no attention",
        "nn.Embedding, nn.GRU, nn.GRUCell, nn.Linear",
        ([logits], [expected]),
        ([p.grad for p in ours.values()], [theirs[their_name(n)].grad for n in ours]),
    )


def slow_gru(read, weights, suffix, x, h):
    """Cho et al. 2014, eq. 5–8, for vectors; reset after the product, Z keeps the old state."""
    w, u, b, d = (
        weights[f"{read}{name}{suffix}"].chunk(3)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    r = torch.sigmoid(w[0] @ x + b[0] + u[0] @ h + d[0])
    z = torch.sigmoid(w[1] @ x + b[1] + u[1] @ h + d[1])
    candidate = torch.tanh(w[2] @ x + b[2] + r * (u[2] @ h + d[2]))
    return z * h + (1 - z) * candidate


def slow_score(kind, weights, query, key):
    """One number for one state of the decoder and one of the encoder, by the paper's formula."""
    prefix = "decoder.attention.score."
    if kind in ("additive", "concat"):
        query_matrix, key_matrix = (weights[f"{prefix}{n}_layer.weight"] for n in ("query", "key"))
        hidden = torch.tanh(query_matrix @ query + key_matrix @ key)
        return weights[prefix + "vector.weight"][0] @ hidden
    if kind == "general":
        return query @ weights[prefix + "bilinear.weight"] @ key
    return query @ key / {"dot": 1, "scaled dot": math.sqrt(U)}[kind]


def slow_logits(kind, weights, source, target_in):
    """One pair without padding, one vector at a time."""
    half = U // 2
    tokens = [weights["encoder.embedding.weight"][n] for n in source]
    forward, backward = [tokens[0].new_zeros(half)], [tokens[0].new_zeros(half)]
    for x in tokens:
        forward.append(slow_gru("encoder.recurrent.", weights, "_l0", x, forward[-1]))
    for x in reversed(tokens):
        backward.append(slow_gru("encoder.recurrent.", weights, "_l0_reverse", x, backward[-1]))
    states = [torch.cat(pair) for pair in zip(forward[1:], backward[:0:-1], strict=True)]
    summary = torch.cat([forward[-1], backward[-1]])
    s = torch.tanh(weights["decoder.bridge.weight"] @ summary + weights["decoder.bridge.bias"])
    logits, alignments = [], []
    for number in target_in:
        context = summary
        if kind is not None:  # Bahdanau et al. 2015, eq. 5–6
            energy = [slow_score(kind, weights, s, state).exp() for state in states]
            share = [e / sum(energy) for e in energy]
            context = sum(a * state for a, state in zip(share, states, strict=True))
            alignments.append(torch.stack(share))
        y = weights["decoder.embedding.weight"][number]
        s = slow_gru("decoder.cell.", weights, "", torch.cat([y, context]), s)
        readout = weights["decoder.readout.weight"] @ torch.cat([s, context, y])
        logits.append(readout + weights["decoder.readout.bias"])
    return torch.stack(logits), alignments


@pytest.mark.parametrize("kind", [None, "additive", "concat", "general", "dot", "scaled dot"])
def test_agrees_with_the_papers_written_as_loops(kind, parity):
    model, batch = build(kind), collate(PAIRS)
    with record(model) as trace:
        logits = model(batch)
    weights = {n: p.detach().clone().requires_grad_() for n, p in model.named_parameters()}
    ours, theirs = [], []
    for row, (source, target) in enumerate(PAIRS):
        expected, alignments = slow_logits(kind, weights, source, [BOS, *target[:-1]])
        ours.append(logits[row, : len(target)])
        theirs.append(expected)
        if kind is not None:
            noted = trace.joined("decoder.attention", "weights")[row, : len(target)]
            torch.testing.assert_close(noted[:, : len(source)], torch.stack(alignments))
            assert (noted[:, len(source) :] == 0).all()
    directions = [torch.randn_like(rows) for rows in ours]
    for result in (ours, theirs):
        sum((rows * d).sum() for rows, d in zip(result, directions, strict=True)).backward()
    parity(
        "EncoderDecoder",
        f"loops over vectors, {kind or 'no'} attention",
        (ours, theirs),
        ([p.grad for p in model.parameters()], [weights[n].grad for n in weights]),
    )


def test_by_hand():
    # All weights zero: the state stays tanh(0) = 0, and the readout says its bias: ln 1, ln 2, …,
    # ln 13, whatever was read. The probabilities are 1/91, 2/91, …, 13/91, as 1 + … + 13 = 91.
    model = build("dot")
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    counts = torch.arange(1.0, TARGET_SIZE + 1).double()
    with torch.no_grad():
        model.decoder.readout.bias.copy_(counts.log())
    with record(model) as trace:
        log_probs, _ = model.step(model.start(torch.tensor([[3, 4, 5]])), torch.tensor([BOS]))
    torch.testing.assert_close(log_probs.exp(), counts[None] / 91)
    # All scores are 0, so each of the three source tokens gets a third.
    torch.testing.assert_close(
        trace.joined("decoder.attention", "weights"), torch.full((1, 1, 3), 1 / 3).double()
    )


sequences = st.lists(st.integers(3, 12), min_size=1, max_size=6).map(lambda tokens: [*tokens, EOS])
pair_lists = st.lists(st.tuples(sequences, sequences), min_size=1, max_size=3)


def widen(batch, source, target):
    """The same pairs with more padding, filled with tokens that mean something elsewhere."""
    return Batch(
        F.pad(batch.source, (0, source), value=7),
        F.pad(batch.source_mask, (0, source)),
        F.pad(batch.target_in, (0, target), value=9),
        F.pad(batch.target_out, (0, target), value=11),
        F.pad(batch.target_mask, (0, target)),
    )


@given(
    kind=st.sampled_from(KINDS),
    pairs=pair_lists,
    source=st.integers(0, 3),
    target=st.integers(0, 3),
    seed=st.integers(0, 999),
)
def test_more_padding_changes_neither_logits_nor_loss_nor_gradients(
    kind, pairs, source, target, seed
):
    model, batch = build(kind, seed=seed), collate(pairs)
    padded = widen(batch, source, target)
    logits = model(batch)
    steps = batch.target_in.shape[1]
    torch.testing.assert_close(model(padded)[:, :steps], logits)
    losses = [sequence_loss(model, b) for b in (batch, padded)]
    torch.testing.assert_close(*losses)
    first, second = (torch.autograd.grad(loss, list(model.parameters())) for loss in losses)
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one, other)


@given(kind=st.sampled_from(KINDS), pairs=pair_lists, seed=st.integers(0, 999))
def test_a_pair_does_not_see_its_neighbours_in_the_batch(kind, pairs, seed):
    model = build(kind, seed=seed)
    together = model(collate(pairs))
    for row, pair in enumerate(pairs):
        alone = model(collate([pair]))[0]
        torch.testing.assert_close(together[row, : len(pair[1])], alone)


@given(data=st.data(), kind=st.sampled_from(KINDS), seed=st.integers(0, 999))
def test_a_later_target_token_does_not_change_earlier_logits(data, kind, seed):
    model, batch = build(kind, seed=seed), collate(PAIRS)
    steps = batch.target_in.shape[1]
    position = data.draw(st.integers(1, steps - 1))
    changed = batch.target_in.clone()
    changed[:, position] = (changed[:, position] + data.draw(st.integers(1, 12))) % TARGET_SIZE
    before = model(batch)
    after = model(Batch(batch.source, batch.source_mask, changed, changed, batch.target_mask))
    assert torch.equal(after[:, :position], before[:, :position])
    assert (after[:, position] != before[:, position]).any(-1).all()


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 999))
def test_greedy_search_writes_the_argmax_of_teacher_forcing_on_its_own_output(kind, seed):
    model, batch = build(kind, seed=seed), collate(PAIRS)
    with torch.no_grad():  # sharper, so that rows end at different steps
        model.decoder.readout.weight.mul_(9)
    state = model.start(batch.source, mask=batch.source_mask)
    bos = torch.full((len(PAIRS),), BOS)
    output = greedy(model.step, state, bos=bos, eos=EOS, max_length=11)
    read = torch.cat([bos[:, None], output.tokens[:, :-1]], dim=1)
    forced = Batch(batch.source, batch.source_mask, read, read, torch.ones_like(read).bool())
    log_probs = model(forced).log_softmax(-1)
    for row in range(len(PAIRS)):
        written = output.tokens[row].tolist()
        length = written.index(EOS) + 1 if output.finished[row] else len(written)
        assert log_probs[row, :length].argmax(-1).tolist() == written[:length]
        assert written[length:] == [0] * (len(written) - length)
        total = log_probs[row, :length].max(-1).values.sum()
        torch.testing.assert_close(output.log_prob[row], total)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_one_by_one_give_the_log_probabilities_of_teacher_forcing(kind):
    model, batch = build(kind), collate(PAIRS)
    state, rows = model.start(batch.source, mask=batch.source_mask), []
    for last_tokens in batch.target_in.unbind(1):
        log_probs, state = model.step(state, last_tokens)
        rows.append(log_probs)
    torch.testing.assert_close(torch.stack(rows, 1), model(batch).log_softmax(-1))
    torch.testing.assert_close(rows[0].exp().sum(-1), torch.ones(3).double())


@pytest.mark.parametrize("kind", KINDS)
def test_recording_changes_nothing_and_shows_every_step(kind):
    model, batch = build(kind), collate(PAIRS)
    plain = model(batch)
    with record(model) as trace:
        recorded = model(batch)
    assert torch.equal(plain, recorded)
    steps, sources = batch.target_in.shape[1], batch.source.shape[1]
    assert trace.joined("decoder.cell", "update").shape == (3, steps, U)
    assert trace.joined("encoder.recurrent", "update_l0_reverse").shape == (3, sources, U // 2)
    if kind is not None:
        weights = trace.joined("decoder.attention", "weights")
        assert weights.shape == (3, steps, sources)
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, steps).double())


@pytest.mark.parametrize("kind", KINDS)
def test_no_mask_means_that_every_token_is_real(kind):
    model, source = build(kind), torch.tensor([[3, 4, 5], [6, 7, 8]])
    bos = torch.tensor([BOS, BOS])
    expected, _ = model.step(model.start(source, mask=torch.ones(2, 3).bool()), bos)
    for mask in (None, torch.tensor([True]), torch.ones(1, 3).bool(), torch.ones(3).bool()):
        assert torch.equal(model.step(model.start(source, mask=mask), bos)[0], expected)
    # A mask of fewer axes is spread over the batch.
    shared = torch.tensor([True, True, False])
    spread, _ = model.step(model.start(source, mask=shared), bos)
    torch.testing.assert_close(spread, model.step(model.start(source[:, :2]), bos)[0])
    assert not torch.allclose(spread, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_without_a_real_token_gives_finite_logits_and_gradients(kind):
    model = build(kind)
    mask = torch.tensor([[False, False], [True, True]])
    log_probs, _ = model.step(
        model.start(torch.tensor([[3, 4], [5, 6]]), mask=mask), torch.tensor([BOS, BOS])
    )
    log_probs[:, 0].sum().backward()
    assert log_probs.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_runs_in_mixed_precision(kind):
    model, batch = build(kind).float(), collate(PAIRS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = sequence_loss(model, batch)
    torch.testing.assert_close(loss, sequence_loss(model, batch), rtol=0.05, atol=0.05)
    loss.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


def test_refuses_a_source_that_is_too_long():
    model = EncoderDecoder(SOURCE_SIZE, TARGET_SIZE, hidden_size=U, max_length=7)
    with pytest.raises(ValueError, match="source must"):
        model.start(torch.full((2, 8), 3))


def test_refuses_a_step_that_does_not_fit():
    model = build()
    state = model.start(torch.tensor([[3, 4], [5, 6]]))
    assert isinstance(state, DecoderState)
    with pytest.raises(ValueError, match="last_tokens must"):
        model.step(state, torch.tensor([BOS]))
    with pytest.raises(TypeError, match="state must"):
        model.step(None, torch.tensor([1]))


def test_refuses_a_batch_whose_sides_do_not_fit():
    model, batch = build(), collate(PAIRS)
    parts = dict(vars(batch))
    with pytest.raises(ValueError, match="source and target_in must agree in batch, got 3 and 2"):
        model(Batch(**{**parts, "target_in": batch.target_in[:2]}))
    with pytest.raises(ValueError, match="target_in must"):
        model(Batch(**{**parts, "target_in": batch.source}))


def test_two_directions_share_the_width_evenly():
    with pytest.raises(ValueError, match="hidden_size must"):
        EncoderDecoder(SOURCE_SIZE, TARGET_SIZE, hidden_size=13)
