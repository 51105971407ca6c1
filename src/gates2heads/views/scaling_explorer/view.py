"""Loss against compute and model size: measured runs, a fitted law, the best use of a budget."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from traitlets import Dict, Float, List, validate

from gates2heads.accepts import accepts, instance, listed, maybe, positive, string
from gates2heads.accepts.shown import shown
from gates2heads.metrics.scaling_laws import FLOPS, ScalingLaw
from gates2heads.views.kit.view import ShowMe, View, module, style

BEYOND = 2.0  # orders of magnitude that the sliders go beyond the largest run
BELOW = 0.5  # and below the smallest, and beyond the largest model that is best for a budget
ROLES = ("fitted", "predicted", "yours")


class ScaledRun(NamedTuple):
    """A trained model as a point of the view."""

    name: str
    parameters: float
    tokens: float
    loss: float  # in nats per token
    role: str = "fitted"  # or "predicted", which the law has not seen; or "yours"

    @property
    def compute(self) -> float:
        """Floating-point operations of the training, 6 N D."""
        return FLOPS * self.parameters * self.tokens


@accepts(
    runs=listed("runs", instance(ScaledRun), least=1),
    law=instance(ScalingLaw),
    compute=maybe(positive),
    parameters=maybe(positive),
    title=string,
    hint=string,
    show_me=listed("ShowMe buttons", instance(ShowMe)),
)
class ScalingExplorer(View):
    """Choose a budget of compute and a model size, and see the loss that a scaling law predicts.

    One chart has the loss against compute: the runs, a curve for each of their sizes, and the
    lowest loss of any size. The other has the loss against the size at the chosen budget.

    Args:
        runs: measured losses.
        law: fitted to those of the role "fitted".
        compute: the initial budget in floating-point operations; that of the largest run if not
            given.
        parameters: the initial model size; the best for the budget if not given.
        title: the heading of the view.
        hint: what to try, in a line.
        show_me: buttons that set the view to a telling state.

    Attributes:
        compute, parameters: decimal logarithms, as the reader has set them.

    Raises:
        ValueError: a run has a value that is not positive or an unknown role, or the initial budget
            or size is out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__)

    runs = List(Dict()).tag(sync=True)
    law = Dict().tag(sync=True)
    bounds = Dict().tag(sync=True)
    compute = Float().tag(sync=True)
    parameters = Float().tag(sync=True)

    def __init__(
        self,
        runs: Sequence[ScaledRun],
        law: ScalingLaw,
        *,
        compute: float | None = None,
        parameters: float | None = None,
        title: str = "",
        hint: str = "",
        show_me: Sequence[ShowMe] = (),
    ):
        entries = [_entry(f"runs[{at}]", one) for at, one in enumerate(runs)]
        costs = [one["compute"] for one in entries]
        budget = max(costs) if compute is None else compute
        size = law.optimum(budget)[0] if parameters is None else parameters
        bounds = _around(costs)
        best = [law.optimum(10**end)[0] for end in bounds]
        super().__init__(
            bounds={
                "compute": bounds,
                "parameters": _around(
                    [*best, *(one["parameters"] for one in entries)], beyond=BELOW
                ),
            },
            runs=entries,
            law=law._asdict(),
            compute=round(math.log10(budget), 3),
            parameters=round(math.log10(size), 3),
            title=title,
            hint=hint,
            show_me=list(show_me),
        )

    def _limits(self) -> dict[str, tuple[float, float]]:
        return {name: tuple(ends) for name, ends in self.bounds.items()}

    @validate("compute", "parameters")
    def _within(self, proposal: dict[str, Any]) -> float:
        return self._within_limits(proposal)

    def __repr__(self):
        return f"ScalingExplorer({len(self.runs)} runs)"


def _entry(name: str, one: ScaledRun) -> dict[str, Any]:
    """A run as the page receives it: checked, with its compute."""
    string(empty=False).check(f"{name}.name", one.name)
    for field in ("parameters", "tokens", "loss"):
        positive.check(f"{name}.{field}", getattr(one, field))
    if one.role not in ROLES:
        raise ValueError(f"{name}.role must be one of {', '.join(ROLES)}, got {shown(one.role)}")
    return one._asdict() | {"compute": one.compute}


def _around(values: Sequence[float], *, beyond: float = BEYOND) -> list[float]:
    """The ends of a slider in decimal logarithms, to a tenth."""
    low, high = math.log10(min(values)) - BELOW, math.log10(max(values)) + beyond
    return [math.floor(10 * low) / 10, math.ceil(10 * high) / 10]
