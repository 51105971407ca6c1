"""Every public class and function of the library says what it takes and gives, and meets nonsense.

The names are read from src/, so that a new one cannot be forgotten: it has a docstring, tensors
have their shapes in it, and some test expects it to refuse a wrong argument. What is exempt from
the last is on a list, with its reason.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gates2heads"
ROOMS = ("data", "metrics", "layers", "models", "decoding", "training")
SHAPE = re.compile(r"\([A-Z…·][\w…·]*(, ?[^()]*)?,?\)|scalar|nats|shape")


def definitions():
    """Map room/module.name to the node of each public class and function."""
    found = {}
    for path in sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")):
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


def is_record(node):
    """Whether a class only holds what a function gives: no constructor, no check of its own."""
    if not isinstance(node, ast.ClassDef):
        return False
    marks = " ".join(map(ast.unparse, [*node.bases, *node.decorator_list]))
    own = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    return ("NamedTuple" in marks or "dataclass" in marks) and not own & {
        "__init__",
        "__post_init__",
    }


def named(node):
    """All names and attributes that stand in a node."""
    inside = ast.walk(node)
    kinds = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg"}
    return {getattr(part, kinds[type(part)]) for part in inside if type(part) in kinds}


@cache
def refused():
    """All names within reach of a test that expects a refusal: of its cases, of its fixtures."""
    found = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        defined = {}
        for node in body:
            for target in getattr(node, "targets", []):
                defined |= {name: node for name in named(target)}
            if isinstance(node, ast.FunctionDef):
                defined[node.name] = node
        tests = [named(node) for node in body if isinstance(node, ast.FunctionDef)]
        reach, fresh = set(), set().union(*(t for t in tests if t & {"raises", "complaint"}))
        while fresh:
            reach |= fresh
            fresh = set().union(*(named(defined[n]) for n in fresh if n in defined)) - reach
        found |= reach
    return found


CHECKED = "is handed only what a public entry has checked before"
CHECK = "is itself the check: the entries that call it show its sentences"
OWN = "reads the library's own files or the packages installed here, not what a caller wrote"
PROCESSES = "joins the processes of one training, inside `fit`"
EXEMPT = {
    CHECKED: """
        data/cldr_facts.write_fact data/docstrings.added_docstring data/docstrings.named_docstrings
        data/prose.is_prose data/prose.prose_lines data/prose.shown data/prose.without_markup
        data/shakespeare.speech_end decoding/hypotheses.Pool decoding/search.follow
        decoding/state.Carrier decoding/steps.advance decoding/trace.fate_of
        decoding/top.top decoding/trace.path_fates layers/gru.gru_step layers/lstm.lstm_step
        layers/rnn.rnn_step
        layers/record.is_recorded layers/record.note layers/unroll.reset_uniform
        metrics/ngrams.clipped_matches metrics/ngrams.most_in_any metrics/word_vectors.ranks
        models/decoders.look models/negative_sampling.RowAdagrad
        models/negative_sampling.draw_noise models/negative_sampling.loss_of
        models/negative_sampling.pair_weights models/negative_sampling.score_gradients
        models/ngram.modified_discounts models/non_autoregressive.next_slot models/recurrent.blank
        models/recurrent.carried_parts models/word2vec_training.BlockTrainer
        models/word2vec_training.threads_shared_by training/checkpoints.as_bytes
        training/checkpoints.from_bytes training/early_stopping.as_number training/loop.Bar
        training/loop.skip training/loop.train_step
        training/recipes.build_model training/runs.checkpoint_of""",
    CHECK: """
        data/bpe.check_text data/spans.check_spans data/windows.check_counts
        decoding/state.check_state decoding/trace.check_trace layers/checks.check_dtypes
        layers/checks.check_mask layers/checks.check_tokens layers/checks.check_width
        metrics/ngrams.read_counts metrics/segments.check_same_length
        metrics/segments.check_segment metrics/segments.choose_tokenizer
        metrics/segments.read_pair metrics/smoothing.check_smoothing
        models/checks.check_last_tokens models/checks.check_length models/checks.check_state
        models/word2vec_training.check_training""",
    OWN: """
        data/docstrings.fingerprint data/docstrings.folder_of data/docstrings.read_folder
        data/docstrings.read_packages data/docstrings.split_of_module data/download.verified
        data/multi30k.read_lines""",
    PROCESSES: """
        training/parallel.joint training/parallel.on_main training/parallel.own_noise
        training/parallel.own_share training/parallel.prepare_accelerator
        training/parallel.scaled""",
    "is the base that AddK and KneserNey, which are walked, build on": "models/ngram.NgramModel",
    "is reached through SCORES, each of which is walked": "layers/attention.ScaledDotScore",
    "is a protocol: it says what a cell looks like": "layers/unroll.Cell",
}
REASONS = {name: reason for reason, names in EXEMPT.items() for name in names.split()}
SHAPELESS = {
    "decoding/sampling.sample": "all its tensors are those of `greedy`, to which it points",
    "decoding/state.tensors": "the tensors of a state have the shapes of its model",
    "decoding/trace.check_trace": "it only plants the roots that a search hands over",
    "layers/transformer_layers.rename": "the weights keep whatever shapes they have",
    "training/checkpoints.read_weights": "the weights keep whatever shapes they have",
    "training/loop.skip": "the state of a random generator has no axes",
    "metrics/perplexity.perplexity_base2": "its two brothers' one line: see `perplexity`",
    "metrics/perplexity.perplexity_geometric": "its two brothers' one line: see `perplexity`",
    "training/parallel.joint": "a loss is a single number",
    "training/parallel.scaled": "a loss is a single number",
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
    assert {"layers/gru.GRU", "metrics/bleu.Bleu", "decoding/beam.beam"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_docstring_names_the_arguments_and_the_shapes(name):
    faults = docstring_faults(PUBLIC[name])
    assert faults == (["a shape"] if name in SHAPELESS else [])


@pytest.mark.parametrize("name", PUBLIC)
def test_nonsense_is_expected_to_be_refused(name):
    node = PUBLIC[name]
    if not arguments(node) or is_record(node):
        return  # takes nothing of its own, or only holds what a function gives
    assert node.name in refused() or name in REASONS, f"no test hands wrong arguments to {name}"


def test_the_lists_of_exceptions_hold_nothing_that_is_gone():
    modules = {name.rpartition(".")[0] for name in PUBLIC}
    listed = [*REASONS, *SHAPELESS]
    assert [n for n in listed if n.rpartition(".")[0] in modules and n not in PUBLIC] == []


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
