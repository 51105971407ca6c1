"""Four uses of an encoder: what is read, what counts as right, and what learning changes."""

import numpy as np
import pytest
import torch
from torch import nn

from gates2heads.book.ch11 import use_batches, uses
from gates2heads.book.ch11.pretraining import fact_markers, untrained
from gates2heads.book.ch11.use_batches import UseReader, use_batch
from gates2heads.book.ch11.uses import USES, learn_use
from gates2heads.data.corpora.fact_examples import Labelled
from gates2heads.data.tokens.bilingual import split_bilingual
from gates2heads.models.pretraining.answers import AnswerLogits
from gates2heads.models.pretraining.by_name import pretraining_model

ASKED = "the currency of Japan"
TEXT = "In Japan, people pay with the Japanese Yen."
FOUND = Labelled(ASKED, TEXT, (7, 8))
NONE = Labelled(ASKED, TEXT, (-1, -1))


class Says(nn.Module):
    """Answers what it is told to."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, batch):
        return self.answer


def test_labels_move_to_where_the_tokens_stand():
    slots = Labelled("a b", None, (1, 2))
    longer = Labelled("a b c", None, (0, 3, 1))
    assert use_batch([slots, longer]).labels.tolist() == [[0, 1, 2, 0, 0], [0, 0, 3, 1, 0]]
    batch = use_batch([FOUND, NONE])
    before = len(split_bilingual(ASKED)) + 2  # [CLS] question [SEP]
    assert batch.labels.tolist() == [[7 + before, 8 + before], [0, 0]]
    assert batch.segments[0, before] == 1
    assert batch.segments[0, before - 1] == 0


def test_what_is_right_by_hand():
    batch = use_batch([FOUND, FOUND, NONE])
    length = batch.tokens.shape[1]
    first, last = torch.zeros(2, 3, length)
    first[0, batch.labels[0, 0]] = last[0, batch.labels[0, 1]] = 1.0  # exact
    first[1, batch.labels[1, 0]] = last[1, batch.labels[1, 0]] = 1.0  # half of the name
    first[2, 0] = 0.5  # [CLS] is best: no answer
    right = USES["answers"].right(Says(AnswerLogits(first, last)), batch)
    assert right.tolist() == [True, False, True]


def test_a_slot_sentence_is_right_as_a_whole_and_padding_does_not_count():
    batch = use_batch([Labelled("a b", None, (1, 2)), Labelled("a b c", None, (0, 3, 1))])
    logits = nn.functional.one_hot(batch.labels, 4).float()
    logits[0, -1] = torch.tensor([0.0, 9.0, 0.0, 0.0])  # on padding
    assert USES["slots"].right(Says(logits), batch).tolist() == [True, True]
    logits[1, 2] = torch.tensor([9.0, 0.0, 0.0, 0.0])
    assert USES["slots"].right(Says(logits), batch).tolist() == [True, False]


@pytest.mark.parametrize("name", USES)
def test_the_loss_reaches_head_and_mix_and_a_frozen_encoder_stays(name):
    use, encoder = USES[name], untrained("bert", 5)
    torch.manual_seed(0)
    reader = UseReader(encoder, use.head(encoder.d_model))
    encoder.requires_grad_(False)
    use.loss(reader, use_batch(use.examples("train")[:7])).backward()
    assert all(p.grad.abs().sum() > 0 for p in [*reader.head.parameters(), reader.mix.scores])
    assert all(p.grad is None for p in encoder.parameters())


def test_what_a_frozen_encoder_read_before_is_what_it_would_read_now():
    use, encoder = USES["slots"], untrained("bert", 5)
    reader = UseReader(encoder, use.head(encoder.d_model)).eval()
    batch = use_batch(use.examples("train")[:5])
    states = encoder.states(batch.tokens, segments=batch.segments, mask=batch.mask)
    carried = type(batch)(batch.tokens, batch.segments, batch.mask, batch.labels, states)
    with torch.no_grad():
        assert torch.equal(reader(batch), reader(carried.to("cpu")))


@pytest.mark.parametrize("frozen", [True, False])
def test_learning_leaves_the_encoder_that_was_given_as_it_was(frozen, monkeypatch):
    use = USES["slots"]
    few = {"train": use.examples("train")[:70], "test": use.examples("test")[:66]}
    monkeypatch.setitem(USES, "slots", use._replace(examples=few.__getitem__))
    sizes = {"d_model": 12, "nhead": 2, "num_layers": 2, "dropout": 0.0, "max_length": 64}
    torch.manual_seed(0)
    encoder = pretraining_model("bert", fact_markers().size, **sizes).eval()
    kept = {name: value.clone() for name, value in encoder.state_dict().items()}
    learned = learn_use("slots", encoder, frozen=frozen, steps=12)
    assert len(learned.right) == len(learned.examples) == 66
    assert sum(learned.shares) == pytest.approx(1)
    assert all(torch.equal(value, encoder.state_dict()[name]) for name, value in kept.items())
    own = learned.reader.encoder.state_dict()
    assert all(torch.equal(value, own[name]) for name, value in kept.items()) == frozen
    again = learn_use("slots", encoder, frozen=frozen, steps=12, seed=np.uint8(0))
    assert (again.right, again.shares) == (learned.right, learned.shares)


def test_few_labels_are_drawn_from_the_training_examples(monkeypatch):
    seen = []

    def fit(reader, batches, **how):
        seen.append(next(iter(batches)))

    monkeypatch.setattr("gates2heads.book.ch11.uses.fit", fit)
    for seed in (0, 0, 1):
        learn_use("slots", untrained("ernie", 0), frozen=False, labels=8, seed=seed)
    assert [len(batch) for batch in seen] == [8, 8, 8]
    same, other = (torch.equal(seen[0].tokens, one.tokens) for one in seen[1:])
    assert same
    assert not other


def test_the_factor_multiplies_the_learning_rate(monkeypatch):
    rates = []

    def fit(reader, batches, *, learning_rate, **how):
        rates.append(learning_rate)

    monkeypatch.setattr(uses, "fit", fit)
    for factor in (1, 3):
        learn_use("slots", untrained("ernie", 0), frozen=False, labels=8, rate_factor=factor)
    assert rates == [uses.RATE, 3 * uses.RATE]


def test_more_labels_than_there_are_is_refused():
    with pytest.raises(ValueError, match="labels must"):
        learn_use("slots", untrained("ernie", 0), labels=2000)


def test_examples_are_redrawn_in_every_epoch():
    use, epochs = USES["answers"], uses._epochs("answers", None, True, 0)
    first, second = (next(epochs) for _ in range(2))
    for epoch, some in enumerate((first, second)):
        assert set(some) <= set(use.examples("train", epoch))
        assert len(use.examples("train", epoch)) - len(some) < 10
    assert len(set(second) - set(first)) > 2000
    room = use_batches.LONGEST - 3 - 2  # markers and question
    for length, fits in ((room, True), (room + 1, False)):
        assert uses.fits(Labelled("the currency", "Euro " * length, (0, 0))) == fits
    with pytest.raises(ValueError, match="labels must"):
        learn_use("answers", untrained("bert", 0), labels=8, redraw=True)


def test_answers_are_counted_with_and_without():
    examples = [Labelled("a", "b c", (0, 1)), Labelled("a", "b c", (-1, -1))] * 2

    def reader(batch):  # says "no answer" to all
        logits = torch.zeros(len(batch), batch.tokens.shape[1])
        logits[:, 0] = 9.0
        return AnswerLogits(logits, logits)

    assert uses.answer_counts(reader, examples) == {"with": (0, 2), "without": (2, 2)}
