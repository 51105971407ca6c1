"""The decorator by hand: on functions, methods and classes, and how arguments agree in a call."""

import inspect
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from gates2heads.accepts import (
    accepts,
    anything,
    boolean_mask,
    bools,
    flag,
    floats,
    fraction,
    listed,
    natural,
    tokens,
    whole,
)

B, T, S, D = 2, 3, 5, 7
QUERY, KEYS = torch.zeros(B, T, D), torch.zeros(B, S, D)


def refused(sentence, kind=ValueError):
    return pytest.raises(kind, match=rf"^{sentence}$")


@accepts(size=natural, rate=fraction, after=natural(least=0))
def sized(size, rate=0.5, *rest, after=None):
    """Give back what was given."""
    return size, rate, rest, after


class Layer(nn.Module):
    def __init__(self, width=D, dtype=None):
        super().__init__()
        self.width = width
        self.inner = nn.Linear(width, width, dtype=dtype)

    @accepts(
        query=floats("B T width"), keys=floats("B S inner.in_features"), mask=boolean_mask("B T S")
    )
    def forward(self, query, keys=None, *, mask=None):
        return query.shape

    @accepts(words=tokens("B S", below="width"))
    def read(self, words):
        return words.shape


def test_a_function_gets_its_arguments_as_they_are():
    assert sized(3) == (3, 0.5, (), None)
    assert sized(rate=0.25, size=3) == (3, 0.25, (), None)
    assert sized(3, 1, "more", "than", after=0) == (3, 1, ("more", "than"), 0)


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        ((0,), {}, "size must be at least 1, got 0"),
        ((), {"size": 0}, "size must be at least 1, got 0"),
        ((3, 2), {}, r"rate must lie in \[0, 1\], got 2"),
        ((3, 1, -1), {"after": -1}, "after must be at least 0, got -1"),
    ],
)
def test_a_wrong_argument_is_refused_by_place_and_by_name(given, options, sentence):
    with refused(sentence):
        sized(*given, **options)


def test_what_python_itself_refuses_it_refuses_in_its_own_words():
    with pytest.raises(TypeError, match=r"sized\(\) missing 1 required positional argument"):
        sized()
    with pytest.raises(TypeError, match=r"sized\(\) got multiple values for argument 'size'"):
        sized(3, size=3)


def test_none_is_taken_where_it_is_the_default_and_nowhere_else():
    assert sized(3, after=None)[3] is None
    with refused("rate must be a number, got None", TypeError):
        sized(3, None)


def test_a_default_is_not_looked_at():
    @accepts(size=natural)
    def odd(size=-1):
        return size

    assert odd() == -1


def test_a_slip_in_a_declaration_is_found_when_the_module_is_imported():
    with pytest.raises(TypeError, match=r"wrong has no parameter heigth, widht"):

        @accepts(widht=natural, size=natural, heigth=natural)
        def wrong(size, width):
            """Never made."""


def test_a_declared_function_keeps_name_signature_docstring_and_source():
    assert (sized.__name__, sized.__doc__) == ("sized", "Give back what was given.")
    assert list(inspect.signature(sized).parameters) == ["size", "rate", "rest", "after"]
    assert "return size, rate, rest, after" in inspect.getsource(sized)
    assert sized.accepts == {"size": natural, "rate": fraction, "after": natural(least=0)}


def test_the_kinds_are_looked_at_in_the_order_of_the_declaration():
    with refused("size must be at least 1, got 0"):
        sized(0, 7)


class Base:
    def __init__(self, size, bold=False):
        self.size, self.bold = size, bold


@accepts(size=natural, bold=flag)
class Inherits(Base):
    """Has no constructor of its own."""


@accepts(more=natural)
class Extends(Inherits):
    def __init__(self, size, more):
        super().__init__(size)
        self.more = more


@accepts(size=natural)
@dataclass(frozen=True)
class Settings:
    size: int = 3


def test_a_class_refuses_what_its_constructor_does_not_take():
    assert Inherits(3).size == 3
    assert Settings() == Settings(3)
    with refused("size must be at least 1, got 0"):
        Inherits(0)
    with refused("bold must be True or False, got 1", TypeError):
        Inherits(3, bold=1)
    with refused("size must be at least 1, got 0"):
        Settings(0)


def test_a_parent_is_as_it_was_and_a_child_is_as_strict_as_its_parent():
    assert Base(0).size == 0
    with refused("more must be at least 1, got 0"):
        Extends(3, 0)
    with refused("size must be at least 1, got 0"):
        Extends(0, 3)


def test_axes_agree_within_a_call_and_not_between_calls():
    layer = Layer()
    assert layer(QUERY, KEYS) == (B, T, D)
    assert layer(QUERY[:1], KEYS[:1, 1:]) == (1, T, D)
    sentence = r"keys must have shape \(B, S, 7\) with B = 2, got \(1, 5, 7\)"
    with refused(sentence):
        layer(QUERY, KEYS[:1])
    with refused(r"query must have shape \(B, T, 7\), got \(3, 7\)"):
        layer(QUERY[0])
    with refused(r"query must have shape \(B, T, 7\), got \(2, 3, 6\)"):
        layer(QUERY[..., 1:])


def test_a_letter_that_stands_twice_and_a_number():
    @accepts(square=anything("N N 2"))
    def turned(square):
        return square

    turned(torch.zeros(3, 3, 2))
    with refused(r"square must have shape \(N, N, 2\), got \(3, 5, 2\)"):
        turned(torch.zeros(3, 5, 2))
    with refused(r"square must have shape \(N, N, 2\), got \(3, 3, 5\)"):
        turned(torch.zeros(3, 3, 5))


def test_a_word_is_an_argument_its_default_or_an_attribute():
    @accepts(vectors=floats("S size"))
    def cut(vectors, size=D):
        return vectors

    cut(torch.zeros(S, D))
    cut(torch.zeros(S, 2), 2)
    with refused(r"vectors must have shape \(S, 7\), got \(5, 2\)"):
        cut(torch.zeros(S, 2))


def test_axes_in_front_are_any_and_agree():
    @accepts(query=floats("… T K"), key=floats("… S K"), mask=boolean_mask("… T S"), other=floats())
    def attend(query, key, mask=None, other=None):
        return query

    attend(torch.zeros(T, D), torch.zeros(S, D))
    query, key = torch.zeros(B, 11, T, D), torch.zeros(B, 11, S, D)
    attend(query, key, torch.ones(B, 1, 1, S).bool(), torch.zeros(13))
    front = r"with … = \(2, 11\) and K = 7, got \(5, 7\)"
    with refused(rf"key must have shape \(…, S, K\) {front}"):
        attend(query, torch.zeros(S, D))
    with refused(r"mask must broadcast to \(2, 11, 3, 5\), got a mask of shape \(3, 1, 3, 5\)"):
        attend(query, key, torch.ones(3, 1, T, S).bool())
    with refused(r"query must have shape \(…, T, K\), got \(7,\)"):
        attend(query[0, 0, 0], key)


@pytest.mark.parametrize("shape", [(B, T, S), (T, S), (S,), (1, 1, S), (B, 1, 1), ()])
def test_a_mask_broadcasts(shape):
    Layer()(QUERY, KEYS, mask=torch.ones(shape).bool())


@pytest.mark.parametrize("shape", [(B, S), (3, T, S), (1, B, T, S), (B, T, 0)])
def test_a_mask_that_does_not_broadcast_is_refused(shape):
    told = str(shape).replace("(", r"\(").replace(")", r"\)")
    with refused(rf"mask must broadcast to \(2, 3, 5\), got a mask of shape {told}"):
        Layer()(QUERY, KEYS, mask=torch.ones(shape).bool())


def test_a_mask_may_come_before_a_size_is_known():
    Layer()(QUERY, mask=torch.ones(B, T, 11).bool())
    with refused(r"mask must broadcast to \(2, 3, S\), got a mask of shape \(5, 11\)"):
        Layer()(QUERY, mask=torch.ones(5, 11).bool())


def test_floats_are_of_the_dtype_of_the_layer_or_else_of_each_other():
    @accepts(one=floats(), two=floats())
    def add(one, two):
        return one + two

    with refused("query must be torch.float32 like the layer, got torch.float64", TypeError):
        Layer()(QUERY.double())
    Layer(dtype=torch.double)(QUERY.double(), KEYS.double())
    add(QUERY.double(), QUERY.double())
    told = "two must be torch.float32 like what goes with it, got torch.float64"
    with refused(told, TypeError):
        add(QUERY, QUERY.double())
    with refused("two must hold floating-point numbers, got torch.int64", TypeError):
        add(QUERY, QUERY.long())
    with refused("one must hold floating-point numbers, got torch.int64", TypeError):
        add(QUERY.long(), QUERY)


def test_under_autocast_precisions_may_differ_but_stay_floating():
    with torch.autocast("cpu", torch.bfloat16):
        Layer()(QUERY.bfloat16(), KEYS)
        with refused("keys must hold floating-point numbers, got torch.int64", TypeError):
            Layer()(QUERY, KEYS.long())


@pytest.mark.parametrize("argument", ["query", "keys", "mask"])
def test_a_tensor_elsewhere_is_told_whatever_it_holds(argument):
    given = {"query": QUERY, "keys": KEYS, "mask": torch.ones(T, S).bool()}
    given[argument] = given[argument].to("meta")
    with refused(f"{argument} must be on cpu like the layer, got a tensor on meta"):
        Layer()(**given)


def test_without_a_layer_the_first_tensor_says_where():
    @accepts(real=bools("B"), numbers=whole("B"), scores=floats("B"))
    def score(real, numbers, scores):
        return scores

    given = {"real": torch.ones(B).bool(), "numbers": torch.ones(B).long(), "scores": torch.ones(B)}
    score(**given)
    for name in ("numbers", "scores"):
        with refused(f"{name} must be on cpu like what goes with it, got a tensor on meta"):
            score(**given | {name: given[name].to("meta")})


def test_tokens_lie_below_an_attribute():
    layer = Layer()
    layer.read(torch.tensor([[0, D - 1]]))
    with refused("words must hold numbers 0 to 6, got 7"):
        layer.read(torch.tensor([[0, D]]))
    with refused("words must hold numbers 0 to 6, got -1"):
        layer.read(torch.tensor([[-1, 0]]))
    with refused(r"words must not be empty, got a tensor of \(2, 0\)"):
        layer.read(torch.zeros(2, 0).long())
    with refused(r"words must hold integers \(torch.long\), got torch.float32", TypeError):
        layer.read(torch.zeros(2, 3))


def test_a_generator_is_not_used_up_by_the_look_at_it():
    listed("counts").check("sizes", iter([1]))
    with refused("sizes must be a list of counts, got <list_iterator object at 0x.*", TypeError):
        listed("counts", kind=natural).check("sizes", iter([1]))
