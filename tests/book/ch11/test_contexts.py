"""Words with two roles: where they stand, and how like their vectors are."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.book.ch11.contexts import Occurrence, likeness, states_of, two_roles, wording
from gates2heads.book.ch11.pretraining import fact_tokenizer, untrained
from gates2heads.data.corpora.wordings import wordings
from gates2heads.data.tokens.bilingual import split_bilingual

ENGLISH = [one for split in ("train", "test") for one in wordings(split) if one.locale == "en"]
DOUBLES = two_roles(ENGLISH)


def test_a_word_with_two_roles_stands_in_both():
    roles = {}
    for one in DOUBLES:
        assert split_bilingual(one.fact.text)[one.place] == one.word
        roles.setdefault(one.word, set()).add(one.role)
    assert roles["Danish"] == {"currency", "language"}
    assert all(len(some) == 2 for some in roles.values())
    assert "Euro" not in roles


def test_a_state_is_the_models_own():
    model = untrained("bert", 3)
    states = states_of(model, DOUBLES[:70])  # more than are read at once
    one = DOUBLES[67]
    line = [1, *fact_tokenizer().encode(one.fact.text)]
    assert line[one.place + 1] == fact_tokenizer().vocabulary.index[one.word]
    with torch.no_grad():
        alone = model.states(torch.tensor([line]))[:, 0, one.place + 1]
    torch.testing.assert_close(states[:, 67], alone, rtol=1e-4, atol=1e-5)


def told_as(text):
    return next(one for one in ENGLISH if wording(one) == text)


def test_a_wording_is_the_sentence_without_its_names():
    told = {(one.relation, wording(one)) for one in ENGLISH}
    assert told == {
        ("currency", "In …, people pay with the …."),
        ("currency", "The … is the currency of …."),
        ("language", "In …, … is an official language."),
        ("language", "An official language of … is …."),
    }


def test_by_hand():
    pay, coin, spoken = map(
        told_as,
        (
            "In …, people pay with the ….",
            "The … is the currency of ….",
            "In …, … is an official language.",
        ),
    )
    some = [
        Occurrence("a", "currency", pay, 0),
        Occurrence("a", "currency", coin, 0),
        Occurrence("a", "language", spoken, 0),
        Occurrence("b", "language", spoken, 0),
    ]
    states = torch.tensor([[[1.0, 0.0], [3.0, 4.0], [0.0, 2.0], [9.0, 9.0]]])
    told = likeness(states, some)
    assert told.same == pytest.approx([0.6])  # 3 / 5
    assert told.other == pytest.approx([(0 + 0.8) / 2])
    assert told.pairs == (1, 2)


def test_pairs_in_one_wording_do_not_count():
    states = torch.randn(2, len(DOUBLES), 5, generator=torch.Generator().manual_seed(3))
    told = likeness(states, DOUBLES)
    twice = likeness(torch.cat([states, states], dim=1), [*DOUBLES, *DOUBLES])
    assert twice.pairs == tuple(4 * count for count in told.pairs)
    assert twice.same == pytest.approx(told.same, abs=1e-5)
    assert twice.other == pytest.approx(told.other, abs=1e-5)


@given(st.floats(0.1, 10), st.integers(0, 1000))
def test_length_does_not_matter(scale, seed):
    some = DOUBLES[:23]
    roles = {(one.word, one.role) for one in some}
    if len(roles) == len({word for word, _ in roles}):
        some = DOUBLES
    states = torch.randn(2, len(some), 5, generator=torch.Generator().manual_seed(seed))
    one, other = likeness(states, some), likeness(scale * states, some)
    assert one.same == pytest.approx(other.same, abs=1e-5)
    assert one.other == pytest.approx(other.other, abs=1e-5)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"states must"):
        likeness(torch.zeros(3, 5, 7), DOUBLES[:23])
    with pytest.raises(ValueError, match="two of one word in one role, told in two wordings"):
        likeness(torch.zeros(3, 1, 7), DOUBLES[:1])
