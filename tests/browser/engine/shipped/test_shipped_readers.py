"""The small models that come with the library: there, whole, and as good as their cards say."""

import pytest
import torch

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.dates import date_lists, dates
from gates2heads.decoding.translation import translate
from gates2heads.metrics.exact_match import exact_match, parts_right
from gates2heads.training.recipes.recipe import read_recipe

READERS = ("none", "dot", "scaled_dot", "general", "additive")


@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_dates_writes_what_its_card_says(name):
    model, source, target, decoding, card = shipped(f"dates_{name}")
    assert not model.training
    pairs = dates("test", 300, seed=11)
    written = translate(
        model, [pair.text for pair in pairs], source, target, max_length=decoding["max_length"]
    )
    right = exact_match(written, [pair.iso for pair in pairs])
    assert right == pytest.approx(card["scores"]["test"]["exact_match"], abs=0.02)
    assert right > (0.95 if name == "none" else 0.99)


@pytest.mark.parametrize("name", READERS)
def test_its_card_names_the_command_and_the_recipe_that_made_it(name):
    card = shipped(f"dates_{name}").card
    recipe = f"dates-{name.replace('_', '-')}"
    assert card["command"] == f"python -m gates2heads train {recipe}"
    assert card["recipe"] == read_recipe(recipe)


def test_the_readers_of_lists_differ_where_the_list_is_long():
    pairs = date_lists("test", 50, 5, locales=("en", "fr", "de"), forms=("medium", "yMMMd"))
    texts, wanted = [pair.text for pair in pairs], [pair.iso for pair in pairs]
    right = {}
    for name in ("none", "additive"):
        model, source, target, decoding, _ = shipped(f"bottleneck_{name}")
        written = translate(model, texts, source, target, max_length=decoding["max_length"])
        right[name] = parts_right(written, wanted)
    assert right["additive"] > 0.97
    assert right["none"] < 0.45


def test_the_weights_are_those_of_the_file_and_nothing_is_drawn():
    first, second = (shipped("bottleneck_none").model.state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_what_does_not_come_with_the_library_is_named():
    with pytest.raises(ValueError, match="nothing"):
        shipped("nothing")
