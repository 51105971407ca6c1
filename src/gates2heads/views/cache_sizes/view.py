"""Sizes of the cache of keys and values, for a decoder that the reader sets and for known ones."""

from collections.abc import Sequence
from typing import Any

from traitlets import Dict, Float, Int, List, Unicode, validate

from gates2heads.accepts import accepts, choice, instance, listed, natural, positive, string
from gates2heads.accepts.shown import shown
from gates2heads.models.costs import BITS, MOST_PARAMETERS, Configuration
from gates2heads.views.kit.view import PositionError, ShowMe, View, module, style

LIMITS = {
    "layers": (1, 128),
    "heads": (1, 128),
    "kv_heads": (1, 128),
    "head_width": (1, 256),
    "length": (1, 2**20),
    "window": (0, 2**20),  # 0: no window
    "batch": (1, 1024),
    "bandwidth": (1.0, 20_000.0),
    "arithmetic": (0.001, 20_000.0),
}
SIZES = ("layers", "heads", "kv_heads", "head_width", "max_length")


@accepts(
    models=listed("configurations", instance(Configuration), least=1),
    start=natural(least=0),
    batch=natural,
    number_format=choice(BITS),
    bandwidth=positive,
    arithmetic=positive,
    title=string,
    hint=string,
    show_me=listed("ShowMe buttons", instance(ShowMe)),
)
class CacheSizes(View):
    """Set the sizes of a decoder, and see how large its cache is beside its parameters.

    Below the comparison with published models is the arithmetic of one decoding step: bytes read,
    multiply-accumulate operations, their ratio, and the least time at a memory bandwidth and a rate
    of arithmetic.

    Source: the formulas are those of `models/costs.py`.

    Args:
        models: what the setting is compared with; the name of each is a button that loads it.
        start: the position of the model that is loaded at first, counted from 0.
        batch: the initial number of sequences.
        number_format: the initial format of parameters and cache.
        bandwidth: the initial memory bandwidth, in gigabytes a second.
        arithmetic: the initial rate, in trillions of multiply-accumulate operations a second.
        title: the heading of the view.
        hint: what to try, in a line.
        show_me: buttons that set the view to a telling state.

    Attributes:
        layers, heads, kv_heads, head_width, length, window, batch, number_format, bandwidth,
            arithmetic: as the reader has set them; a window of 0 is none. To set `heads` and
            `kv_heads` in one step from Python, use `hold_trait_notifications`.

    Raises:
        TypeError: a size of a model is not a whole number.
        ValueError: a size is out of bounds, key-value heads do not divide the query heads, or
            `start` is not an index of `models`.
    """

    _esm = module(__file__)
    _css = style(__file__)

    models = List(Dict()).tag(sync=True)
    layers = Int(1).tag(sync=True)
    heads = Int(1).tag(sync=True)
    kv_heads = Int(1).tag(sync=True)
    head_width = Int(64).tag(sync=True)
    length = Int(1024).tag(sync=True)
    window = Int(0).tag(sync=True)
    batch = Int(1).tag(sync=True)
    number_format = Unicode("bf16").tag(sync=True)
    bandwidth = Float(100.0).tag(sync=True)
    arithmetic = Float(1.0).tag(sync=True)

    def __init__(
        self,
        models: Sequence[Configuration],
        *,
        start: int = 0,
        batch: int = 1,
        number_format: str = "bf16",
        bandwidth: float = 100.0,
        arithmetic: float = 1.0,
        title: str = "",
        hint: str = "",
        show_me: Sequence[ShowMe] = (),
    ):
        entries = [_entry(f"models[{at}]", one) for at, one in enumerate(models)]
        if start >= len(entries):
            raise ValueError(f"start must be from 0 to {len(entries) - 1}, got {start}")
        first = entries[start]
        super().__init__(
            models=entries,
            **{name: first[name] for name in ("layers", "heads", "kv_heads", "head_width")},
            length=first["max_length"],
            window=first["window"],
            batch=batch,
            number_format=number_format,
            bandwidth=float(bandwidth),
            arithmetic=float(arithmetic),
            title=title,
            hint=hint,
            show_me=list(show_me),
        )

    def _limits(self) -> dict[str, tuple[float, float]]:
        return LIMITS

    @validate(*LIMITS)
    def _within(self, proposal: dict[str, Any]) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = LIMITS[name]
        if not low <= value <= high:
            raise PositionError(f"{name} must be from {low:g} to {high:g}, got {value:g}")
        if name == "heads" and value % self.kv_heads:
            raise PositionError(
                f"heads must be a multiple of kv_heads, {self.kv_heads}, got {value}"
            )
        if name == "kv_heads" and self.heads % value:
            raise PositionError(f"kv_heads must divide heads, {self.heads}, got {value}")
        return value

    @validate("number_format")
    def _known(self, proposal: dict[str, Any]) -> str:
        if proposal["value"] not in BITS:
            raise PositionError(
                f"number_format must be one of {', '.join(BITS)}, got {shown(proposal['value'])}"
            )
        return proposal["value"]

    def _moved(self, sync_data: dict[str, Any]) -> dict[str, Any]:
        moved = super()._moved(sync_data)
        if moved.keys() & {"heads", "kv_heads"}:
            heads = moved.get("heads", self.heads)
            asked = moved.get("kv_heads", self.kv_heads)
            fitting = max(one for one in range(1, heads + 1) if heads % one == 0 and one <= asked)
            moved |= {"heads": heads, "kv_heads": fitting}
        return moved

    def __repr__(self):
        return f"CacheSizes({', '.join(one['name'] for one in self.models)})"


def _entry(name: str, one: Configuration) -> dict[str, Any]:
    """A model as the page receives it: checked, with a window of 0 for none."""
    string(empty=False).check(f"{name}.name", one.name)
    string.check(f"{name}.source", one.source)
    for size in SIZES:
        low, high = LIMITS["length" if size == "max_length" else size]
        natural(least=low, most=high).check(f"{name}.{size}", getattr(one, size))
    if one.heads % one.kv_heads:
        raise ValueError(f"{name}.kv_heads must divide its {one.heads} heads, got {one.kv_heads}")
    if one.window is not None:
        natural(most=LIMITS["window"][1]).check(f"{name}.window", one.window)
    if one.parameters is not None:
        natural(most=MOST_PARAMETERS).check(f"{name}.parameters", one.parameters)
    most = one.parameters or 0
    natural(least=0, most=most).check(f"{name}.looked_up", one.looked_up)
    return one._asdict() | {"window": one.window or 0}
