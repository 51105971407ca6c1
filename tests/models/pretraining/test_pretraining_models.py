"""ELMo, GPT and BERT: who sees whom, padding that nobody sees, steps, and wrong arguments."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.decoding.search import greedy
from gates2heads.layers.record import record
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo, LayerMix
from gates2heads.models.pretraining.gpt import GPT, GPTState

V, D, H, HIDDEN, DEPTH, U, LENGTH = 23, 12, 3, 19, 2, 7, 17
SIZES = {
    "d_model": D,
    "nhead": H,
    "num_layers": DEPTH,
    "dim_feedforward": HIDDEN,
    "dropout": 0.0,
    "max_length": LENGTH,
}
MODELS = {
    "ELMo": lambda **options: ELMo(
        V, **{"hidden_size": U, "num_layers": DEPTH + 1, "dropout": 0.0, **options}
    ),
    "GPT": lambda **options: GPT(V, **{**SIZES, **options}),
    "GPT post-norm": lambda **options: GPT(V, **{**SIZES, "norm_first": False, **options}),
    "BERT": lambda **options: BERT(V, **{**SIZES, **options}),
}
all_models = pytest.mark.parametrize("name", MODELS)
gpts = pytest.mark.parametrize("name", ["GPT", "GPT post-norm"])


def build(name, **options):
    """A model whose weights are large enough that what it sees makes a difference."""
    torch.manual_seed(7)
    model = MODELS[name](**options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def draw(*shape, seed=0):
    return torch.randint(3, V, shape, generator=torch.Generator().manual_seed(seed))


def reaches(model, tokens, place):
    """Which positions of each layer's states change with the token at a place: (layers, L, D)."""
    other = tokens.clone()
    other[:, place] = (tokens[:, place] - 2) % (V - 3) + 3
    assert not torch.equal(other, tokens)
    return (model.states(other) - model.states(tokens)).abs()[:, 0] > 1e-9


@all_models
def test_who_sees_whom(name):
    model, tokens, place = build(name), draw(1, 11), 4
    embedded, *layers = reaches(model, tokens, place)
    assert embedded.any(-1).nonzero().flatten().tolist() == [place]
    for layer in layers:
        if name == "BERT":
            assert layer.any(-1).all()
        elif name == "ELMo":
            assert layer[:, :U].any(-1).nonzero().flatten().tolist() == list(range(place, 11))
            assert layer[:, U:].any(-1).nonzero().flatten().tolist() == list(range(place + 1))
        else:
            assert layer.any(-1).nonzero().flatten().tolist() == list(range(place, 11))


@all_models
@given(
    lengths=st.lists(st.integers(1, 11), min_size=1, max_size=4),
    more=st.integers(0, 5),
    seed=st.integers(0, 99),
)
def test_padding_changes_nothing(name, lengths, more, seed):
    model = build(name).eval()
    tokens = draw(len(lengths), max(lengths) + more, seed=seed)
    mask = torch.arange(tokens.shape[1]) < torch.tensor(lengths)[:, None]
    with torch.no_grad():
        padded = model.states(tokens, mask=mask)
        assert padded.isfinite().all()
        for row, length in enumerate(lengths):
            alone = model.states(tokens[row : row + 1, :length])
            torch.testing.assert_close(padded[:, row, :length], alone[:, 0])


@gpts
def test_padding_at_the_end_needs_no_mask_in_gpt(name):
    model, tokens = build(name), draw(1, 11)
    torch.testing.assert_close(model(tokens)[:, :7], model(tokens[:, :7]))
    mask = torch.arange(11)[None] < 7
    torch.testing.assert_close(model(tokens, mask=mask)[:, :7], model(tokens)[:, :7])


@all_models
def test_states_end_with_what_encode_gives(name):
    model, tokens = build(name), draw(3, 11)
    states = model.states(tokens)
    layers = DEPTH + 1 + (name == "ELMo")
    assert states.shape == (layers, 3, 11, model.width)
    assert torch.equal(states[-1], model.encode(tokens))


@all_models
def test_recorded_equals_unrecorded(name):
    model, tokens = build(name), draw(3, 11)
    with record(model) as trace:
        recorded = model.states(tokens)
    torch.testing.assert_close(recorded, model.states(tokens))
    if name != "ELMo":
        weights = trace["layers.1.self_attn"]["weights"][0]
        assert weights.shape == (3, H, 11, 11)
        ahead = weights.triu(1)
        assert bool(ahead.any()) == (name == "BERT")


@all_models
def test_dropout_acts_in_training_only(name):
    model, tokens = build(name, dropout=0.5), draw(3, 11)
    assert not torch.equal(model.encode(tokens), model.encode(tokens))
    model.eval()
    assert torch.equal(model.encode(tokens), model.encode(tokens))


def test_a_segment_is_added_to_the_token():
    model, tokens = build("BERT"), draw(2, 5)
    segments = torch.tensor([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]])
    summed = (
        model.token_table.weight[tokens]
        + model.positions.table[:5]
        + model.segment_table.weight[segments]
    )
    torch.testing.assert_close(model.states(tokens, segments=segments)[0], model.norm(summed))
    torch.testing.assert_close(
        model.states(tokens), model.states(tokens, segments=torch.zeros_like(tokens))
    )


def test_bert_reads_both_tasks_from_one_pass():
    model, tokens = build("BERT"), draw(2, 5)
    logits, follows = model(tokens)
    assert logits.shape == (2, 5, V)
    assert follows.shape == (2, 2)
    vectors = model.encode(tokens)
    torch.testing.assert_close(model.readout(vectors[1, 3]), logits[1, 3])
    torch.testing.assert_close(model.follows(vectors), follows)


@gpts
def test_cached_steps_equal_one_pass(name):
    model, tokens = build(name), draw(3, 11)
    expected = model(tokens).log_softmax(-1)
    state = model.start(3)
    for step in range(11):
        log_probs, state = model.step(state, tokens[:, step])
        torch.testing.assert_close(log_probs, expected[:, step])
        assert state.past[0].keys.shape == (3, H, step + 1, D // H)
    state = model.start(3, prompt=tokens[:, :6])
    for step in range(6, 11):
        log_probs, state = model.step(state, tokens[:, step])
        torch.testing.assert_close(log_probs, expected[:, step])


@gpts
def test_gpt_goes_through_the_searches(name):
    model = build(name).eval()
    output = greedy(model.step, model.start(2), bos=torch.tensor([1, 1]), eos=2, max_length=7)
    written, total = torch.ones(2, 1).long(), torch.zeros(2).double()
    for _ in range(output.tokens.shape[1]):
        best, token = model(written)[:, -1].log_softmax(-1).max(-1)
        ended = (written[:, 1:] == 2).any(1)
        total += best.masked_fill(ended, 0.0)
        written = torch.cat([written, token[:, None].masked_fill(ended[:, None], 0)], 1)
    assert torch.equal(output.tokens, written[:, 1:])
    torch.testing.assert_close(output.log_prob, total)


def test_gpt_stops_at_its_longest():
    model, tokens = build("GPT"), draw(1, LENGTH)
    state = model.start(prompt=tokens[:, :-1])
    _, state = model.step(state, tokens[:, -1])
    message = "tokens must"
    with pytest.raises(ValueError, match=f"^{message}"):
        model.step(state, tokens[:, -1])


def test_elmo_is_two_stacks_of_torch_lstms(parity):
    """Read from both ends by nn.LSTM; every layer after the first adds to what it read."""
    model = build("ELMo")
    tokens = draw(3, 11)
    table = nn.Parameter(model.token_table.weight.detach().clone())
    twins = []
    for layers in (model.forward_layers, model.backward_layers):
        for layer in layers:
            twin = nn.LSTM(U, U, batch_first=True).double()
            twin.load_state_dict(layer.state_dict())
            twins.append(twin)

    def run(stack, vectors):
        states = [vectors]
        for depth, twin in enumerate(stack):
            written = twin(states[-1])[0]
            states.append(written if depth == 0 else written + states[-1])
        return torch.stack(states)

    depth = DEPTH + 1
    ahead = run(twins[:depth], table[tokens])
    back = run(twins[depth:], table[tokens].flip(1)).flip(2)
    theirs, ours = torch.cat([ahead, back], -1), model.states(tokens)
    weights = torch.randn_like(ours)
    parameters = [
        parameter
        for layers in (model.forward_layers, model.backward_layers)
        for layer in layers
        for _, parameter in sorted(layer.named_parameters())
    ]
    references = [p for twin in twins for _, p in sorted(twin.named_parameters())]
    parity(
        "ELMo",
        "torch.nn.LSTM from both ends",
        ([ours], [theirs]),
        (
            torch.autograd.grad((ours * weights).sum(), [model.token_table.weight, *parameters]),
            torch.autograd.grad((theirs * weights).sum(), [table, *references]),
        ),
    )


def test_elmo_predicts_from_both_sides_through_one_readout():
    model, tokens = build("ELMo"), draw(2, 5)
    ahead, back = model(tokens)
    vectors = model.encode(tokens)
    torch.testing.assert_close(ahead, model.readout(vectors[..., :U]))
    torch.testing.assert_close(back, model.readout(vectors[..., U:]))


def test_the_mix_by_hand():
    """Scores ln 1, ln 2, ln 5 give the shares 1/8, 2/8, 5/8; the scale is 3."""
    mix = LayerMix(3).double()
    with torch.no_grad():
        mix.scores.copy_(torch.tensor([1.0, 2.0, 5.0]).log())
        mix.scale.fill_(3.0)
    states = torch.tensor([[8.0, 0.0], [4.0, 8.0], [0.0, 16.0]]).double()[:, None, None]
    # 3 · (1/8 · 8 + 2/8 · 4) = 6 and 3 · (2/8 · 8 + 5/8 · 16) = 36
    expected = torch.tensor([[[6.0, 36.0]]]).double()
    torch.testing.assert_close(mix(states), expected)
    torch.testing.assert_close(mix.shares, torch.tensor([1.0, 2.0, 5.0]).double() / 8)
    with record(mix) as trace:
        mix(states)
    torch.testing.assert_close(trace[""]["shares"][0], mix.shares)
    # ∂/∂γ of the sum is the sum without γ; ∂/∂score_j = γ s_j (h_j − mean) summed over numbers
    mix(states).sum().backward()
    torch.testing.assert_close(mix.scale.grad, torch.tensor(14.0).double())
    sums = torch.tensor([8.0, 12.0, 16.0]).double()
    torch.testing.assert_close(mix.scores.grad, 3 * mix.shares * (sums - 14.0))


def test_the_mix_begins_as_the_mean_and_fits_every_model():
    for name in MODELS:
        model, tokens = build(name), draw(2, 5)
        states = model.states(tokens)
        torch.testing.assert_close(LayerMix(len(states)).double()(states), states.mean(0))


TOKENS = torch.full((2, 5), 3)
GPT_MODEL, BERT_MODEL = GPT(V, **SIZES), BERT(V, **SIZES)
STATE = GPT_MODEL.start(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: GPT(V, d_model=10, nhead=3),
            "num_heads must",
        ),
        (lambda: LayerMix(3)(torch.zeros(2, 1, 1, 1)), "states must"),
        (lambda: GPT_MODEL.start(3, prompt=TOKENS), "prompt must"),
        (
            lambda: GPT_MODEL(torch.full((2, LENGTH + 1), 3)),
            "tokens must",
        ),
        (
            lambda: GPT_MODEL.step(STATE, TOKENS[0]),
            "last_tokens must",
        ),
        (
            lambda: GPT_MODEL.step(GPTState(()), TOKENS[:, 0]),
            "state must",
        ),
        (
            lambda: BERT_MODEL(torch.full((2, LENGTH + 1), 3)),
            "tokens must",
        ),
    ],
)
def test_arguments_that_do_not_go_together(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call()
