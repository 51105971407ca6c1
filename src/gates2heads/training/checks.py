"""What training refuses before it begins, and what it refuses of a batch and of a loss."""

from collections.abc import Callable, Container, Iterable, Sequence
from math import isfinite
from typing import Any

from accelerate import Accelerator
from torch import Tensor, nn

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import check_filled, check_module_filled
from gates2heads.checks.values import LARGEST_SINGLE, check_count, check_number, check_positive
from gates2heads.training.checkpoints import TrainingCheckpoint
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.snapshots import Snapshots


def check_numbers(
    steps: int, learning_rate: float, clip: float, betas: tuple[float, float], weight_decay: float
) -> None:
    """Refuse numbers with which nothing can be trained.

    Raises:
        TypeError, ValueError: one of them is no number, or outside its bounds.
    """
    check_count("steps", steps)
    check_positive("learning_rate", learning_rate, most=LARGEST_SINGLE)
    check_positive("clip", clip, most=LARGEST_SINGLE)
    check_number("weight_decay", weight_decay, least=0, most=LARGEST_SINGLE)
    if not isinstance(betas, Sequence) or len(betas) != 2:
        raise TypeError(f"betas must be two numbers, got {shown(betas)}")
    for beta in betas:
        check_number("each of betas", beta, least=0)
        if beta >= 1:
            raise ValueError(f"each of betas must be below 1, got {shown(beta)}")


def check_kinds(
    model: nn.Module,
    batches: Iterable,
    checkpoint: TrainingCheckpoint | None,
    snapshots: Snapshots | None,
    evaluate_at: Container,
    accelerator: Accelerator | None,
) -> None:
    """Refuse what is not of the kind that `fit` needs.

    Raises:
        TypeError, ValueError: with a sentence that names the argument.
    """
    check_module_filled("model", model)
    if not isinstance(batches, Iterable):
        raise TypeError(f"batches must be an iterable of batches, got {type(batches).__name__}")
    if not isinstance(checkpoint, TrainingCheckpoint | None):
        raise TypeError(f"checkpoint must be a TrainingCheckpoint, got {shown(checkpoint)}")
    if not isinstance(snapshots, Snapshots | None):
        raise TypeError(f"snapshots must be Snapshots, got {shown(snapshots)}")
    if not isinstance(accelerator, Accelerator | None):
        raise TypeError(f"accelerator must be an Accelerator, got {shown(accelerator)}")
    if not isinstance(evaluate_at, Container):
        raise TypeError(f"evaluate_at must be a list of steps, got {type(evaluate_at).__name__}")


def check_functions(*, loss: Callable, **optional: Callable | None) -> None:
    """Refuse what cannot be called.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if not callable(loss):
        raise TypeError(f"loss must be a function of model and batch, got {type(loss).__name__}")
    for name, function in optional.items():
        if not (function is None or callable(function)):
            raise TypeError(f"{name} must be a function or None, got {type(function).__name__}")


def check_watchers(
    early_stopping: EarlyStopping | None,
    snapshots: Snapshots | None,
    evaluate: Callable | None,
    evaluate_at: Container,
) -> None:
    """Refuse early stopping and snapshots that would never see an evaluation.

    Raises:
        TypeError, ValueError: early stopping is none, or nothing is evaluated.
    """
    if not isinstance(early_stopping, EarlyStopping | None):
        raise TypeError(f"early_stopping must be an EarlyStopping, got {shown(early_stopping)}")
    for name, watcher in (("early_stopping", early_stopping), ("snapshots", snapshots)):
        if watcher is not None and (evaluate is None or not evaluate_at):
            raise ValueError(f"{name} needs `evaluate` and `evaluate_at`, got none")


def check_steps_left(first: int, steps: int, checkpoint: TrainingCheckpoint | None) -> None:
    """Refuse to go on with a run that has done more steps than are wanted.

    Raises:
        ValueError: with both numbers and the checkpoint's place.
    """
    if first > steps:
        raise ValueError(f"steps is {steps}, but the run in {checkpoint.path} has done {first}")


def check_batch(batch: Any, step: int, steps: int) -> None:
    """Refuse what the batches gave at a step, numbered from 1: None where they had ended.

    Raises:
        ValueError: they had, or it holds no numbers.
        TypeError: it has no `to` method.
    """
    if batch is None:
        raise ValueError(f"batches ended after {step - 1} steps, but {steps} are needed")
    if not hasattr(batch, "to"):
        raise TypeError(f"batches must give batches with a `to` method, got {shown(batch)}")
    parts = batch if isinstance(batch, tuple) else (batch,)
    if any(isinstance(part, Tensor) and part.is_meta for part in parts):
        raise ValueError("batches must give tensors that hold numbers, got one on meta")


def check_loss(value: Tensor) -> None:
    """Refuse what a loss function may not return: all but a scalar with a gradient.

    Raises:
        TypeError, ValueError: with what it returned.
    """
    if not isinstance(value, Tensor) or value.numel() != 1 or not value.requires_grad:
        kind = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(f"loss must return one number with a gradient, got {kind}")
    check_filled("what loss returns", value)


def check_finite(value: float, step: int) -> None:
    """Refuse to go on with a loss that is infinite or NaN.

    Raises:
        FloatingPointError: with the step.
    """
    if not isfinite(value):
        raise FloatingPointError(f"loss became {value} at step {step}")


def checked_schedule(schedule: Callable[[int], float] | None) -> Callable[[int], float]:
    """The schedule, whose every answer must be a share of a rate; constant if there is none."""

    def share(step: int) -> float:
        answer = 1.0 if schedule is None else schedule(step)
        check_number(f"schedule({step})", answer, least=0)
        return answer

    return share
