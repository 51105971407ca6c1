"""Encoders: against torch.nn on packed sequences, and how far a convolution sees."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gates2heads.data.batches.pairs import pad
from gates2heads.models.translation.encoders import ConvolutionalEncoder, RecurrentEncoder

V, E, U = 17, 5, 14
TEXTS = [[3, 9, 16, 5, 11, 4, 2], [8, 2], [7, 3, 3, 14, 2]]
TWINS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
texts_of = st.lists(st.lists(st.integers(3, V - 1), min_size=1, max_size=9), min_size=1, max_size=5)


@pytest.mark.parametrize("cell", TWINS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_recurrent_agrees_with_torch_on_packed_sequences(cell, bidirectional, layers, parity):
    options = {"cell": cell, "bidirectional": bidirectional, "num_layers": layers}
    model = RecurrentEncoder(V, E, U, **options).double()
    units = U // (1 + bidirectional)
    twin = TWINS[cell](E, units, layers, batch_first=True, bidirectional=bidirectional).double()
    twin.load_state_dict(model.recurrent.state_dict())
    table = model.embedding.weight.detach().clone().requires_grad_()
    source, mask = pad(TEXTS)
    states, summary = model(source, mask=mask)
    packed = pack_padded_sequence(
        table[source], mask.sum(1), batch_first=True, enforce_sorted=False
    )
    outputs, final = twin(packed)
    final = final[0] if cell == "lstm" else final
    expected, _ = pad_packed_sequence(outputs, batch_first=True)
    last = torch.cat([final[-2], final[-1]], dim=1) if bidirectional else final[-1]
    real = mask[..., None]
    directions = torch.randn_like(states), torch.randn_like(summary)
    for one, other in ((states, summary), (expected, last)):
        (
            (one * directions[0]).masked_fill(~real, 0).sum() + (other * directions[1]).sum()
        ).backward()
    theirs = dict(twin.named_parameters())
    pairs = [(p.grad, theirs[name].grad) for name, p in model.recurrent.named_parameters()]
    pairs.append((model.embedding.weight.grad, table.grad))
    parity(
        "RecurrentEncoder",
        f"nn.{TWINS[cell].__name__}, packed",
        ([states[mask], summary], [expected[mask], last]),
        tuple(zip(*pairs, strict=True)),
    )


class SlowConvolution(nn.Module):
    """Gehring et al. 2017, section 3.2, as nn.Conv1d and nn.GLU on one sequence."""

    def __init__(self, kernel_size, dilations):
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv1d(U, 2 * U, kernel_size, dilation=d, padding=(kernel_size - 1) * d // 2)
            for d in dilations
        )

    def forward(self, states):
        for convolution in self.convolutions:
            gated = nn.GLU(dim=1)(convolution(states.T[None]))[0].T
            states = (states + gated) * 0.5**0.5
        return states


def test_convolutional_agrees_with_torch_sentence_by_sentence(parity):
    dilations = (1, 2, 3)
    model = ConvolutionalEncoder(V, E, U, kernel_size=3, dilations=dilations).double()
    twin = SlowConvolution(3, dilations).double()
    for ours, theirs in zip(model.blocks, twin.convolutions, strict=True):
        theirs.load_state_dict(ours.convolution.state_dict())
    table, places, project = (
        p.detach().clone().requires_grad_()
        for p in (model.embedding.weight, model.positions.table, model.project.weight)
    )
    source, mask = pad(TEXTS)
    states, summary = model(source, mask=mask)
    expected = [
        twin((table[text] + places[: len(text)]) @ project.T + model.project.bias.detach())
        for text in TEXTS
    ]
    means = [rows.mean(0) for rows in expected]
    directions = [torch.randn_like(rows) for rows in expected]
    ours = [states[row, : len(text)] for row, text in enumerate(TEXTS)]
    for rows, last in ((ours, summary), (expected, means)):
        loss = sum((r * d).sum() for r, d in zip(rows, directions, strict=True))
        (loss + sum(one.square().sum() for one in last)).backward()
    pairs = [
        (model.embedding.weight.grad, table.grad),
        (model.positions.table.grad, places.grad),
        (model.project.weight.grad, project.grad),
    ]
    for block, convolution in zip(model.blocks, twin.convolutions, strict=True):
        pairs.append((block.convolution.weight.grad, convolution.weight.grad))
        pairs.append((block.convolution.bias.grad, convolution.bias.grad))
    parity(
        "ConvolutionalEncoder",
        "nn.Conv1d, nn.GLU, one by one",
        ([*ours, summary], [*expected, torch.stack(means)]),
        tuple(zip(*pairs, strict=True)),
    )


@pytest.mark.parametrize(
    ("kernel_size", "dilations", "field"),
    [
        (1, (1, 1), 1),  # sees itself alone, however deep
        (3, (1, 1, 1), 7),  # 1 + 2 + 2 + 2
        (5, (1, 1), 9),  # 1 + 4 + 4
        (3, (1, 2, 4), 15),  # 1 + 2 + 4 + 8: twice as far with every layer
    ],
)
def test_a_state_sees_its_receptive_field_and_nothing_beyond(kernel_size, dilations, field):
    model = ConvolutionalEncoder(23, E, U, kernel_size=kernel_size, dilations=dilations).double()
    assert model.receptive_field == field
    source = torch.arange(23)[None]  # every token once: its row of the table is its position
    states, _ = model(source, mask=torch.ones_like(source).bool())
    for position in (0, 11, 20):
        (gradient,) = torch.autograd.grad(
            states[0, position].sum(), model.embedding.weight, retain_graph=True
        )
        seen = gradient.abs().sum(1).nonzero()[:, 0].tolist()
        half = field // 2
        assert seen == list(range(max(0, position - half), min(23, position + half + 1)))


ENCODERS = {
    "rnn": lambda: RecurrentEncoder(V, E, U, cell="rnn", num_layers=2),
    "lstm": lambda: RecurrentEncoder(V, E, U, cell="lstm", bidirectional=True),
    "convolutional": lambda: ConvolutionalEncoder(V, E, U),
}


@pytest.mark.parametrize("kind", ENCODERS)
@given(texts=texts_of, filler=st.integers(0, V - 1))
def test_padding_counts_for_nothing(kind, texts, filler):
    torch.manual_seed(3)
    model = ENCODERS[kind]().double()
    source, mask = pad(texts, pad_id=filler)
    states, summary = model(source, mask=mask)
    assert states.shape == (*source.shape, U)
    assert summary.shape == (len(texts), U)
    for row, text in enumerate(texts):
        alone, its = model(torch.tensor([text]), mask=torch.ones(1, len(text)).bool())
        torch.testing.assert_close(states[row, : len(text)], alone[0])
        torch.testing.assert_close(summary[row], its[0])


@pytest.mark.parametrize("kind", ENCODERS)
def test_the_summary_of_no_real_token_is_zero_and_that_of_one_is_its_state(kind):
    mask = torch.tensor([[False, False], [True, False]])
    states, summary = ENCODERS[kind]()(torch.tensor([[3, 4], [5, 6]]), mask=mask)
    assert (summary[0] == 0).all()
    torch.testing.assert_close(summary[1], states[1, 0])
    summary.sum().backward()


def test_dropout_is_for_training_alone():
    for model in (
        RecurrentEncoder(V, E, U, dropout=0.5),
        ConvolutionalEncoder(V, E, U, dropout=0.5),
    ):
        source, mask = pad(TEXTS)
        assert not torch.equal(model(source, mask=mask)[0], model(source, mask=mask)[0])
        model.eval()
        assert torch.equal(model(source, mask=mask)[0], model(source, mask=mask)[0])


def test_refuses_what_does_not_go_together():
    with pytest.raises(ValueError, match=r"hidden_size must"):
        RecurrentEncoder(V, E, 7, bidirectional=True)
    with pytest.raises(ValueError, match="kernel_size must"):
        ConvolutionalEncoder(V, E, U, kernel_size=4)
    source, mask = pad([[3] * 8])
    with pytest.raises(ValueError, match="vectors must"):
        ConvolutionalEncoder(V, E, U, max_length=7)(source, mask=mask)
