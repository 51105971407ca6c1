"""Every declared argument of the library meets the ordinary mistakes of its kind.

The declarations are read from the modules themselves, so that none can be forgotten. All other
arguments of a call are right, and the body never runs: what is refused is refused by its
declaration, with one sentence that names the argument.
"""

import ast
import inspect
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

import gates2heads
from gates2heads.accepts import accepts, choice, string
from tests.accepts.mistakes import WIDTH, StandIn, mistakes, sample

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(gates2heads.__file__).parent
INNERMOST = {  # a step of a loop, where a look at each argument would take as long as the step
    ("gates2heads.layers.recurrent", "gru_step"),
    ("gates2heads.layers.recurrent", "lstm_step"),
}
DECLARED_BY_TYPE = {"int", "float", "bool", "Tensor"}  # what a caller gets wrong most often


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if path.stem not in ("__main__", "__init__"):
            yield import_module(".".join(("gates2heads", *parts)))


def declared():
    """Map the name of each function, method and constructor that declares its arguments to it."""
    found = {}
    for module in modules():
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != module.__name__:
                continue
            own = vars(thing).items() if isinstance(thing, type) else [(name, thing)]
            for part, value in own:
                function = getattr(value, "__func__", value)  # of a class or static method
                if "accepts" in getattr(function, "__dict__", {}):
                    place = module.__name__.removeprefix("gates2heads.")
                    found[f"{place}.{name}.{part}" if own is not None else name] = function
    return found


DECLARED = declared()


def right_call(function):
    """Arguments that are all right; of what is not declared, only what has no default."""
    given = {name: sample(kind) for name, kind in function.accepts.items()}
    for name, parameter in inspect.signature(function).parameters.items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if name not in given and parameter.default is parameter.empty and not variadic:
            given[name] = StandIn(WIDTH)
    return given


def test_the_walk_finds_the_declarations():
    assert len(DECLARED) > 150


@pytest.mark.parametrize("name", DECLARED)
def test_an_ordinary_mistake_gets_one_sentence_that_names_the_argument(name):
    function = DECLARED[name]
    defaults = {key: one.default for key, one in inspect.signature(function).parameters.items()}
    for argument, kind in function.accepts.items():
        for wrong in mistakes(kind):
            if wrong is None and defaults[argument] is None:
                continue
            with pytest.raises((TypeError, ValueError)) as refused:
                function(**right_call(function) | {argument: wrong})
            told = str(refused.value)
            assert re.match(rf"{argument}\b", told), f"{argument}={wrong!r:.60}: {told}"
            assert len(told.splitlines()) == 1, told
            assert len(told) < 300, told


def imported_by_chapters():
    """The names that the notebooks take from the rooms below `display`."""
    rooms = "data|metrics|layers|models|training|decoding"
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] != "code":
                continue
            lines = "".join(cell["source"]).split("\n")
            code = "\n".join(re.sub(r"^(\s*)[%!].*", r"\1pass", line) for line in lines)
            for node in ast.walk(ast.parse(code)):
                module = getattr(node, "module", None) or ""
                if isinstance(node, ast.ImportFrom) and re.match(
                    rf"gates2heads\.({rooms})\b", module
                ):
                    public = (one.name for one in node.names if not one.name.startswith("_"))
                    yield from ((module, name) for name in public)


@pytest.mark.parametrize("place", sorted(set(imported_by_chapters()) - INNERMOST), ids=".".join)
def test_what_a_chapter_uses_declares_its_numbers_and_tensors(place):
    thing = getattr(import_module(place[0]), place[1])
    functions = [thing] if inspect.isfunction(thing) else []
    if inspect.isclass(thing):
        functions = [vars(thing)[one] for one in ("__init__", "forward") if one in vars(thing)]
    for function in functions:
        for name, parameter in inspect.signature(function).parameters.items():
            written = str(getattr(parameter.annotation, "__name__", parameter.annotation))
            kinds = set(re.findall(r"\w+", written))
            if kinds & DECLARED_BY_TYPE and kinds <= {*DECLARED_BY_TYPE, "None"}:
                assert name in getattr(function, "accepts", {}), f"{place}: {name} is not declared"


def test_what_stands_behind_a_star_is_not_taken_for_the_next_argument():
    @accepts(title=string, colour=choice(("blue",)))
    def group(title, *names, colour="blue"):
        return title, names, colour

    assert group("G", "a", "b") == ("G", ("a", "b"), "blue")
    with pytest.raises(ValueError, match="colour must be one of blue"):
        group("G", "a", colour="red")
