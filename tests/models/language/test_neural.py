"""Neural language models: against models assembled from torch.nn, and against themselves."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.batches.pairs import collate, pad
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.search import greedy
from gates2heads.layers.transformer_layers import ENCODER_NAMES, rename
from gates2heads.models.language.neural import (
    FeedForwardLanguageModel,
    PastState,
    RecurrentLanguageModel,
    RecurrentState,
    TransformerLanguageModel,
    WindowState,
)
from gates2heads.training.losses import sequence_loss

V, E, U, D, H, F, LAYERS = 13, 5, 7, 22, 11, 17, 2  # 22 = 2 · 11: two dimensions a head
BOS, EOS = Vocabulary.bos, Vocabulary.eos
TEXTS = [[3, 12, 7, 7, EOS], [5, EOS], [4, 9, 3, EOS]]
KINDS = ["feed-forward", "rnn", "gru", "lstm", "transformer"]
WHOLE = KINDS[1:]  # what reads the whole prefix
WINDOW = 3
TWINS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
texts_of = st.lists(
    st.lists(st.integers(3, V - 1), max_size=7).map(lambda text: [*text, EOS]),
    min_size=1,
    max_size=5,
)


def build(kind, **options):
    torch.manual_seed(3)
    if kind == "transformer":
        sizes = {"d_model": D, "nhead": H, "num_layers": LAYERS, "dim_feedforward": F}
        return TransformerLanguageModel(V, **{**sizes, "dropout": 0.0, **options}).double()
    if kind == "feed-forward":
        sizes = {"window": WINDOW, "embedding_size": E, "hidden_size": U}
        return FeedForwardLanguageModel(V, **{**sizes, **options}).double()
    sizes = {"cell": kind, "embedding_size": E, "hidden_size": U, "num_layers": LAYERS}
    return RecurrentLanguageModel(V, **{**sizes, **options}).double()


def batch_of(texts):
    return collate([([EOS], text) for text in texts])


class AssembledRecurrent(nn.Module):
    """What a reader would write with torch.nn."""

    def __init__(self, kind):
        super().__init__()
        self.embedding = nn.Embedding(V, E)
        self.recurrent = TWINS[kind](E, U, LAYERS, batch_first=True)
        self.readout = nn.Linear(U, V)

    def forward(self, tokens):
        return self.readout(self.recurrent(self.embedding(tokens))[0])


@pytest.mark.parametrize("kind", TWINS)
def test_recurrent_agrees_with_the_model_assembled_from_torch(kind, parity):
    model, reference = build(kind), AssembledRecurrent(kind).double()
    reference.load_state_dict(model.state_dict())
    batch = batch_of(TEXTS)
    logits, expected = model(batch), reference(batch.target_in)
    assert logits.shape == (3, 5, V)
    direction = torch.randn_like(logits)
    (logits * direction).sum().backward()
    (expected * direction).sum().backward()
    theirs = dict(reference.named_parameters())
    pairs = [(p.grad, theirs[name].grad) for name, p in model.named_parameters()]
    parity(
        "RecurrentLanguageModel",
        f"nn.Embedding, nn.{TWINS[kind].__name__}, nn.Linear",
        ([logits], [expected]),
        tuple(zip(*pairs, strict=True)),
    )


def assembled_feed_forward(model, text):
    """Bengio et al. 2003, section 2, token by token: y = b + U tanh(d + H x)."""
    logits = []
    for t in range(len(text)):
        window = [BOS] * max(WINDOW - 1 - t, 0) + text[max(t - WINDOW + 1, 0) : t + 1]
        x = torch.stack([model.embedding.weight[one] for one in window]).reshape(-1)
        hidden = (model.hidden.weight @ x + model.hidden.bias).tanh()
        logits.append(model.readout.weight @ hidden + model.readout.bias)
    return torch.stack(logits)


@pytest.mark.parametrize("window", [1, WINDOW])
def test_feed_forward_agrees_with_the_formula_of_its_source(window, parity, monkeypatch):
    monkeypatch.setitem(globals(), "WINDOW", window)
    model, batch = build("feed-forward"), batch_of(TEXTS)
    logits = model(batch)
    assert logits.shape == (3, 5, V)
    expected = torch.stack([assembled_feed_forward(model, row) for row in batch.target_in.tolist()])
    direction = torch.randn_like(logits)
    parameters = list(model.parameters())
    ours, theirs = (
        torch.autograd.grad((said * direction).sum(), parameters) for said in (logits, expected)
    )
    parity("FeedForwardLanguageModel", "Bengio et al. 2003", ([logits], [expected]), (ours, theirs))


def test_feed_forward_sees_its_window_and_nothing_before_it():
    model, tokens = build("feed-forward"), torch.tensor([[BOS, 3, 4, 5, 6]])
    for t in range(5):
        (gradient,) = torch.autograd.grad(model.logits(tokens)[0, t, 7], model.embedding.weight)
        window = [BOS] * max(WINDOW - 1 - t, 0) + tokens[0, max(t - WINDOW + 1, 0) : t + 1].tolist()
        assert gradient.abs().sum(1).nonzero()[:, 0].tolist() == sorted(set(window))
    other = torch.tensor([[BOS, 9, 4, 5, 6]])  # differs outside the window of the last position
    assert torch.equal(model.logits(tokens)[:, 4], model.logits(other)[:, 4])
    assert not torch.equal(model.logits(tokens)[:, 3], model.logits(other)[:, 3])


class AssembledTransformer(nn.Module):
    """nn.TransformerEncoder under a causal mask, between a table and its transpose."""

    def __init__(self, norm_first, activation):
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            D, H, F, 0.0, activation, norm_first=norm_first, batch_first=True
        )
        norm = nn.LayerNorm(D) if norm_first else None
        self.encoder = nn.TransformerEncoder(layer, LAYERS, norm, enable_nested_tensor=False)
        self.table = nn.Parameter(torch.empty(V, D))
        self.bias = nn.Parameter(torch.empty(V))
        self.places = nn.Embedding(19, D)

    def forward(self, tokens):
        length = tokens.shape[1]
        hidden = torch.ones(length, length).triu(1).bool()  # torch.nn: True = may not attend
        vectors = self.table[tokens] * D**0.5 + self.places(torch.arange(length))
        return self.encoder(vectors, mask=hidden) @ self.table.T + self.bias


@pytest.mark.parametrize(("norm_first", "activation"), [(True, "gelu"), (False, "relu")])
def test_transformer_agrees_with_nn_transformer_encoder(norm_first, activation, parity):
    options = {"norm_first": norm_first, "activation": activation}
    model = build("transformer", positions="learned", max_length=19, **options)
    reference = AssembledTransformer(norm_first, activation).double()
    for parameter in reference.parameters():
        nn.init.normal_(parameter, std=0.3)
    for ours, theirs in zip(model.layers, reference.encoder.layers, strict=True):
        ours.load_state_dict(rename(theirs.state_dict(), ENCODER_NAMES))
    with torch.no_grad():
        model.table.copy_(reference.table)
        model.readout_bias.copy_(reference.bias)
        model.positions.table.copy_(reference.places.weight)
        if norm_first:
            model.norm.load_state_dict(reference.encoder.norm.state_dict())
    batch = batch_of(TEXTS)
    logits, expected = model(batch), reference(batch.target_in)
    direction = torch.randn_like(logits)
    (logits * direction).sum().backward()
    (expected * direction).sum().backward()
    pairs = [(model.table.grad, reference.table.grad)]
    pairs += [(model.readout_bias.grad, reference.bias.grad)]
    pairs += [(model.positions.table.grad, reference.places.weight.grad)]
    for ours, theirs in zip(model.layers, reference.encoder.layers, strict=True):
        gradients = {name: p.grad for name, p in theirs.named_parameters()}
        renamed = rename(gradients, ENCODER_NAMES)
        pairs += [(p.grad, renamed[name]) for name, p in ours.named_parameters()]
    parity(
        "TransformerLanguageModel",
        f"nn.TransformerEncoder, {'pre' if norm_first else 'post'}-norm",
        ([logits], [expected]),
        tuple(zip(*pairs, strict=True)),
    )


def test_a_recurrent_model_of_one_unit_by_hand():
    model = RecurrentLanguageModel(4, cell="rnn", embedding_size=1, hidden_size=1).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embedding.weight[3] = 1.0
        model.recurrent.weight_ih_l0.fill_(0.5)
        model.recurrent.weight_hh_l0.fill_(2.0)
        model.readout.weight[3] = 1.0
    # <bos> has the vector 0: h_1 = tanh(0) = 0, four equal logits. Token 3: h_2 = tanh(0.5 · 1).
    # Token 3 again: h_3 = tanh(0.5 + 2 h_2). The logits are (0, 0, 0, h).
    first = math.tanh(0.5)
    second = math.tanh(0.5 + 2 * first)
    expected = [
        math.log(1 / 4),
        first - math.log(3 + math.exp(first)),
        -math.log(3 + math.e**second),
    ]
    ours = model.log_probs(torch.tensor([[3, 3, EOS]]))[0].tolist()
    assert ours == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(texts=texts_of)
def test_step_by_step_is_all_at_once_and_padding_counts_for_nothing(kind, texts):
    model = build(kind)
    tokens, mask = pad(texts)
    with torch.no_grad():
        ours = model.log_probs(tokens, mask=mask)
        whole = model(batch_of(texts)).log_softmax(-1)
        state, last = model.start(len(texts)), torch.full((len(texts),), BOS)
        for t in range(tokens.shape[1]):
            log_probs, state = model.step(state, last)
            torch.testing.assert_close(log_probs, whole[:, t])
            torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(len(texts)).double())
            last = tokens[:, t]
            chosen = log_probs.gather(1, last[:, None])[:, 0].masked_fill(~mask[:, t], 0.0)
            torch.testing.assert_close(ours[:, t], chosen)
        for row, text in enumerate(texts):
            alone = model.log_probs(torch.tensor([text]))[0]
            torch.testing.assert_close(ours[row, : len(text)], alone)
            assert (ours[row, len(text) :] == 0).all()


@pytest.mark.parametrize("kind", WHOLE)
def test_no_token_sees_a_later_one_and_each_sees_all_before(kind):
    model, tokens = build(kind), torch.tensor([[BOS, 3, 4, 5, 6]])
    vectors = model.table if kind == "transformer" else model.embedding.weight
    for t in range(5):
        # The readout of a tied matrix is a way round; without it, only what was read counts.
        if kind == "transformer":
            model = build(kind, tie=False)
            vectors = model.table
        (gradient,) = torch.autograd.grad(model.logits(tokens)[0, t, 7], vectors)
        seen = gradient.abs().sum(1).nonzero()[:, 0].tolist()
        assert seen == tokens[0, : t + 1].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_training_makes_a_text_likely_and_greedy_writes_it(kind):
    model, text = build(kind).float(), [3, 5, 5, 4, EOS]
    batch = batch_of([text])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(60):
        optimiser.zero_grad()
        sequence_loss(model, batch).backward()
        optimiser.step()
    model.eval()
    begin = torch.tensor([BOS, BOS])
    output = greedy(model.step, model.start(2), bos=begin, eos=EOS, max_length=9)
    assert output.tokens.tolist() == [text, text]
    expected = model.log_probs(torch.tensor([text])).sum()
    torch.testing.assert_close(output.log_prob, expected.expand(2), rtol=1e-4, atol=1e-4)


def test_options_change_what_they_say():
    tied, untied = build("transformer"), build("transformer", tie=False)
    assert untied.readout_table.shape == (V, D)
    assert sum(p.numel() for p in untied.parameters()) == V * D + sum(
        p.numel() for p in tied.parameters()
    )
    learned = build("transformer", positions="learned", max_length=6)
    assert learned.positions.table.shape == (6, D)
    tokens = torch.tensor([[3, 3, 3]])
    assert not torch.equal(learned.logits(tokens)[:, 1], learned.logits(tokens)[:, 2])
    for kind in ("feed-forward", "gru", "transformer"):
        model = build(kind, dropout=0.5)
        model.train()
        assert not torch.equal(model.logits(tokens), model.logits(tokens))
        model.eval()
        assert torch.equal(model.logits(tokens), model.logits(tokens))
    assert isinstance(build("lstm").start(), RecurrentState)
    assert len(build("lstm").start(3).carried) == 2
    assert isinstance(build("transformer").start(), PastState)
    assert isinstance(build("feed-forward").start(), WindowState)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_refuses_another_state_and_another_number_of_texts(kind):
    model = build(kind)
    with pytest.raises(TypeError, match=r"state must"):
        model.step((), torch.tensor([3]))
    with pytest.raises(ValueError, match="last_tokens must"):
        model.step(model.start(3), torch.tensor([3]))


def test_the_heads_must_share_the_width_evenly():
    with pytest.raises(ValueError, match="num_heads must"):
        TransformerLanguageModel(V, nhead=3, d_model=22)


def test_a_transformer_reads_no_further_than_its_length():
    model = build("transformer", max_length=3)
    model.log_probs(torch.tensor([[3, 4, EOS]]))
    with pytest.raises(ValueError, match="tokens must"):
        model.log_probs(torch.tensor([[3, 4, 5, EOS]]))
    state = model.start(1)
    for _ in range(3):
        _, state = model.step(state, torch.tensor([3]))
    with pytest.raises(ValueError, match="last_tokens must"):
        model.step(state, torch.tensor([3]))
