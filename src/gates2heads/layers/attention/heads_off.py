"""Switch attention heads off while a model runs, to measure the contribution of each."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from gates2heads.accepts import accepts, listed, module
from gates2heads.accepts.shown import shown
from gates2heads.layers.attention.grouped_query import GroupedQueryAttention
from gates2heads.layers.attention.multi_head import MultiHeadAttention

IN_HEADS = (MultiHeadAttention, GroupedQueryAttention)
Layer = MultiHeadAttention | GroupedQueryAttention


class Head(NamedTuple):
    """One head of a model."""

    layer: str  # the name of its layer of attention, such as "encoder_layers.0.self_attn"
    head: int  # from 0


@accepts(model=module)
def heads_of(model: nn.Module) -> list[Head]:
    """List every head of a model, in the order of its layers of attention."""
    return [Head(name, head) for name, layer in _layers(model) for head in range(layer.num_heads)]


@accepts(model=module, heads=listed("pairs (layer, head)"))
@contextmanager
def heads_off(model: nn.Module, heads: Iterable[tuple[str, int]]) -> Iterator[None]:
    """Run a model without some of its heads while the block runs.

    A head is switched off by multiplying its output by 0 before the output projection.
    Its attention weights are still computed and recorded. The effect is the same as zeros in the
    head's K columns of `out_proj.weight`; no parameter changes, and nothing is saved.

    Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 2.3; the gates
    of Voita et al. 2019, section 6.1, are applied at the same point, but are learned. Departs from
    the former in nothing.

    Examples: `with heads_off(model, [("encoder_layers.0.self_attn", 2)]): model(batch)`; all but
    one: `heads_off(model, [head for head in heads_of(model) if head != one])`.

    Args:
        model: contains layers of `MultiHeadAttention` or `GroupedQueryAttention`, or is one
            (named "").
        heads: pairs (layer, head), as `heads_of` lists them; none leaves the model as it is. In a
            block inside another, the heads of both are off.

    Raises:
        TypeError: `heads` contains something other than pairs of a name and a number.
        ValueError: the model has no such layer, or the layer no such head.
    """
    layers = dict(_layers(model))
    off = [_checked(pair, layers) for pair in heads]
    handles = [_leave_out(layers[name], number) for name, number in off]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _leave_out(layer: Layer, head: int) -> RemovableHandle:
    """Multiply the output of one head by 0 at each call of the output projection."""
    projection, width = layer.out_proj, layer.out_proj.in_features // layer.num_heads

    def without_head(called: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor] | None:
        if called is not projection:  # that of a copy, made while the block runs
            return None
        (context,) = inputs  # (B, T, D), the outputs of the heads side by side
        kept = context.new_ones(context.shape[-1])
        kept[head * width : (head + 1) * width] = 0
        return (context * kept,)

    return projection.register_forward_pre_hook(without_head)


def _layers(model: nn.Module) -> Iterator[tuple[str, Layer]]:
    """The multi-head attention layers, with their names."""
    return ((n, m) for n, m in model.named_modules() if isinstance(m, IN_HEADS))


def _checked(pair: tuple[str, int], layers: dict[str, Layer]) -> tuple[str, int]:
    """The pair, which is rejected if there is no such head."""
    parts = tuple(pair) if isinstance(pair, tuple | list) and len(pair) == 2 else (None, None)
    name, number = parts
    if not isinstance(name, str) or not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(
            "heads must be pairs of a layer's name and a number, such as "
            f"('encoder_layers.0.self_attn', 2), got {shown(pair)}"
        )
    if name not in layers:
        known = ", ".join(map(shown, layers)) or "no layer of attention in heads"
        raise ValueError(f"heads must be of layers that model has, {known}; got {shown(name)}")
    size = layers[name].num_heads
    if not 0 <= number < size:
        raise ValueError(
            f"heads of {shown(name)} must have numbers from 0 to {size - 1}, got {shown(number)}"
        )
    return name, number
