"""Keeping what was trained: whole files or none, and a clear word when a file is not whole."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from pickle import PickleError
from typing import IO, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from gates2heads.checks.shown import shown
from gates2heads.checks.tensors import check_module
from gates2heads.checks.values import check_count, check_flag
from gates2heads.training.quantisation import dequantise, quantise


def write_whole(path: str | os.PathLike, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part.

    Args:
        path: the file; its folder is made if it is not there.
        write: called with an open binary file.
    """
    path = as_path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise


def as_path(path: str | os.PathLike) -> Path:
    """The path itself, of the kind that has methods; refuse what is none."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a string or a pathlib.Path, got {type(path).__name__}")
    return Path(path)


def _as_file(path: str | os.PathLike) -> Path:
    """The path of a file that is to be written; refuse a folder."""
    path = as_path(path)
    if path.is_dir():
        raise ValueError(f"path must name a file, but {path} is a folder")
    return path


def digest(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 over names, shapes and values, so that an altered weight is noticed."""
    total = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return total.hexdigest()


def save_weights(
    path: str | os.PathLike, model: nn.Module, *, card: Mapping | None = None, small: bool = False
) -> None:
    """Write a model's weights as safetensors, with a card and a checksum inside.

    Args:
        path: the file to write; replaced whole if it is there.
        model: its `state_dict` is kept.
        card: what a reader should know (data, command, seed, scores); must be JSON.
        small: write matrices in one byte a weight; see `quantise` for what that moves.

    Raises:
        TypeError: an argument is of the wrong kind, or the card holds what JSON cannot.
        ValueError: `path` is a folder.
    """
    path = _as_file(path)
    check_module("model", model)
    check_flag("small", small)
    if not isinstance(card, Mapping | None):
        raise TypeError(f"card must be a dict that JSON can hold, got {shown(card)}")
    # Clones, because safetensors refuses tied weights, which share their memory.
    tensors = {name: t.detach().cpu().clone() for name, t in model.state_dict().items()}
    tensors = quantise(tensors) if small else tensors
    try:
        metadata = {"card": json.dumps(card or {}), "sha256": digest(tensors)}
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"card must hold what JSON can hold: {error}") from error
    content = to_bytes(tensors, metadata)
    write_whole(path, lambda file: file.write(content))


def load_weights(path: str | os.PathLike, model: nn.Module) -> dict:
    """Read weights into a model and return their card.

    Raises:
        TypeError: `path` is no path, or `model` no module.
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, altered, or for a model of another shape. The model is
            left as it was.
    """
    check_module("model", model)
    tensors, card = read_weights(path)
    check_shapes(Path(path), model, tensors)
    model.load_state_dict(tensors)
    return card


def read_weights(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict]:
    """Read weights by name and their card, for instance to learn how large a model to build.

    Weights that were written small come back as float32.

    Raises:
        FileNotFoundError, ValueError: as in `load_weights`.
    """
    packed, card = read_packed(path)
    return dequantise(packed), card


def read_packed(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict]:
    """Read weights as they lie in the file, and their card: what is small stays small.

    Raises:
        FileNotFoundError, ValueError: as in `load_weights`.
    """
    path = as_path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must name a weights file, but there is none at {path}")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is truncated or is no safetensors file: {error}") from error
    if not {"card", "sha256"} <= metadata.keys():
        raise ValueError(f"{path} holds no card and checksum; it was not written by save_weights")
    if metadata["sha256"] != digest(tensors):
        raise ValueError(f"{path} was altered: its weights do not match the checksum inside it")
    try:
        card = json.loads(metadata["card"])
    except ValueError as error:
        raise ValueError(f"{path} was altered: its card is not JSON") from error
    return tensors, card


def shipped_weights(name: str) -> Path:
    """The file of a model that was trained for the book and comes with the library.

    Raises:
        ValueError: no such model; the sentence lists those that there are.
    """
    folder = Path(str(files("gates2heads.models"))) / "weights"
    there = sorted(file.stem for file in folder.glob("*.safetensors"))
    if not isinstance(name, str) or name not in there:
        names = ", ".join(there)
        raise ValueError(f"name must be one of the shipped models ({names}), got {shown(name)}")
    return folder / f"{name}.safetensors"


def check_shapes(path: Path, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Refuse weights that do not fit a model, before any of them is copied.

    Args:
        path: the file that they were read from, which the sentence names.
        model: what they are for.
        tensors: the weights by name.

    Raises:
        ValueError: a name or a shape differs.
    """
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    theirs = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if own != theirs:
        name = next(n for n in [*own, *theirs] if own.get(n) != theirs.get(n))
        raise ValueError(
            f"{path} is for another model: {name} is {theirs.get(name, 'missing')} in the file "
            f"and {own.get(name, 'missing')} in the model"
        )


class TrainingCheckpoint:
    """A training run on disk, from which an interrupted run goes on as if nothing had happened.

    Args:
        path: the file; it is always whole.
        every: steps between two writes; the last step is always written.
    """

    def __init__(self, path: str | os.PathLike, *, every: int = 100):
        check_count("every", every)
        self.path, self.every = _as_file(path), every

    def keep(self, step: int, model, optimizer, scheduler, history) -> None:
        """Write the run as it stands after `step` steps.

        Raises:
            TypeError: an evaluation in the history cannot be read back.
        """
        try:
            from_bytes(as_bytes(history.evaluations))
        except (ValueError, TypeError, AttributeError, PickleError) as error:
            raise TypeError(
                "evaluate must return numbers, strings, tensors, or lists, tuples and dicts of "
                "them, so that a checkpoint can keep what it returned"
            ) from error
        content = {
            "step": step,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "history": vars(history),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }
        saved = as_bytes(content)
        write_whole(self.path, lambda file: file.write(hashlib.sha256(saved).digest() + saved))

    def resume(self, model, optimizer, scheduler, history) -> int:
        """Put a kept run back into these objects; return how many steps it had done, or 0.

        Raises:
            ValueError: the file is not a whole checkpoint, or belongs to another model, which is
                left as it was.
        """
        if not self.path.is_file():
            return 0
        whole = self.path.read_bytes()
        checksum, saved = whole[:32], whole[32:]
        if hashlib.sha256(saved).digest() != checksum:
            raise ValueError(
                f"{self.path} is not a whole training checkpoint: it was truncated or altered; "
                "delete it to start again"
            )
        content = from_bytes(saved)
        check_shapes(self.path, model, content["model"])
        model.load_state_dict(content["model"])
        optimizer.load_state_dict(content["optimizer"])
        scheduler.load_state_dict(content["scheduler"])
        vars(history).update(content["history"])
        torch.set_rng_state(content["random"])
        if content["random_cuda"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(content["random_cuda"])
        return content["step"]


def as_bytes(content: Any) -> bytes:
    """What `torch.save` writes."""
    buffer = BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def from_bytes(content: bytes) -> Any:
    """What `as_bytes` wrote: tensors and plain values, never code."""
    return torch.load(BytesIO(content), map_location="cpu", weights_only=True)
