"""Checkpoints: files are complete or absent, and damaged files raise clear messages."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from gates2heads.accepts import accepts, flag, module
from gates2heads.accepts.shown import choices, in_line, shown
from gates2heads.training.files import as_file, as_path, write_whole
from gates2heads.training.plain_json import read_json
from gates2heads.training.quantisation import dequantise, quantise


def digest(tensors: Mapping[str, Tensor], texts: Iterable[str] = ()) -> str:
    """SHA-256 over names, shapes, values and texts, so that every change is detected."""
    total = hashlib.sha256()
    for text in texts:
        total.update(f"{len(text.encode())} {text}".encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return total.hexdigest()


@accepts(model=module, small=flag)
def save_weights(
    path: str | os.PathLike,
    model: nn.Module,
    *,
    card: Mapping | None = None,
    made: Mapping | None = None,
    small: bool = False,
) -> None:
    """Save a model's parameters as safetensors, with a card and a checksum of the content.

    Args:
        path: the file to write; an existing file is replaced.
        model: its `state_dict` is stored.
        card: information for users (data, command, seed, scores); must be JSON.
        made: kind and settings to rebuild the model, if they are to be stored; see
            `cards.save_model`.
        small: store matrices with one byte per parameter; see `quantise` for the rounding.

    Raises:
        TypeError: `path` is not a path, or the card contains values that JSON cannot store.
        ValueError: `path` is a folder, a link or a device, the card is nested too deeply, or the
            model is on the device "meta", where parameters have no data.
        OSError: the file cannot be written.
    """
    path = as_file(path)
    if not isinstance(card, Mapping | None):
        raise TypeError(f"card must be a dict that JSON can hold, got {shown(card)}")
    # Clones, because safetensors rejects tied parameters, which share their memory.
    tensors = {name: t.detach().cpu().clone() for name, t in _filled(model).items()}
    tensors = quantise(tensors) if small else tensors
    texts = {"card": _as_json("card", card or {})}
    if made is not None:
        texts["made"] = _as_json("made", made)
    content = to_bytes(tensors, {**texts, "checksum": digest(tensors, texts.values())})
    write_whole(path, lambda file: file.write(content))


@accepts(model=module)
def load_weights(path: str | os.PathLike, model: nn.Module) -> dict:
    """Load parameters into a model and return their card.

    Raises:
        TypeError: `path` is not a path.
        FileNotFoundError: the file does not exist.
        ValueError: the file is truncated, altered, or for a model of another shape, or the model
            is on the device "meta", which has no data. The model is not changed.
    """
    _filled(model)
    tensors, card = read_weights(path)
    check_shapes(Path(path), model, tensors)
    model.load_state_dict(tensors)
    return card


def read_weights(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict]:
    """Read parameters by name and their card, for instance to find the size of the model.

    Parameters that were stored in one byte are returned as float32.

    Raises:
        FileNotFoundError, ValueError: as in `load_weights`.
    """
    tensors, card, _ = read_whole(path)
    return tensors, card


def read_whole(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict, dict | None]:
    """Read parameters by name, their shapes, their card, and the model's kind and settings.

    Raises:
        FileNotFoundError, ValueError: as in `load_weights`.
    """
    packed, card, made = _read(as_path(path))
    try:
        return dequantise(packed), card, made
    except ValueError as error:
        raise ValueError(f"path {in_line(path)} was altered: {error}") from error


def read_packed(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict]:
    """Read parameters as stored in the file, and their card, without dequantising.

    Raises:
        FileNotFoundError, ValueError: as in `load_weights`.
    """
    packed, card, _ = _read(as_path(path))
    return packed, card


def read_tensors(path: Path, *, what: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read the tensors of a safetensors file by name, and its metadata; the file runs no code.

    Args:
        path: an existing file.
        what: the start of the message if the file is damaged or of another format.

    Returns:
        Each tensor, in the shape in which the file holds it, and the metadata.

    Raises:
        ValueError: the file is damaged or of another format.
    """
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except Exception as error:  # a foreign file can raise anything
        raise ValueError(f"{what}: {error}") from error


def _read(path: Path) -> tuple[dict[str, Tensor], dict, dict | None]:
    """The content of a file: its tensors, its card, and its model's kind and settings."""
    if not path.is_file():
        raise FileNotFoundError(
            f"path must name a file of parameters, but there is none at {in_line(path)}"
        )
    what = f"path {in_line(path)} is truncated or is not a safetensors file"
    tensors, metadata = read_tensors(path, what=what)
    if not {"card", "checksum"} <= metadata.keys():
        raise ValueError(
            f"path {in_line(path)} holds no card and checksum; it was not written by "
            "this version's save_weights"
        )
    texts = {name: metadata[name] for name in ("card", "made") if name in metadata}
    if metadata["checksum"] != digest(tensors, texts.values()):
        raise ValueError(
            f"path {in_line(path)} was altered: what it holds does not match the checksum inside it"
        )
    card, made = (
        _object(path, name, texts[name]) if name in texts else None for name in ("card", "made")
    )
    return tensors, card, made


def _as_json(name: str, value: Mapping) -> str:
    try:
        text = json.dumps(dict(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"{name} must hold what JSON can hold: {error}") from error
    read_json(text, what=f"{name} must be JSON")
    return text


def _object(path: Path, name: str, text: str) -> dict:
    value = read_json(text, what=f"path {in_line(path)} was altered: its {name} must be JSON")
    if not isinstance(value, dict):
        raise ValueError(
            f"path {in_line(path)} was altered: its {name} is a {type(value).__name__}, "
            "not an object"
        )
    return value


def shipped_weights(name: str) -> Path:
    """The file of a model that was trained for the book and is distributed with the library.

    Raises:
        ValueError: no such model; the message lists the available ones.
    """
    folder = Path(str(files("gates2heads.models"))) / "weights"
    there = sorted(file.stem for file in folder.glob("*.safetensors"))
    if not isinstance(name, str) or name not in there:
        names = choices(there, name)
        raise ValueError(f"name must be one of the shipped models ({names}), got {shown(name)}")
    return folder / f"{name}.safetensors"


def check_shapes(path: Path, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Reject parameters that do not match a model, before any of them is copied.

    Args:
        path: the file that they were read from, which the message names.
        model: the model that will receive them.
        tensors: the parameters by name.

    Raises:
        ValueError: a name or a shape differs, or one is of floating-point numbers and the other is
            not.
    """
    own, theirs = _shapes_of(model.state_dict()), _shapes_of(tensors)
    if own != theirs:
        name = next(n for n in [*own, *theirs] if own.get(n) != theirs.get(n))
        raise ValueError(
            f"path {in_line(path)} is for another model: {name} is {theirs.get(name, 'missing')} "
            f"in the file and {own.get(name, 'missing')} in the model"
        )


def _filled(model: nn.Module) -> dict[str, Tensor]:
    """The parameters of a model, by name; a model on the device "meta" is rejected."""
    tensors = model.state_dict()
    for name, tensor in tensors.items():
        if tensor.is_meta:
            raise ValueError(
                f"model's {name} must hold numbers, got a tensor on meta, which holds none"
            )
    return tensors


def _shapes_of(tensors: Mapping[str, Tensor]) -> dict[str, str]:
    """The shape of each tensor, and its dtype where that is not a floating-point one."""
    return {
        name: f"{tuple(t.shape)}{'' if t.is_floating_point() else f' of {t.dtype}'}"
        for name, t in tensors.items()
    }
