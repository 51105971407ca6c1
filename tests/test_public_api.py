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
from torch import nn

from tests.nonsense import subject

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gates2heads"
ROOMS = ("checks", "data", "metrics", "layers", "models", "decoding", "training")
ROOMS += ("display", "exercises")
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
        yield import_module(f"tests.{path.stem}")


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
    if isinstance(thing, type) and issubclass(thing, Exception):
        return []
    kinds = inspect.signature(thing).parameters
    return [name for name, kind in kinds.items() if name not in ("self", "cls", "args", "kwargs")]


def unwalked():
    """Map each public entry to its arguments that meet no nonsense and are not exempt."""
    found = {}
    for name, thing in entries().items():
        home, _, last = name.rpartition(".")
        if {name, home} & REASONS.keys() or last.startswith("check_"):  # as for CHECK below
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
        checks/values.distinct_seed data/tokens/bpe.readable
        data/tokens/merge_dropout.merge_with_dropout
        data/corpora/cldr_facts.answers data/corpora/cldr_facts.write_fact
        data/corpora/docstrings.added_docstring data/corpora/docstrings.named_docstrings
        data/corpora/prose.is_prose data/corpora/prose.prose_lines data/corpora/prose.shown
        data/corpora/prose.without_markup data/corpora/shakespeare.speech_end
        decoding/hypotheses.Pool decoding/lengths.LengthRule decoding/lengths.Power.divisor
        decoding/lengths.Wu.divisor decoding/lengths.check_rule(max_length)
        decoding/search.follow decoding/state.Carrier decoding/state.select(rows)
        decoding/state.select(size) decoding/state.select(keep) decoding/state.check_state(rows)
        decoding/state.tensors decoding/steps.advance decoding/prefix.only
        decoding/two_tables.two_tables decoding/top.top decoding/trace.Tree.begin
        decoding/translation.up_to_end decoding/observation.weights_of
        decoding/trace.Tree.grow decoding/trace.fate_of decoding/trace.path_fates
        layers/blocks.Residual.after layers/blocks.Residual.before layers/recurrent/gru.gru_step
        layers/attention/kernels.attend_in_heads layers/attention/kernels.explicit_is_faster
        layers/attention/kernels.fused layers/attention/key_values.KeyValues.append
        layers/attention/key_values.KeyValues.repeat
        layers/attention/key_values.gather_readers
        layers/attention/local.LocalAttention.attend_near
        layers/attention/single_head.Attention.attend layers/recurrent/lstm.lstm_step
        layers/recurrent/rnn.rnn_step layers/positions.LearnedPositions.encode
        layers/positions.SinusoidalPositions.encode layers/record.Trace.add
        layers/record.is_recorded layers/record.note layers/recurrent/unroll.reset_uniform
        layers/recurrent/clamping.free layers/recurrent/clamping.hold_of
        metrics/ngrams.clipped_matches metrics/ngrams.most_in_any metrics/word_vectors.ranks
        models/translation/convolutional.ConvolutionalDecoder.force
        models/translation/convolutional.ConvolutionalDecoder.start
        models/translation/convolutional.ConvolutionalDecoder.step
        models/translation/decoders.BahdanauDecoder.start
        models/translation/decoders.LuongDecoder.start
        models/translation/decoders.PlainDecoder.start models/translation/writer.Writer
        models/translation/memory.look models/translation/writer.begin
        models/translation/encoders.ConvolutionalEncoder.forward
        models/translation/encoders.RecurrentEncoder.forward
        models/words/block_kernel.RowAdagrad models/words/block_kernel.draw_noise
        models/words/block_kernel.loss_of models/words/block_kernel.pair_weights
        models/words/block_kernel.score_gradients models/language/ngram.modified_discounts
        models/transformer/non_autoregressive.first_slot
        models/transformer/non_autoregressive.next_slot
        models/pretraining/stack.TokenStack.draw_weights layers/recurrent/by_name.blank
        layers/recurrent/by_name.carried_parts layers/recurrent/by_name.run
        models/translation/seq2seq.Decoder.start models/translation/seq2seq.Decoder.step
        models/translation/seq2seq.Encoder.forward
        models/transformer/non_autoregressive.SlotsState.select_rows
        models/transformer/state.TransformerState.select_rows models/words/training.BlockTrainer
        models/words/training.threads_shared_by training/losses.MeanDisagreement
        training/losses.MeanSurprise training/losses.surprise
        display/diagram_layout.Rect.grown display/diagram_layout.Rect.meets
        display/diagram_layout.around display/diagram_layout.centres
        display/diagram_layout.hull display/diagram_layout.label_places
        display/diagram_layout.text_size display/diagram_layout.way
        display/diagram_parts.draw_arrow display/diagram_parts.draw_box
        display/diagram_parts.draw_frame display/diagram_parts.sheet
        display/diagram_parts.write display/diagram_parts.write_title
        display/line_breaks.narrow display/listings.listing display/svg.page_svg
        display/source.prose(numbers) display/theme.styled exercises/attention.pool
        exercises/attention.entropy
        exercises/attention.masked_softmax_by_hand exercises/attention.luong_step
        exercises/attention_further.reinforce exercises/diagnosis.random_tensors
        exercises/self_attention.attend_to_itself exercises/self_attention.cut
        exercises/self_attention.waves exercises/self_attention.reach
        exercises/decoding.beam_step exercises/decoding.tie exercises/decoding.search_errors
        exercises/sequence_probability.add_k exercises/sequence_probability.kneser_ney
        exercises/sequence_probability.perplexity exercises/sequence_probability.at_once
        exercises/decoding.nucleus exercises/faulty_beams.Unordered.select_rows
        exercises/evaluation.perplexity exercises/evaluation.clipped exercises/evaluation.common
        exercises/evaluation.share_of_wins exercises/evaluation.matched
        exercises/reaching.Convolutions.forward exercises/faulty_heads.FaultyHeads
        exercises/recurrent_gates.jacobian exercises/recurrent_gates.lstm
        exercises/recurrent_gates.turned exercises/recurrent_gates.weights_of
        exercises/faulty_memory.FaultyLSTM exercises/faulty_words.FaultyNegativeSampling
        exercises/word_vectors.center_gradient exercises/word_vectors.fourth
        exercises/word_vectors.glove_loss exercises/word_vectors.negative_loss
        exercises/sequence_to_sequence.adding_step exercises/sequence_to_sequence.field
        exercises/sequence_to_sequence.taught_loss exercises/sequence_to_sequence.write
        exercises/faulty_teacher.FaultyPair
        exercises/leaderboard.interval
        exercises/pretraining.best_span exercises/pretraining.hidden exercises/pretraining.mix
        exercises/pretraining.whole_names
        exercises/faulty_step.AlwaysFirst exercises/faulty_step.AlwaysFirst.forward
        exercises/taking_away.LeakingLayer exercises/taking_away.LeakingLayer.forward
        exercises/taking_away.NoFeedForward.forward exercises/taking_away.NoResidual.after
        exercises/taking_away.RealBatchNorm.forward exercises/taking_away.Unplaced.forward
        exercises/taking_away.NoResidual exercises/taking_away.RealBatchNorm
        exercises/transformer.layer_norm exercises/transformer.may_see
        exercises/transformer.encoder_block exercises/transformer.cached_step
        display/glyphs.fonts_of display/live/models.key
        exercises/attention_answers.FaultyAttention.forward exercises/comparison.same(wanted)
        exercises/comparison.same(tolerance) exercises/comparison.difference(wanted)
        exercises/comparison.difference(tolerance) exercises/readers_code.said_by
        exercises/readers_code.where exercises/verdict.chosen_fault
        exercises/verdict.verdict_of exercises/verdict.tried""",
    CHECK: """
        training/files.as_path(name)
        checks/figures.as_figure checks/figures.ends checks/figures.known
        checks/figures.label_words checks/figures.named checks/figures.number
        checks/figures.numbers checks/figures.seen checks/shown.in_line checks/shown.shown
        display/widgets/live_view.single_precision display/widgets/live_view.labels_of
        display/widgets/live_view.packed_shares
        checks/tensors.takes data/tokens/vocabulary.text_numbers
        layers/attention/checks.refuse_if_rotary metrics/ngrams.read_counts
        metrics/sentences.choose_tokenizer metrics/sentences.read_pair
        training/losses.logits_of""",
    OWN: """
        training/studies.read_study training/written.read_written
        data/corpora/docstrings.fingerprint data/corpora/docstrings.folder_of
        data/corpora/docstrings.read_folder data/corpora/docstrings.read_packages
        data/corpora/docstrings.split_of_module data/corpora/download.verified
        data/corpora/multi30k.read_lines display/modules.join_modules
        display/widgets/view.module display/widgets/view.style""",
    RUN: """
        training/checkpoints.TrainingCheckpoint.keep
        training/checkpoints.TrainingCheckpoint.resume training/checkpoints.as_bytes
        training/checkpoints.digest training/checkpoints.from_bytes
        training/files.write_whole training/files.as_file(name) training/written.store_written
        training/fact_pretraining.pretrain training/files.clear_parts(between)
        training/generators.set_generator_states training/recipes/recipe.blank_model
        training/recipes/runs.Every training/plain_json.read_json(what)
        training/early_stopping.EarlyStopping.best(history)
        training/early_stopping.EarlyStopping.judge training/early_stopping.EarlyStopping.over
        training/early_stopping.EarlyStopping.restore
        training/early_stopping.EarlyStopping.score training/early_stopping.as_number
        training/loop.Bar training/loop.History.note training/loop.run_evaluation
        training/loop.skip training/loop.train_step training/parallel.joint
        training/parallel.joint_loss training/checks.checked_schedule
        training/parallel.machine training/parallel.on_main training/parallel.own_noise
        training/parallel.own_share training/parallel.precision_here
        training/parallel.prepare_accelerator training/parallel.scaled training/parallel.share
        training/recipes/recipe.build_model training/recipes/runs.checkpoint_of
        training/recipes/runs.evaluate training/recipes/runs.loss_of
        training/recipes/runs.scores training/recipes/runs.search_of training/recipes/runs.train
        training/recipes/runs.write_all
        training/snapshots.Snapshots.keep training/studies.Study training/studies.origin
        training/studies.results_of
        training/studies.spread training/studies.table_of
        training/recipes/tasks.CaptionsTask.batches
        training/recipes/tasks.CaptionsTask.from_card training/recipes/tasks.CaptionsTask.pairs
        training/recipes/tasks.CaptionsTask.score training/recipes/tasks.CaptionsTask.to_card
        training/recipes/tasks.CaptionsTask.tokenizers training/recipes/tasks.DatesTask.batches
        training/recipes/tasks.DatesTask.from_card training/recipes/tasks.DatesTask.score
        training/recipes/tasks.DatesTask.to_card training/recipes/tasks.DatesTask.tokenizers""",
    BASE: """
        layers/attention/scores.ScaledDotScore layers/positions.Positions
        layers/recurrent/unroll.Cell layers/recurrent/unroll.Unrolled
        layers/recurrent/unroll.UnrolledHidden models/language/ngram.NgramModel""",
}
REASONS = {name: reason for reason, names in EXEMPT.items() for name in names.split()}
# `Attention` checks what all of its scores are handed, those that are yet to be written too.
REASONS |= {
    name: CHECKED for name in entries() if re.match(r"layers/attention/scores\.\w+\.", name)
}
TRUTH = "is read as Python reads truth: anything is True or False"
HANDED_ON = "goes as it is to an entry that is walked"
TOLD = "is shown or carried along as it is"
FREE = {
    "causal": TRUTH,
    "dashed": TRUTH,
    "checks": TRUTH,
    "docstring": TRUTH,
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
    "traits": "go to ipywidgets, as with any widget",
    "device": "is PyTorch's own word, and PyTorch says which there are",
    "force": "is what a decoder says of itself",
}
SHAPELESS = {
    "display/engine/export.export_model": "the weights keep whatever shapes they have",
    "decoding/sampling.sample": "all its tensors are those of `greedy`, to which it points",
    "decoding/state.tensors": "the tensors of a state have the shapes of its model",
    "decoding/trace.check_trace": "it only plants the roots that a search hands over",
    "layers/transformer_layers.rename": "the weights keep whatever shapes they have",
    "training/checkpoints.read_packed": "the weights keep whatever shapes they have",
    "training/checkpoints.read_weights": "the weights keep whatever shapes they have",
    "training/quantisation.dequantise": "the weights keep whatever shapes they have",
    "training/recipes/runs.loss_of": "a loss is a single number",
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
    assert {"layers/recurrent/gru.GRU", "metrics/bleu.Bleu", "decoding/beam.beam"} <= set(PUBLIC)


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
