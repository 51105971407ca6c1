"""Agreement of judges and the sign test: by hand, against every outcome, wrong arguments."""

from itertools import product

import numpy as np
import pytest

from gates2heads.metrics.judgements import agreement, sign_test


def test_kappa_by_hand():
    # 5 yes-yes, 2 yes-no, 1 no-yes, 2 no-no: table 9.7
    first = ["yes"] * 7 + ["no"] * 3
    second = ["yes"] * 5 + ["no"] * 2 + ["yes"] + ["no"] * 2
    assert tuple(agreement(first, second)) == pytest.approx((0.7, 0.54, 0.16 / 0.46))


def test_kappa_of_random_labels_against_the_table():
    draw = np.random.default_rng(0)
    for trial in range(200):
        items, kinds = draw.integers(1, 30), draw.integers(1, 5)
        first, second = draw.integers(kinds, size=(2, items))
        table = np.zeros((kinds, kinds))
        np.add.at(table, (first, second), 1 / items)
        chance = (table.sum(0) * table.sum(1)).sum()
        found = agreement(first.tolist(), second.tolist())
        assert found.observed == pytest.approx(table.trace())
        if chance < 1 - 1e-9:
            kappa = (table.trace() - chance) / (1 - chance)
            assert found.kappa == pytest.approx(kappa), trial
        else:
            assert found == (1, 1, 1)
        back = agreement(second.tolist(), first.tolist())
        assert back.kappa == pytest.approx(found.kappa)


def test_opposite_labels_and_one_label():
    assert agreement(["a", "b"], ["b", "a"]).kappa == -1
    assert agreement(["a", "a"], ["a", "a"]) == (1, 1, 1)
    assert agreement(["a", "a"], ["b", "b"]).kappa == 0


def test_the_sign_test_against_all_tosses():
    for tosses in range(9):
        all_wins = [sum(coins) for coins in product((0, 1), repeat=tosses)]
        for wins in range(tosses + 1):
            least = min(wins, tosses - wins)
            as_uneven = sum(min(one, tosses - one) <= least for one in all_wins)
            assert sign_test(wins, tosses - wins) == pytest.approx(as_uneven / len(all_wins))


def test_the_sign_test_of_many_pairs():
    # the normal approximation with continuity correction: z = (60 - 50 - 0.5) / 5 = 1.9
    assert sign_test(60, 40) == pytest.approx(0.0569, abs=1e-4)
    assert sign_test(40, 60) == sign_test(60, 40)
    assert sign_test(0, 0) == 1


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: agreement(["a"], ["a", "b"]), ValueError, "as many labels, got 1 and 2"),
    ],
)
def test_wrong_arguments(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
