"""Other ways to look: the five models, the order of a date, and the loss that learns by draws."""

import pytest
import torch

from gates2heads.book.ch05.attention_variants import WAYS, SampledLoss, looking_model, year_first
from gates2heads.data.batches.pairs import collate
from gates2heads.data.corpora.dates import DatePair
from gates2heads.layers.attention.hard import HardAttention
from gates2heads.layers.attention.local import LocalAttention
from gates2heads.models.kinds import describe
from gates2heads.models.translation.decoders import BahdanauDecoder, LuongDecoder
from gates2heads.training.cards import rebuild
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.losses import sequence_loss


@pytest.fixture
def batch():
    draw = torch.Generator().manual_seed(5)
    sides = ((7, 5), (3, 2), (11, 3))
    return collate(
        [[torch.randint(3, 13, (n,), generator=draw).tolist() for n in s] for s in sides]
    )


@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_what_its_name_says_and_its_weights_are_shipped(way, batch):
    kept = rebuild(shipped_weights(f"looking_{way}"))
    assert kept.card["command"].endswith(way)
    sizes = [len(side.vocabulary) for side in (kept.source, kept.target)]
    model = looking_model(way, *sizes)
    assert describe(kept.model) == describe(model)
    model.load_state_dict(kept.model.state_dict())
    assert isinstance(model.decoder, BahdanauDecoder if way == "before" else LuongDecoder)
    attention = model.decoder.attention
    assert isinstance(attention, HardAttention) == (way == "hard")
    assert isinstance(attention, LocalAttention) == (way in ("monotonic", "predictive"))
    assert getattr(attention, "predictive", False) == (way == "predictive")
    assert model(batch).shape == (3, 5, sizes[1])


def test_the_order_of_a_date():
    assert year_first(DatePair("1974年2月14日", "1974-02-14", "ja", "long"))
    assert not year_first(DatePair("Feb 14, 1974", "1974-02-14", "en", "medium"))


def gradients(loss, model, batch):
    """By part of the model, the gradient of a loss for the same draws."""
    torch.manual_seed(5)
    model.zero_grad()
    value = loss(model, batch)
    value.backward()
    return value.item(), {n: p.grad.clone() for n, p in model.named_parameters()}


def test_without_reinforce_it_is_the_surprise_at_what_was_drawn(batch):
    model = looking_model("hard", 13, 13)
    torch.manual_seed(5)
    surprise = sequence_loss(model, batch).item()
    value, _ = gradients(SampledLoss(reinforce=False), model, batch)
    assert value == pytest.approx(surprise, rel=1e-5)


def test_reinforce_adds_the_reward_times_the_gradient_of_the_log_probability(batch):
    model = looking_model("hard", 13, 13)
    _, plain = gradients(SampledLoss(reinforce=False), model, batch)
    _, full = gradients(SampledLoss(baseline=False), model, batch)
    torch.manual_seed(5)
    model.zero_grad()
    with model.decoder.attention.choices() as choices:
        log_probs = model(batch).log_softmax(-1)
    right = log_probs.gather(2, batch.target_out[..., None])[..., 0] * batch.target_mask
    likely = torch.cat([choice.log_prob for choice in choices], 1) * batch.target_mask
    (-(right.sum(1).detach() * likely.sum(1)).sum() / batch.target_mask.sum()).backward()
    for name, parameter in model.named_parameters():
        more = 0 if parameter.grad is None else parameter.grad
        torch.testing.assert_close(full[name], plain[name] + more, rtol=1e-3, atol=1e-5)


def test_the_baseline_is_what_earlier_batches_earned(batch):
    loss = SampledLoss()
    assert loss.baseline.value == 0
    gradients(loss, looking_model("hard", 13, 13), batch)
    assert loss.baseline.value < 0  # a tenth of a mean log-probability
