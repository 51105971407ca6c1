"""Sampling: the narrowed distributions by hand and by loop, and frequencies by chi-square."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from gates2heads.decoding.sampling import keep_min_p, keep_top_k, keep_top_p, sample, temper
from gates2heads.decoding.search import greedy
from tests.decoding.step_functions import RandomTables

PROBS = torch.tensor([0.1, 0.4, 0.2, 0.3], dtype=torch.double)
DRAWS = 20_000

rows = st.integers(2, 11).flatmap(
    lambda size: st.lists(st.floats(-20, 0), min_size=size, max_size=size)
)


def probs(log_probs):
    return pytest.approx(log_probs.exp().tolist())


def test_by_hand():
    logs = PROBS.log()
    assert probs(temper(logs, 0.5)) == [0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3]
    assert probs(keep_top_k(logs, 2)) == [0, 4 / 7, 0, 3 / 7]
    # 0.4 is not 0.65, 0.4 + 0.3 is.
    assert probs(keep_top_p(logs, 0.65)) == [0, 4 / 7, 0, 3 / 7]
    assert probs(keep_top_p(logs, 0.75)) == [0, 4 / 9, 2 / 9, 3 / 9]
    assert probs(keep_top_p(logs, 0.0)) == [0, 1, 0, 0]
    assert PROBS.tolist() == probs(keep_top_p(logs, 1.0))
    assert PROBS.tolist() == probs(keep_top_k(logs, 99))


def test_min_p_keeps_what_is_probable_enough_beside_the_most_probable():
    """0.4 is the most probable token; 0.1 is a quarter of it, and 0.2 is a half."""
    logs = PROBS.log()
    assert probs(keep_min_p(logs, 0.3)) == [0, 4 / 9, 2 / 9, 3 / 9]
    assert probs(keep_min_p(logs, 0.6)) == [0, 4 / 7, 0, 3 / 7]
    assert probs(keep_min_p(logs, 1.0)) == [0, 1, 0, 0]
    assert PROBS.tolist() == probs(keep_min_p(logs, 0.0))


def test_a_sample_keeps_to_min_p():
    """Of 0.4, 0.3, 0.2 and 0.1, a min-p of 0.6 keeps the two most probable tokens."""
    found = sample(
        lambda state, last: (PROBS.log().expand(len(last), -1), state),
        None,
        bos=torch.zeros(300, dtype=torch.long),
        eos=None,
        max_length=1,
        min_p=0.6,
        generator=torch.Generator().manual_seed(0),
    )
    assert found.tokens.unique().tolist() == [1, 3]


def test_top_p_stops_where_the_sum_is_exactly_p():
    assert probs(keep_top_p(torch.zeros(4), 0.5)) == [0.5, 0.5, 0, 0]
    assert probs(keep_top_p(torch.zeros(2), 0.5)) == [1, 0]


def narrowed(row, keeps):
    """The probabilities of a row, of which a loop over its sorted tokens keeps some."""
    total = sum(math.exp(number) for number in row)
    ranked = sorted(range(len(row)), key=lambda token: (-row[token], token))
    kept, mass = [], 0.0
    for token in ranked:
        if not keeps(len(kept), mass):
            break
        kept.append(token)
        mass += math.exp(row[token]) / total
    return [
        math.exp(row[token]) / total / mass if token in kept else 0 for token in range(len(row))
    ]


@given(row=rows, k=st.integers(1, 12))
@example(row=[0.0, 0.0, 0.0], k=1)
@example(row=[0.0, 0.0, -50.0], k=2)
@example(row=[1.0], k=12)
def test_top_k_equals_a_sorted_loop(row, k):
    expected = narrowed(row, lambda kept, mass: kept < k)
    assert expected == probs(keep_top_k(torch.tensor(row, dtype=torch.double), k))


@given(row=rows, p=st.floats(0, 0.999))
@example(row=[0.0, 0.0, 0.0], p=0.0)
@example(row=[0.0, 0.0, 0.0], p=0.999)
@example(row=[0.0, -50.0], p=5e-324)
def test_top_p_equals_a_sorted_loop(row, p):
    # Rounding decides where a sum of probabilities equals p: leave such p out.
    exact, mass = torch.tensor(row, dtype=torch.double).softmax(-1), 0.0
    for chance in exact.sort(descending=True).values.tolist():
        mass += chance
        if abs(mass - p) < 1e-9:
            return
    expected = narrowed(row, lambda kept, mass: not kept or mass < p)
    assert expected == probs(keep_top_p(torch.tensor(row, dtype=torch.double), p))


@given(row=rows, temperature=st.floats(0.05, 20))
def test_temperature_divides_the_log_odds(row, temperature):
    logs = torch.tensor(row, dtype=torch.double)
    tempered = temper(logs, temperature)
    assert tempered.exp().sum().item() == pytest.approx(1)
    odds, before = tempered - tempered[0], (logs - logs[0]) / temperature
    assert odds.tolist() == pytest.approx(before.tolist(), abs=1e-9)


def test_temperature_at_its_ends():
    logs = PROBS.log()
    assert probs(temper(logs, 1e-300)) == [0, 1, 0, 0]
    assert probs(temper(logs, 1e300)) == [0.25] * 4
    closed = torch.tensor([0.0, -torch.inf, 0.0])
    assert probs(temper(closed, 3.0)) == [0.5, 0, 0.5]


@pytest.mark.parametrize("dtype", [torch.half, torch.float, torch.double])
@pytest.mark.parametrize("temperature", [5e-324, 1e-46, 1e-9])
def test_next_to_no_temperature_leaves_the_likeliest(dtype, temperature):
    row = torch.tensor([[0.2, 0.5, 0.3, 0.0]], dtype=dtype).log()
    assert temper(row, temperature).exp().tolist() == [[0, 1, 0, 0]]
    tie = torch.tensor([0.5, 0.5, 0.0], dtype=dtype).log()
    assert temper(tie, temperature).exp().tolist() == [0.5, 0.5, 0]
    assert temper(row, temperature).dtype == dtype


@pytest.mark.parametrize("dtype", [torch.half, torch.float, torch.double])
def test_endless_temperature_makes_what_is_possible_equal(dtype):
    row = torch.tensor([0.2, 0.5, 0.3, 0.0], dtype=dtype).log()
    for temperature in (1e9, 1e200):
        flat = temper(row, temperature).exp().tolist()
        assert flat == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-3)


def test_all_of_the_probability_keeps_tokens_that_rounding_would_drop():
    """The mass before the last token is rounded up to 1 here; p = 1 must keep it all the same."""
    tiny = 2.0**-30  # in single precision, 1 + tiny is 1
    row = torch.tensor([1.0, tiny, tiny]).log()
    kept = keep_top_p(row, 1.0).exp()
    assert (kept > 0).all()
    torch.testing.assert_close(kept, torch.tensor([1.0, tiny, tiny]))
    assert (keep_top_p(row, 0.999).exp() > 0).tolist() == [True, False, False]


def one_step(log_probs):
    return lambda state, last_tokens: (log_probs.expand(len(last_tokens), -1), state)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.1, 0.4, 0.2, 0.3]),
        ({"temperature": 0.5}, [0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3]),
        ({"top_k": 3}, [0, 4 / 9, 2 / 9, 3 / 9]),
        ({"top_p": 0.65}, [0, 4 / 7, 0, 3 / 7]),
        # Temperature first: 16/30 alone holds half. Before it, 0.4 would not.
        ({"temperature": 0.5, "top_p": 0.5}, [0, 1, 0, 0]),
        # Top-k first: 4/7 of the two that are left holds 0.55. Before it, 0.4 would not.
        ({"top_k": 2, "top_p": 0.55}, [0, 1, 0, 0]),
    ],
)
def test_frequencies_by_chi_square(options, expected):
    output = sample(
        one_step(PROBS.log()),
        None,
        bos=torch.zeros(DRAWS, dtype=torch.long),
        eos=None,
        max_length=1,
        generator=torch.Generator().manual_seed(11),
        **options,
    )
    counts = torch.bincount(output.tokens[:, 0], minlength=4).tolist()
    assert [count == 0 for count in counts] == [chance == 0 for chance in expected]
    cells = [(c, DRAWS * e) for c, e in zip(counts, expected, strict=True) if e]
    statistic = sum((count - wanted) ** 2 / wanted for count, wanted in cells)
    # 99.9 % quantile of chi-square with 3, 2, 1, 0 degrees of freedom
    assert statistic <= {4: 16.27, 3: 13.82, 2: 10.83, 1: 0.0}[len(cells)]


def test_later_steps_follow_what_was_drawn_and_the_log_prob_is_the_models():
    tables = RandomTables(31, 5, 4, seed=3)
    output = sample(
        tables.step, tables.start, bos=tables.bos, eos=1, max_length=4, temperature=1.5, top_k=4
    )
    lengths = set()
    for source in range(31):
        tokens, total, prefix = output.tokens[source].tolist(), 0.0, 0
        end = tokens.index(1) + 1 if 1 in tokens else 4
        lengths.add(end)
        for level, token in enumerate(tokens[:end]):
            total += tables.levels[level][source, prefix, token].item()
            prefix = prefix * 5 + token
        assert output.log_prob[source].item() == pytest.approx(total)
        assert output.finished[source] == (1 in tokens)
        assert set(tokens[end:]) <= {0}
    assert len(lengths) > 2


def test_a_seed_repeats_the_draws():
    tables = RandomTables(7, 5, 4, seed=3)

    def draw(seed):
        generator = torch.Generator().manual_seed(seed)
        given = {"bos": tables.bos, "eos": None, "max_length": 4, "generator": generator}
        return sample(tables.step, tables.start, **given).tokens.tolist()

    assert draw(5) == draw(5)
    assert draw(5) != draw(6)


@given(seed=st.integers(0, 2**31))
def test_one_token_is_greedy(seed):
    tables = RandomTables(3, 5, 4, seed)
    given = {"bos": tables.bos, "eos": 1, "max_length": 4}
    wanted = greedy(tables.step, tables.start, **given)
    for options in ({"top_k": 1}, {"top_p": 0.0}, {"temperature": 1e-12}):
        output = sample(tables.step, tables.start, **given, **options)
        assert output.tokens.tolist() == wanted.tokens.tolist()


def test_a_row_that_has_ended_may_be_allowed_nothing():
    table = torch.full((4, 4), -torch.inf)
    table[3, 1] = table[2, 3] = 0.0

    def step(state, last_tokens):
        return table[last_tokens], state

    output = sample(step, None, bos=torch.tensor([3, 2]), eos=1, max_length=3)
    assert output.tokens.tolist() == [[1, 0], [3, 1]]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"eos": 4}, ValueError, "eos must"),
        (
            {"step": one_step(torch.full((4,), -torch.inf))},
            ValueError,
            "log_probs must",
        ),
        (
            {"step": one_step(torch.tensor([2.0, 0, 0, 0]))},
            ValueError,
            "step must",
        ),
    ],
)
def test_nonsense_gets_one_clear_sentence(change, error, message):
    good = {"step": one_step(PROBS.log()), "state": 0, "bos": 0, "eos": 1, "max_length": 2}
    with pytest.raises(error, match=message):
        sample(**{**good, **change})


@pytest.mark.parametrize("narrow", [temper, keep_top_k, keep_top_p])
@pytest.mark.parametrize(
    ("log_probs", "message"),
    [
        (torch.tensor([math.nan, 0.0]), "no NaN or infinity, got a row .* nan"),
        (torch.tensor([-math.inf] * 2), "allow at least one token in every row"),
    ],
)
def test_what_is_no_distribution_is_refused(narrow, log_probs, message):
    with pytest.raises(ValueError, match=message):
        narrow(log_probs, 1)
