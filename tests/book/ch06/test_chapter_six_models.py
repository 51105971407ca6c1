"""The small models of chapter 6: what each can see, what its task asks, and the planted fault."""

import math

import numpy as np
import pytest
import torch

from gates2heads.book.ch06.copy_task import (
    KINDS,
    SYMBOLS,
    CopyModel,
    CopyTask,
    Interpolated,
    sequences,
)
from gates2heads.book.ch06.faulty import (
    FAULTS,
    HEADS,
    WIDTH,
    Counter,
    FaultyHeads,
    check_fault,
    counted,
    counting_loss,
    texts,
)
from gates2heads.book.ch06.matching_task import (
    NAMES,
    PAIRS,
    MatchingModel,
    matching_loss,
    matching_sequences,
)
from gates2heads.layers.attention.multi_head import MultiHeadAttention

# ---- the copying task


def moved(model, place, length=23):
    """At which places the logits change when the token at one place does."""
    tokens = next(sequences(1, length=length, seed=3))
    other = tokens.clone()
    other[0, place] = (other[0, place] + 1) % SYMBOLS
    with torch.no_grad():
        return (model(tokens) - model(other)).abs().amax(-1)[0] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_each_model_sees_what_its_name_says(kind):
    torch.manual_seed(5)
    seen = moved(CopyModel(kind).eval(), 11)
    if kind == "recurrence":
        assert seen.tolist() == [place >= 11 for place in range(23)]
    elif kind == "alibi":  # causal, too; steep heads give distant tokens hardly any weight
        assert not seen[:11].any()
        assert seen[11:].all()
    elif kind == "convolution":
        assert seen.tolist() == [abs(place - 11) <= 4 for place in range(23)]
    else:
        assert seen.all()


@pytest.mark.parametrize("kind", KINDS[2:])
def test_only_without_places_does_order_mean_nothing(kind):
    torch.manual_seed(5)
    model, order = CopyModel(kind).eval(), torch.randperm(13)
    tokens = next(sequences(2, length=13))
    with torch.no_grad():
        alike = torch.allclose(model(tokens[:, order]), model(tokens)[:, order], atol=1e-5)
    assert alike == (kind == "none")


@pytest.mark.parametrize("causal", [False, True])
def test_interpolation_by_one_changes_nothing_and_by_a_half_moves_the_positions(causal):
    torch.manual_seed(5)
    layer, x = MultiHeadAttention(12, 3, rotary=True), torch.randn(2, 9, 12)
    wanted = layer(x, causal=causal)
    torch.testing.assert_close(Interpolated(layer, 1.0)(x, causal=causal), wanted)
    assert not torch.allclose(Interpolated(layer, 0.5)(x, causal=causal), wanted, atol=1e-3)


class Echo(torch.nn.Module):
    """Knows the token that stood so many places before, and is sure of it."""

    def __init__(self, distance):
        super().__init__()
        self.distance = distance

    def forward(self, tokens):
        return 50.0 * torch.nn.functional.one_hot(tokens.roll(self.distance, 1), SYMBOLS).float()


def test_the_task_by_hand():
    tokens = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
    task = CopyTask(3)
    assert task.right(Echo(3), tokens) == 1
    assert task.loss(Echo(3), tokens).item() == pytest.approx(0, abs=1e-6)
    # With distance 2, places 3 to 7 say 1, 4, 1, 5, 9 where 3, 1, 4, 1, 5 is right.
    assert task.right(Echo(2), tokens) == 0
    # From place 6 on, distance 1 says 9 and 2 where 1 and 5 is right; at place 5 it said 5 for 4.
    assert task.right(Echo(1), tokens, since=6) == 0
    even = torch.nn.Linear(1, 1)
    even.forward = lambda tokens: torch.zeros(*tokens.shape, SYMBOLS)
    assert task.loss(even, tokens).item() == pytest.approx(math.log(SYMBOLS))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: CopyTask(3).loss(CopyModel("none"), torch.zeros(2, 3).long()),
            "longer than the dist",
        ),
        (lambda: CopyTask(3).right(Echo(3), torch.zeros(2, 5).long(), since=5), "since must"),
        (lambda: CopyModel("learned")(torch.zeros(1, 49).long()), "48 positions, got position 48"),
    ],
)
def test_what_the_copying_task_refuses(act, message):
    with pytest.raises(ValueError, match=message):
        act()


# ---- the matching task


def test_every_name_stands_twice_with_one_value():
    pairs = next(matching_sequences(7, seed=3))
    assert pairs.shape == (7, 2, 2 * PAIRS)
    for names, values in pairs:
        held = {(int(name), int(value)) for name, value in zip(names, values, strict=True)}
        assert len(held) == len({name for name, _ in held}) == PAIRS
        assert torch.bincount(names).max() == 2


def test_a_seed_of_numpy_draws_what_a_whole_number_draws():
    for draws in (matching_sequences, texts, sequences):
        torch.testing.assert_close(next(draws(3, seed=np.int64(2))), next(draws(3, seed=2)))


def test_a_model_that_finds_the_other_occurrence_is_right():
    model = MatchingModel("dot", NAMES)
    with torch.no_grad():  # names as one-hot vectors, values as one-hot too, both as they are
        for table in (model.names, model.values):
            table.weight.copy_(torch.eye(NAMES))
        for layer, scale in ((model.query, 30.0), (model.key, 1.0), (model.readout, 30.0)):
            layer.weight.copy_(scale * torch.eye(NAMES))
        model.readout.bias.zero_()
    assert matching_loss(model, next(matching_sequences(5))).item() < 1e-5


@pytest.mark.parametrize("score", ["dot", "scaled dot", "additive"])
def test_no_place_sees_its_own_value(score):
    torch.manual_seed(5)
    pairs = next(matching_sequences(1))
    other = pairs.clone()
    other[0, 1, 4] = (other[0, 1, 4] + 1) % NAMES
    model = MatchingModel(score, 7)
    assert torch.equal(model(pairs)[0, 4], model(other)[0, 4])
    assert not torch.equal(model(pairs)[0, 5], model(other)[0, 5])


# ---- the faulty counter


def test_counts_by_hand():
    text = torch.tensor([[3, 1, 3, 3, 1, 7, 2, 2, 2, 2, 2]])
    assert counted(text).tolist() == [[2, 1, 2, 2, 1, 0, 3, 3, 3, 3, 3]]


def test_the_fault_is_in_the_cut_alone():
    torch.manual_seed(5)
    sound, faulty = MultiHeadAttention(WIDTH, HEADS), FaultyHeads(WIDTH, HEADS)
    faulty.load_state_dict(sound.state_dict())
    x = torch.randn(2, 7, WIDTH)
    assert not torch.allclose(sound(x), faulty(x), atol=1e-3)
    one, alone = MultiHeadAttention(WIDTH, 1), FaultyHeads(WIDTH, 1)
    alone.load_state_dict(one.state_dict())
    assert torch.allclose(one(x), alone(x), atol=1e-6)  # with one head there is nothing to cut


def changes(counter):
    """How much shuffling, and a letter that is hidden, change what is said of the others."""
    text = next(texts(3, seed=5))
    order = torch.randperm(16, generator=torch.Generator().manual_seed(5))
    mask = torch.ones_like(text, dtype=torch.bool)
    mask[:, -1] = False
    other = text.clone()
    other[:, -1] = (other[:, -1] + 1) % 12
    with torch.no_grad():
        shuffled = (counter(text[:, order]) - counter(text)[:, order]).abs().max().item()
        hidden = counter(text, mask=mask) - counter(other, mask=mask)
    return shuffled, hidden[:, :-1].abs().max().item()


def test_the_symptoms_are_there_and_only_in_the_faulty_one():
    torch.manual_seed(5)
    assert max(changes(Counter())) < 1e-5
    torch.manual_seed(5)
    assert min(changes(Counter(faulty=True))) > 1e-3


def test_the_faulty_counter_trains():
    torch.manual_seed(5)
    counter, stream = Counter(faulty=True), texts(32)
    optimizer = torch.optim.Adam(counter.parameters(), 3e-3)
    first = last = counting_loss(counter, next(stream))
    for _ in range(60):
        optimizer.zero_grad()
        last.backward()
        optimizer.step()
        last = counting_loss(counter, next(stream))
    assert last < first - 0.03


@pytest.mark.parametrize("letter", ["d", " (D) ", "d."])
def test_the_right_diagnosis(letter):
    assert check_fault(letter).passed


@pytest.mark.parametrize(
    ("letter", "words"),
    [
        ("a", "would not sum to 1"),
        ("b", "does not depend on the order"),
        ("c", "would stay hidden"),
        ("e", "one of the letters a, b, c, d"),
        (3, "one of the letters a, b, c, d"),
        (..., "not tried yet"),
    ],
)
def test_a_wrong_diagnosis_gets_its_reason(letter, words):
    verdict = check_fault(letter)
    assert not verdict.passed
    assert words in verdict.message


def test_there_are_four_suspects():
    assert list(FAULTS) == ["a", "b", "c", "d"]
