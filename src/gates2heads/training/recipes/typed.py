"""What somebody types, through a model that a recipe trained."""

from collections.abc import Sequence

from gates2heads.accepts import a, accepts, texts
from gates2heads.decoding.translation import translate
from gates2heads.training.recipes.runs import Trained, search_of


@accepts(trained=a(Trained), texts=texts(least=1))
def translate_typed(trained: Trained, texts: Sequence[str], **search) -> list[str]:
    """Translate what somebody typed, read as the page reads it.

    Args:
        trained: from `load`.
        texts: as typed: in capitals, with any blanks.
        search: how to search instead of as the recipe says; see `translate`.

    Raises:
        TypeError, ValueError: a text holds nothing to read, or what the model cannot read.
    """
    model, task, source, target, card = trained
    read = [task.typed(text) for text in texts]
    search = {**search_of(card["recipe"]), **search}
    return translate(model, read, source, target, max_length=task.max_length, **search)
