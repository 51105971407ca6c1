"""Keeping what was trained: whole files or none, and a clear word when a file is not whole."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn


def write_whole(path: str | os.PathLike, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part.

    Args:
        path: the file; its folder is made if it is not there.
        write: called with an open binary file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def digest(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 over names, shapes and values, so that an altered weight is noticed."""
    total = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return total.hexdigest()


def save_weights(path: str | os.PathLike, model: nn.Module, *, card: Mapping | None = None) -> None:
    """Write a model's weights as safetensors, with a card and a checksum inside.

    Args:
        path: the file to write; replaced whole if it is there.
        model: its `state_dict` is kept.
        card: what a reader should know (data, command, seed, scores); must be JSON.
    """
    tensors = {name: t.detach().cpu().contiguous() for name, t in model.state_dict().items()}
    metadata = {"card": json.dumps(card or {}), "sha256": digest(tensors)}
    content = to_bytes(tensors, metadata)
    write_whole(path, lambda file: file.write(content))


def load_weights(path: str | os.PathLike, model: nn.Module) -> dict:
    """Read weights into a model and return their card.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, altered, or for a model of another shape. The model is
            left as it was.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must name a weights file, but there is none at {path}")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is truncated or is no safetensors file: {error}") from error
    if metadata.get("sha256") != digest(tensors):
        raise ValueError(f"{path} was altered: its weights do not match the checksum inside it")
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    theirs = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if own != theirs:
        name = next(n for n in [*own, *theirs] if own.get(n) != theirs.get(n))
        raise ValueError(
            f"{path} is for another model: {name} is {theirs.get(name, 'missing')} in the file "
            f"and {own.get(name, 'missing')} in the model"
        )
    model.load_state_dict(tensors)
    return json.loads(metadata["card"])


class TrainingCheckpoint:
    """A training run on disk, from which an interrupted run goes on as if nothing had happened.

    Args:
        path: the file; it is always whole.
        every: steps between two writes; the last step is always written.
    """

    def __init__(self, path: str | os.PathLike, *, every: int = 100):
        if every < 1:
            raise ValueError(f"every must be at least 1 step, got {every}")
        self.path, self.every = Path(path), every

    def keep(self, step: int, model, optimizer, scheduler, history) -> None:
        """Write the run as it stands after `step` steps."""
        content = {
            "step": step,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "history": vars(history),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }
        write_whole(self.path, lambda file: torch.save(content, file))

    def resume(self, model, optimizer, scheduler, history) -> int:
        """Put a kept run back into these objects; return how many steps it had done, or 0.

        Raises:
            ValueError: the file is not a whole checkpoint, or belongs to another model.
        """
        if not self.path.is_file():
            return 0
        try:
            content = torch.load(self.path, map_location="cpu", weights_only=True)
            step = content["step"]
        except Exception as error:
            raise ValueError(
                f"{self.path} is not a whole training checkpoint ({type(error).__name__}); "
                "delete it to start again"
            ) from error
        try:
            model.load_state_dict(content["model"])
        except RuntimeError as error:
            raise ValueError(f"{self.path} belongs to a model of another shape") from error
        optimizer.load_state_dict(content["optimizer"])
        scheduler.load_state_dict(content["scheduler"])
        vars(history).update(content["history"])
        torch.set_rng_state(content["random"])
        if content["random_cuda"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(content["random_cuda"])
        return step
