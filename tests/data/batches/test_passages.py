"""Passages of one long text: where they come from, and the loss on them."""

from itertools import islice

import pytest
import torch

from gates2heads.data.batches.passages import passage_loss, passages


def test_passages_are_pieces_of_the_text():
    text = torch.arange(20)
    firsts = set()
    for batch in islice(passages(text, 3, length=6, seed=0), 60):
        assert batch.shape == (3, 7)
        assert (batch[:, 1:] - batch[:, :-1] == 1).all()
        firsts |= set(batch[:, 0].tolist())
    assert firsts == set(range(14))  # the last one ends where the text does


def test_a_text_of_one_passage_gives_that_one():
    batch = next(passages(torch.arange(5), 2, length=4))
    assert batch.tolist() == [[0, 1, 2, 3, 4]] * 2


def test_a_seed_repeats_the_passages():
    text = torch.arange(50)
    drawn = [
        [batch.tolist() for batch in islice(passages(text, 2, length=5, seed=seed), 3)]
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_loss_by_hand():
    """The model gives 3/4 to the token that it has just read, and 1/12 to each of the others."""

    def model(tokens):
        probabilities = torch.full((*tokens.shape, 4), 1 / 12)
        return probabilities.scatter(2, tokens[..., None], 0.75).log()

    passage = torch.tensor([[2, 2, 2], [1, 1, 3]])
    wanted = -(3 * torch.tensor(0.75).log() + torch.tensor(1 / 12).log()) / 4
    assert torch.allclose(passage_loss(model, passage), wanted)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((torch.arange(4), 2, 4), "text must"),
    ],
)
def test_nonsense_gets_one_sentence(given, message):
    text, count, length = given
    with pytest.raises(ValueError, match=message):
        next(passages(text, count, length=length))
