"""Training in one process, or in several, each with its part of every batch.

One process in full precision needs no more than PyTorch. For several processes, or for mixed
precision, 🤗 Accelerate starts the communication and averages the gradients; it is an extra
(`gates2heads[training]`). This module makes that the average over all tokens of the batch, as in
one process.
"""

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields
from importlib.util import find_spec
from os import environ
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from gates2heads.data.batches.pairs import Batch

MISSING = (
    "training in several processes or in mixed precision needs the package accelerate: run "
    "pip install accelerate, or train in one process with training.precision=no"
)
SINGLE = (
    "gates2heads: training in single precision; with the package accelerate (pip install "
    "accelerate), this machine would train in {mixed}, which is faster"
)


@runtime_checkable
class Trainer(Protocol):
    """The interface of the training loop to its devices: `OneProcess`, or Accelerate's class."""

    device: torch.device
    num_processes: int
    process_index: int
    is_main_process: bool
    mixed_precision: str
    prepare: Callable[..., Any]
    autocast: Callable[[], AbstractContextManager]
    backward: Callable[[Tensor], None]
    clip_grad_norm_: Callable[..., Any]
    end_training: Callable[[], None]


class OneProcess:
    """One process on one device, in full precision.

    Args:
        device: a GPU if there is one, if not given.
    """

    num_processes = 1
    process_index = 0
    is_main_process = True
    mixed_precision = "no"

    def __init__(self, device: torch.device | None = None):
        self.device = device or best_device()

    def prepare(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple:
        """Move the model to the device; the optimizer keeps its parameters."""
        return model.to(self.device), optimizer

    def autocast(self) -> AbstractContextManager:
        """Compute in full precision."""
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        """Compute the gradients."""
        loss.backward()

    def clip_grad_norm_(self, parameters: Iterator[nn.Parameter], max_norm: float) -> Tensor:
        """Scale the gradients down to a norm, and return the norm that they had."""
        return nn.utils.clip_grad_norm_(parameters, max_norm)

    def end_training(self) -> None:
        """End the communication, which one process does not have."""


def best_device() -> torch.device:
    """The device of training: a GPU if there is one."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def prepare_accelerator(precision: str | None = None) -> Trainer:
    """Choose the devices, and join the processes that `torchrun` started.

    Args:
        precision: "no", "fp16" or "bf16"; None is "no", or the setting of `accelerate launch`.

    Raises:
        ModuleNotFoundError: there are several processes, or the precision is mixed, and Accelerate
            is not installed.
    """
    alone = "LOCAL_RANK" not in environ
    if alone and (precision or environ.get("ACCELERATE_MIXED_PRECISION", "no")) == "no":
        return OneProcess()
    try:
        from accelerate import Accelerator  # noqa: PLC0415, an extra
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(MISSING) from error
    # Without a GPU, Accelerate lets every process train separately unless GPUs are disabled.
    return Accelerator(cpu=not (alone or torch.cuda.is_available()), mixed_precision=precision)


def precision_here(wanted: str) -> str:
    """The precision that "auto" means on this machine; other values are returned unchanged.

    bf16 if the GPU or the CPU supports it, else "no": elsewhere it is emulated, and slower than
    full precision. Without Accelerate it is "no" too, with a message on stderr.
    """
    if wanted != "auto":
        return wanted
    mixed = _mixed_here()
    if mixed != "no" and find_spec("accelerate") is None:
        print(SINGLE.format(mixed=mixed), file=sys.stderr)
        return "no"
    return mixed


def _mixed_here() -> str:
    """The fastest mixed precision of this machine; "no" if it has none."""
    if torch.cuda.is_available():
        return "bf16" if torch.cuda.is_bf16_supported() else "fp16"
    # An older PyTorch does not report it; "no" works everywhere, if not the fastest.
    capable = getattr(torch.cpu, "get_capabilities", dict)()
    return "bf16" if capable.get("amx_bf16") or capable.get("avx512_bf16") else "no"


def machine(accelerator: Trainer) -> dict:
    """The device, the numbers of processes and threads, and the precision."""
    on_gpu = accelerator.device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(accelerator.device) if on_gpu else processor(),
        "processes": accelerator.num_processes,
        "threads": torch.get_num_threads(),
        "precision": accelerator.mixed_precision,
    }


def processor() -> str:
    """The CPU's name as reported by the system."""
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def share(batch: Batch, number: int, count: int) -> tuple[Batch, float]:
    """Select every `count`-th pair of a batch, beginning with pair `number`.

    Args:
        batch: B pairs.
        number: the number of the process, from 0.
        count: the number of processes.

    Returns:
        the selected pairs, and their fraction of the batch's target tokens. If there are fewer
        pairs than processes, the remaining processes get the first pair, with weight 0.

    Raises:
        TypeError: it is not a `Batch`, so that its tokens cannot be counted.
    """
    if not isinstance(batch, Batch):
        raise TypeError(
            "batches must be of the type Batch to be shared among processes, got "
            f"{type(batch).__name__}"
        )
    spare = number >= len(batch)
    rows = slice(0, 1) if spare else slice(number, None, count)
    part = Batch(*(getattr(batch, field.name)[rows] for field in fields(batch)))
    weight = part.target_mask.sum() / batch.target_mask.sum()
    return part, 0.0 if spare else weight.item()


def joint_loss(
    loss: Callable[[nn.Module, Any], Tensor], model: nn.Module, batch: Any, accelerator: Trainer
) -> tuple[Tensor, float]:
    """The loss of a batch of which each process computes its part.

    Returns:
        a scalar for the backward pass, and the loss of the whole batch, equal in all processes.

    Raises:
        TypeError: the loss function does not return a scalar with a gradient.
    """
    count = accelerator.num_processes
    part, weight = share(batch, accelerator.process_index, count) if count > 1 else (batch, 1.0)
    with accelerator.autocast(), own_noise(accelerator):
        value = loss(model, part.to(accelerator.device))
    _check_loss(value)
    if count == 1:
        return value, value.item()
    whole = accelerator.reduce(value.detach() * weight, reduction="sum").item()
    # N processes average their gradients g to Σ g / N. With g = N · weight · (the gradient of the
    # share's mean), that is the mean over all tokens of the batch.
    return value * (weight * count), whole


def _check_loss(value: Tensor) -> None:
    """Reject results of a loss function other than a scalar with a gradient."""
    if not isinstance(value, Tensor) or value.numel() != 1 or not value.requires_grad:
        kind = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(f"loss must return one number with a gradient, got {kind}")


@contextmanager
def own_noise(accelerator: Trainer) -> Iterator[None]:
    """Let dropout differ among processes while their common generator stays synchronised."""
    if accelerator.num_processes == 1:
        yield
        return
    seed = int(torch.randint(2**31, ()))
    devices = [accelerator.device] if accelerator.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed + accelerator.process_index)
        yield


def on_main(accelerator: Trainer, function: Callable[[], Any]) -> Any:
    """Call a function in the main process only, and broadcast the result to all processes."""
    if accelerator.num_processes == 1:
        return function()
    from accelerate.utils import broadcast_object_list  # noqa: PLC0415, an extra

    answer = [None]
    if accelerator.is_main_process:
        with torch.random.fork_rng():
            answer = [function()]
    return broadcast_object_list(answer)[0]
