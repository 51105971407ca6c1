"""The gates of a recurrent language model at each character of a text."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, string
from gates2heads.accepts.shown import shown
from gates2heads.data.tokens.vocabulary import check_tokenizer
from gates2heads.layers.record import record

LAYER = "recurrent"  # the name of the layer in a recurrent language model


class ObservedGates(NamedTuple):
    """The tokens, the values of each of U units, and the next-token predictions."""

    tokens: list[str]  # T
    quantities: dict[str, Tensor]  # gates, candidate and state by name, each (T, U)
    log_probs: Tensor  # (T + 1, V) in nats: row t, the prediction after t tokens
    bits: Tensor  # (T,): the surprisal of each token
    vocabulary: list[str]  # V


@accepts(text=string)
def observe_gates(model: nn.Module, text: str, tokenizer) -> ObservedGates:
    """Run a model on a text, and keep the gates of the same forward pass at each of its T tokens.

    Row t of a quantity belongs to the step with input token t; `<bos>`, the first input, has none.
    Gates that are clamped meanwhile, by `clamp_gates`, have the clamped value.

    Args:
        model: a `RecurrentLanguageModel` of one layer.
        text: the input.
        tokenizer: of the model.

    Returns:
        T tokens, quantities (T, U) by name, log_probs (T + 1, V), bits (T,).

    Raises:
        TypeError, ValueError: the model has no recurrent layer, or more than one; or as raised by
            the tokenizer, such as for an empty text.
    """
    layer = getattr(model, LAYER, None)
    if not hasattr(layer, "num_layers"):
        raise TypeError(f"model must be a recurrent language model, got {shown(model)}")
    if layer.num_layers > 1:
        raise ValueError(f"model must have one recurrent layer, got {layer.num_layers}")
    check_tokenizer(tokenizer)
    device = next(model.parameters()).device
    begun = torch.tensor(
        [tokenizer.vocabulary.bos, *tokenizer.encode(text, eos=False)], device=device
    )
    numbers = begun[1:]
    with torch.no_grad(), record(model) as trace:
        log_probs = model.logits(begun[None]).log_softmax(dim=-1)[0]  # (T + 1, V)
    noted = trace[LAYER]
    surprise = -log_probs[:-1].gather(1, numbers[:, None])[:, 0]
    return ObservedGates(
        [tokenizer.vocabulary.tokens[number] for number in numbers.tolist()],
        {name.removesuffix("_l0"): noted[name][0][0, 1:] for name in noted},
        log_probs,
        surprise / torch.tensor(2.0).log(),
        list(tokenizer.vocabulary.tokens),
    )
