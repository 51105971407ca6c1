"""The models that come with the library, ready to use."""

from typing import Any, NamedTuple

from torch import nn

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.checkpoints import check_shapes, read_weights, shipped_weights
from gates2heads.training.recipes.runs import load

LONGEST_LIST = 7 * 11  # tokens of seven dates and the blanks between, which section 5.1 asks for


class Shipped(NamedTuple):
    """A model with its tokenizers, and how it is meant to write."""

    model: nn.Module
    source: Any  # the tokenizers of the two sides
    target: Any
    card: dict
    decoding: dict  # width, length_power and max_length


def shipped(name: str) -> Shipped:
    """Load a model that comes with the library, in evaluation mode.

    Args:
        name: of its weights file, such as "translator" or "dates_dot".

    Raises:
        ValueError: there is none of this name, or its card does not say how to build it.
    """
    path = shipped_weights(name)
    tensors, card = read_weights(path)
    if "recipe" in card:
        trained = load(path)
        decoding = {**trained.card["recipe"]["decoding"], "max_length": trained.task.max_length}
        return Shipped(trained.model, trained.source, trained.target, trained.card, decoding)
    if "settings" not in card or "source_tokens" not in card:
        raise ValueError(f"{path.name} cannot be built, its card holds no recipe and no settings")
    sides = [
        CharacterTokenizer(Vocabulary(card[f"{side}_tokens"])) for side in ("source", "target")
    ]
    model = EncoderDecoder(*(len(side.vocabulary) for side in sides), **card["settings"])
    check_shapes(path, model, tensors)
    model.load_state_dict(tensors)
    decoding = {"width": 1, "length_power": 1.0, "max_length": LONGEST_LIST}
    return Shipped(model.eval(), *sides, card, decoding)
