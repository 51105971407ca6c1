"""Every public class and function of the library says what it takes and gives.

The names are read from src/, so that a new one cannot be forgotten: it has a docstring, which names
the arguments, and tensors have their shapes in it. What it refuses is tested from the declarations,
in `tests/accepts/`.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "gates2heads"
SHAPE = re.compile(r"\((?:\d, )?[A-Z…·][\w…·]*(, ?[^()]*)?,?\)|scalar|nats|shape")


def definitions():
    """Map room/module.name to the node of each public class and function."""
    found = {}
    for path in sorted(path for path in PACKAGE.rglob("*/**/*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                found[f"{module}.{node.name}"] = node
    return found


PUBLIC = definitions()


def arguments(node):
    """The arguments of a function, or of a class's own constructor."""
    if isinstance(node, ast.ClassDef):
        own = [part for part in node.body if isinstance(part, ast.FunctionDef)]
        built = [part for part in own if part.name == "__init__"]
        return arguments(built[0])[1:] if built else []
    given = node.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


SHAPELESS = {
    "book/ch12/experts.balance_loss": "a loss is a single number",
    "browser/engine/export.export_model": "the weights keep whatever shapes they have",
    "decoding/sampling.sample": "all its tensors are those of `greedy`, to which it points",
    "decoding/state.tensors": "the tensors of a state have the shapes of its model",
    "layers/transformer_layers.rename": "the weights keep whatever shapes they have",
    "training/checkpoints.read_packed": "the weights keep whatever shapes they have",
    "training/checkpoints.read_weights": "the weights keep whatever shapes they have",
    "training/quantisation.dequantise": "the weights keep whatever shapes they have",
    "training/recipes/runs.loss_of": "a loss is a single number",
    "metrics/perplexity.perplexity_base2": "its two brothers' one line: see `perplexity`",
    "metrics/perplexity.perplexity_geometric": "its two brothers' one line: see `perplexity`",
    "training/losses.r_drop_loss": "a loss is a single number",
}


def docstring_faults(node):
    """What a docstring lacks."""
    told = ast.get_docstring(node) or ""
    if not told:
        return ["no docstring"]
    lacks = []
    if "Args:" in told:
        lacks = [given.arg for given in arguments(node) if not re.search(rf"\b{given.arg}\b", told)]
    if isinstance(node, ast.FunctionDef):
        notes = [*(given.annotation for given in arguments(node)), node.returns]
        tensors = any("Tensor" in ast.unparse(note) for note in notes if note is not None)
        lacks += ["a shape"] if tensors and not SHAPE.search(told) else []
    return lacks


def test_the_walk_finds_the_library():
    assert len(PUBLIC) > 300
    assert {"layers/recurrent/gru.GRU", "metrics/bleu.Bleu", "decoding/beam.beam"} <= set(PUBLIC)


def test_every_docstring_names_the_arguments_and_the_shapes():
    wrong = {name: docstring_faults(node) for name, node in PUBLIC.items()}
    wanted = {name: ["a shape"] if name in SHAPELESS else [] for name in PUBLIC}
    assert {name: wrong[name] for name in PUBLIC if wrong[name] != wanted[name]} == {}


def test_the_list_of_exceptions_holds_nothing_that_is_gone():
    assert SHAPELESS.keys() - PUBLIC.keys() == set()


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("def f(a): pass", ["no docstring"]),
        ("def f(a, b):\n    '''Do.\n\n    Args:\n        a: it.\n    '''", ["b"]),
        ("def f(a: Tensor):\n    '''Do.'''", ["a shape"]),
        ("def f(a: Tensor):\n    '''Do with a (B, T).'''", []),
        ("class F:\n    '''Do.\n\n    Args:\n        a: it.\n    '''\n"
         "    def __init__(self, a, b): pass", ["b"]),
    ],
)  # fmt: skip
def test_a_planted_fault_is_found(text, faults):
    assert docstring_faults(ast.parse(text).body[0]) == faults
