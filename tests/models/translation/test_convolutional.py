"""The convolutional decoder: against the paper in loops, step by step, and on a task."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.batches.pairs import Batch, collate
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.beam import beam
from gates2heads.decoding.search import greedy
from gates2heads.layers.record import record
from gates2heads.models.translation.convolutional import ConvolutionalDecoder
from gates2heads.models.translation.encoders import ConvolutionalEncoder
from gates2heads.models.translation.seq2seq import SequenceToSequence
from gates2heads.training.losses import sequence_loss

SOURCE_SIZE, V, E, U, LONGEST = 17, 13, 5, 7, 11
BOS, EOS = Vocabulary.bos, Vocabulary.eos
PAIRS = [
    ([3, 9, 16, 5, 11, 4, EOS], [3, 12, 7, EOS]),
    ([8, EOS], [5, 5, 11, 9, EOS]),
    ([7, 3, 3, 14, EOS], [4, EOS]),
]
SHAPES = [(1, (1,)), (2, (1, 2)), (3, (1, 1)), (3, (2, 1, 3))]
texts = st.lists(st.integers(3, 12), max_size=6).map(lambda text: [*text, EOS])
pair_lists = st.lists(st.tuples(texts, texts), min_size=1, max_size=3)


def build(kernel_size=3, dilations=(1, 2), *, seed=3, loud=True):
    torch.manual_seed(seed)
    encoder = ConvolutionalEncoder(SOURCE_SIZE, E, U, max_length=LONGEST)
    options = {"kernel_size": kernel_size, "dilations": dilations, "max_length": LONGEST}
    model = SequenceToSequence(encoder, ConvolutionalDecoder(V, E, U, **options))
    with torch.no_grad():  # the paper's first vectors are small; here nothing may hide
        for table in (model.decoder.embedding.weight, model.decoder.positions.table):
            table.mul_(9 if loud else 1)
    return model.double()


def slow_logits(w, kernel_size, dilations, states, target_in):
    """Gehring et al. 2017, eq. 1–2 and sections 3.2–3.4, one pair, one vector at a time."""

    def linear(name, vector):
        return w[f"{name}.weight"] @ vector + w[f"{name}.bias"]

    pairs = zip(target_in, w["positions.table"], strict=False)
    g = [w["embedding.weight"][number] + place for number, place in pairs]
    h, keys = [linear("project", vector) for vector in g], [linear("keys", z) for z in states]
    for depth, dilation in enumerate(dilations):
        kernel, bias = (w[f"blocks.{depth}.convolution.{n}"] for n in ("weight", "bias"))
        rows = []
        for i, own in enumerate(h):
            total = bias
            for tap in range(kernel_size):
                place = i - (kernel_size - 1 - tap) * dilation
                if place >= 0:
                    total = total + kernel[:, :, tap] @ h[place]
            row = (own + total[:U] * torch.sigmoid(total[U:])) * 0.5**0.5
            d = linear(f"queries.{depth}", row) + g[i]
            energy = [(d @ key).exp() for key in keys]
            c = sum(e / sum(energy) * z for e, z in zip(energy, states, strict=True))
            rows.append((row + len(states) * (1 / len(states)) ** 0.5 * c) * 0.5**0.5)
        h = rows
    return torch.stack([linear("readout", linear("combine", row)) for row in h])


@pytest.mark.parametrize(("kernel_size", "dilations"), SHAPES)
def test_agrees_with_the_paper_in_loops(kernel_size, dilations, parity):
    model, batch = build(kernel_size, dilations), collate(PAIRS)
    decoder, reads = model.decoder, model.encoder.embedding.weight
    logits = model(batch)
    assert logits.shape == (3, 5, V)
    w = {n: p.detach().clone().requires_grad_() for n, p in decoder.named_parameters()}
    ours, theirs = [], []
    for row, (source, target) in enumerate(PAIRS):
        one = torch.tensor([source])
        states, _ = model.encoder(one, mask=torch.ones_like(one).bool())
        theirs.append(slow_logits(w, kernel_size, dilations, states[0], [BOS, *target[:-1]]))
        ours.append(logits[row, : len(target)])
    directions = [torch.randn_like(rows) for rows in ours]
    losses = [
        sum((r * d).sum() for r, d in zip(rows, directions, strict=True)) for rows in (ours, theirs)
    ]
    mine = torch.autograd.grad(losses[0], [*decoder.parameters(), reads])
    other = torch.autograd.grad(losses[1], [*w.values(), reads])
    parity("ConvolutionalDecoder", "the paper as loops over vectors", (ours, theirs), (mine, other))


def test_by_hand():
    # One unit everywhere, one block, kernel of 2. A token's vector is g = 1, positions are 0.
    # The convolution is 2 · before + 1 · now, its gate σ(0) = 1/2; queries are g alone.
    decoder = ConvolutionalDecoder(3, 1, 1, kernel_size=2, dilations=(1,), max_length=2).double()
    for parameter in decoder.parameters():
        nn.init.zeros_(parameter)
    with torch.no_grad():
        for one in (decoder.embedding, decoder.project, decoder.keys, decoder.combine):
            one.weight.fill_(1)
        decoder.blocks[0].convolution.weight[0, 0] = torch.tensor([2.0, 1.0])
        decoder.readout.weight[:, 0] = torch.tensor([1.0, 2.0, 0.0])
    # States ln 3 and 0 score ln 3 and 0: weights 3/4 and 1/4, mean 3/4 ln 3, times √2.
    states = torch.tensor([[[math.log(3)], [0.0]]]).double()
    state = decoder.start(states, states[:, 0], mask=torch.ones(1, 2).bool())
    tokens = torch.tensor([[1, 2]])
    with record(decoder) as trace:
        logits = decoder.force(state, tokens)
    # Step 0: √½ (1 + ½ · 1) = 1.5 √½, then √½ (1.5 √½ + √2 · ¾ ln 3) = 0.75 + 0.75 ln 3.
    # Step 1: √½ (1 + ½ (2 + 1)) = 2.5 √½, then 1.25 + 0.75 ln 3.
    h = torch.tensor([0.75, 1.25]).double() + 0.75 * math.log(3)
    torch.testing.assert_close(logits[0], h[:, None] * torch.tensor([1.0, 2.0, 0.0]))
    weights = trace.joined("attentions.0", "weights")
    torch.testing.assert_close(weights, torch.tensor([[[0.75, 0.25]] * 2]).double())
    first, state = decoder.step(state, tokens[:, 0])
    second, state = decoder.step(state, tokens[:, 1])
    torch.testing.assert_close(torch.stack([first, second], dim=1), logits)
    assert state.steps == 2
    assert state.past[0].tolist() == [[[1.0]]]  # the block's last input


@pytest.mark.parametrize("shape", SHAPES)
@given(pairs=pair_lists, seed=st.integers(0, 99))
def test_steps_one_by_one_are_the_pass_over_all_positions(shape, pairs, seed):
    model, batch = build(*shape, seed=seed), collate(pairs)
    whole = model(batch)
    state, rows = model.start(batch.source, mask=batch.source_mask), []
    for last_tokens in batch.target_in.unbind(1):
        log_probs, state = model.step(state, last_tokens)
        rows.append(log_probs)
    stepped, whole = torch.stack(rows, dim=1), whole.log_softmax(-1)
    torch.testing.assert_close(stepped, whole)
    direction, weights = torch.randn_like(whole), list(model.parameters())
    one, other = (
        torch.autograd.grad((result * direction).sum(), weights, allow_unused=True)
        for result in (stepped, whole)
    )
    for mine, theirs in zip(one, other, strict=True):
        torch.testing.assert_close(mine, theirs)


@given(pairs=pair_lists, filler=st.integers(0, 12))
def test_padding_and_neighbours_count_for_nothing(pairs, filler):
    model, batch = build(), collate(pairs)
    wide = Batch(
        *(
            nn.functional.pad(part, (0, 2), value=0 if part.dtype == torch.bool else filler)
            for part in vars(batch).values()
        )
    )
    logits, padded = model(batch), model(wide)
    torch.testing.assert_close(padded[:, : logits.shape[1]], logits)
    losses = [sequence_loss(model, one) for one in (batch, wide)]
    torch.testing.assert_close(*losses)
    first, second = (torch.autograd.grad(loss, list(model.parameters())) for loss in losses)
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one, other)
    for row, pair in enumerate(pairs):
        torch.testing.assert_close(logits[row, : len(pair[1])], model(collate([pair]))[0])


@pytest.mark.parametrize(("kernel_size", "dilations"), SHAPES)
def test_a_position_sees_its_window_of_the_target_and_the_whole_source(kernel_size, dilations):
    model = build(kernel_size, dilations)
    batch = collate([([3, 4, 5, EOS], [6, 7, 8, 9, 10, 11, 12, 3, EOS])])
    tables = model.decoder.embedding.weight, model.encoder.embedding.weight
    logits = model(batch)
    far = sum((kernel_size - 1) * dilation for dilation in dilations)
    for t in range(9):
        target, source = torch.autograd.grad(logits[0, t].square().sum(), tables, retain_graph=True)
        seen = set(target.abs().sum(1).nonzero()[:, 0].tolist())
        read = batch.target_in[0].tolist()
        assert read[t] in seen <= set(read[max(0, t - far) : t + 1])
        assert set(source.abs().sum(1).nonzero()[:, 0].tolist()) == {2, 3, 4, 5}


def test_gradients_are_the_slopes():
    model, batch = build(2, (1, 2)), collate(PAIRS)
    names = [name for name, p in model.named_parameters() if p.numel() <= 70]
    parameters = [model.get_parameter(name).detach().requires_grad_() for name in names]
    assert len(names) > 8

    def loss(*weights):
        given_ = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(model, given_, (batch,)).tanh().sum()

    assert torch.autograd.gradcheck(loss, parameters, fast_mode=True)


def test_free_running_is_teacher_forcing_on_its_own_output():
    model, batch = build(), collate(PAIRS)
    logits = model(batch, forced=0.0)
    own = logits.argmax(-1)
    shifted = torch.cat([batch.target_in[:, :1], own[:, :-1]], dim=1)
    assert not torch.equal(shifted, batch.target_in)
    torch.testing.assert_close(model(replace(batch, target_in=shifted)), logits)


def test_every_block_notes_its_own_weights_and_the_recorded_pass_is_the_same():
    model, batch = build(dilations=(1, 1, 1)), collate(PAIRS)
    plain = model(batch)
    with record(model) as trace:
        assert torch.equal(model(batch), plain)
    notes = [trace.joined(f"decoder.attentions.{depth}", "weights") for depth in range(3)]
    for weights in notes:
        assert weights.shape == (3, 5, 7)
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5).double())
        assert (weights[~batch.source_mask[:, None].expand(-1, 5, -1)] == 0).all()
    assert not torch.allclose(notes[0], notes[1])
    with record(model) as trace:
        state = model.start(batch.source, mask=batch.source_mask)
        for last_tokens in batch.target_in.unbind(1):
            _, state = model.step(state, last_tokens)
    torch.testing.assert_close(trace.joined("decoder.attentions.0", "weights"), notes[0])


def test_beam_search_reorders_the_past_of_every_block():
    model = build(dilations=(1, 1)).eval()
    with torch.no_grad():  # sharper, so that hypotheses change places
        model.decoder.readout.weight.mul_(9)
    batch, bos = collate(PAIRS), torch.full((3,), BOS)
    state = model.start(batch.source, mask=batch.source_mask)
    found = beam(model.step, state, bos=bos, eos=EOS, width=4, n_best=4, max_length=LONGEST)
    for row in range(3):
        for place in range(4):
            tokens = found.tokens[row, place, : found.length[row, place]]
            one = replace(
                collate([(PAIRS[row][0], tokens.tolist())]),
                target_in=torch.cat([torch.tensor([BOS]), tokens[:-1]])[None],
            )
            log_probs = model(one)[0].log_softmax(-1)
            total = log_probs.gather(1, tokens[:, None]).sum().detach()
            torch.testing.assert_close(found.log_prob[row, place], total)


def test_a_source_without_a_real_token_gives_finite_numbers():
    model, mask = build(), torch.tensor([[False, False], [True, True]])
    state = model.start(torch.tensor([[3, 4], [5, 6]]), mask=mask)
    log_probs, _ = model.step(state, torch.tensor([BOS, BOS]))
    log_probs[:, 0].sum().backward()
    assert log_probs.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_dropout_is_for_training_alone():
    options = {"dropout": 0.5, "max_length": LONGEST}
    decoder = ConvolutionalDecoder(V, E, U, **options)
    model, batch = (
        SequenceToSequence(ConvolutionalEncoder(SOURCE_SIZE, E, U), decoder),
        collate(PAIRS),
    )
    assert not torch.equal(model(batch), model(batch))
    model.eval()
    assert torch.equal(model(batch), model(batch))


def test_many_blocks_keep_the_size_of_the_logits():
    torch.manual_seed(3)
    sizes = []
    for depth in (1, 20):
        encoder = ConvolutionalEncoder(SOURCE_SIZE, 61, 67, dilations=(1,) * depth)
        decoder = ConvolutionalDecoder(V, 61, 67, dilations=(1,) * depth)
        logits = SequenceToSequence(encoder, decoder)(collate(PAIRS * 5))
        sizes.append(logits.std().item())
    assert 0.5 < sizes[1] / sizes[0] < 2


@pytest.mark.slow
def test_learns_to_write_backwards():
    draw = torch.Generator().manual_seed(3)
    torch.manual_seed(3)
    encoder = ConvolutionalEncoder(V, 32, 32, dilations=(1,), max_length=7)
    decoder = ConvolutionalDecoder(V, 32, 32, dilations=(1,), max_length=7)
    model = SequenceToSequence(encoder, decoder, max_length=7)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    def reversals(size):
        texts = torch.randint(3, V, (size, 4), generator=draw).tolist()
        return collate([([*text, EOS], [*text[::-1], EOS]) for text in texts])

    for _ in range(150):
        optimizer.zero_grad()
        sequence_loss(model, reversals(64)).backward()
        optimizer.step()
    model.eval()
    batch = reversals(199)
    state = model.start(batch.source, mask=batch.source_mask)
    written = greedy(model.step, state, bos=torch.full((199,), BOS), eos=EOS, max_length=5).tokens
    exact = (written == batch.target_out).all(1).float().mean()
    assert exact > 0.95


def test_refuses_what_cannot_be():
    for options, error, message in [
        ({"kernel_size": 0}, ValueError, "kernel_size must be at least 1, got 0"),
        ({"max_length": 0}, ValueError, "max_length must be at least 1, got 0"),
        ({"dropout": 1.5}, ValueError, r"dropout must lie in \[0, 1\], got 1.5"),
    ]:
        with pytest.raises(error, match=message):
            ConvolutionalDecoder(V, E, U, **options)
    for place, name in enumerate(("vocabulary_size", "embedding_size", "hidden_size")):
        sizes = [V, E, U]
        sizes[place] = 0
        with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
            ConvolutionalDecoder(*sizes)


def test_refuses_steps_that_do_not_fit():
    model, batch = build(), collate(PAIRS)
    state = model.start(batch.source, mask=batch.source_mask)
    with pytest.raises(ValueError, match=r"last_tokens must have shape \(3,\), one token a seq"):
        model.step(state, torch.tensor([BOS]))
    with pytest.raises(TypeError, match="state must come from `start` or `step`, got NoneType"):
        model.step(None, torch.tensor([1]))
    long = collate([([3, EOS], [3] * LONGEST + [EOS])])
    with pytest.raises(ValueError, match="the target must be at most 11 tokens long, got 12"):
        model(long)
    full, last = state._replace(steps=LONGEST), torch.tensor([1, 1, 1])
    with pytest.raises(ValueError, match="the target must be at most 11 tokens long, got 12"):
        model.step(full, last)
    with pytest.raises(ValueError, match=r"own must be one of likeliest, drawn, got 'mine'"):
        model(batch, own="mine")
    with pytest.raises(ValueError, match=r"forced must lie in \[0, 1\], got 1.5"):
        model(batch, forced=1.5)
