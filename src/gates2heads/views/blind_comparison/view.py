"""A blind comparison: the reader judges outputs of two systems without knowing which is which."""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from traitlets import Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, listed, natural, string, strings
from gates2heads.accepts.shown import shown
from gates2heads.views.kit.view import PositionError, View, module, style

OPEN, CHOICES = "", ("A", "B", "tie")
PREFERRED = ("first", "second", "tie")


@accepts(
    source=string(empty=False),
    meaning=string,
    first=string(empty=False),
    second=string(empty=False),
)
@dataclass(frozen=True)
class BlindPair:
    """Two outputs for one source.

    Args:
        source: what was translated.
        meaning: its meaning, shown below it for readers who do not know its language.
        first, second: the outputs of the first and the second system.
        metric: which of the two an automatic metric prefers: "first", "second" or "tie".

    Raises:
        ValueError: a metric that is not one of the three.
    """

    source: str
    meaning: str
    first: str
    second: str
    metric: str

    def __post_init__(self):
        if self.metric not in PREFERRED:
            raise ValueError(f"metric must be one of {PREFERRED}, got {shown(self.metric)}")


@accepts(
    pairs=listed("pairs", instance(BlindPair), least=1),
    systems=strings,
    metric=string(empty=False),
    seed=natural(least=0),
    title=string,
    hint=string,
)
class BlindComparison(View):
    """Judge pairs of outputs; at the end see the systems, a sign test, and κ with a metric.

    For each pair the reader chooses A, B or neither. The side of each system is chosen at random
    for each pair. The result is computed in the page from the choices alone, which are sent
    nowhere. The sign test leaves ties out, and κ compares the pairs in which the reader and the
    metric both prefer a system: a metric hardly ever finds two outputs equally good.

    Args:
        pairs: the pairs to judge, in this order.
        systems: the names of the two systems, shown at the end.
        metric: the name of the metric that the choices are compared with.
        seed: of the random choice of sides.
        title: shown above the view.
        hint: an instruction, in one line.

    Attributes:
        choices: one of "A", "B", "tie" for each pair, "" where none has been made.
        at: the pair that is shown, counted from 0; the number of pairs means the result.

    Raises:
        ValueError: systems that are not two different names.
    """

    _esm = module(__file__)
    _css = style(__file__)

    pairs = List(Dict()).tag(sync=True)
    systems = List(Unicode()).tag(sync=True)
    metric = Unicode().tag(sync=True)
    choices = List(Unicode()).tag(sync=True)
    at = Int(0).tag(sync=True)

    _positions = ("at",)

    def __init__(
        self,
        pairs: Sequence[BlindPair],
        *,
        systems: Sequence[str],
        metric: str,
        seed: int = 0,
        title: str = "",
        hint: str = "",
    ):
        systems = list(systems)
        if len(systems) != 2 or len(set(systems)) != 2:
            raise ValueError(f"systems must be two different names, got {shown(systems)}")
        draw = random.Random(seed)
        super().__init__(
            pairs=[asdict(pair) | {"swapped": draw.random() < 0.5} for pair in pairs],
            systems=systems,
            metric=metric,
            choices=[OPEN] * len(pairs),
            title=title,
            hint=hint,
        )

    def _places(self, name: str, at: dict[str, int]) -> int:
        return len(self.pairs) + 1

    @validate("at")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("choices")
    def _known(self, proposal: dict[str, Any]) -> list[str]:
        chosen = proposal["value"]
        if len(chosen) != len(self.pairs):
            raise PositionError(
                f"choices must have one entry for each of the {len(self.pairs)} pairs, got "
                f"{len(chosen)}"
            )
        for one in chosen:
            if one not in (OPEN, *CHOICES):
                raise PositionError(f"choices must be of {CHOICES} or empty, got {shown(one)}")
        return chosen

    def __repr__(self):
        return f"BlindComparison({', '.join(self.systems)}, {len(self.pairs)} pairs)"
