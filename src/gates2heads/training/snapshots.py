"""Snapshots: a model's parameters at its last evaluations, for averaging."""

import os
import re
from pathlib import Path

from torch import Tensor, nn

from gates2heads.accepts import accepts, natural
from gates2heads.training.averaging import average_weights
from gates2heads.training.checkpoints import save_weights
from gates2heads.training.files import as_path, clear_parts


@accepts(count=natural)
class Snapshots:
    """Store the parameters of the last evaluations in files, one file for each.

    A resumed run writes the same files again, so that an interruption has no effect.

    Args:
        path: the beginning of the files' names; the step and ".safetensors" follow.
        count: the number of snapshots that are kept.
    """

    def __init__(self, path: str | os.PathLike, count: int):
        self.path, self.count = as_path(path), count

    def keep(self, step: int, model: nn.Module) -> None:
        """Write the parameters after `step` steps, and delete those that are too old."""
        save_weights(self._file(step), model)
        for old in self.files()[: -self.count]:
            old.unlink()

    def files(self) -> list[Path]:
        """The stored files, the oldest first."""
        name = re.compile(rf"{re.escape(self.path.name)}\.(\d+)\.safetensors")
        beside = self.path.parent.iterdir() if self.path.parent.is_dir() else ()
        found = {int(own[1]): file for file in beside if (own := name.fullmatch(file.name))}
        return [found[step] for step in sorted(found)]

    def average(self) -> dict[str, Tensor]:
        """The average of the stored parameters.

        Raises:
            ValueError: nothing is stored.
        """
        return average_weights(self.files())

    def clear(self) -> None:
        """Delete the stored files."""
        for file in self.files():
            file.unlink()
        clear_parts(self.path)

    def _file(self, step: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{step}.safetensors")
