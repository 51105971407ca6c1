"""A published Llama in the files of the package transformers."""

import os
from pathlib import Path

from gates2heads.accepts import accepts, instance
from gates2heads.accepts.shown import in_line
from gates2heads.models.language.decoder_only import DecoderOnly
from gates2heads.models.language.published import from_llama
from gates2heads.training.checkpoints import read_tensors
from gates2heads.training.files import as_path
from gates2heads.training.plain_json import read_json

FILES = ("config.json", "model.safetensors")


@accepts(folder=instance((str, os.PathLike)))
def read_llama(folder: str | os.PathLike) -> DecoderOnly:
    """Read a published Llama from a folder with `config.json` and `model.safetensors`.

    Example: `read_llama(snapshot_download("HuggingFaceTB/SmolLM-135M"))`, with the function of the
    package huggingface_hub. Reading runs no code from the files.

    Args:
        folder: as `save_pretrained` writes it, in one file of parameters.

    Returns:
        the model, in evaluation mode and single precision.

    Raises:
        FileNotFoundError: one of the two files is missing.
        TypeError, ValueError: a file is damaged, or holds no Llama; see `from_llama`.
    """
    config_file, tensor_file = (_file(as_path(folder), name) for name in FILES)
    what = f"folder {in_line(folder)} must hold settings in config.json"
    config = read_json(config_file.read_bytes(), what=what)
    if not isinstance(config, dict):
        raise ValueError(f"{what}, got a {type(config).__name__}")
    what = f"folder {in_line(folder)} must hold parameters in model.safetensors"
    tensors, _ = read_tensors(tensor_file, what=what)
    return from_llama(config, tensors)


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(f"folder must hold a {name}, but there is none at {in_line(path)}")
    return path
