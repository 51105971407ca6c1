"""The training loop: one loop for every model, on a processor, a GPU or several machines."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from time import perf_counter
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from tqdm import tqdm

from gates2heads.data.checks import check_count, check_positive
from gates2heads.training.checkpoints import TrainingCheckpoint


@dataclass
class History:
    """What happened in training, one entry a step or an evaluation."""

    loss: list[float] = field(default_factory=list)  # of each step, as the loss function gives it
    evaluated_at: list[int] = field(default_factory=list)  # steps done when each was taken
    evaluations: list[Any] = field(default_factory=list)
    seconds: float = 0.0  # spent in training steps, evaluations left out


def fit(
    model: nn.Module,
    batches: Iterable,
    *,
    steps: int,
    loss: Callable[[nn.Module, Any], Tensor],
    learning_rate: float,
    schedule: Callable[[int], float] | None = None,
    betas: tuple[float, float] = (0.9, 0.98),
    weight_decay: float = 0.0,
    clip: float = 1.0,
    evaluate: Callable[[nn.Module], Any] | None = None,
    evaluate_at: Sequence[int] = (),
    checkpoint: TrainingCheckpoint | None = None,
    accelerator: Accelerator | None = None,
    description: str = "training",
    progress: bool = True,
) -> History:
    """Train a model for a number of steps with AdamW.

    Args:
        model: trained in place.
        steps: how many updates of the weights, those of a resumed run included.
        batches: gives at least `steps` batches, each with a `to(device)` method. A resumed run
            skips those that it had seen, so the iterable must begin as it did.
        loss: takes the model and a batch, returns a scalar.
        learning_rate: at the peak of the schedule.
        schedule: from the step to the share of the peak rate; constant if not given.
        betas, weight_decay: of AdamW.
        clip: the largest norm of the gradient; a larger one is scaled down to it.
        evaluate: called with the model in evaluation mode, without gradients.
        evaluate_at: the numbers of steps done after which `evaluate` is called.
        checkpoint: where to keep the run, and how often; a run found there is resumed.
        accelerator: which device and precision; chosen by 🤗 Accelerate if not given.
        description: stands at the progress bar.
        progress: show the bar.

    Returns:
        The losses, evaluations and seconds of the whole run, a resumed part included.

    Raises:
        TypeError: an argument is of the wrong kind; `loss` returns no scalar.
        ValueError: `steps` is below 1 or below what the checkpoint has done, the batches run out,
            or `learning_rate` or `clip` is not positive.
        FloatingPointError: the loss is not finite; the message names the step, and the weights are
            those before it.
    """
    check_count("steps", steps)
    check_positive("learning_rate", learning_rate)
    check_positive("clip", clip)
    _check_kinds(model, batches, checkpoint, evaluate_at)
    _check_functions(loss=loss, schedule=schedule, evaluate=evaluate)
    accelerator = accelerator or Accelerator()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=learning_rate, betas=betas, weight_decay=weight_decay
    )
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule or (lambda step: 1.0))
    trained, optimizer = accelerator.prepare(model, optimizer)
    history, run, random = History(), (model, optimizer, scheduler), torch.get_rng_state()
    first = checkpoint.resume(*run, history) if checkpoint else 0
    if first > steps:
        raise ValueError(f"steps is {steps}, but the run in {checkpoint.path} has done {first}")
    stream = skip(batches, first, random)
    bar = tqdm(range(first + 1, steps + 1), desc=description, unit="step", disable=not progress)
    for step in bar:
        batch = next(stream, None)
        if batch is None:
            raise ValueError(f"batches ended after {step - 1} steps, but {steps} are needed")
        begin = perf_counter()
        value = train_step(accelerator, trained, optimizer, loss, batch, clip=clip)
        if not isfinite(value):
            raise FloatingPointError(f"loss became {value} at step {step}")
        scheduler.step()
        history.seconds += perf_counter() - begin
        history.loss.append(value)
        if evaluate is not None and step in evaluate_at:
            history.evaluated_at.append(step)
            history.evaluations.append(run_evaluation(model, evaluate))
        bar.set_postfix(loss=f"{value:.3f}", refresh=False)
        if checkpoint and (step % checkpoint.every == 0 or step == steps):
            checkpoint.keep(step, *run, history)
    return history


def _check_kinds(model, batches, checkpoint, evaluate_at) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    if not isinstance(batches, Iterable):
        raise TypeError(f"batches must be an iterable of batches, got {type(batches).__name__}")
    if not isinstance(checkpoint, TrainingCheckpoint | None):
        raise TypeError(f"checkpoint must be a TrainingCheckpoint, got {checkpoint!r:.60}")
    if not isinstance(evaluate_at, Container):
        raise TypeError(f"evaluate_at must be a list of steps, got {type(evaluate_at).__name__}")


def _check_functions(*, loss, **optional) -> None:
    if not callable(loss):
        raise TypeError(f"loss must be a function of model and batch, got {type(loss).__name__}")
    for name, function in optional.items():
        if not (function is None or callable(function)):
            raise TypeError(f"{name} must be a function or None, got {type(function).__name__}")


def skip(batches: Iterable, count: int, random: Tensor) -> Iterator:
    """Iterate over what comes after the first `count` batches.

    Batches may draw random numbers, as a shuffling loader does. Those to be skipped draw from the
    generator as it stood when the run began, `random`; then it stands as the run left it.
    """
    kept = torch.get_rng_state()
    torch.set_rng_state(random)
    stream = iter(batches)
    for _ in islice(stream, count):
        pass
    if count:
        torch.set_rng_state(kept)
    return stream


def train_step(accelerator, model, optimizer, loss, batch, *, clip: float) -> float:
    """Forward, backward, clip, update; returns the loss before the update.

    A loss that is not finite is returned without an update.
    """
    if not hasattr(batch, "to"):
        raise TypeError(f"batches must give batches with a `to` method, got {batch!r:.60}")
    model.train()
    optimizer.zero_grad()
    with accelerator.autocast():
        value = loss(model, batch.to(accelerator.device))
    if not isinstance(value, Tensor) or value.numel() != 1 or not value.requires_grad:
        kind = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(f"loss must return one number with a gradient, got {kind}")
    number = value.item()
    if not isfinite(number):
        return number
    accelerator.backward(value)
    accelerator.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return number


def run_evaluation(model: nn.Module, evaluate: Callable[[nn.Module], Any]) -> Any:
    """Call `evaluate` in evaluation mode and without gradients, then restore each layer's mode."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            return evaluate(model)
    finally:
        for module, mode in modes.items():
            module.training = mode
