"""The decorator `@accepts(size=count)`, which checks the arguments before the body runs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeVar

from torch import nn

Decorated = TypeVar("Decorated", bound=Callable)


class Call:
    """One call: its arguments by name, and the sizes of the axes checked so far.

    Args:
        given: the arguments; for a method also `self`.
        defaults: of the omitted parameters.
    """

    like = place = None  # the tensors whose dtype and device the others must have

    def __init__(self, given: dict[str, Any], defaults: Mapping[str, Any] = MappingProxyType({})):
        self.given, self.defaults = given, defaults
        self.sizes: dict[str, int | tuple[int, ...]] = {}

    def resolve(self, path: str) -> Any:
        """An argument of the call, or otherwise an attribute of the called object."""
        head, _, rest = path.partition(".")
        if head in self.given:
            found = self.given[head]
        elif head in self.defaults:
            found = self.defaults[head]
        else:
            found = getattr(self.given["self"], head)
        return attrgetter(rest)(found) if rest else found


class Kind:
    """The declared kind of an argument: a frozen dataclass; calling it changes its fields."""

    def __call__(self, **changes: Any) -> "Kind":
        """The same kind with other bounds, such as `count(least=0)`."""
        return replace(self, **changes)

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        """Reject an invalid value with one sentence: the argument, its value, and what is expected.

        Raises:
            TypeError, ValueError: the value is of another type, or out of bounds.
        """
        raise NotImplementedError


def accepts(**declared: Kind) -> Callable[[Decorated], Decorated]:
    """Declare the valid arguments of a function, a method or a class's constructor.

    The kinds are checked in the order of the declaration, before the body runs; a default is not
    checked, and a parameter whose default is None accepts None. Tensors agree in their axes: a
    capital letter is the same size wherever it occurs, and any other word is the argument or the
    attribute of that name, as in `floats("B T embed_dim")`.

    A layer or a model that declares its arguments stores them unchanged in `settings`, a dict from
    which the same one can be built: `type(model)(**model.settings)`.

    Raises:
        TypeError: a declared name is not a parameter, so that an error in a declaration is found
            when the module is imported.
    """

    def decorate(thing: Decorated) -> Decorated:
        if isinstance(thing, type):
            constructor = _guarded(thing.__init__, declared)
            keeps = issubclass(thing, nn.Module)
            thing.__init__ = _keeping(constructor) if keeps else constructor
            return thing
        return _guarded(thing, declared)

    return decorate


def _guarded(function: Callable, declared: dict[str, Kind]) -> Callable:
    parameters = signature(function).parameters
    unknown = declared.keys() - parameters.keys()
    if unknown:
        raise TypeError(f"{function.__qualname__} has no parameter {', '.join(sorted(unknown))}")
    by_place = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(name for name, one in parameters.items() if one.kind in by_place)
    defaults = {
        name: one.default for name, one in parameters.items() if one.default is not one.empty
    }
    checks = [
        (name, kind.check, defaults.get(name, ...) is None) for name, kind in declared.items()
    ]

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args))  # noqa: B905  (to say `strict` takes as long as all the rest)
        if kwargs:
            given.update(kwargs)
        call = Call(given, defaults)
        for name, check, optional in checks:
            if name in given and not (optional and given[name] is None):
                check(name, given[name], call)
        return function(*args, **kwargs)

    guarded.accepts = {**getattr(function, "accepts", {}), **declared}
    return guarded


def _keeping(constructor: Callable) -> Callable:
    """A constructor after which its object has the arguments, defaults included, in `settings`.

    Only the constructor of the object's own class stores them: the arguments that a subclass passes
    to its parent would build the parent.
    """
    parameters = signature(constructor)
    further = {name for name, one in parameters.parameters.items() if one.kind is one.VAR_KEYWORD}

    @wraps(constructor)
    def keeping(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        constructor(self, *args, **kwargs)
        if type(self).__init__ is keeping:
            bound = parameters.bind(self, *args, **kwargs)
            bound.apply_defaults()
            _, *given = bound.arguments.items()
            self.settings = {name: value for name, value in given if name not in further}
            for name in further:
                self.settings |= bound.arguments[name]

    return keeping
