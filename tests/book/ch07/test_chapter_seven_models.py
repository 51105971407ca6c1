"""The small models of chapter 7: what each change changes, and what the planted fault does."""

import pytest
import torch

from gates2heads.book.ch07.ablation import (
    CHANGES,
    FEW,
    TESTED,
    TRAINED,
    LeakingLayer,
    NoFeedForward,
    NoResidual,
    RealBatchNorm,
    Unplaced,
    changed_transformer,
    date_data,
    loss_for,
    use_linear_default,
)
from gates2heads.book.ch07.faulty import AlwaysFirst, faulty_writer, write_anew
from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.layers.blocks import Residual
from gates2heads.layers.norms import BatchNorm, LayerNorm, RMSNorm
from gates2heads.layers.record import record
from gates2heads.training.losses import sequence_loss


@pytest.fixture(scope="module")
def data():
    return date_data()


@pytest.fixture(scope="module")
def batch(data):
    return collate(data.train[:7])


def fresh(change):
    torch.manual_seed(3)
    return changed_transformer(change).eval()


def kinds(model, kind):
    return sum(type(module) is kind for module in model.modules())


def test_the_data_are_dates_of_other_days(data):
    assert (len(data.train), len(data.tested)) == (TRAINED, TESTED)
    shown = {data.target.decode(target) for _, target in data.train}
    assert not shown & {iso for _, iso in data.tested}
    assert FEW < TRAINED


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_reads_writes_and_learns(change, data, batch):
    model = fresh(change).train()
    before = loss_for(change)(model, batch)
    before.backward()
    torch.optim.SGD(model.parameters(), 1e-3).step()
    assert loss_for(change)(model, batch) < before
    written = translate(model.eval(), [data.tested[0][0]], data.source, data.target, max_length=5)
    assert len(written[0]) <= 5


def test_each_change_changes_its_part_alone(batch):
    whole = fresh("whole")
    # 3 layers of 2 parts, 3 of 3, and a norm behind each stack
    assert kinds(whole, Residual) == 15
    assert kinds(whole, LayerNorm) == 17
    assert kinds(fresh("no residuals"), NoResidual) == 15
    assert kinds(fresh("no norms"), LayerNorm) == 0
    assert kinds(fresh("no feed-forward"), NoFeedForward) == 6
    assert kinds(fresh("no positions"), Unplaced) == 2
    assert kinds(fresh("no causal mask"), LeakingLayer) == 3
    assert kinds(fresh("RMSNorm"), RMSNorm) == 17
    assert kinds(fresh("BatchNorm"), RealBatchNorm) == 17
    assert kinds(fresh("post-norm"), LayerNorm) == kinds(fresh("post-norm"), Residual) == 15
    assert kinds(fresh("post-norm, BatchNorm"), RealBatchNorm) == 15
    same = ("no residuals", "no positions", "no causal mask", "no warm-up", "few dates")
    for change in same:
        pairs = zip(whole.parameters(), fresh(change).parameters(), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs), change


def test_the_default_of_linear_changes_sublayers_and_not_embeddings():
    one, other = fresh("whole"), fresh("whole")
    use_linear_default(other)
    assert torch.equal(one.source_table, other.source_table)
    block = other.decoder_layers[0]
    for layer in (block.self_attn.out_proj, block.cross_attn.out_proj, block.feed_forward.linear1):
        bound = layer.in_features**-0.5  # of `nn.Linear`, for matrix and bias
        for parameter in (layer.weight, layer.bias):
            assert 0.7 * bound < parameter.abs().max() <= bound
    for parameter in (block.self_attn.in_proj_weight, block.self_attn.in_proj_bias):
        assert 0.9 / 8 < parameter.abs().max() <= 1 / 8
    assert torch.equal(block.self_residual.norm.weight, torch.ones(64))


def test_what_is_taken_away_by_hand():
    x, part = torch.ones(1, 2, 3), torch.full((1, 2, 3), 5.0)
    assert torch.equal(NoResidual(3, norm_first=True).after(x, part), part)
    assert torch.allclose(NoResidual(3).after(x, part), torch.zeros(1, 2, 3))
    assert torch.equal(Unplaced()(x, start=7), x)
    assert torch.equal(NoFeedForward()(x), 0 * x)


def later_matters(model, batch):
    """Whether the first place's answer changes when the last target token does."""
    other = batch.target_in.clone()
    other[:, -1] = 5 + (other[:, -1] == 5)
    changed = type(batch)(batch.source, batch.source_mask, other, batch.target_out,
                          batch.target_mask)  # fmt: skip
    with torch.no_grad():
        return not torch.allclose(model(batch)[:, 0], model(changed)[:, 0], atol=1e-6)


def test_only_without_the_mask_does_the_future_matter(batch):
    assert later_matters(fresh("no causal mask"), batch)
    for change in ("whole", "no positions", "no norms", "post-norm", "BatchNorm"):
        assert not later_matters(fresh(change), batch)


def test_only_without_positions_is_a_source_a_set(batch):
    order = torch.randperm(batch.source.shape[1], generator=torch.Generator().manual_seed(1))
    for change in ("whole", "no positions"):
        model = fresh(change)
        with torch.no_grad():
            read = model.encode(batch.source, mask=batch.source_mask)
            shuffled = model.encode(batch.source[:, order], mask=batch.source_mask[:, order])
        alike = torch.allclose(read[:, order], shuffled, atol=1e-5)
        assert alike == (change == "no positions")


def test_padding_is_left_out_of_the_statistics(data):
    short, long = data.train[:3], data.train[3:5]
    long = [(source * 2, target) for source, target in long]

    def statistics(pairs):
        model = fresh("BatchNorm").train()
        model(collate(pairs))
        return model.encoder_layers[0].self_residual.norm.running_mean

    alone, padded = statistics(short), statistics([*short, *long])
    model = fresh("BatchNorm").train()
    batch = collate([*short, *long])
    model(batch)
    norm = model.encoder_layers[0].self_residual.norm
    assert torch.equal(norm.real, batch.source_mask)
    assert torch.equal(model.decoder_layers[0].self_residual.norm.real, batch.target_mask)
    assert not torch.allclose(alone, padded)
    vectors = torch.randn(5, 7, 64)
    mask = torch.arange(7) < torch.tensor([7, 2, 3, 4, 5])[:, None]
    ours, theirs = RealBatchNorm(64), BatchNorm(64)
    ours.real = mask
    assert torch.equal(ours(vectors), theirs(vectors, mask=mask))


def test_the_losses(batch):
    model = fresh("whole")
    assert loss_for("whole")(model, batch) == sequence_loss(model, batch)
    smoothed = loss_for("few dates, smoothed")(model, batch)
    assert smoothed == sequence_loss(model, batch, label_smoothing=0.1)


# ---- the faulty step


def test_without_the_cache_the_same_is_written(data):
    model = fresh("whole")
    pairs = encode_pairs(data.tested[:5], data.source, data.target)
    batch = collate(pairs)
    anew = write_anew(model, batch.source, mask=batch.source_mask, max_length=7)
    texts = [text for text, _ in data.tested[:5]]
    cached = translate(model, texts, data.source, data.target, max_length=7)
    assert [data.target.decode(row) for row in anew] == cached


def test_the_fault_shows_only_with_the_cache(data, batch):
    model = fresh("whole")
    faulty = faulty_writer(model)
    with torch.no_grad():
        assert torch.equal(model(batch), faulty(batch))
        states = [one.start(batch.source, mask=batch.source_mask) for one in (model, faulty)]
        steps = []
        for number in range(2):
            pairs = [
                one.step(state, batch.target_in[:, number])
                for one, state in zip((model, faulty), states, strict=True)
            ]
            steps.append([log_probs for log_probs, _ in pairs])
            states = [state for _, state in pairs]
    assert torch.equal(*steps[0])
    assert not torch.allclose(*steps[1], atol=1e-3)
    assert isinstance(faulty.target_positions, AlwaysFirst)
    assert not isinstance(model.target_positions, AlwaysFirst)


def test_the_faulty_writer_has_no_more_positions_than_its_model():
    with pytest.raises(ValueError, match="max_length must"):
        write_anew(fresh("whole"), torch.full((1, 3), 4), max_length=513)


def test_positions_without_a_start(data):
    model = fresh("whole")
    vectors = torch.zeros(1, 2, 64)
    first = AlwaysFirst(model.target_positions)
    assert torch.equal(first(vectors, start=5), first(vectors))
    assert not torch.equal(model.target_positions(vectors, start=5), first(vectors))


def test_a_pass_may_be_recorded(batch):
    model = fresh("no causal mask")
    with record(model) as trace, torch.no_grad():
        model(batch)
    weights = trace["decoder_layers.0.self_attn"]["weights"][0]
    assert weights[..., 0, 1:].sum() > 0
