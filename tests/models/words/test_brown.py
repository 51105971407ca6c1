"""Word classes: by hand, against merging by definition, and what they say of a small language."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.windows import join_sentences
from gates2heads.models.words.brown import brown_classes, merge_losses, mutual_information

tables = st.integers(2, 7).flatmap(
    lambda size: (
        st.lists(st.integers(0, 11), min_size=size * size, max_size=size * size)
        .filter(any)
        .map(lambda numbers: torch.tensor(numbers).view(size, size))
    )
)
texts = st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=13), min_size=1, max_size=7)


def information(pairs):
    """Mutual information of neighbours from a list of pairs, by its definition."""
    total, found = len(pairs), 0.0
    for i, j in set(pairs):
        both = sum(pair == (i, j) for pair in pairs) / total
        one = sum(pair[0] == i for pair in pairs) / total
        other = sum(pair[1] == j for pair in pairs) / total
        found += both * math.log(both / (one * other))
    return found


def by_definition(sentences, counts, classes):
    """The classes as sets of words; every union is tried, on the pairs written out one by one."""
    order = sorted((word for word in range(len(counts)) if counts[word]), key=lambda w: -counts[w])
    groups = []
    for word in order:
        groups.append({word})
        if len(groups) <= classes:
            continue
        pairs = [pair for one in sentences for pair in itertools.pairwise(one)]
        pairs = [pair for pair in pairs if all(any(w in g for g in groups) for w in pair)]
        best = None
        for i, j in itertools.combinations(range(len(groups)), 2):
            name = {w: (i if at == j else at) for at, g in enumerate(groups) for w in g}
            left = information([(name[a], name[b]) for a, b in pairs]) if pairs else 0.0
            if best is None or left > best[0] + 1e-12:
                best = left, i, j
        _, i, j = best
        groups[i] |= groups.pop(j)
    return groups


def test_information_by_hand():
    # Two classes that always alternate: p = 1/2 each, l = r = 1/2: 2 · ½ · log(½ / ¼) = log 2.
    assert mutual_information(torch.tensor([[0, 3], [3, 0]])).item() == pytest.approx(math.log(2))
    # Rows and columns independent: nothing is told.
    assert mutual_information(torch.tensor([[1, 2], [2, 4]])).item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("type_", [torch.float16, torch.float32, torch.float64])
def test_shares_tell_what_counts_tell(type_):
    counts = torch.tensor([[20000, 0, 7000], [500, 11000, 0], [0, 300, 30000]])  # 2^16 and more
    shares = counts.double() / counts.sum()
    told = mutual_information(counts)
    assert mutual_information(shares) == pytest.approx(told.item(), abs=1e-12)
    assert mutual_information(counts.to(type_)) == pytest.approx(told.item(), abs=1e-4)
    torch.testing.assert_close(merge_losses(shares), merge_losses(counts))


def test_nothing_counted_tells_nothing():
    assert mutual_information(torch.zeros(3, 3)) == 0


@given(tables)
def test_the_loss_of_a_union_is_the_information_that_is_gone(table):
    losses = merge_losses(table)
    whole = mutual_information(table)
    for i, j in itertools.combinations(range(len(table)), 2):
        onto = torch.eye(len(table), dtype=torch.long)
        onto[j] = onto[i]
        merged = onto.T @ table @ onto
        expected = (whole - mutual_information(merged)).item()
        assert losses[i, j].item() == pytest.approx(expected, abs=1e-10)
        assert losses[j, i] == losses[i, j]
        assert expected > -1e-10  # a union never tells more
    assert losses.diag().isinf().all()


@given(texts, st.integers(1, 5))
def test_classes_lose_no_more_than_those_by_definition(sentences, classes):
    """Where two unions lose the same, either is right: both ways must keep as much."""
    counts = torch.tensor([sum(one.count(word) for one in sentences) for word in range(9)])
    text = join_sentences(sentences)
    found = brown_classes(text, counts, classes)
    assert ((found >= 0) == (counts > 0)).all()
    assert found.max() < classes
    groups = by_definition(sentences, counts.tolist(), classes)
    assert len(groups) == len(found[found >= 0].unique())
    pairs = [pair for one in sentences for pair in itertools.pairwise(one)]
    if classes + 1 >= (counts > 0).sum() and pairs:  # at most one union: no tie can lead astray
        name = {word: at for at, group in enumerate(groups) for word in group}
        ours = information([(int(found[a]), int(found[b])) for a, b in pairs])
        assert ours == pytest.approx(information([(name[a], name[b]) for a, b in pairs]), abs=1e-9)


def test_classes_are_those_by_definition_where_no_two_unions_tie():
    generator = torch.Generator().manual_seed(3)
    for _ in range(7):
        weights = torch.rand(11, generator=generator) + 0.1
        sentences = torch.multinomial(weights, 7 * 211, replacement=True, generator=generator)
        sentences = sentences.view(7, 211).tolist()
        counts = torch.bincount(torch.tensor(sentences).flatten(), minlength=11)
        if len(counts.unique()) < 11:
            continue  # words of one frequency may be taken in either order
        found = brown_classes(join_sentences(sentences), counts, 3)
        ours = {frozenset((found == one).nonzero()[:, 0].tolist()) for one in range(3)}
        assert ours == {frozenset(g) for g in by_definition(sentences, counts.tolist(), 3)}


def test_words_that_stand_in_the_same_places_come_together():
    # a noun after each article, a verb after each noun, an article after each verb
    articles, nouns, verbs = (0, 1), (2, 3, 4), (5, 6)
    phrases = [list(one) for one in itertools.product(articles, nouns, verbs)]
    sentences = [one + other for one in phrases for other in phrases]
    counts = torch.bincount(torch.tensor(sentences).flatten())
    found = brown_classes(join_sentences(sentences), counts, 3)
    for kind in (articles, nouns, verbs):
        assert len(set(found[list(kind)].tolist())) == 1
    assert len(found.unique()) == 3


def test_no_pair_crosses_the_end_of_a_sentence():
    text = join_sentences([[0, 1], [2, 3]])
    moved = join_sentences([[2, 3], [0, 1]])
    counts = torch.ones(5)
    counts[4] = 0
    assert brown_classes(text, counts, 2).tolist() == brown_classes(moved, counts, 2).tolist()
    assert brown_classes(text, counts, 2)[4] == -1


def test_there_must_be_a_count_for_every_word_of_the_text():
    with pytest.raises(ValueError, match="counts must"):
        brown_classes(join_sentences([[0, 1, 2]]), torch.ones(2), 2)
