"""fit: it learns, resumes bit for bit, and stops with one sentence when something is wrong."""

import copy
import math
import random
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gates2heads.data.batches.pairs import Batch
from gates2heads.training.loop import Bar, History, fit, run_evaluation, skip
from gates2heads.training.losses import sequence_loss
from gates2heads.training.parallel import OneProcess, best_device
from gates2heads.training.resuming.generators import generator_states
from gates2heads.training.resuming.training_checkpoints import TrainingCheckpoint
from gates2heads.training.schedules import warmup_linear

STEPS = 17
RUN = {"steps": STEPS, "loss": sequence_loss, "learning_rate": 0.02, "progress": False}


class Point(nn.Module):
    """One weight w; its loss on a batch x is w · x."""

    def __init__(self, weight=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight))


class Number:
    """A batch of one number, which remembers where it was sent."""

    def __init__(self, x, device=None):
        self.x, self.device = x, device

    def to(self, device):
        return Number(self.x, torch.device(device))


def product(model, batch):
    assert batch.device == torch.device("cpu")
    return model.weight * batch.x


def same_weights(one, other):
    states = one.state_dict(), other.state_dict()
    return all(torch.equal(states[0][n], states[1][n]) for n in states[0] | states[1])


def test_the_loss_falls_on_a_tiny_task(tiny, stream):
    # Uniform guessing among 11 tokens costs ln 11 = 2.4 nats; these few sequences can be learned.
    model = tiny(hidden_size=22)
    history = fit(model, stream()[:1] * 40, **{**RUN, "steps": 40})
    assert history.loss[0] == pytest.approx(math.log(11), abs=0.5)
    assert history.loss[-1] < 0.5
    assert len(history.loss) == 40
    assert history.seconds > 0


def test_one_step_by_hand():
    # AdamW's first step is the rate times the gradient's sign, whatever its size: 1 − 0.25 = 0.75.
    # The loss is taken before the update: 1 · 3.
    model = Point(1.0)
    history = fit(
        model, [Number(3.0)], steps=1, loss=product, learning_rate=0.25, clip=9.0, progress=False
    )
    assert history.loss == [3.0]
    assert model.weight.item() == pytest.approx(0.75)
    # Weight decay of 0.4 takes 0.25 · 0.4 = a tenth of the weight first: 0.9 − 0.25 = 0.65.
    model = Point(1.0)
    fit(
        model,
        [Number(3.0)],
        **{**RUN, "steps": 1, "loss": product, "learning_rate": 0.25},
        weight_decay=0.4,
    )
    assert model.weight.item() == pytest.approx(0.65)


def test_agrees_with_a_loop_of_torch(tiny, stream, parity):
    """Losses and weights of the whole run, with schedule, clipping and weight decay."""
    model, schedule = tiny(), warmup_linear(STEPS, warmup=3, decay=0.5)
    reference = copy.deepcopy(model)
    history = fit(model, stream(), **RUN, schedule=schedule, clip=0.3, weight_decay=0.1)
    optimizer = torch.optim.AdamW(
        reference.parameters(), lr=0.02, betas=(0.9, 0.98), weight_decay=0.1
    )
    losses = []
    for step, batch in enumerate(stream()[:STEPS]):
        optimizer.param_groups[0]["lr"] = 0.02 * schedule(step)
        optimizer.zero_grad()
        loss = sequence_loss(reference, batch)
        loss.backward()
        norm = torch.cat([p.grad.flatten() for p in reference.parameters()]).norm()
        for p in reference.parameters():
            p.grad *= min(1.0, 0.3 / (norm.item() + 1e-6))
        optimizer.step()
        losses.append(loss.item())
    parity(
        "fit",
        "AdamW loop of torch, float32 (losses; last gradients)",
        ([torch.tensor(history.loss)], [torch.tensor(losses)]),
        ([p.grad for p in model.parameters()], [p.grad for p in reference.parameters()]),
        tolerance=1e-5,
    )
    for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("x", "norm"), [(30.0, 0.5), (0.25, 0.25)])
def test_clips_large_gradients_and_leaves_small_ones(x, norm):
    model = Point()
    fit(model, [Number(x)], steps=1, loss=product, learning_rate=0.1, clip=0.5, progress=False)
    assert model.weight.grad.item() == pytest.approx(norm, rel=1e-4)


def test_the_schedule_sets_the_rate_of_each_step():
    # AdamW moves by about the rate where all gradients are alike: 0.5, then 1, then 0.25.
    model, seen = Point(10.0), []

    def watch(model, batch):
        seen.append(model.weight.item())
        return product(model, batch)

    shares = [0.5, 1.0, 0.25, 0.0]
    settings = {**RUN, "steps": 3, "loss": watch, "learning_rate": 1.0}
    fit(model, [Number(1.0)] * 3, **settings, schedule=shares.__getitem__)
    moved = [a - b for a, b in zip(seen, [*seen[1:], model.weight.item()], strict=True)]
    assert moved == pytest.approx(shares[:3], rel=1e-4)


def test_seconds_are_those_of_the_steps_counted_once(monkeypatch):
    """A clock that only moves by hand: 3 s a step, and 100 s for an evaluation, left out."""
    now = [0.0]
    monkeypatch.setattr("gates2heads.training.loop.perf_counter", lambda: now[0])

    def slow_product(model, batch):
        now[0] += 3
        return product(model, batch)

    def slow_evaluation(model):
        now[0] += 100
        return {"score": 1.0}

    settings = {**RUN, "steps": 5, "loss": slow_product}
    times = {"evaluate": slow_evaluation, "evaluate_at": (2, 5)}
    history = fit(Point(), [Number(1.0)] * 5, **settings, **times)
    assert history.seconds == 15


class InterruptionError(Exception):
    pass


def until(stream, last):
    """The stream, which breaks after `last` batches."""
    for number, batch in enumerate(stream):
        if number == last:
            raise InterruptionError
        yield batch


def noisy_loss(model, batch):
    """Draws random numbers, as dropout does, so that a resumed run needs the generator's state."""
    return sequence_loss(model, batch) * (0.5 + torch.rand(()))


def evaluation(model):
    return {"sum": sum(p.sum().item() for p in model.parameters()), "noise": torch.rand(()).item()}


@pytest.mark.parametrize("interrupted_after", [3, 5, 7, 10, 16])
def test_an_interrupted_run_goes_on_bit_for_bit(tmp_path, tiny, stream, interrupted_after):
    settings = {
        **RUN,
        "loss": noisy_loss,
        "schedule": warmup_linear(STEPS, warmup=3, decay=0.5),
        "evaluate": evaluation,
        "evaluate_at": (4, 5, 11, STEPS),
    }
    whole = tiny()
    expected = fit(whole, stream(), **settings)

    checkpoint = TrainingCheckpoint(tmp_path / "run.pt", every=5)
    with pytest.raises(InterruptionError):
        fit(tiny(), until(stream(), interrupted_after), **settings, checkpoint=checkpoint)
    # Where a checkpoint was written, neither the first weights nor the generator's state matter.
    resumed = tiny(seed=13 if interrupted_after >= 5 else 3)
    read = []
    history = fit(
        resumed,
        (read.append(batch) or batch for batch in stream()),
        **settings,
        checkpoint=checkpoint,
    )
    assert same_weights(resumed, whole)
    assert history.loss == expected.loss
    assert history.evaluated_at == [4, 5, 11, STEPS]
    assert history.evaluations == expected.evaluations
    assert len(read) == STEPS


def loaded_pairs():
    """Batches that draw from torch's own generator, as a shuffling loader does."""
    data = TensorDataset(torch.arange(23.0))
    loader = DataLoader(data, batch_size=1, shuffle=True)
    for _ in range(2):
        for (x,) in loader:
            yield Number(float(x[0]) + torch.rand(()).item())


def test_a_resumed_run_keeps_its_random_numbers_when_the_skipped_batches_draw_some(tmp_path):
    def noisy(model, batch):
        return model.weight * batch.x * torch.rand(())

    settings = {**RUN, "loss": noisy, "steps": 13}

    def run(batches, **more):
        torch.manual_seed(5)
        model = Point()
        return fit(model, batches, **settings, **more), model

    expected, whole = run(loaded_pairs())
    checkpoint = TrainingCheckpoint(tmp_path / "run.pt", every=4)
    with pytest.raises(InterruptionError):
        run(until(loaded_pairs(), 10), checkpoint=checkpoint)
    history, resumed = run(loaded_pairs(), checkpoint=checkpoint)
    assert history.loss == expected.loss
    assert same_weights(resumed, whole)


def test_a_finished_run_is_read_and_not_trained_again(tmp_path, tiny, stream):
    checkpoint = TrainingCheckpoint(tmp_path / "run.pt", every=100)
    trained, again = tiny(), tiny(seed=13)
    history = fit(trained, stream(), **RUN, checkpoint=checkpoint)
    assert vars(fit(again, stream(), **RUN, checkpoint=checkpoint)) == vars(history)
    assert same_weights(again, trained)
    with pytest.raises(ValueError, match=r"steps is 5, but the run in .*run.pt has completed 17"):
        fit(again, stream(), **{**RUN, "steps": 5}, checkpoint=checkpoint)
    longer = fit(again, stream(), **{**RUN, "steps": STEPS + 2}, checkpoint=checkpoint)
    assert longer.loss[:STEPS] == history.loss
    assert len(longer.loss) == STEPS + 2


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_names_the_step_and_leaves_the_weights(tmp_path, bad):
    checkpoint, model = TrainingCheckpoint(tmp_path / "run.pt", every=1), Point(0.5)
    numbers = [Number(1.0), Number(3.0), Number(bad), Number(1.0)]
    settings = {**RUN, "steps": 4, "loss": product}
    with pytest.raises(FloatingPointError, match=r"loss became -?(nan|inf) at step 3"):
        fit(model, numbers, **settings, checkpoint=checkpoint)
    weight = model.weight.item()
    assert weight == pytest.approx(0.5 - 2 * 0.02, abs=1e-4)
    history = fit(Point(), numbers[:2] + [Number(1.0)] * 2, **settings, checkpoint=checkpoint)
    assert len(history.loss) == 4
    assert history.loss[2] == weight


def test_evaluates_in_evaluation_mode_without_gradients_and_restores_every_layer():
    model = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    model.train()
    model[2].eval()
    before = [module.training for module in model.modules()]

    def evaluate(given):
        assert given is model
        assert not any(module.training for module in model.modules())
        assert not torch.is_grad_enabled()
        return 7

    assert run_evaluation(model, evaluate) == 7
    assert [module.training for module in model.modules()] == before
    assert torch.is_grad_enabled()
    with pytest.raises(ZeroDivisionError):
        run_evaluation(model, lambda model: 1 / 0)
    assert [module.training for module in model.modules()] == before
    assert torch.is_grad_enabled()


def test_trains_in_training_mode_after_each_evaluation():
    modes = []

    def watch(model, batch):
        modes.append(model.training)
        return product(model, batch)

    history = fit(
        Point().eval(),
        [Number(1.0)] * 5,
        **{**RUN, "steps": 5, "loss": watch},
        evaluate=lambda model: model.training,
        evaluate_at=[1, 3, 5, 99],
    )
    assert modes == [True] * 5
    assert history.evaluations == [False] * 3
    assert history.evaluated_at == [1, 3, 5]


def test_takes_no_more_batches_than_steps():
    taken = []
    fit(
        Point(),
        (taken.append(n) or Number(1.0) for n in range(9)),
        **{**RUN, "steps": 3, "loss": product},
    )
    assert taken == [0, 1, 2]


def test_trains_without_accelerate(tiny, stream, monkeypatch):
    one, other = tiny(), tiny()
    expected = fit(one, stream(), **RUN)
    monkeypatch.setitem(sys.modules, "accelerate", None)  # as if it was not installed
    assert fit(other, stream(), **RUN).loss == expected.loss
    assert same_weights(one, other)


def test_an_accelerator_may_be_given_and_two_runs_share_a_process(tiny, stream):
    one, other = tiny(), tiny()
    first = fit(one, stream(), **RUN, accelerator=Accelerator(cpu=True))
    second = fit(other, stream(), **RUN)
    assert first.loss == second.loss
    assert same_weights(one, other)
    fit(one, stream(), **RUN)
    assert not same_weights(one, other)


class Travelling(nn.Linear):
    """Remembers where it was moved to."""

    def __init__(self):
        super().__init__(2, 1)
        self.moves = []

    def to(self, device):
        self.moves.append(torch.device(device))
        return super().to(device)


@pytest.mark.parametrize("bad", [False, True])
def test_the_model_returns_to_its_device_unless_an_accelerator_is_given(bad):
    def loss(model, batch):
        return model(batch).sum() * (float("nan") if bad else 1.0)

    for accelerator in (None, OneProcess()):
        model = Travelling()
        with pytest.raises(FloatingPointError) if bad else nullcontext():
            fit(
                model, [torch.ones(3, 2)], steps=1, loss=loss, learning_rate=0.1,
                accelerator=accelerator, progress=False,
            )  # fmt: skip
        back = [torch.device("cpu")] if accelerator is None else []
        assert model.moves == [best_device(), *back]


def test_trains_in_mixed_precision(tiny, stream):
    full, mixed = tiny(hidden_size=22), tiny(hidden_size=22)
    expected = fit(full, stream(), **RUN)
    AcceleratorState._reset_state(reset_partial_state=True)
    accelerator = Accelerator(cpu=True, mixed_precision="bf16")
    history = fit(mixed, stream(), **RUN, accelerator=accelerator)
    assert all(p.dtype == torch.float32 for p in mixed.parameters())
    assert history.loss == pytest.approx(expected.loss, abs=0.1)
    assert history.loss != expected.loss


def test_shows_a_bar_only_if_asked(capsys):
    settings = {**RUN, "steps": 3, "loss": product}
    fit(Point(), [Number(1.0)] * 3, **settings, description="a name")
    assert "a name" not in "".join(capsys.readouterr())
    fit(Point(), [Number(1.0)] * 3, **{**settings, "progress": True}, description="a name")
    assert "a name" in "".join(capsys.readouterr())


def test_the_bar_counts_target_tokens_where_there_are_any(capsys, stream):
    # Two steps of half a second: the tokens of both batches in one second, padding left out.
    bar = Bar(range(2), "a name", Accelerator(cpu=True), True)
    for _, batch in zip(bar, stream(), strict=False):
        bar.note(1.25, batch, 0.5)
    tokens = sum(int(batch.target_mask.sum()) for batch in stream()[:2])
    assert bar._bar.postfix == f"loss=1.250, tokens/s={tokens:,}"
    assert f"tokens/s={tokens:,}" in capsys.readouterr().err


def draw():
    return [torch.rand(()).item(), np.random.rand(), random.random()]  # noqa: NPY002


def begin(seed):
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)


def test_skip_leaves_the_generators_as_they_were():
    begin(5)
    begun = generator_states()
    begin(3)
    expected = draw()
    begin(3)
    drawn = []
    rest = skip((drawn.append(draw()) or n for n in range(5)), 3, begun)
    assert draw() == expected
    begin(5)
    assert drawn == [draw() for _ in range(3)]
    assert list(rest) == [3, 4]
    assert list(skip([7, 11, 13], 0, begun)) == [7, 11, 13]
    assert list(skip([7], 3, begun)) == []


@pytest.mark.parametrize("kept_at", [1, 4])
def test_a_resumed_run_draws_what_an_uninterrupted_one_draws(tmp_path, tiny, stream, kept_at):
    """Batches, shuffled by Python's generator, and a loss with noise from NumPy's."""

    def loss(model, batch):
        return sequence_loss(model, batch) * (1 + np.random.rand())  # noqa: NPY002

    def shuffled():
        while True:
            yield random.choice(stream())

    options = {"loss": loss, "learning_rate": 0.02, "progress": False}
    begin(5)
    whole, model = tiny(), TrainingCheckpoint(tmp_path / "none", every=99)
    expected = fit(whole, shuffled(), steps=7, checkpoint=model, **options).loss
    checkpoint, first, second = TrainingCheckpoint(tmp_path / "run"), tiny(), tiny()
    begin(5)
    fit(first, shuffled(), steps=kept_at, checkpoint=checkpoint, **options)
    begin(5)
    assert fit(second, shuffled(), steps=7, checkpoint=checkpoint, **options).loss == expected
    for one, other in zip(whole.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


def test_histories_do_not_share_their_lists():
    History().loss.append(1.0)
    assert History().loss == []


def test_refuses_what_cannot_be_trained():
    good = {"model": Point(), "batches": [Number(1.0)] * 3, **RUN, "steps": 3, "loss": product}
    for change, error, message in [
        ({"steps": 5}, ValueError, "batches ended after 3 steps, but 5 are needed"),
        ({"batches": [3]}, TypeError, "batches must"),
        ({"loss": lambda m, b: None}, TypeError, "one number with a gradient, got NoneType"),
        ({"loss": lambda m, b: m.weight * torch.ones(2)}, TypeError, "loss must"),
        ({"loss": lambda m, b: torch.tensor(3.0)}, TypeError, "loss must"),
        ({"schedule": lambda step: 0.5 - step}, ValueError, r"schedule\(1\) must"),
        ({"schedule": lambda step: None}, TypeError, r"schedule\(0\) must"),
        ({"betas": (0.9, 1.0)}, ValueError, "[Ii]nvalid beta"),
    ]:
        with pytest.raises(error, match=message):
            fit(**{**good, **change})


def test_batches_are_moved_whole(stream):
    batch = stream()[0]
    moved = []

    class Watched(Batch):
        def to(self, device):
            moved.append(torch.device(device))
            return super().to(device)

    watched = Watched(**vars(batch))

    def loss(model, given):
        assert isinstance(given, Batch)
        return model.weight * given.source.sum()

    fit(Point(), [watched] * 3, **{**RUN, "steps": 3, "loss": loss})
    assert moved == [torch.device("cpu")] * 3
