"""The losses of pre-training: what they ask for, by hand, and that training makes them small."""

import re

import pytest
import torch

from gates2heads.data.batches.joined import Markers
from gates2heads.models.pretraining.answers import AnswerLogits
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.pretraining.masking import Masked, mask_tokens
from gates2heads.training.pretraining_losses import (
    answer_loss,
    masked_loss,
    next_token_loss,
    pretraining_loss,
    two_way_loss,
)

MARKERS = Markers(13)
SIZES = {"d_model": 12, "nhead": 3, "num_layers": 1, "dropout": 0.0, "max_length": 11}


def example():
    generator = torch.Generator().manual_seed(2)
    tokens = torch.randint(3, 13, (5, 7), generator=generator)
    mask = torch.arange(7) < torch.tensor([7, 5, 2, 7, 3])[:, None]
    return tokens.masked_fill(~mask, 0), mask


def surprise(logits, row, place, token):
    return -logits[row, place].log_softmax(-1)[token]


def test_only_hidden_tokens_count():
    (tokens, mask), model = example(), BERT(MARKERS.size, **SIZES).double()
    masked = mask_tokens(tokens, markers=MARKERS, generator=torch.Generator().manual_seed(0))
    logits, _ = model(masked.tokens, mask=mask)
    places = [(row, place) for row, place in masked.chosen.nonzero().tolist()]
    expected = sum(surprise(logits, r, p, tokens[r, p]) for r, p in places) / len(places)
    torch.testing.assert_close(masked_loss(model, masked, mask=mask), expected)
    wrong = masked._replace(targets=torch.where(masked.chosen, tokens, 3))
    torch.testing.assert_close(masked_loss(model, wrong, mask=mask), expected)


def test_the_two_losses_of_bert_are_added():
    (tokens, mask), model = example(), BERT(MARKERS.size, **SIZES).double()
    segments = (torch.arange(7) > 1).long().expand(5, 7)
    follows = torch.tensor([True, False, False, True, True])
    masked = mask_tokens(tokens, markers=MARKERS)
    logits = model.follows(model.encode(masked.tokens, segments=segments, mask=mask))
    second = -logits.log_softmax(-1)[torch.arange(5), follows.long()].mean()
    total = pretraining_loss(model, masked, follows, segments=segments, mask=mask)
    torch.testing.assert_close(
        total, masked_loss(model, masked, segments=segments, mask=mask) + second
    )


def test_gpt_is_asked_for_the_next_token():
    (tokens, mask), model = example(), GPT(13, **SIZES).double()
    logits = model(tokens)
    places = [(row, place) for row, place in mask.nonzero().tolist() if place]
    expected = sum(surprise(logits, r, p - 1, tokens[r, p]) for r, p in places) / len(places)
    torch.testing.assert_close(next_token_loss(model, tokens, mask=mask), expected)
    whole = next_token_loss(model, tokens)
    torch.testing.assert_close(whole, next_token_loss(model, tokens, mask=torch.ones(5, 7).bool()))


def test_elmo_is_asked_for_both_neighbours():
    (tokens, mask), model = example(), ELMo(13, hidden_size=5, dropout=0.0).double()
    ahead, back = model(tokens, mask=mask)
    places = [(row, place) for row, place in mask.nonzero().tolist() if place]
    after = sum(surprise(ahead, r, p - 1, tokens[r, p]) for r, p in places)
    before = sum(surprise(back, r, p, tokens[r, p - 1]) for r, p in places)
    expected = (after + before) / (2 * len(places))
    torch.testing.assert_close(two_way_loss(model, tokens, mask=mask), expected)
    # Padding after a text, or another text's tokens there, change nothing.
    other = tokens.masked_fill(~mask, 7)
    torch.testing.assert_close(two_way_loss(model, other, mask=mask), expected)


def test_the_span_loss_by_hand():
    """Two allowed places of equal score: ln 2 at each end."""
    scores = torch.tensor([[0.0, 0.0, 9.0]]).requires_grad_()
    allowed = torch.tensor([[True, True, False]])
    logits = AnswerLogits(scores, scores.detach())
    loss = answer_loss(logits, torch.tensor([0]), torch.tensor([1]), allowed=allowed)
    torch.testing.assert_close(loss, torch.tensor(2.0).log())
    loss.backward()
    torch.testing.assert_close(scores.grad, torch.tensor([[-0.25, 0.25, 0.0]]))
    # Scores 0 and ln 3: the first end costs ln 4, the last one ln 4 − ln 3.
    scores = torch.tensor([[1.0, 3.0]]).log()
    loss = answer_loss(AnswerLogits(scores, scores), torch.tensor([0]), torch.tensor([1]))
    expected = (torch.tensor(4.0).log() + torch.tensor(4 / 3).log()) / 2
    torch.testing.assert_close(loss, expected)


LOSSES = {
    "BERT": lambda model, tokens, mask: masked_loss(
        model,
        mask_tokens(tokens, markers=MARKERS, generator=torch.Generator().manual_seed(1)),
        mask=mask,
    ),
    "GPT": lambda model, tokens, mask: next_token_loss(model, tokens, mask=mask),
    "ELMo": lambda model, tokens, mask: two_way_loss(model, tokens, mask=mask),
}
BUILD = {
    "BERT": lambda: BERT(MARKERS.size, **SIZES),
    "GPT": lambda: GPT(13, **SIZES),
    "ELMo": lambda: ELMo(13, hidden_size=12, dropout=0.0),
}


@pytest.mark.parametrize("name", LOSSES)
def test_training_makes_the_loss_small(name):
    """At first near ln 13 ≈ 2.56, the loss of knowing nothing; five texts can be learned."""
    (tokens, mask), model = example(), BUILD[name]()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    first = LOSSES[name](model, tokens, mask).item()
    for _ in range(40):
        optimizer.zero_grad()
        loss = LOSSES[name](model, tokens, mask)
        loss.backward()
        optimizer.step()
    assert 2.2 < first < 3.4
    assert loss.item() < 1.0


TOKENS = torch.full((2, 3), 4)
NOTHING = Masked(TOKENS, TOKENS, torch.zeros(2, 3).bool())
SPANS = AnswerLogits(torch.zeros(2, 3), torch.zeros(2, 3))
ONES = torch.ones(2).long()


class Reader:
    def encode(self, tokens, *, segments, mask):
        return torch.zeros(*tokens.shape, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: masked_loss(Reader(), NOTHING),
            "masked has no masked token, so there is no loss to average",
        ),
        (
            lambda: next_token_loss(None, TOKENS[:, :1]),
            "tokens must",
        ),
        (lambda: answer_loss(SPANS, ONES, ONES + 2), "last must"),
        (
            lambda: answer_loss(SPANS, ONES, ONES, allowed=torch.tensor([[True, False, True]])),
            "first must",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call()
