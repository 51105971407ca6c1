"""The comparison of section 12.1: joined pairs, what counts in the loss, and what is right."""

import pytest
import torch

from gates2heads.book.ch12 import dates
from gates2heads.book.ch12.dates import (
    KINDS,
    DatePairs,
    date_logits,
    date_model,
    date_pairs,
    exactly_right,
    join,
    predicted,
    train_on_dates,
)
from gates2heads.book.ch12.exchanges import parameters
from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.vocabulary import Vocabulary

BOS, EOS, PAD = Vocabulary.bos, Vocabulary.eos, Vocabulary.pad
PAIRS = [([7, 8, EOS], [9, EOS]), ([7, EOS], [10, 11, 12, EOS])]


@pytest.fixture(scope="module")
def pairs():
    return date_pairs()


@pytest.fixture
def few(pairs, monkeypatch):
    """All tokens, but few dates."""
    short = DatePairs(pairs.tokenizer, pairs.train[:96], pairs.test[:12])
    monkeypatch.setattr(dates, "date_pairs", lambda: short)
    monkeypatch.setattr(dates, "BATCH", 16)
    return short


def test_pairs_are_joined_by_hand():
    tokens, prefix, mask = join(PAIRS)
    assert tokens.tolist() == [[BOS, 7, 8, EOS, 9, EOS, PAD], [BOS, 7, EOS, 10, 11, 12, EOS]]
    assert prefix.tolist() == [4, 3]
    assert mask.sum(dim=1).tolist() == [6, 7]


def test_what_counts_by_hand():
    """The next tokens: those of the source count in "causal-all" alone, padding nowhere."""
    joined = join(PAIRS)
    target = [[0, 0, 0, 1, 1, 0], [0, 0, 1, 1, 1, 1]]
    assert predicted("causal", joined).int().tolist() == target
    assert predicted("prefix", joined).int().tolist() == target
    every = [[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]
    assert predicted("causal-all", joined).int().tolist() == every


def test_the_dates_are_pairs_of_one_vocabulary(pairs):
    assert (len(pairs.train), len(pairs.test)) == (dates.TRAIN, dates.TEST)
    source, target = pairs.test[0]
    assert source[-1] == target[-1] == EOS
    assert len(pairs.tokenizer.decode(target[:-1])) == len("2000-01-01")
    joined = join(pairs.train)
    assert joined.tokens.shape[1] <= dates.LONGEST
    assert not set(map(str, pairs.train)) & set(map(str, pairs.test))


def test_all_models_have_equally_many_parameters():
    sizes = {kind: parameters(date_model(kind)) for kind in KINDS}
    assert max(sizes.values()) <= 1.01 * min(sizes.values())


@pytest.mark.parametrize(("kind", "sees"), [("causal", False), ("prefix", True)])
def test_only_under_the_prefix_mask_does_the_source_see_what_follows(few, kind, sees):
    joined = join(few.test[:1])
    changed = joined.tokens.clone()
    last = int(joined.prefix[0]) - 2  # the last token of the source before its <eos>
    changed[0, last] = changed[0, last] - 1
    model = date_model(kind).eval()
    with torch.no_grad():
        before, after = (
            date_logits(kind, model, joined._replace(tokens=tokens))[0, : last - 1]
            for tokens in (joined.tokens, changed)
        )
    assert torch.allclose(before, after, atol=1e-6) != sees


def continued(kind, model, source, length):
    """Greedy decoding, one token after another."""
    found = []
    with torch.no_grad():
        for _ in range(length):
            # What stands at the position that is asked for has no influence on it.
            target = [*found, PAD + 3]
            if kind == "encoder-decoder":
                logits = model(collate([(source, target)]))[0, len(found)]
            else:
                joined = join([(source, target)])
                logits = date_logits(kind, model, joined)[0, len(source) + len(found)]
            found.append(int(logits.argmax()))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_exactly_right_is_what_greedy_decoding_gets(few, kind):
    torch.manual_seed(7)
    model = date_model(kind).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4)  # so that the outputs differ from step to step
    asked = []
    for number, (source, _) in enumerate(few.test[:8]):
        written = continued(kind, model, source, 3 + number % 3)
        assert all(one != PAD for one in written)
        if number in (2, 5, 6):  # a reference that differs at one position
            written[number % len(written)] = 4 if written[number % len(written)] != 4 else 5
        asked.append((source, written))
    assert exactly_right(kind, model, asked) == 5 / 8
    assert [exactly_right(kind, model, [one]) for one in asked] == [1, 1, 0, 1, 1, 0, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_steps_of_training(few, kind):
    model, history = train_on_dates(kind, 0, steps=16, progress=False)
    assert not model.training
    assert history.loss[-1] < history.loss[0]
    assert history.evaluated_at == [4, 6, 8, 12, 16]
    assert len(history.evaluations) == 5
    assert all(0 <= one <= 1 for one in history.evaluations)


def test_a_seed_repeats_the_training_and_a_rate_changes_it(few):
    runs = [
        train_on_dates("causal", seed, steps=8, rate=rate, progress=False)[1].loss
        for seed, rate in ((0, 2e-3), (0, 2e-3), (1, 2e-3), (0, 6e-3))
    ]
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[2][0]
    assert runs[0][0] == runs[3][0]
    assert runs[0][-1] != runs[3][-1]


@pytest.mark.parametrize("kind", ["encoder-decoder", "causal"])
def test_xavier_weights_are_larger_than_small_ones(few, kind):
    def deviation(weights):
        model, _ = train_on_dates(kind, 0, steps=1, weights=weights, progress=False)
        matrices = [one.flatten() for one in model.parameters() if one.dim() > 1]
        return torch.cat(matrices).std().item()

    own = {"encoder-decoder": "xavier", "causal": "small"}[kind]
    large, small = deviation("xavier"), deviation("small")
    assert large > 3 * small
    assert deviation("own") == pytest.approx({"xavier": large, "small": small}[own], rel=0.2)
