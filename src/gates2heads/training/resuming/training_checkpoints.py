"""Checkpoints of a training run, from which it continues where it stopped."""

import hashlib
import os
from io import BytesIO
from pickle import PickleError
from typing import Any

import torch

from gates2heads.accepts import accepts, natural
from gates2heads.training.checkpoints import check_shapes
from gates2heads.training.files import as_file, clear_parts, try_place, write_whole
from gates2heads.training.resuming.generators import generator_states, set_generator_states

PARTS = {"step", "model", "optimizer", "scheduler", "history", "generators"}  # of a stored run


@accepts(every=natural)
class TrainingCheckpoint:
    """A training run on disk, from which an interrupted run is resumed with identical results.

    Args:
        path: the file; it is always complete.
        every: steps between two checkpoints; the last step is always stored.
    """

    def __init__(self, path: str | os.PathLike, *, every: int = 100):
        self.path, self.every = as_file(path), every

    def keep(self, step: int, model, optimizer, scheduler, history) -> None:
        """Store the state of the run after `step` steps.

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
            "generators": generator_states(),
        }
        saved = as_bytes(content)
        write_whole(self.path, lambda file: file.write(hashlib.sha256(saved).digest() + saved))

    def resume(self, model, optimizer, scheduler, history) -> int:
        """Restore a stored run into these objects; return its number of completed steps, or 0.

        The path is tested first, so that a run does not fail at its first checkpoint.

        Raises:
            ValueError: the file is not a complete checkpoint, or belongs to another model; the
                model is not changed.
            OSError: the file could not be written later.
        """
        clear_parts(self.path)
        try_place(self.path)
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
        if not isinstance(content, dict) or content.keys() != PARTS:
            raise ValueError(
                f"{self.path} was kept by another version of the library; delete it to start again"
            )
        check_shapes(self.path, model, content["model"])
        optimizer.load_state_dict(content["optimizer"])
        scheduler.load_state_dict(content["scheduler"])
        vars(history).update(content["history"])
        model.load_state_dict(content["model"])
        set_generator_states(content["generators"])
        return content["step"]


def as_bytes(content: Any) -> bytes:
    """What `torch.save` writes."""
    buffer = BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def from_bytes(content: bytes) -> Any:
    """The content of `as_bytes`: tensors and plain values, never code."""
    return torch.load(BytesIO(content), map_location="cpu", weights_only=True)
