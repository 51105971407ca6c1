"""Four models on one corpus: the same batches, names as units, and a few steps of each."""

from itertools import islice

import pytest
import torch

from gates2heads.book.ch11.pretraining import (
    LOSSES,
    PAIRS,
    SINGLES,
    SIZES,
    fact_batches,
    fact_markers,
    fact_tokenizer,
    pretrain,
    untrained,
)
from gates2heads.data.corpora.cldr_facts import facts
from gates2heads.data.corpora.wordings import wordings
from gates2heads.models.pretraining.masking import mask_tokens


def some(count, seed=0):
    return list(islice(fact_batches(wordings("train"), seed=seed), count))


def test_the_tokenizer_knows_every_fact():
    tokenizer = fact_tokenizer()
    for split in ("train", "validation", "test"):
        for fact in facts(split, relations=("currency", "language"))[::7]:
            assert tokenizer.vocabulary.unk not in tokenizer.encode(fact.text)
            back = tokenizer.decode(tokenizer.encode(fact.text))
            assert back.replace(" ", "") == fact.text.replace(" ", "")


def test_singles_and_pairs_come_in_turn():
    singles, pairs = some(2)
    assert (len(singles.follows), singles.segments.max()) == (0, 0)
    assert len(pairs.follows) == len(pairs) <= PAIRS
    assert len(singles) <= SINGLES
    assert pairs.segments.max() == 1
    assert 0 < pairs.follows.float().mean() < 1
    ends = (pairs.tokens == fact_markers().sep).sum(dim=1)
    assert (ends == 2).all()


def test_a_round_tells_every_sentence_once():
    sentences = wordings("train")
    rounds = -(-len(sentences) // SINGLES)
    singles = some(2 * rounds)[::2]
    told = [row[row >= 3].tolist() for batch in singles for row in batch.tokens]
    wanted = [fact_tokenizer().encode(fact.text, eos=False) for fact in sentences]
    assert sorted(told) == sorted(wanted)


def test_the_seed_decides_what_comes():
    first, again, other = (some(2, seed)[1].tokens for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert first.shape != other.shape or not torch.equal(first, other)


def test_a_name_is_one_unit_and_is_hidden_whole_or_not_at_all():
    by_text = {tuple(fact_tokenizer().encode(f.text, eos=False)): f for f in wordings("train")}
    batch = some(1)[0]
    for tokens, units in zip(batch.tokens, batch.units, strict=True):
        fact = by_text[tuple(tokens[tokens >= 3].tolist())]
        sizes = torch.bincount(units[units >= 0]).tolist()
        names = [
            len(fact_tokenizer().encode(one, eos=False)) for one in (fact.subject, fact.answer)
        ]
        assert sorted(size for size in sizes if size > 1) == sorted(n for n in names if n > 1)
    torch.manual_seed(0)
    masked = mask_tokens(batch.tokens, markers=fact_markers(), units=batch.units)
    for units, chosen in zip(batch.units, masked.chosen, strict=True):
        for unit in units.unique():
            assert len(set(chosen[units == unit].tolist())) == 1


@pytest.mark.parametrize("kind", SIZES)
def test_a_loss_reaches_every_weight_that_it_needs(kind):
    model = untrained(kind, 1).train()
    for batch in some(2):
        torch.manual_seed(2)
        LOSSES[kind](model, batch).backward()
    idle = {name for name, one in model.named_parameters() if one.grad is None}
    assert idle == set()


def test_bert_and_ernie_begin_alike_and_are_asked_differently():
    bert, ernie = (untrained(kind, 1) for kind in ("bert", "ernie"))
    pairs = zip(bert.parameters(), ernie.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    losses = []
    for kind in ("bert", "ernie"):
        torch.manual_seed(2)
        losses.append(LOSSES[kind](bert, some(1)[0]).item())
    assert losses[0] != losses[1]


@pytest.mark.slow
def test_a_few_steps_make_the_sentences_less_surprising():
    model, history = pretrain("gpt", 0, steps=12, progress=False)
    assert not model.training
    assert len(history.loss) == 12
    assert history.loss[-1] < history.loss[0] - 0.5
