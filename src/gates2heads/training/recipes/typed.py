"""Translation of typed text by a model that was trained with a recipe."""

from collections.abc import Sequence

from gates2heads.accepts import accepts, instance, strings
from gates2heads.decoding.translation import translate
from gates2heads.training.recipes.runs import Trained, search_of


@accepts(trained=instance(Trained), texts=strings(least=1))
def translate_typed(trained: Trained, texts: Sequence[str], **search) -> list[str]:
    """Translate typed texts, normalised as in the page.

    Args:
        trained: from `load`.
        texts: as typed, with any capitals and spaces.
        search: search settings that replace those of the recipe; see `translate`.

    Raises:
        TypeError, ValueError: a text is empty, or contains unknown characters.
    """
    model, task, source, target, card = trained
    read = [task.typed(text) for text in texts]
    search = {**search_of(card["recipe"]), **search}
    return translate(model, read, source, target, max_length=task.max_length, **search)
