"""The command line: train a model, evaluate it, translate with it.

python -m gates2heads translate "Ein Hund läuft durch den Schnee."
python -m gates2heads translate --to german "A dog runs through the snow."
python -m gates2heads train dates-additive
python -m gates2heads train dates-dot --set training.steps=1000 --output dot.safetensors
python -m gates2heads evaluate checkpoints/dates-additive.safetensors
python -m gates2heads translate --weights checkpoints/dates-additive.safetensors "5 March 2021"
python -m gates2heads card
python -m gates2heads shrink checkpoints/translator.safetensors small.safetensors
python -m gates2heads show translator > mine.json
python -m gates2heads export checkpoints/translator.safetensors translator.js
torchrun --nproc-per-node 2 -m gates2heads train mine.json
"""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from gates2heads.accepts import natural, string
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.training.cards import save_model
from gates2heads.training.checkpoints import read_packed, read_weights, shipped_weights
from gates2heads.training.files import write_whole
from gates2heads.training.quantisation import dequantise, quantise
from gates2heads.training.recipes.recipe import RECIPES, WIDEST, read_recipe
from gates2heads.training.recipes.runs import check_output, decoding_of, evaluate, load, train
from gates2heads.training.recipes.tasks import TASKS
from gates2heads.training.recipes.typed import translate_typed

TRANSLATORS = {"english": "translator", "german": "translator_to_german"}  # by target language
MISTAKE, INTERRUPTED = 2, 130  # exit statuses, as in shells
MOST = 280  # characters of an error message; a typed name may be longer


def main(given: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    arguments = _parser().parse_args(given)
    try:
        _check_readable(sys.argv[1:] if given is None else given)
        if sys.stdout is None:
            raise ValueError("standard output is closed, so there is nowhere to write to")
        arguments.run(arguments)
        sys.stdout.flush()
    except (OSError, TypeError, ValueError, FloatingPointError) as error:
        return _refuse(str(error))
    except (MemoryError, RuntimeError) as error:
        if not _lacks_memory(error):
            raise
        return _refuse("out of memory; use a smaller batch or model")
    except KeyboardInterrupt:
        print("gates2heads: interrupted; the same command resumes from here", file=sys.stderr)
        return INTERRUPTED
    return 0


def _refuse(sentence: str) -> int:
    """Print a one-line error message; the middle of a long one is left out."""
    line = " ".join(sentence.split())
    if len(line) > MOST:
        line = f"{line[: MOST // 2]} … {line[3 - MOST // 2 :]}"
    print(f"gates2heads: {line}", file=sys.stderr)
    return MISTAKE


def _check_readable(words: Sequence[str]) -> None:
    """Reject bytes that are not text: no tokenizer knows them, and no card could store them."""
    for word in words:
        string.check("each word", word)


def _check_apart(output: Path, read: str | Path) -> None:
    """Reject an output that is the input file, even with `--overwrite`."""
    if output.exists() and os.path.exists(read) and output.samefile(read):
        raise ValueError(f"output must differ from the input file, got {output}")


def _lacks_memory(error: Exception) -> bool:
    """Whether this is an out-of-memory error of Python or PyTorch."""
    is_full = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return is_full or "allocate memory" in str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gates2heads", description="Train, evaluate and use sequence models."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_what_reads_recipes(commands)
    _add_what_uses_models(commands)
    _add_what_rewrites_models(commands)
    return parser


def _add_what_reads_recipes(commands) -> None:
    shown = commands.add_parser("show", help="print a recipe in JSON, with all settings")
    trained = commands.add_parser("train", help="train a model, or resume an interrupted run")
    for command, run in ((shown, _show), (trained, _train)):
        command.set_defaults(run=run)
        command.add_argument(
            "recipe", help=f"a JSON file, or one of {', '.join(RECIPES)}", metavar="RECIPE"
        )
        command.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="replace a setting, such as training.steps=100; may be given several times",
        )
    trained.add_argument(
        "--output",
        type=Path,
        help="the file to write; default: checkpoints/RECIPE.safetensors",
    )
    trained.add_argument("--quiet", action="store_true", help="no progress bar")
    _add_overwrite(trained)


def _add_what_uses_models(commands) -> None:
    evaluated = commands.add_parser("evaluate", help="score a trained model")
    evaluated.set_defaults(run=_evaluate)
    evaluated.add_argument("weights", type=Path, help="a file from `train`")
    evaluated.add_argument("--split", choices=SPLITS, default="test")
    translated = commands.add_parser("translate", help="run a trained model")
    translated.set_defaults(run=_translate)
    translated.add_argument("texts", nargs="+", metavar="TEXT", help="one line is printed for each")
    translated.add_argument(
        "--weights",
        type=Path,
        help="a file from `train`; default: a translation model of the book",
    )
    for command in (evaluated, translated):
        command.add_argument(
            "--width", type=int, help="beam width, 1 is greedy search; default: that of the recipe"
        )
    card = commands.add_parser("card", help="print a model's card: data, scores, limits")
    card.set_defaults(run=_card)
    card.add_argument(
        "weights",
        type=Path,
        nargs="?",
        help="a file from `train`, or a model of the book; default: a translation model",
    )
    for command in (translated, card):
        command.add_argument(
            "--to",
            choices=list(TRANSLATORS),
            help="the target language of the book's translation model; default: English",
        )


def _add_what_rewrites_models(commands) -> None:
    shrunk = commands.add_parser(
        "shrink", help="store a model with one byte per parameter, and score it"
    )
    shrunk.set_defaults(run=_shrink)
    shrunk.add_argument("weights", type=Path, help="a file from `train`")
    shrunk.add_argument("output", type=Path, help="the file to write")
    exported = commands.add_parser("export", help="export a model for a page, as one script")
    exported.set_defaults(run=_export)
    exported.add_argument("weights", type=Path, help="a file from `train`")
    exported.add_argument("output", type=Path, help="the file to write, such as translator.js")
    exported.add_argument("--name", help="its name in the page; default: that of the file")
    exported.add_argument("--small", action="store_true", help="with one byte per parameter")
    for command in (shrunk, exported):
        _add_overwrite(command)


def _add_overwrite(command: argparse.ArgumentParser) -> None:
    command.add_argument("--overwrite", action="store_true", help="replace an existing file")


def _show(arguments) -> None:
    recipe = read_recipe(arguments.recipe, arguments.set)
    print(json.dumps(recipe, indent=2, ensure_ascii=False))


def _train(arguments) -> None:
    recipe = read_recipe(arguments.recipe, arguments.set)
    output = arguments.output or Path("checkpoints", f"{Path(arguments.recipe).stem}.safetensors")
    _check_apart(output, arguments.recipe)
    words = ["train", arguments.recipe, *(word for one in arguments.set for word in ("--set", one))]
    command = f"python -m gates2heads {shlex.join(words)}"
    card = train(
        recipe,
        output,
        command=command,
        overwrite=arguments.overwrite,
        progress=not arguments.quiet,
    )
    if os.environ.get("RANK", "0") == "0":  # under torchrun only the main process prints
        print(f"{output}: {card['steps']} steps, {card['seconds']} seconds")
        _print_scores("test", card["scores"]["test"])


def _search(arguments) -> dict:
    if arguments.width is None:
        return {}
    natural(most=WIDEST).check("--width", arguments.width)
    return {"width": arguments.width}


def _evaluate(arguments) -> None:
    trained = load(arguments.weights)
    _print_scores(arguments.split, evaluate(trained, arguments.split, **_search(arguments)))


def _translate(arguments) -> None:
    torch.set_num_threads(1)  # one sentence is too little work for several threads
    trained = load(_weights(arguments))
    print("\n".join(translate_typed(trained, arguments.texts, **_search(arguments))))


def _weights(arguments) -> Path:
    """The requested file of parameters, by its path or by its target language."""
    if arguments.weights and arguments.to:
        raise ValueError("--to selects a translation model of the book, so it excludes a file")
    given = arguments.weights
    if given is not None and not given.suffix and len(given.parts) == 1:
        return shipped_weights(str(given))
    return given or shipped_weights(TRANSLATORS[arguments.to or "english"])


def _card(arguments) -> None:
    _, card = read_weights(_weights(arguments))
    print(json.dumps({**card, **_words(card)}, indent=2, ensure_ascii=False))


def _words(card: Mapping) -> dict[str, str]:
    """Terms and limits in the wording of this version; a file may have an older wording.

    A distilled model was also trained on other data than its task, so its card has its own wording.
    """
    if "distillation" in card:
        return {}
    recipe = card.get("recipe")
    name = recipe.get("task") if isinstance(recipe, Mapping) else None
    task = TASKS.get(name) if isinstance(name, str) else None
    return {"terms": task.terms, "limits": task.limits} if task else {}


def _shrink(arguments) -> None:
    check_output(arguments.output, overwrite=arguments.overwrite)
    trained = load(arguments.weights)
    trained.model.load_state_dict(dequantise(quantise(trained.model.state_dict())))
    scores = {split: evaluate(trained, split) for split in ("validation", "test")}
    card = {**trained.card, **_words(trained.card), "scores_small": scores}
    save_model(
        arguments.output,
        trained.model,
        source=trained.source,
        target=trained.target,
        decoding=decoding_of(card["recipe"], trained.task),
        card=card,
        small=True,
    )
    print(f"{arguments.output}: {arguments.output.stat().st_size:,} bytes")
    _print_scores("test", scores["test"])


def _export(arguments) -> None:
    # Imported here, so that a translation does not load modules for pages.
    from gates2heads.browser.engine.export import export_model  # noqa: PLC0415
    from gates2heads.browser.engine.rebuild import rebuild  # noqa: PLC0415

    _check_apart(arguments.output, arguments.weights)
    check_output(arguments.output, overwrite=arguments.overwrite)
    rebuilt = rebuild(arguments.weights)
    packed, _ = read_packed(arguments.weights)
    exported = export_model(
        rebuilt.model,
        name=arguments.name or arguments.weights.stem,
        source=rebuilt.source,
        target=rebuilt.target,
        decoding=rebuilt.decoding,
        card=rebuilt.card,
        tensors=packed,
        small=arguments.small,
    )
    write_whole(arguments.output, lambda file: file.write(exported.script().encode()))
    size = arguments.output.stat().st_size
    print(f"{arguments.output}: {size:,} bytes, sha256 {exported.sha256}")


def _print_scores(split: str, scores: dict[str, float]) -> None:
    for name, value in scores.items():
        print(f"{split} {name} {value:.4f}")


if __name__ == "__main__":
    if sys.stdout is not None:
        # Characters that a terminal cannot show are escaped, in JSON as "\ud83d".
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
