"""One text, what a model made of it, and how its attention came to look where it did."""

from typing import NamedTuple

from torch import Tensor, nn

from gates2heads.checks.shown import shown
from gates2heads.decoding.translation import up_to_end, write
from gates2heads.layers.record import record


class Observed(NamedTuple):
    """What was read and written, and the attention between the two."""

    source: list[str]  # S tokens, <eos> last
    target: list[str]  # T tokens that the model wrote, <eos> last if it came
    weights: Tensor | None  # (T, S), rows sum to 1; None of a model that does not look back
    scores: Tensor | None  # (T, S), before the softmax; None with the weights


def observe(
    model: nn.Module,
    text: str,
    source,
    target,
    *,
    layer: str = "decoder.attention",
    max_length: int = 128,
) -> Observed:
    """Translate one text by greedy search, and keep scores and weights of the same forward pass.

    Args:
        model: has `start(source, mask=)` and `step(state, last_tokens)`.
        text: what is read.
        source, target: the tokenizers of the two sides.
        layer: the name of the attention layer; a model without it does not look back.
        max_length: the most tokens that are written, `<eos>` included.

    Raises:
        TypeError, ValueError: `text` or `layer` is no string, or what `write` refuses.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {shown(text)}")
    if not isinstance(layer, str):
        raise TypeError(f"layer must be the name of a layer, got {shown(layer)}")
    with record(model) as trace:
        tokens = write(model, [text], source, target, max_length=max_length).tokens[0].tolist()
    tokens = up_to_end(tokens, target)
    read, written = (
        [side.vocabulary.tokens[number] for number in numbers]
        for side, numbers in ((source, source.encode(text)), (target, tokens))
    )
    if layer not in trace:
        return Observed(read, written, None, None)
    weights, scores = (
        trace.joined(layer, quantity)[0, : len(written)].cpu() for quantity in ("weights", "scores")
    )
    return Observed(read, written, weights, scores)
