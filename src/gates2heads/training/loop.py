"""The training loop: one loop for every model, on a CPU, a GPU or several machines."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import isfinite
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from tqdm import tqdm

from gates2heads.accepts import (
    accepts,
    flag,
    fraction,
    function,
    instance,
    listed,
    module,
    natural,
    number,
    positive,
    string,
)
from gates2heads.accepts.shown import shown
from gates2heads.accepts.values import LARGEST_SINGLE
from gates2heads.data.batches.pairs import Batch
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.parallel import Trainer, joint_loss, on_main, prepare_accelerator
from gates2heads.training.resuming.generators import generator_states, set_generator_states
from gates2heads.training.resuming.training_checkpoints import TrainingCheckpoint
from gates2heads.training.snapshots import Snapshots


@dataclass
class History:
    """The history of a training run, with one entry per step or evaluation."""

    loss: list[float] = field(default_factory=list)  # of each step, from the loss function
    evaluated_at: list[int] = field(default_factory=list)  # completed steps at each of them
    evaluations: list[Any] = field(default_factory=list)
    seconds: float = 0.0  # spent in training steps, without evaluations
    best_weights: dict[str, Tensor] = field(default_factory=dict)  # stored by early stopping only

    def note(self, loss: float, seconds: float) -> None:
        """Add a step."""
        self.loss.append(loss)
        self.seconds += seconds


class Run(NamedTuple):
    """The values that a checkpoint stores."""

    model: nn.Module
    optimizer: Any
    scheduler: torch.optim.lr_scheduler.LRScheduler
    history: History


@accepts(
    model=module,
    batches=listed("batches"),
    steps=natural,
    loss=function("model", "batch"),
    learning_rate=positive(most=LARGEST_SINGLE),
    schedule=function("step"),
    betas=listed("shares", kind=fraction, least=2),
    weight_decay=number(least=0, most=LARGEST_SINGLE),
    clip=positive(most=LARGEST_SINGLE),
    evaluate=function("model"),
    evaluate_at=instance(Container, "such as a list of steps"),
    early_stopping=instance(EarlyStopping),
    snapshots=instance(Snapshots),
    checkpoint=instance(TrainingCheckpoint),
    accelerator=instance(Trainer, "such as accelerate.Accelerator()"),
    description=string,
    progress=flag,
)
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
    early_stopping: EarlyStopping | None = None,
    snapshots: Snapshots | None = None,
    checkpoint: TrainingCheckpoint | None = None,
    accelerator: Trainer | None = None,
    description: str = "training",
    progress: bool = True,
) -> History:
    """Train a model for a number of steps with AdamW (Loshchilov and Hutter 2019).

    Under `torchrun` each process computes its part of every batch, and the losses equal those of
    one process up to rounding. There `batches` must give the same `Batch`es in every process, and
    `loss` must call the model itself, not one of its methods. Only the main process evaluates,
    writes files and shows the bar.

    Args:
        model: trained in place.
        steps: the number of parameter updates, including those of a resumed run.
        batches: gives at least `steps` batches, each with a `to(device)` method. A resumed run
            skips those already used, so the iterable must begin with the same batches.
        loss: takes the model and a batch, returns a scalar.
        learning_rate: at the peak of the schedule.
        schedule: from the step to the fraction of the peak rate; constant if not given.
        betas, weight_decay: of AdamW.
        clip: the largest norm of the gradient; a larger one is scaled down to it.
        evaluate: called with the model in evaluation mode, without gradients.
        evaluate_at: the numbers of completed steps after which `evaluate` is called.
        early_stopping: ends the run when evaluations no longer improve; the model always ends with
            the parameters of the best evaluation.
        snapshots: stores the parameters of the last evaluations in files, to be averaged.
        checkpoint: where to store the run, and how often; an existing run is resumed.
        accelerator: the devices and the precision of training: an `Accelerator` of
            🤗 Accelerate, on whose device the model stays. If not given, one process in full
            precision on the fastest device; then the model returns to its own.
        description: the label of the progress bar.
        progress: show the bar.

    Returns:
        The losses, evaluations and seconds of the whole run, including a resumed part.

    Raises:
        TypeError: `loss` does not return a scalar, or `schedule` does not return a number.
        ValueError: `steps` is less than the checkpoint's completed steps, there are too few
            batches, a value of `schedule` is negative, or early stopping or snapshots have no
            evaluation.
        FloatingPointError: the loss is not finite; the message names the step, and the parameters
            are those before it.
    """
    _check_watchers(evaluate, evaluate_at, early_stopping=early_stopping, snapshots=snapshots)
    with _returning(model) if accelerator is None else nullcontext():
        accelerator = accelerator or prepare_accelerator()
        optimizer = torch.optim.AdamW(
            model.parameters(), lr=learning_rate, betas=betas, weight_decay=weight_decay
        )
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, partial(_share_at, schedule))
        trained, optimizer = accelerator.prepare(model, optimizer)
        run, begun = Run(model, optimizer, scheduler, History()), generator_states()
        first = checkpoint.resume(*run) if checkpoint else 0
        if first > steps:
            raise ValueError(
                f"steps is {steps}, but the run in {checkpoint.path} has completed {first}"
            )
        over = early_stopping is not None and early_stopping.over(run.history)
        stream = skip(batches, first, begun)
        bar = Bar(
            range(first + 1, 1 + (first if over else steps)), description, accelerator, progress
        )
        for step in bar:
            batch = _next(stream, step, steps)
            begin = perf_counter()
            value = train_step(accelerator, trained, optimizer, loss, batch, clip=clip)
            if not isfinite(value):
                raise FloatingPointError(f"loss became {value} at step {step}")
            scheduler.step()
            run.history.note(value, perf_counter() - begin)
            bar.note(value, batch, perf_counter() - begin)
            if evaluate is not None and step in evaluate_at:
                answer = on_main(accelerator, partial(run_evaluation, model, evaluate))
                over = _judge(step, answer, run, early_stopping, snapshots, accelerator)
            if checkpoint and (step % checkpoint.every == 0 or step == steps or over):
                on_main(accelerator, partial(checkpoint.keep, step, *run))
            if over:
                break
        if early_stopping is not None:
            early_stopping.restore(model, run.history)
    return run.history


@contextmanager
def _returning(model: nn.Module) -> Iterator[None]:
    """Move the model back to its device in the end, also after an error."""
    before = next(model.parameters()).device
    try:
        yield
    finally:
        model.to(before)


def _check_watchers(evaluate, evaluate_at, **watchers) -> None:
    """Reject early stopping and snapshots without evaluations."""
    for name, watcher in watchers.items():
        if watcher is not None and (evaluate is None or not evaluate_at):
            raise ValueError(f"{name} needs `evaluate` and `evaluate_at`, got none")


def _share_at(schedule: Callable[[int], float] | None, step: int) -> float:
    """The fraction of the peak rate at a step; 1 without a schedule."""
    answer = 1.0 if schedule is None else schedule(step)
    number(least=0).check(f"schedule({step})", answer)
    return answer


def _next(stream: Iterator, step: int, steps: int) -> Any:
    """The batch of a step; steps are numbered from 1."""
    batch = next(stream, None)
    if batch is None:
        raise ValueError(f"batches ended after {step - 1} steps, but {steps} are needed")
    if not hasattr(batch, "to"):
        raise TypeError(f"batches must give batches with a `to` method, got {shown(batch)}")
    return batch


def train_step(accelerator, model, optimizer, loss, batch, *, clip: float) -> float:
    """Update the parameters on one batch; return the loss of the whole batch before the update.

    A loss that is not finite is returned without an update.
    """
    model.train()
    optimizer.zero_grad()
    value, whole = joint_loss(loss, model, batch, accelerator)
    if isfinite(whole):
        accelerator.backward(value)
        accelerator.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return whole


def _judge(step: int, answer, run: Run, early_stopping, snapshots, accelerator) -> bool:
    """Record an evaluation, store its parameters if needed, and return whether training ends."""
    run.history.evaluated_at.append(step)
    run.history.evaluations.append(answer)
    if snapshots is not None:
        on_main(accelerator, partial(snapshots.keep, step, run.model))
    return early_stopping is not None and early_stopping.judge(run.model, run.history)


def skip(batches: Iterable, count: int, begun: dict) -> Iterator:
    """Iterate over the batches after the first `count`.

    Batches may use random numbers, as a shuffling loader does. Skipped batches use the generators'
    states at the beginning of the run, `begun`; afterwards the generators have the states of the
    interrupted run.
    """
    kept = generator_states()
    set_generator_states(begun)
    stream = iter(batches)
    for _ in islice(stream, count):
        pass
    if count:
        set_generator_states(kept)
    return stream


class Bar:
    """The progress bar of the main process: steps, the loss, and tokens per second.

    Args:
        steps: the numbers of the steps.
        description: the label of the bar.
        accelerator: knows which process is the main one.
        shown: False shows nothing.
    """

    def __init__(self, steps: range, description: str, accelerator: Trainer, shown: bool):
        hidden = not (shown and accelerator.is_main_process)
        self._bar = tqdm(steps, desc=description, unit="step", disable=hidden)
        self._tokens, self._seconds = 0, 0.0

    def __iter__(self) -> Iterator[int]:
        return iter(self._bar)

    def note(self, loss: float, batch, seconds: float) -> None:
        """Show the loss, and the speed where the batch has target tokens to count."""
        if self._bar.disable:
            return
        shown = {"loss": f"{loss:.3f}"}
        if isinstance(batch, Batch):
            self._tokens += int(batch.target_mask.sum())
            self._seconds += seconds
            shown["tokens/s"] = f"{self._tokens / self._seconds:,.0f}"
        self._bar.set_postfix(shown, refresh=False)


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
