"""N-grams: by hand, against the papers' formulas written slowly, and sums that must be 1."""

import math
from collections import Counter
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.pairs import pad
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.search import greedy
from gates2heads.metrics.perplexity import perplexity
from gates2heads.models.language.context import NgramState
from gates2heads.models.language.ngram import AddK, KneserNey, modified_discounts

V = 7
BOS, EOS = Vocabulary.bos, Vocabulary.eos
A, B, C = 3, 4, 5
TEXTS = [[A, B, EOS], [A, C, EOS], [A, B, C, EOS]]
MODELS = {
    "add-k": lambda texts, order: AddK(texts, V, order, k=0.3),
    "one discount": lambda texts, order: KneserNey(texts, V, order, discount=0.7),
    "three discounts": lambda texts, order: KneserNey(texts, V, order),
}
texts_of = st.lists(
    st.lists(st.integers(3, V - 1), max_size=9).map(lambda text: [*text, EOS]),
    min_size=1,
    max_size=7,
)


def test_add_one_by_hand():
    # After A stood B twice, C once: three times anything. Five tokens can be written.
    probs = AddK(TEXTS, V, 2).probs([A])
    expected = [0, 0, 1 / 8, 1 / 8, 3 / 8, 2 / 8, 1 / 8]
    torch.testing.assert_close(probs, torch.tensor(expected).double())


def test_add_k_looks_no_further_back_than_its_order():
    bigram = AddK(TEXTS, V, 2, k=0.5)
    assert torch.equal(bigram.probs([C, B]), bigram.probs([A, B]))
    trigram = AddK(TEXTS, V, 3, k=0.5)
    assert trigram.probs([A, B])[C] == (1 + 0.5) / (2 + 5 * 0.5)
    # [C, B] never occurred, and add-k has nothing to back off to: one fifth each
    torch.testing.assert_close(trigram.probs([C, B])[2:], torch.full((5,), 0.2).double())


def test_kneser_ney_bigram_by_hand():
    # Pairs: (^ A) ×3, (A B) ×2, (A C), (B $), (B C), (C $) ×2. How many different tokens stand
    # before each: A 1, B 1, C 2, $ 2; six together.
    model = KneserNey(TEXTS, V, 2, discount=0.5)
    shortest = {A: 0.5 / 6, B: 0.5 / 6, C: 1.5 / 6, EOS: 1.5 / 6, 6: 0.0}
    left = 4 * 0.5 / 6
    shortest = {token: p + left / 5 for token, p in shortest.items()}
    # After A: B 2, C 1, of 3; two discounts of 0.5 are left for the shorter context.
    expected = {token: (1.0 / 3) * p for token, p in shortest.items()}
    expected[B] += 1.5 / 3
    expected[C] += 0.5 / 3
    for token, p in expected.items():
        assert model.probs([A])[token].item() == pytest.approx(p, abs=1e-15)
    # 6 is in the vocabulary and in no text: an unseen context leaves the shorter one as it is.
    for token, p in shortest.items():
        assert model.probs([6])[token].item() == pytest.approx(p, abs=1e-15)


def test_kneser_ney_prefers_the_token_with_many_neighbours():
    # B follows A alone, five times; C follows A, B and 6, once each. After the unseen 6 … 6:
    texts = [[A, B, EOS]] * 5 + [[A, C, EOS], [B, C, EOS], [6, C, EOS]]
    counted, continued = KneserNey(texts, V, 1, discount=0.5), KneserNey(texts, V, 2, discount=0.5)
    assert counted.probs()[B] > counted.probs()[C]
    assert continued.probs([EOS])[C] > continued.probs([EOS])[B]


def slow_kneser_ney(texts, order, discount_of, token, context):
    """P(token | context) by the recursion of Chen & Goodman 1999, every count taken anew."""

    def occurrences(size):  # the n-grams of this size that end with a token of the text
        for text in texts:
            padded = (BOS,) * (order - 1) + tuple(text)
            for end in range(order, len(padded) + 1):
                yield padded[end - size : end]

    size = len(context) + 1
    if size == order:
        counts = Counter(occurrences(size))
    else:
        counts = Counter(longer[1:] for longer in set(occurrences(size + 1)))
    discounts = discount_of(counts)
    after = {ngram[-1]: n for ngram, n in counts.items() if ngram[:-1] == context}
    if context:
        shorter = slow_kneser_ney(texts, order, discount_of, token, context[1:])
    else:
        shorter = Fraction(int(token >= EOS), V - 2)
    if not after:
        return shorter
    total = sum(after.values())
    kept = Fraction(0)
    if token in after:
        kept = after[token] - discounts[min(after[token], 3)]
    left = sum(discounts[min(n, 3)] for n in after.values())
    return (kept + left * shorter) / total


def one_discount(counts):
    return dict.fromkeys((1, 2, 3), Fraction(7, 10))


def three_discounts(counts):
    of = [Fraction(sum(n == wanted for n in counts.values())) for wanted in range(5)]
    if 0 in of[1:]:
        return {1: Fraction(1, 2), 2: Fraction(1), 3: Fraction(3, 2)}
    y = of[1] / (of[1] + 2 * of[2])
    estimated = {
        1: 1 - 2 * y * of[2] / of[1],
        2: 2 - 3 * y * of[3] / of[2],
        3: 3 - 4 * y * of[4] / of[3],
    }
    if min(estimated.values()) < 0:
        return {1: Fraction(1, 2), 2: Fraction(1), 3: Fraction(3, 2)}
    return estimated


RICH = [
    [A, B, C, A, B, EOS],
    [A, B, A, B, 6, EOS],
    [C, C, A, 6, 6, EOS],
    [B, A, B, C, EOS],
    [6, A, B, B, A, C, EOS],
    [C, A, EOS],
]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("rule", [one_discount, three_discounts])
def test_kneser_ney_is_the_papers_recursion(order, rule):
    model = MODELS["one discount" if rule is one_discount else "three discounts"](RICH, order)
    contexts = [(BOS,) * 3, (BOS, BOS, A), (BOS, A, B), (A, B, C), (B, C, B), (6, 6, 6), (C, C, A)]
    for context in {context[4 - order :] for context in contexts}:
        ours = model.probs(context)
        for token in range(V):
            slow = slow_kneser_ney(RICH, order, rule, token, context)
            assert ours[token].item() == pytest.approx(float(slow), abs=1e-14)


def test_the_three_discounts_by_hand_and_their_fallback():
    # n1 = 4, n2 = 2, n3 = 1, n4 = 1: Y = 4/8; D1 = 1 − 2·½·2/4, D2 = 2 − 3·½·1/2, D3 = 3 − 4·½·1/1
    table = {(A,): Counter({A: 1, B: 1, C: 2, 6: 3}), (B,): Counter({A: 1, B: 1, C: 2, 6: 4})}
    assert modified_discounts(table) == (0.5, 1.25, 1.0)
    assert modified_discounts({(A,): Counter({A: 1, B: 2, C: 3})}) == (0.5, 1.0, 1.5)
    # n3 = 8 of n2 = 1 would make D2 = 2 − 3 · ⅓ · 8 / 1 negative.
    many = Counter({0: 1, 1: 2, 2: 4, **dict.fromkeys(range(10, 18), 3)})
    assert modified_discounts({(A,): many}) == (0.5, 1.0, 1.5)


@pytest.mark.parametrize("kind", MODELS)
@given(texts=texts_of, order=st.integers(1, 5), context=st.lists(st.integers(0, V - 1)))
def test_probabilities_sum_to_one_after_every_context(kind, texts, order, context):
    probs = MODELS[kind](texts, order).probs(context)
    assert probs.sum().item() == pytest.approx(1, abs=1e-12)
    assert (probs[:EOS] == 0).all()
    assert (probs[EOS:] > 0).all()


@pytest.mark.parametrize("kind", MODELS)
@given(texts=texts_of, order=st.integers(1, 4), scored=texts_of)
def test_steps_and_scores_agree_and_padding_counts_for_nothing(kind, texts, order, scored):
    model = MODELS[kind](texts, order)
    tokens, mask = pad(scored)
    ours = model.log_probs(tokens, mask=mask)
    state, last = model.start(len(tokens)), torch.full((len(tokens),), BOS)
    for t in range(tokens.shape[1]):
        log_probs, state = model.step(state, last)
        last = tokens[:, t]
        stepped = log_probs.gather(1, last[:, None])[:, 0]
        assert torch.equal(ours[:, t], stepped.masked_fill(~mask[:, t], 0.0))
    for row, text in enumerate(scored):
        alone = model.log_probs(torch.tensor([text]))
        assert torch.equal(ours[row, : len(text)], alone[0])
        by_hand = [model.probs(text[:t])[token].log() for t, token in enumerate(text)]
        assert torch.equal(alone[0], torch.stack(by_hand))


@pytest.mark.parametrize("kind", MODELS)
def test_the_probabilities_of_all_texts_come_near_one(kind):
    model = MODELS[kind](TEXTS, 2)
    step_from = torch.stack([model.probs([token]) for token in range(V)])  # (V, V)
    ended, going_on = 0.0, step_from[BOS].clone()  # all texts of one token
    for _ in range(200):
        ended += going_on[EOS].item()
        going_on[EOS] = 0.0
        going_on = going_on @ step_from  # those that did not end are one token longer
    assert ended == pytest.approx(1, abs=1e-9)


def test_perplexity_of_its_own_text_falls_as_k_falls_and_searches_run():
    tokens, mask = pad(TEXTS)
    values = [
        perplexity(AddK(TEXTS, V, 3, k=k).log_probs(tokens, mask=mask), mask=mask)
        for k in (10, 1, 0.1)
    ]
    assert values[0] > values[1] > values[2] > 1
    model = KneserNey(TEXTS, V, 3, discount=0.1)
    output = greedy(model.step, model.start(2), bos=torch.tensor([BOS] * 2), eos=EOS, max_length=9)
    assert (
        output.tokens.tolist() == [[A, B, EOS]] * 2
        or output.tokens.tolist() == [[A, B, C, EOS]] * 2
    )
    expected = model.log_probs(output.tokens).sum(1)
    torch.testing.assert_close(output.log_prob, expected)


def test_uniform_where_there_is_one_text_of_nothing_but_the_end():
    model = KneserNey([[EOS]], V, 1, discount=1.0)  # all that was counted is given away
    torch.testing.assert_close(model.probs()[EOS:], torch.full((5,), 0.2).double())
    log_probs = model.log_probs(torch.tensor([[A, EOS]]))
    torch.testing.assert_close(log_probs, torch.full((1, 2), math.log(0.2)).double())


@pytest.mark.parametrize("build", [AddK, KneserNey])
@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ([3, 4], TypeError, r"texts\[0\] must"),
        ([["a"]], TypeError, r"texts\[0\]\[0\] must"),
        ([[[3]]], TypeError, r"texts\[0\]\[0\] must"),
        ([[3], []], ValueError, r"texts\[1\] must"),
        ([[3, V]], ValueError, r"texts\[0\]\[1\] must"),
        ([[3, BOS]], ValueError, r"texts\[0\]\[1\] must"),
    ],
)
def test_refuses_texts_that_cannot_be(build, texts, error, message):
    with pytest.raises(error, match=message):
        build(texts, V)


def test_refuses_a_context_that_cannot_be():
    with pytest.raises(ValueError, match=r"context\[1\] must"):
        AddK(TEXTS, V).probs([3, 9])


def test_a_step_refuses_another_state_and_another_number_of_texts():
    model = AddK(TEXTS, V)
    with pytest.raises(TypeError, match="state must"):
        model.step(None, torch.tensor([1]))
    with pytest.raises(ValueError, match="last_tokens must"):
        model.step(model.start(2), torch.tensor([1]))
    assert isinstance(model.start(1), NgramState)
