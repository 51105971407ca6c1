"""What declares its arguments keeps them, so that the same layer or model can be built again."""

import copy
import pickle

import torch
from torch import nn

from gates2heads.accepts import accepts, flag, natural


@accepts(size=natural, deep=flag)
class Stack(nn.Module):
    def __init__(self, size, *, deep=False):
        super().__init__()
        self.layer = nn.Linear(size, size)


class Same(Stack):
    """Takes what its parent takes."""


@accepts(width=natural)
class Wider(Stack):
    def __init__(self, width, **further):
        super().__init__(2 * width, **further)


class Undeclared(Stack):
    def __init__(self):
        super().__init__(3)


@accepts(parts=natural)
class Plain:
    def __init__(self, parts):
        self.parts = parts


def test_the_arguments_are_kept_with_their_defaults():
    assert Stack(3).settings == {"size": 3, "deep": False}
    assert Same(size=5, deep=True).settings == {"size": 5, "deep": True}


def test_a_subclass_keeps_its_own_arguments_and_those_that_it_hands_on():
    assert Wider(2).settings == {"width": 2}
    assert Wider(2, deep=True).settings == {"width": 2, "deep": True}
    again = Wider(**Wider(2, deep=True).settings)
    assert again.layer.weight.shape == (4, 4)


def test_a_constructor_that_declares_nothing_keeps_nothing_rather_than_its_parents_arguments():
    assert not hasattr(Undeclared(), "settings")


def test_only_layers_and_models_keep_them():
    assert not hasattr(Plain(3), "settings")


def test_copies_keep_them_too():
    model = Wider(2, deep=True)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again.settings == model.settings
        torch.testing.assert_close(again.state_dict(), model.state_dict())
