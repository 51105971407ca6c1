"""Every public class and function of the library says what it takes and gives, and meets nonsense.

The names are read from src/, so that a new one cannot be forgotten: it has a docstring, tensors
have their shapes in it, and some test expects it to refuse a wrong argument. What is exempt from
the last is on a list, with its reason.
"""

import ast
import inspect
import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest
from nonsense import subject
from torch import nn

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


class Planted:
    """A class as it might be added, with a method that nobody walks."""

    def __init__(self, right, *, wrong):
        self._given = right, wrong

    def ask(self, what):
        return self._given, what


def entry_modules():
    """The files that walk public entries with nonsense; see `nonsense.py`."""
    for path in sorted((ROOT / "tests").glob("test_api_bad_input*.py")):
        yield import_module(path.stem)


@cache
def walked():
    """Map each class, function and method that is walked to the arguments that are."""
    found = defaultdict(set)
    for module in entry_modules():
        for call, good, _ in module.ENTRIES.values():
            found[subject(call)] |= set(good)
    return found


def is_record(kind):
    """Whether a class only holds what a function gives: no constructor, no check of its own."""
    fields = hasattr(kind, "_fields") or hasattr(kind, "__dataclass_fields__")
    return fields and "__post_init__" not in dir(kind)


def public(space, home):
    """The public classes and functions that a module or class defines itself, by name."""
    for name, thing in vars(space).items():
        function = inspect.unwrap(getattr(thing, "__func__", thing))
        ours = getattr(function, "__module__", None) == home
        if ours and not name.startswith("_") and isinstance(function, FunctionType | type):
            yield name, function


@cache
def entries():
    """Map room/module.name, and room/module.Class.method, to what is there, by looking inside."""
    found = {}
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            place = path.relative_to(PACKAGE).with_suffix("")
            home = ".".join(("gates2heads", *place.parts))
            for name, thing in public(import_module(home.removesuffix(".__init__")), home):
                found[f"{place.as_posix()}.{name}"] = thing
                if isinstance(thing, type):
                    for method, function in public(thing, home):
                        found[f"{place.as_posix()}.{name}.{method}"] = function
    return found


def parameters(thing):
    """The names of the arguments that a caller gives."""
    if isinstance(thing, type) and is_record(thing):
        return []
    if isinstance(thing, type) and thing.__init__ in (object.__init__, nn.Module.__init__):
        return []
    kinds = inspect.signature(thing).parameters
    return [name for name, kind in kinds.items() if name not in ("self", "cls", "args", "kwargs")]


def unwalked():
    """Map each public entry to its arguments that meet no nonsense and are not exempt."""
    found = {}
    for name, thing in entries().items():
        if {name, name.rpartition(".")[0]} & REASONS.keys():
            continue
        missing = [
            argument
            for argument in parameters(thing)
            if argument not in walked().get(thing, ())
            and argument not in FREE
            and f"{name}({argument})" not in REASONS
        ]
        if missing:
            found[name] = missing
    return found


CHECKED = "is handed only what a public entry has checked before"
CHECK = "is itself the check: the entries that call it show its sentences"
OWN = "reads the library's own files or the packages installed here, not what a caller wrote"
RUN = "belongs to `fit` and to the command line, which hand over what they have made or checked"
BASE = "is what walked classes build on"
EXEMPT = {
    CHECKED: """
        data/bpe.readable data/merge_dropout.merge_with_dropout
        data/cldr_facts.answers data/cldr_facts.write_fact data/docstrings.added_docstring
        data/docstrings.named_docstrings data/prose.is_prose
        data/prose.prose_lines data/prose.shown data/prose.without_markup
        data/shakespeare.speech_end decoding/hypotheses.Pool decoding/lengths.LengthRule
        decoding/lengths.Power.divisor decoding/lengths.Wu.divisor
        decoding/lengths.check_rule(max_length) decoding/search.follow decoding/state.Carrier
        decoding/state.select(rows) decoding/state.select(size) decoding/state.select(keep)
        decoding/state.check_state(rows) decoding/state.tensors decoding/steps.advance
        decoding/top.top decoding/trace.Tree.begin decoding/trace.Tree.grow decoding/trace.fate_of
        decoding/trace.path_fates layers/attention.AdditiveScore.forward
        layers/attention.AdditiveScore.project_keys layers/attention.DotScore.forward
        layers/attention.DotScore.project_keys layers/attention.GaussianScore.forward
        layers/attention.GaussianScore.project_keys layers/attention.GeneralScore.forward
        layers/attention.GeneralScore.project_keys layers/blocks.Residual.after
        layers/blocks.Residual.before layers/gru.gru_step
        layers/key_values.KeyValues.append layers/key_values.KeyValues.repeat
        layers/lstm.lstm_step layers/rnn.rnn_step
        layers/positions.LearnedPositions.encode layers/positions.SinusoidalPositions.encode
        layers/record.Trace.add layers/record.is_recorded layers/record.note
        layers/unroll.reset_uniform metrics/ngrams.clipped_matches metrics/ngrams.most_in_any
        metrics/word_vectors.ranks models/convolutional.ConvolutionalDecoder.force
        models/convolutional.ConvolutionalDecoder.start
        models/convolutional.ConvolutionalDecoder.step models/decoders.BahdanauDecoder.start
        models/decoders.LuongDecoder.start models/decoders.PlainDecoder.start models/writer.Writer
        models/decoders.look models/writer.begin models/encoders.ConvolutionalEncoder.forward
        models/encoders.RecurrentEncoder.forward models/negative_sampling.RowAdagrad
        models/negative_sampling.draw_noise models/negative_sampling.loss_of
        models/negative_sampling.pair_weights models/negative_sampling.score_gradients
        models/ngram.modified_discounts models/non_autoregressive.next_slot
        models/pretraining/stack.TokenStack.draw_weights models/recurrent.blank
        models/recurrent.carried_parts models/recurrent.run models/seq2seq.Decoder.start
        models/seq2seq.Decoder.step models/seq2seq.Encoder.forward
        models/transformer_state.TransformerState.select_rows
        models/word2vec_training.BlockTrainer models/word2vec_training.threads_shared_by
        training/losses.MeanDisagreement training/losses.MeanSurprise training/losses.surprise
        training/quantisation.dequantise""",
    CHECK: """
        data/bpe.check_text data/checks.check_choice data/checks.check_count data/checks.check_flag
        data/checks.check_generator data/checks.check_list data/checks.check_number
        data/checks.check_positive data/checks.check_seed data/checks.check_share
        data/checks.check_texts data/spans.check_spans data/vocabulary.text_numbers
        data/windows.check_counts data/windows.check_text decoding/trace.check_trace
        layers/checks.check_dtypes layers/checks.check_mask layers/checks.check_module
        layers/checks.check_tokens layers/checks.check_width layers/checks.takes
        metrics/ngrams.read_counts metrics/segments.check_same_length metrics/segments.check_segment
        metrics/segments.choose_tokenizer metrics/segments.read_pair
        metrics/smoothing.check_smoothing models/checks.check_attention
        models/checks.check_last_tokens models/checks.check_length models/checks.check_row
        models/checks.check_state models/word2vec_training.check_training
        models/writer.check_sizes
        training/checkpoints.check_shapes training/losses.check_logits
        training/losses.logits_of""",
    OWN: """
        data/docstrings.fingerprint data/docstrings.folder_of data/docstrings.read_folder
        data/docstrings.read_packages data/docstrings.split_of_module data/download.verified
        data/multi30k.read_lines""",
    RUN: """
        training/checkpoints.TrainingCheckpoint.keep training/checkpoints.TrainingCheckpoint.resume
        training/checkpoints.as_bytes training/checkpoints.digest training/checkpoints.from_bytes
        training/checkpoints.write_whole training/early_stopping.EarlyStopping.best(history)
        training/early_stopping.EarlyStopping.judge training/early_stopping.EarlyStopping.over
        training/early_stopping.EarlyStopping.restore training/early_stopping.EarlyStopping.score
        training/early_stopping.as_number
        training/loop.Bar training/loop.History.note training/loop.run_evaluation training/loop.skip
        training/loop.train_step training/parallel.joint training/parallel.machine
        training/parallel.on_main training/parallel.own_noise training/parallel.own_share
        training/parallel.precision_here training/parallel.prepare_accelerator
        training/parallel.scaled training/parallel.share training/recipes.build_model
        training/runs.checkpoint_of training/runs.evaluate training/runs.loss_of
        training/runs.scores training/runs.search_of training/runs.train
        training/snapshots.Snapshots.keep training/tasks.CaptionsTask.batches
        training/tasks.CaptionsTask.from_card training/tasks.CaptionsTask.pairs
        training/tasks.CaptionsTask.score training/tasks.CaptionsTask.to_card
        training/tasks.CaptionsTask.tokenizers training/tasks.DatesTask.batches
        training/tasks.DatesTask.from_card training/tasks.DatesTask.score
        training/tasks.DatesTask.to_card training/tasks.DatesTask.tokenizers""",
    BASE: """
        layers/attention.ScaledDotScore layers/positions.Positions layers/unroll.Cell
        layers/unroll.Unrolled layers/unroll.UnrolledHidden models/ngram.NgramModel""",
}
REASONS = {name: reason for reason, names in EXEMPT.items() for name in names.split()}
TRUTH = "is read as Python reads truth: anything is True or False"
HANDED_ON = "goes as it is to an entry that is walked"
TOLD = "is shown or carried along as it is"
FREE = {
    "causal": TRUTH,
    "eos": TRUTH,
    "lower": TRUTH,
    "progress": TRUTH,
    "projected": TRUTH,
    "choices": HANDED_ON,
    "limits": HANDED_ON,
    "options": HANDED_ON,
    "search": HANDED_ON,
    "settings": HANDED_ON,
    "sizes": HANDED_ON,
    "description": TOLD,
    "signature": TOLD,
    "device": "is PyTorch's own word, and PyTorch says which there are",
    "force": "is what a decoder says of itself",
}
SHAPELESS = {
    "decoding/sampling.sample": "all its tensors are those of `greedy`, to which it points",
    "decoding/state.tensors": "the tensors of a state have the shapes of its model",
    "decoding/trace.check_trace": "it only plants the roots that a search hands over",
    "layers/transformer_layers.rename": "the weights keep whatever shapes they have",
    "training/checkpoints.read_weights": "the weights keep whatever shapes they have",
    "training/quantisation.dequantise": "the weights keep whatever shapes they have",
    "training/runs.loss_of": "a loss is a single number",
    "training/loop.skip": "the state of a random generator has no axes",
    "metrics/perplexity.perplexity_base2": "its two brothers' one line: see `perplexity`",
    "metrics/perplexity.perplexity_geometric": "its two brothers' one line: see `perplexity`",
    "training/losses.r_drop_loss": "a loss is a single number",
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


def test_every_argument_of_every_public_entry_meets_nonsense():
    assert unwalked() == {}


def test_what_is_missing_would_be_found():
    assert parameters(Planted) == ["right", "wrong"]
    assert parameters(Planted.ask) == ["what"]
    assert dict(public(Planted, __name__)) == {"ask": Planted.ask}
    assert subject(Planted(1, wrong=2).ask) is Planted.ask


def test_the_lists_of_exceptions_hold_nothing_that_is_gone_or_walked():
    listed = {name.partition("(")[0] for name in REASONS}
    assert listed - entries().keys() == set()
    assert SHAPELESS.keys() - PUBLIC.keys() == set()
    exempt = [name for name in REASONS if "(" in name]
    for name in exempt:
        thing, argument = name.rstrip(")").split("(")
        assert argument in parameters(entries()[thing]), name
        assert argument not in walked().get(entries()[thing], ()), name
    given = {argument for thing in entries().values() for argument in parameters(thing)}
    assert FREE.keys() - given == set()


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
