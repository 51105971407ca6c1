"""What is hidden: how much, how, never a special token, and words and names only as a whole."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.joined import Markers, collate_joined, join
from gates2heads.data.corpora.cldr_facts import facts
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.spans import token_spans
from gates2heads.models.pretraining.masking import (
    choose_units,
    hide,
    mask_tokens,
    span_units,
    token_units,
)

WORDS = 23
MARKERS = Markers(WORDS)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def chi_square(counts, shares):
    """Pearson's statistic Σ (observed − expected)² / expected."""
    expected = torch.tensor(shares, dtype=torch.double) * sum(counts)
    return float(((torch.tensor(counts) - expected) ** 2 / expected).sum())


@st.composite
def sequences(draw):
    """Rows of special and ordinary tokens in any order, and spans of ordinary ones."""
    length = draw(st.integers(1, 13))
    rows = draw(
        st.lists(
            st.lists(st.integers(0, WORDS), min_size=length, max_size=length),
            min_size=1,
            max_size=5,
        )
    )
    spans = []
    for row in rows:
        some, place = [], 0
        while place < length:
            end = place + draw(st.integers(1, 5))
            if end <= length and all(3 <= token < WORDS for token in row[place:end]):
                some.append((place, end))
                place = end
            else:
                place += 1
        spans.append(some)
    return torch.tensor(rows), spans


@given(sequences(), st.floats(0, 1), st.integers(0, 999))
def test_special_tokens_are_never_chosen_and_spans_only_whole(given_rows, share, seed):
    tokens, spans = given_rows
    before, allowed = tokens.clone(), MARKERS.ordinary(tokens)
    units = span_units(allowed, spans)
    masked = mask_tokens(
        tokens, markers=MARKERS, units=units, share=share, generator=generator(seed)
    )
    assert torch.equal(tokens, before)
    assert torch.equal(masked.targets, before)
    assert not (masked.chosen & ~allowed).any()
    assert torch.equal(masked.tokens[~masked.chosen], tokens[~masked.chosen])
    assert not (masked.tokens[masked.chosen] < MARKERS.specials).any()
    for row, some in enumerate(spans):
        for start, end in some:
            assert masked.chosen[row, start:end].unique().numel() == 1
            hidden = masked.tokens[row, start:end] == MARKERS.mask
            assert hidden.all() or not hidden.any()  # one lot for the whole name
        count, real = int(masked.chosen[row].sum()), int(allowed[row].sum())
        assert (count > 0) == (real > 0)
        # Never further from the quota than half of the longest unit, or one unit in all
        quota = max(1, round(float(torch.tensor(share) * real)))
        longest = max([1, *(end - start for start, end in some)])
        one_unit = units[row][masked.chosen[row]].unique().numel() == 1
        assert not real or abs(count - quota) <= longest / 2 or one_unit


@given(sequences(), st.floats(0, 1), st.integers(0, 999))
def test_single_tokens_are_chosen_in_the_exact_number(given_rows, share, seed):
    tokens, _ = given_rows
    masked = mask_tokens(tokens, markers=MARKERS, share=share, generator=generator(seed))
    for row, allowed in enumerate(MARKERS.ordinary(tokens)):
        real = int(allowed.sum())
        wanted = float(torch.tensor(share) * real)
        count = int(masked.chosen[row].sum())
        assert count == (0 if real == 0 else max(1, round(wanted)))


def test_the_same_seed_hides_the_same():
    tokens = torch.randint(3, WORDS, (5, 29))
    once, again, other = (
        mask_tokens(tokens, markers=MARKERS, generator=generator(seed)) for seed in (7, 7, 8)
    )
    assert all(map(torch.equal, once, again))
    assert not torch.equal(once.chosen, other.chosen)


def test_eighty_ten_ten():
    """Three fates with 2 degrees of freedom: 13.8 is exceeded once in a thousand."""
    tokens = torch.randint(3, WORDS, (1009, 100), generator=generator(1))
    masked = mask_tokens(tokens, markers=MARKERS, generator=generator(2))
    assert masked.chosen.sum(dim=1).tolist() == [15] * 1009
    read, were = masked.tokens[masked.chosen], tokens[masked.chosen]
    # A random token is the old one once in 20, so 0.5 % move from "random" to "same".
    counts = [
        int((read == MARKERS.mask).sum()),
        int(((read != were) & (read != MARKERS.mask)).sum()),
        int((read == were).sum()),
    ]
    assert chi_square(counts, [0.8, 0.1 * 19 / 20, 0.1 + 0.1 / 20]) < 13.8
    # The random ones are spread over all 20 ordinary tokens: 19 degrees of freedom, 43.8.
    drawn = read[(read != were) & (read != MARKERS.mask)]
    counts = torch.bincount(drawn, minlength=WORDS)[3:].tolist()
    assert len(counts) == 20
    assert chi_square(counts, [1 / 20] * 20) < 43.8


def test_every_place_is_chosen_equally_often():
    """Of 20 places 3 are chosen: 19 degrees of freedom, 43.8 (less, since the sum is fixed)."""
    chosen = choose_units(token_units(torch.ones(4001, 20).bool()), 0.15, generator=generator(3))
    assert chi_square(chosen.sum(dim=0).tolist(), [1 / 20] * 20) < 43.8


def test_a_span_has_one_fate_in_80_10_10():
    units = span_units(torch.ones(3001, 4).bool(), [[(0, 4)]] * 3001)
    tokens = torch.full((3001, 4), 5)
    hidden = hide(
        tokens, units, torch.ones_like(units).bool(), markers=MARKERS, generator=generator(4)
    )
    masks = (hidden == MARKERS.mask).sum(dim=1)
    assert set(masks.tolist()) == {0, 4}
    same = (hidden == 5).all(dim=1)
    counts = [int((masks == 4).sum()), int((~same & (masks == 0)).sum()), int(same.sum())]
    assert chi_square(counts, [0.8, 0.1, 0.1]) < 13.8


def test_long_units_are_not_avoided():
    """Units of 1 and of 5 tokens, share ½: a token of either kind is chosen equally often."""
    rows = 6007
    units = span_units(torch.ones(rows, 20).bool(), [[(0, 5), (5, 10)]] * rows)
    chosen = choose_units(units, 0.5, generator=generator(5)).double()
    long, short = chosen[:, :10].mean(), chosen[:, 10:].mean()
    assert abs(long - 0.5) < 0.02
    assert abs(short - 0.5) < 0.02


def test_units_by_hand():
    allowed = torch.tensor([[False, True, True, True, True, True, False]])
    assert token_units(allowed).tolist() == [[-1, 1, 2, 3, 4, 5, -1]]
    assert span_units(allowed, [[(2, 4), (4, 6)]]).tolist() == [[-1, 1, 2, 2, 4, 4, -1]]


def test_names_in_chinese_facts_are_hidden_whole():
    chosen_facts = facts("validation", locales=["zh"], relations=["currency"])
    tokenizer = CharacterTokenizer.from_texts(fact.text for fact in chosen_facts)
    markers = Markers(len(tokenizer.vocabulary))
    joined = [join(tokenizer.encode(fact.text, eos=False)) for fact in chosen_facts]
    spans = [
        one.place(token_spans([fact.subject_span, fact.answer_span], offsets), 0)
        for fact, one in zip(chosen_facts, joined, strict=True)
        for offsets in [[(at, at + 1) for at in range(len(fact.text))]]
    ]
    batch = collate_joined(joined)
    units = span_units(markers.ordinary(batch.tokens), spans)
    masked = mask_tokens(batch.tokens, markers=markers, units=units, generator=generator(6))
    whole = 0
    for row, (fact, some) in enumerate(zip(chosen_facts, spans, strict=True)):
        names = []
        for start, end in some:
            names.append(tokenizer.decode(batch.tokens[row, start:end].tolist()))
            assert masked.chosen[row, start:end].unique().numel() == 1
            whole += bool(masked.chosen[row, start:end].all())
        assert names == [fact.subject, fact.answer]
    assert whole > 3


ROW = torch.tensor([[1, 5, 6, 7, 2]])
ALLOWED = MARKERS.ordinary(ROW)
UNITS = token_units(ALLOWED)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: span_units(ALLOWED, []), "spans must"),
        (
            lambda: span_units(ALLOWED, [[(0, 2)]]),
            "spans[0] holds (0, 2), which overlaps another span or reaches a token that may not "
            "be hidden",
        ),
        (
            lambda: span_units(ALLOWED, [[(2, 4), (1, 3)]]),
            "spans[0] holds (1, 3), which overlaps another span or reaches a token that may not "
            "be hidden",
        ),
        (
            lambda: span_units(ALLOWED, [[(3, 9)]]),
            "spans[0] holds (3, 9), which overlaps another span or reaches a token that may not "
            "be hidden",
        ),
        (lambda: span_units(ALLOWED, [[3]]), "spans[0] must"),
        (
            lambda: choose_units(UNITS + 3),
            "units must",
        ),
        (
            lambda: hide(ROW, UNITS, torch.ones(1, 5).bool(), markers=MARKERS),
            "chosen must",
        ),
        (
            lambda: mask_tokens(ROW + WORDS, markers=MARKERS),
            "tokens must",
        ),
    ],
)
def test_arguments_that_do_not_go_together(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        call()
