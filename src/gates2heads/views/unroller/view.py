"""An encoder–decoder on the reader's input: greedy decoding, clamped, and under teacher forcing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from traitlets import Bool, Bytes, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, flag, instance, mapping, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.live_view import (
    FAR,
    LiveView,
    labels_of,
    single_precision,
    words,
)
from gates2heads.views.kit.view import PositionError, ShowMe, module, style
from gates2heads.watching.forced_tokens import Line, ObservedForcing

_LINES = ("free", "held", "taught")
_MOST = 32767  # numbers are sent as integers of two bytes


@accepts(
    models=mapping("names to models"),
    examples=words(least=1),
    recorded=instance(ObservedForcing, "as `observe_forcing` gives"),
    held=mapping("steps to tokens"),
    taught=string,
    labels=words,
    title=string,
    label=string,
    hint=string,
    about=string,
    step=natural(least=0),
    simple=flag,
)
class Unroller(LiveView):
    """Type a date, step through encoder and decoder, clamp a character, and watch.

    Beside the greedy output, one line shows the output with clamped characters, and one line
    the decoder under teacher forcing, with a target that the reader may type. A simple view shows
    the greedy output alone.

    Source: Williams & Zipser 1989 for teacher forcing; Ranzato et al. 2016 for what it hides.

    Args:
        models: encoder–decoders by their training method, such as "teacher forcing", from
            `export_model`. The first is shown first.
        examples: texts to click; the first is the recorded one.
        recorded: the output of the first model for the first example, from `observe_forcing`.
        held: output step, from 0 -> the token that is clamped there in the recording.
        taught: the target of teacher forcing there; "" for the greedy output.
        labels: the labels of the examples; the texts themselves if left out.
        title: is shown above the view.
        label: the label of the input field, above it.
        hint: a suggestion, in one line.
        about: a description of the models, in one line.
        step: which step is shown first, from 0: those of the encoder, then those of the decoder.
        simple: show one line of output, without clamping and teacher forcing.
        show_me: buttons that set the view to an instructive state.

    Attributes:
        text: the source, synchronised with the view.
        model: the number of the shown model, counted from 0.

    Raises:
        TypeError: an invalid part of the recording.
        ValueError: numbers that do not fit, or a step out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__)

    names = List(Unicode()).tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    recorded = Dict().tag(sync=True)
    numbers = Bytes().tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    held = Dict().tag(sync=True)
    taught = Unicode().tag(sync=True)
    model = Int(0).tag(sync=True)
    step = Int(0).tag(sync=True)
    simple = Bool(False).tag(sync=True)

    _positions = ("model", "step")

    def __init__(
        self,
        models: Mapping[str, Exported],
        examples: Sequence[str],
        recorded: ObservedForcing,
        *,
        held: Mapping[int, str] | None = None,
        taught: str = "",
        labels: Sequence[str] | None = None,
        title: str = "",
        label: str = "Type a date",
        hint: str = "",
        about: str = "",
        step: int = 0,
        simple: bool = False,
        show_me: Sequence[ShowMe] = (),
    ):
        words.check("the names of models", list(models))
        payload, numbers = _payload(recorded)
        holds = _holds({} if held is None else held)
        _check_fits(payload, holds, taught)
        super().__init__(
            *models.values(),
            names=list(models),
            examples=list(examples),
            labels=labels_of(examples, labels),
            recorded={**payload, "text": examples[0], "held": holds, "taught": taught},
            numbers=numbers,
            text=examples[0],
            held=holds,
            taught=taught,
            title=title,
            label=label,
            hint=hint,
            about=about,
            simple=simple,
        )
        self.step = step
        self.show_me = list(show_me)

    def _places(self, name: str, at: dict[str, int]) -> int:
        return len(self.names) if name == "model" else FAR

    @validate("model", "step")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("held")
    def _holdable(self, proposal: dict[str, Any]) -> dict[str, str]:
        known = self.recorded["vocabulary"]
        for step, token in proposal["value"].items():
            if not str(step).isdecimal() or token not in known or token in ("<pad>", "<bos>"):
                raise PositionError(
                    "held must map steps from 0 to tokens of the target, got "
                    f"{shown(step)}: {shown(token)}"
                )
        return {str(step): token for step, token in proposal["value"].items()}

    def __repr__(self):
        return f"Unroller({', '.join(self.names)}, {len(self.examples)} examples)"


def _holds(held: Mapping[int, str]) -> dict[str, str]:
    """The clamped tokens as JSON has them, with keys that are strings."""
    for step, token in held.items():
        natural(least=0).check("each step of held", step)
        string.check(f"held[{step}]", token)
    return {str(step): token for step, token in held.items()}


def _check_fits(payload: dict, holds: Mapping[str, str], taught: str) -> None:
    """Reject a recording with other clamped tokens, or another target, than the view shows."""
    line = payload["lines"]["held"]
    for step, token in holds.items():
        if int(step) < len(line) and line[int(step)] != token:
            raise ValueError(
                f"recorded must be of what is held, but at step {step} it has "
                f"{shown(line[int(step)])}, not {shown(token)}"
            )
    if taught and payload["lines"]["taught"] != [*taught, "<eos>"]:
        raise ValueError(f"recorded must be of what is taught, {shown(taught)}, but it is not")


def _payload(recorded: Any) -> tuple[dict, bytes]:
    """The recorded run for the page, and its numbers."""
    for part in ("source", "vocabulary"):
        words.check(f"recorded.{part}", getattr(recorded, part))
    source, vocabulary = list(recorded.source), list(recorded.vocabulary)
    if not source:
        raise ValueError("recorded.source must hold at least one token, got none")
    states = single_precision(recorded.states, "recorded.states")
    if states.ndim != 2 or len(states) != len(source) or not states.shape[1]:
        raise ValueError(f"recorded.states must be ({len(source)}, U), got {states.shape}")
    units = states.shape[1]
    tables = [("states", states), ("states", _table(recorded.summary, "summary", (units,)))]
    for name in _LINES:
        line = getattr(recorded, name)
        instance(Line).check(f"recorded.{name}", line)
        words.check(f"recorded.{name}.tokens", line.tokens)
        if not line.tokens or not set(line.tokens) <= set(vocabulary):
            raise ValueError(f"recorded.{name}.tokens must be of recorded.vocabulary")
        length = len(line.tokens)
        hidden = _table(line.hidden, f"{name}.hidden", (length, units))
        expected = _table(line.log_probs, f"{name}.log_probs", (length, len(vocabulary)))
        tables += [("states", hidden), ("logProbs", expected)]
    scales = {
        kind: max(float(np.abs(table).max()) for name, table in tables if name == kind) or 1.0
        for kind in ("states", "logProbs")
    }
    numbers = b"".join(
        (table / scales[kind] * _MOST).round().astype("<i2").tobytes() for kind, table in tables
    )
    lines = {name: list(getattr(recorded, name).tokens) for name in _LINES}
    payload = {"source": source, "vocabulary": vocabulary, "units": units, "lines": lines}
    return {**payload, "scales": scales}, numbers


def _table(values: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    table = single_precision(values, f"recorded.{name}")
    if table.shape != shape:
        raise ValueError(f"recorded.{name} must have shape {shape}, got {table.shape}")
    return table
