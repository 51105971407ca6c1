"""Hard attention: what is drawn, how often, and that REINFORCE's gradient is right on average."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.layers.attention import hard as hard_attention
from gates2heads.layers.attention.hard import (
    Choice,
    HardAttention,
    MovingBaseline,
    draw,
    reinforce_loss,
)
from gates2heads.layers.attention.scores import DotScore, GeneralScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.masks import length_mask
from gates2heads.layers.record import record

B, T, S, K, D = 5, 3, 7, 2, 11
MASK = length_mask(torch.tensor([7, 1, 4, 0, 2]))[:, None]  # (B, 1, S); row 3 sees nothing


def sizes():
    return torch.randn(B, T, K), torch.randn(B, S, K), torch.randn(B, S, D)


def test_at_evaluation_it_is_soft_attention():
    score = GeneralScore(K, K)
    hard, soft = HardAttention(score).eval(), Attention(score)
    inputs = sizes()
    for own, reference in zip(hard(*inputs, mask=MASK), soft(*inputs, mask=MASK), strict=True):
        assert torch.equal(own, reference)


def test_while_training_each_context_is_one_of_the_values():
    hard = HardAttention(DotScore(K, K))
    query, keys, values = sizes()
    with hard.choices() as choices:
        context, picked = hard(query, keys, values, mask=MASK)
    (choice,) = choices
    assert not choice.picks[3].any()
    for row in range(B):
        for step in range(T):
            if row == 3:
                assert not context[row, step].any()
                assert not picked[row, step].any()
                continue
            place = choice.picks[row, step]
            assert MASK[row, 0, place]
            assert torch.equal(context[row, step], values[row, place])
            assert picked[row, step].sum() == picked[row, step, place] == 1


def test_log_prob_and_entropy_by_hand():
    # Weights ¼ and ¾: H = ¼ ln 4 + ¾ ln (4/3). A row of zeros: nothing is drawn, both are 0.
    weights = torch.tensor([[[0.25, 0.75], [0.0, 1.0], [0.0, 0.0]]])
    picked, choice = draw(weights)
    log_prob = math.log(0.25 if choice.picks[0, 0] == 0 else 0.75)
    torch.testing.assert_close(choice.log_prob, torch.tensor([[log_prob, 0.0, 0.0]]))
    entropy = 0.25 * math.log(4) + 0.75 * math.log(4 / 3)
    torch.testing.assert_close(choice.entropy, torch.tensor([[entropy, 0.0, 0.0]]))
    assert picked[0, 1:].tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_positions_are_drawn_as_often_as_their_weights_say():
    weights = torch.tensor([0.1, 0.6, 0.0, 0.3]).expand(1, 4000, 4)
    picked, _ = draw(weights)
    # 4000 draws: a share has a standard deviation of at most √(¼/4000) = 0.008
    torch.testing.assert_close(picked.mean(1)[0], weights[0, 0], atol=0.04, rtol=0)
    assert picked[..., 2].sum() == 0


@given(seed=st.integers(0, 10**6), baseline=st.floats(-3, 3))
def test_reinforce_is_right_on_average(seed, baseline):
    """Over all picks, weighted by their probability, it is the gradient of the expected reward."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(S, generator=generator, dtype=torch.double, requires_grad=True)
    rewards = torch.randn(S, generator=generator, dtype=torch.double)
    probs = scores.softmax(0)
    (exact,) = torch.autograd.grad((probs * rewards).sum(), scores, retain_graph=True)
    average = torch.zeros_like(exact)
    for pick in range(S):
        choice = Choice(
            torch.tensor([[pick]]), probs[pick].log().view(1, 1), torch.zeros(1, 1).double()
        )
        loss = reinforce_loss(rewards[pick : pick + 1], [choice], baseline=baseline)
        (gradient,) = torch.autograd.grad(loss, scores, retain_graph=True)
        average -= probs[pick].detach() * gradient
    torch.testing.assert_close(average, exact)


def test_a_baseline_near_the_reward_makes_the_gradient_vary_less():
    probs = torch.tensor([0.2, 0.3, 0.5], dtype=torch.double)
    rewards = torch.tensor([10.0, 11.0, 12.0], dtype=torch.double)
    spread = {}
    for baseline in (0.0, 11.3):  # 11.3 = 0.2 · 10 + 0.3 · 11 + 0.5 · 12
        logits = probs.log().requires_grad_()
        gradients = []
        for pick in range(3):
            log_prob = logits.log_softmax(0)[pick].view(1, 1)
            choice = Choice(torch.tensor([[pick]]), log_prob, torch.zeros(1, 1).double())
            loss = reinforce_loss(rewards[pick : pick + 1], [choice], baseline=baseline)
            gradients.append(torch.autograd.grad(loss, logits)[0])
        gradients = torch.stack(gradients)
        mean = probs @ gradients
        spread[baseline] = probs @ (gradients - mean).square().sum(1)
    assert spread[11.3] < spread[0.0] / 50


def test_the_loss_by_hand():
    # Two rows of two steps in two calls; the second row's last step does not count. With b = 1
    # and λ = 2: row 0 gains (3 − 1)(−1 − 2) + 2(0.5 + 0.25) = −4.5, row 1 (5 − 1)(−3) + 2·1 = −10.
    first = Choice(None, torch.tensor([[-1.0], [-3.0]]), torch.tensor([[0.5], [1.0]]))
    second = Choice(None, torch.tensor([[-2.0], [-9.0]]), torch.tensor([[0.25], [9.0]]))
    loss = reinforce_loss(
        torch.tensor([3.0, 5.0]),
        [first, second],
        baseline=1.0,
        entropy_weight=2.0,
        mask=torch.tensor([[True, True], [True, False]]),
    )
    assert loss.item() == pytest.approx((4.5 + 10) / 2)


def test_the_scores_learn_from_the_picks_alone():
    hard = HardAttention(GeneralScore(K, K))
    query, keys, values = sizes()
    with hard.choices() as choices:
        context, _ = hard(query, keys, values.requires_grad_(), mask=MASK)
    assert torch.autograd.grad(
        context.sum(), hard.score.bilinear.weight, retain_graph=True, allow_unused=True
    ) == (None,)
    reward = context.sum((1, 2))
    loss = reinforce_loss(reward, choices, entropy_weight=0.1)
    gradient, to_values = torch.autograd.grad(
        loss, [hard.score.bilinear.weight, values], allow_unused=True
    )
    assert gradient.isfinite().all()
    assert gradient.abs().max() > 0
    assert to_values is None  # the reward is a constant


def test_recorded_equals_unrecorded():
    hard = HardAttention(DotScore(K, K))
    inputs = sizes()
    torch.manual_seed(5)
    expected, _ = hard(*inputs, mask=MASK)
    torch.manual_seed(5)
    with record(hard) as trace:
        context, picked = hard(*inputs, mask=MASK)
    assert torch.equal(context, expected)
    assert torch.equal(trace.joined("", "picked"), picked)
    rows = [0, 1, 2, 4]
    torch.testing.assert_close(trace.joined("", "weights").sum(-1)[rows], torch.ones(4, T))


def test_a_moving_baseline_by_hand():
    baseline = MovingBaseline()
    assert baseline.update(torch.tensor([2.0, 4.0])) == 0.0
    assert baseline.value == pytest.approx(0.3)  # 0.9 · 0 + 0.1 · 3
    assert baseline.update(torch.tensor([-7.0])) == pytest.approx(0.3)
    assert baseline.value == pytest.approx(0.9 * 0.3 - 0.7)


def test_choices_are_collected_only_inside_the_block():
    hard = HardAttention(DotScore(K, K))
    hard(*sizes())
    with hard.choices() as choices:
        hard(*sizes())
        with (
            pytest.raises(RuntimeError, match="choices are being collected already"),
            hard.choices(),
        ):
            pass
        hard(*sizes())
    hard(*sizes())
    assert len(choices) == 2


@pytest.mark.parametrize(
    ("reward", "choices", "options", "error", "message"),
    [
        (torch.zeros(2), None, {}, ValueError, r"reward must"),
    ],
)
def test_bad_input(reward, choices, options, error, message):
    if choices is None:
        choices = [hard_attention.draw(torch.full((B, T, S), 1 / S))[1]]
    with pytest.raises(error, match=message):
        reinforce_loss(reward, choices, **options)
