"""Train a better translator of captions from German to English by sequence-level distillation.

    export GATES2HEADS_DATA=…
    python -m shipping.distilled_translator prepare
    python -m shipping.distilled_translator train
    python -m shipping.distilled_translator release

`prepare` writes all sentences as token numbers into one file. `train` needs that file and PyTorch,
and is made for one GPU; it also runs on a CPU, in many hours. It has four stages, each of which
writes its result into the folder and is skipped if the result is there already:

1. `back`: the stored translator to German translates the English descriptions into German, once
   greedily and three times by sampling (back-translation, Sennrich et al. 2016).
2. `teachers`: several translators, larger than the released one, are trained on the captions and
   the back-translated descriptions.
3. `translate`: the ensemble of the teachers translates the German descriptions (Kim & Rush 2016).
4. `student`: translators of the released size are trained on all three kinds of pairs, and also
   learn the distributions of the teachers; one starts from the parameters of the translator that
   was trained on captions alone. The best on the validation captions is kept.

`release` chooses the length normalisation on the validation captions, evaluates the student and
writes it with its card to `src/gates2heads/models/weights/translator_distilled.safetensors`. The
test captions are used there for the first time.

The folder contains other people's text as token numbers, so it is `checkpoints/distilled` or
outside the repository.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from gates2heads.training.cards import rebuild
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.parallel import processor
from shipping.distilled_data import (
    TO_GERMAN,
    Prepared,
    Some,
    batches,
    prepare,
    read,
    resplit,
    tokenizer,
)
from shipping.distilled_training import Log, bleu, search, train
from shipping.team import FORM, Team

ROOT = Path(__file__).resolve().parents[1]
NAME = "translator_distilled"
SMALL = {
    "d_model": 256,
    "nhead": 4,
    "num_encoder_layers": 3,
    "num_decoder_layers": 3,
    "dim_feedforward": 512,
}
TEACHERS = {
    "sizes": {
        "d_model": 384,
        "nhead": 6,
        "num_encoder_layers": 4,
        "num_decoder_layers": 4,
        "dim_feedforward": 1024,
        "dropout": 0.2,
    },
    "seeds": [1, 2, 3],
    "budget": 8_192,  # tokens of one side and one member in a batch
    "real": 2,  # how often the captions come in an epoch, in which the other pairs come once
    "soft": [0.0] * 3,
    "steps": 9_000,
    "seconds": None,
    "learning_rate": 1e-3,
    "warmup": 400,
    "smoothing": 0.1,
    "clip": 1.0,
    "average": 0.995,
}
STUDENTS = {
    **TEACHERS,
    "sizes": {**SMALL, "dropout": 0.1},
    "seeds": [11, 12],
    "begin": [None, "translator"],  # released parameters that a candidate starts from, or None
    "soft": [0.5, 0.5],
    "steps": 14_000,
    "learning_rate": 1.5e-3,
}
BACK = {"samples": 3, "top_k": 5}
TRANSLATE = {"width": 4, "power": 1.2, "seconds": None}
SETTINGS = {"back": BACK, "teachers": TEACHERS, "translate": TRANSLATE, "students": STUDENTS}
TRIAL = {  # a few minutes on a CPU, seconds on a GPU: whether everything runs, not how well
    "back": {"samples": 1},
    "teachers": {
        "sizes": {**SMALL, "d_model": 64, "nhead": 2, "dropout": 0.1},
        "seeds": [1, 2],
        "soft": [0.0] * 2,
        "budget": 1_024,
        "steps": 60,
        "warmup": 20,
    },
    "translate": {"width": 2},
    "students": {
        "sizes": {**SMALL, "d_model": 64, "nhead": 2, "dropout": 0.1},
        "begin": [None, None],
        "budget": 1_024,
        "steps": 60,
        "warmup": 20,
    },
}
TRIAL_SIZE = 400  # sentences of each kind
LAST = 10.0  # seconds for what follows the last training: its evaluation and its files
POWERS = (0.8, 1.0, 1.2)  # of the length normalisation, of which `release` takes the best
PART = 3_000_000  # parameters in one file of the student, so that none is larger than 12 MB
TERMS = (
    "Captions of Flickr30k photographs (Young et al. 2014), translated for Multi30k, and German "
    "and English descriptions of the training photographs (Elliott et al. 2016; Young et al. "
    "2014); for research and education. The file contains no sentence of them as text."
)
LIMITS = (
    "Trained on captions and descriptions of photographs of everyday scenes and nothing else: "
    "given names, questions or news, it invents a scene or produces nonsense. It translates "
    "number words up to nine and gets most larger ones wrong. It loses most negations, often "
    "exchanges subject and object where the object comes first, and usually merges several "
    "sentences into one and loses part of their content. Captions reflect the assumptions and "
    "biases of their authors, for instance about who is called a man or a woman."
)


def main(given: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    asked = _parser().parse_args(given)
    folder = _folder(asked.folder)
    if asked.what == "prepare":
        print(prepare(folder / "prepared.npz", asked.most))
    elif asked.what == "train":
        settings = _settings(asked)
        run(asked.data or folder / "prepared.npz", folder, asked.out or folder, settings, asked)
    else:
        release(asked.out or folder, asked.to, asked.checkpoint)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m shipping.distilled_translator")
    parser.add_argument("what", choices=("prepare", "train", "release"))
    parser.add_argument("--folder", type=Path, default=ROOT / "checkpoints/distilled")
    parser.add_argument("--data", type=Path, help="what `prepare` wrote, if not in the folder")
    parser.add_argument("--out", type=Path, help="where student and log are; else the folder")
    parser.add_argument("--most", type=int, help="sentences of each kind at most")
    parser.add_argument("--trial", action="store_true", help="train: tiny sizes")
    for stage in ("teachers", "translate", "students"):
        parser.add_argument(f"--{stage}-seconds", type=float, help=f"time limit of {stage}")
    parser.add_argument("--until", type=float, help="train: seconds for all stages together")
    parser.add_argument("--set", action="append", default=[], metavar="STAGE.NAME=JSON")
    weights = ROOT / f"src/gates2heads/models/weights/{NAME}.safetensors"
    parser.add_argument("--to", type=Path, default=weights, help="release: the file to write")
    checkpoint = ROOT / f"checkpoints/{NAME}.safetensors"
    parser.add_argument("--checkpoint", type=Path, default=checkpoint, help="release: in float32")
    return parser


def _folder(folder: Path) -> Path:
    inside = folder.resolve()
    if inside.is_relative_to(ROOT) and not inside.is_relative_to(ROOT / "checkpoints"):
        raise SystemExit("--folder must be in checkpoints or outside the project")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _settings(asked) -> dict:
    """The settings of all stages: the defaults, updated by the command's arguments."""
    settings = {stage: dict(defaults) for stage, defaults in SETTINGS.items()}
    for stage, other in (TRIAL if asked.trial else {}).items():
        settings[stage] |= other
    for stage in ("teachers", "translate", "students"):
        seconds = getattr(asked, f"{stage}_seconds")
        if seconds is not None:
            settings[stage]["seconds"] = seconds
    for change in asked.set:
        name, _, value = change.partition("=")
        stage, _, name = name.partition(".")
        if name not in settings.get(stage, {}):
            raise SystemExit(f"--set knows no {change}")
        settings[stage][name] = json.loads(value)
    return settings


def run(data: Path, folder: Path, out: Path, settings: Mapping, asked) -> None:
    """All stages whose result is not there yet.

    Args:
        data: what `prepare` wrote.
        folder: keeps the results of the stages.
        out: receives the student and the log.
        settings: of the stages, as in `SETTINGS`.
        asked: the command's arguments.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")  # TF32 in the output layer
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans again for each shape
        torch.cuda.init()
    out.mkdir(parents=True, exist_ok=True)
    log = Log(out / "log.json")
    prepared = read(data)
    most = asked.most or (TRIAL_SIZE if asked.trial else None)
    if most:
        parts = (part[:most] if place < 6 else part for place, part in enumerate(prepared))
        prepared = Prepared(*parts)
    prepared, both = prepared.to(device), tokenizer()
    name = torch.cuda.get_device_name() if device.type == "cuda" else processor()
    log.note("begin", device=name, torch=torch.__version__, settings=settings)
    back = _kept(folder / "back.npz", lambda: back_translate(prepared, settings["back"], log))
    back = back.to(device)
    teachers = _teachers(folder, prepared, back, settings["teachers"], log, both)
    made = _kept(
        folder / "translated.npz",
        lambda: translate_alone(teachers, prepared, settings["translate"], log, both),
    )
    how = within(settings["students"], asked.until, log.seconds())
    _student(out, prepared, back, made.to(device), teachers, how, log, both)
    log.note("end")


def within(how: Mapping, until: float | None, gone: float) -> dict:
    """Settings of the last training whose time limit fits into what is left of all time.

    Args:
        how: with seconds, which may be None.
        until: seconds for all stages together, or None.
        gone: seconds that have passed.
    """
    if until is None:
        return dict(how)
    left = (until - gone - LAST) / 1.1  # a run may exceed its limit by a tenth
    return {**how, "seconds": max(min(how["seconds"] or left, left), 1.0)}


def _kept(path: Path, make) -> Tensor:
    """A matrix of token numbers, from its file if it is there already."""
    if not path.is_file():
        np.savez(path, rows=make().cpu().numpy().astype(np.uint16))
    with np.load(path) as file:
        return torch.from_numpy(file["rows"].astype(np.int64))


def precision_on(device: torch.device) -> torch.dtype:
    """In which precision a device computes the layers."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def back_translate(prepared: Prepared, how: Mapping, log: Log) -> Tensor:
    """German translations of the English descriptions, (N, 1 + samples, WIDTH).

    The first is greedy; a sample that did not end is replaced by it.
    """
    device = prepared.english.device
    released = rebuild(shipped_weights(TO_GERMAN)).model.state_dict()
    team = Team(
        len(prepared.splits), [released], precision=precision_on(device), **SMALL, dropout=0.0
    )
    team = team.to(device).fixed()
    draw = torch.Generator(device).manual_seed(0)
    found = [search(team, prepared.english_alone, width=1)]
    log.note("back", greedy_without_end=int((found[0][:, 0] == 0).sum()))
    for _ in range(how["samples"]):
        one = search(team, prepared.english_alone, top_k=how["top_k"], generator=draw)
        found.append(torch.where(one[:, :1] == 0, found[0], one))
    log.note("back", versions=len(found))
    return torch.stack(found, dim=1)


def pairs_of(
    prepared: Prepared, back: Tensor, made: Tensor | None, real: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The pairs of one epoch: source and target, (N, WIDTH) each, the sources split at random.

    Args:
        prepared: the captions and descriptions.
        back: (N, versions, WIDTH), of which each English description takes one.
        made: English translations of the German descriptions, or None.
        real: how often the captions come.
        generator: on the device of the pairs.
    """
    versions = torch.randint(back.shape[1], (len(back),), generator=generator, device=back.device)
    chosen = back[torch.arange(len(back), device=back.device), versions]
    sources = [*[prepared.german] * real, chosen]
    targets = [*[prepared.english] * real, prepared.english_alone]
    if made is not None:
        sources, targets = [*sources, prepared.german_alone], [*targets, made]
    source, target = torch.cat(sources), torch.cat(targets)
    usable = (source[:, 0] != 0) & (target[:, 0] != 0)
    return resplit(source[usable], prepared, generator), target[usable]


def stream_of(
    prepared: Prepared, back: Tensor, made: Tensor | None, how: Mapping, orders: int
) -> Iterator[Some]:
    """Yield batches indefinitely."""
    for epoch in count():
        draw = torch.Generator(back.device).manual_seed(1000 * how["seeds"][0] + epoch)
        pairs = pairs_of(prepared, back, made, how["real"], draw)
        yield from batches(*pairs, how["budget"], orders, draw)


def _teachers(folder: Path, prepared: Prepared, back: Tensor, how: Mapping, log: Log, both) -> Team:
    """The teachers, trained if they are not there yet."""
    device, path = back.device, folder / "teachers.safetensors"
    made = {"precision": precision_on(device), **how["sizes"]}
    team = Team.drawn(len(prepared.splits), how["seeds"], **made).to(device)
    if path.is_file():
        with torch.no_grad():
            team.flat.copy_(load_file(path)["flat"])
        return team.fixed()
    log.note("teachers begin", parameters=team.flat.shape[1])
    train(team, stream_of(prepared, back, None, how, team.members), how, log, "teachers")
    save_file({"flat": team.flat.detach().cpu()}, path)
    log.note("teachers validation", bleu=each(team, prepared, both), memory=_memory(device))
    team = team.fixed()
    log.note("ensemble validation", bleu=bleu(team, *_judged(prepared), both))
    return team


def _memory(device: torch.device) -> int:
    """The peak memory of the device, in bytes."""
    return torch.cuda.max_memory_allocated() if device.type == "cuda" else 0


def _judged(prepared: Prepared) -> tuple[Tensor, list[str]]:
    return prepared.validation, prepared.references[: len(prepared.validation)]


def each(team: Team, prepared: Prepared, both, **how) -> list[float]:
    """BLEU of each member on the validation captions."""
    scores = []
    for number in range(team.members):
        states = [team.member(number)]
        alone = Team(team.vocabulary, states, precision=team.precision, **team.sizes)
        alone = alone.to(team.flat.device).fixed()
        scores.append(bleu(alone, *_judged(prepared), both, **how))
    return scores


def translate_alone(teachers: Team, prepared: Prepared, how: Mapping, log: Log, both) -> Tensor:
    """English translations of the German descriptions by the ensemble, (N, WIDTH)."""
    found = search(teachers, prepared.german_alone, **how)
    missing = int((found[:, 0] == 0).sum())
    log.note("translate", sentences=len(found), missing=missing, how=dict(how))
    return found


def _student(out: Path, prepared, back, made, teachers: Team, how: Mapping, log: Log, both) -> None:
    """Train the candidates together and keep the best on the validation captions."""
    device = back.device
    team = begun(len(prepared.splits), how, precision_on(device)).to(device)
    teach = teachers if any(how["soft"]) else None
    log.note("students begin", parameters=team.flat.shape[1])
    train(team, stream_of(prepared, back, made, how, 1), how, log, "students", teachers=teach)
    scores = each(team, prepared, both)
    best = scores.index(max(scores))
    # Written before anything else: whatever comes later, the student is kept.
    flat = team.flat.detach()[best].cpu()
    for number, part in enumerate(flat.split(PART)):
        save_file({"flat": part.clone()}, out / f"student-{number}.safetensors")
    log.note("students validation", bleu=scores, best=best, memory=_memory(device))


def begun(vocabulary: int, how: Mapping, precision: torch.dtype) -> Team:
    """The candidates before their training, at random or from released parameters.

    Args:
        vocabulary: number of tokens.
        how: with seeds, sizes and begin.
        precision: of the layers.
    """
    team = Team.drawn(vocabulary, how["seeds"], precision=precision, **how["sizes"])
    for number, name in enumerate(how["begin"]):
        if name is not None:
            parameters = rebuild(shipped_weights(name)).model.state_dict()
            released = Team(vocabulary, [parameters], **how["sizes"])
            if list(released.shapes.items()) != list(team.shapes.items()):
                raise SystemExit(f"{name} does not have the sizes of the students")
            with torch.no_grad():
                team.flat[number].copy_(released.flat[0])
    return team


def student_of(out: Path) -> tuple[Team, dict]:
    """The student that `train` stored, and the log entries about it."""
    log = Log(out / "log.json")
    history = {what: log.last(what) for what in ("begin", "teachers", "students")}
    for name in ("teachers validation", "ensemble validation", "students validation"):
        history[name] = log.last(name)
    history["seconds"] = duration(log.entries)
    sizes = history["students"]["how"]["sizes"]
    team = Team.drawn(len(tokenizer()), [0], **sizes)
    parts = sorted(out.glob("student-*.safetensors"))
    with torch.no_grad():
        team.flat.copy_(torch.cat([load_file(part)["flat"] for part in parts])[None])
    return team, history


def duration(entries: Sequence[Mapping]) -> float:
    """Seconds of all runs in a log, from the beginning of each to its last entry."""
    following = [*entries[1:], {"what": "begin"}]
    ends = (
        one["at"] for one, after in zip(entries, following, strict=True) if after["what"] == "begin"
    )
    return round(sum(ends), 1)


def release(out: Path, to: Path, checkpoint: Path) -> None:
    """Evaluate the student and write it with its card, in float32 and in one byte a parameter.

    Args:
        out: holds the student and the log.
        to: the file in one byte a parameter.
        checkpoint: the file in float32.
    """
    # What follows needs more packages than the machine that trains may have.
    from gates2heads.__main__ import main as command  # noqa: PLC0415
    from gates2heads.training.cards import save_model  # noqa: PLC0415
    from gates2heads.training.recipes.recipe import read_recipe  # noqa: PLC0415
    from gates2heads.training.recipes.runs import decoding_of, scores, search_of  # noqa: PLC0415
    from gates2heads.training.recipes.tasks import TASKS  # noqa: PLC0415

    team, history = student_of(out)
    model, both = team.single(0), tokenizer()
    card = card_of(history, read_recipe("translator"))
    recipe = card["recipe"]
    task = TASKS[recipe["task"]](recipe["data"])
    decoding, found = recipe["decoding"], {}
    for decoding["length_power"] in POWERS:
        written = scores(model, task, both, both, task.pairs("validation"), **search_of(recipe))
        found[decoding["length_power"]] = written["bleu"]
        print(f"length_power {decoding['length_power']}: validation BLEU {written['bleu']:.2f}")
    decoding["length_power"] = max(found, key=found.get)
    card["distillation"]["validation_bleu_of_length_power"] = found
    search_by = search_of(recipe)
    card["scores"] = {
        split: scores(model, task, both, both, task.pairs(split), **search_by)
        for split in ("validation", "test")
    }
    card["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    save_model(
        checkpoint, model, source=both, target=both, decoding=decoding_of(recipe, task), card=card
    )
    # `shrink` evaluates the file that it makes.
    if command(["shrink", str(checkpoint), str(to), "--overwrite"]):
        raise SystemExit("the student could not be written in one byte a parameter")


def card_of(history: Mapping, recipe: dict) -> dict:
    """The card of the student without its scores.

    Args:
        history: from `student_of`.
        recipe: of the translator that is trained on captions alone; what differs is replaced.
    """
    how, validation = history["students"]["how"], history["students validation"]
    best, settings = validation["best"], history["begin"]["settings"]
    seed, soft = how["seeds"][best], how["soft"][best]
    recipe["model"] |= {**FORM, **how["sizes"]}
    recipe["seed"] = seed
    recipe["training"] |= {
        "steps": history["students"]["steps"],
        "batch_size": how["budget"],
        "learning_rate": how["learning_rate"],
        "warmup": how["warmup"],
        "clip": how["clip"],
        "label_smoothing": how["smoothing"],
        # It is evaluated and written once, at the end.
        "evaluate_every": history["students"]["steps"],
        "checkpoint_every": history["students"]["steps"],
    }
    distillation = {
        "soft": soft,
        "begin": how["begin"][best],
        "students": {**how, "validation_bleu": validation["bleu"]},
        "teachers": {
            **settings["teachers"],
            "steps": history["teachers"]["steps"],
            "validation_bleu": history["teachers validation"]["bleu"],
            "ensemble_validation_bleu": history["ensemble validation"]["bleu"],
        },
        "back": settings["back"],
        "translate": settings["translate"],
    }
    limits = {"teachers": settings["teachers"], "translate": settings["translate"], "students": how}
    options = [
        f" --{stage}-seconds {one['seconds']:.0f}"
        for stage, one in limits.items()
        if one["seconds"] is not None
    ]
    program = "python -m shipping.distilled_translator"
    seconds = {name: history[name]["seconds"] for name in ("teachers", "students")}
    return {
        "data": (
            "Multi30k captions, German to English (Elliott et al. 2016); German and English "
            "descriptions of the training images (Elliott et al. 2016; Young et al. 2014), each "
            "with a translation by a model"
        ),
        "terms": TERMS,
        "limits": LIMITS,
        "command": f"{program} prepare; {program} train{''.join(options)}; {program} release",
        "seed": seed,
        "recipe": recipe,
        "distillation": distillation,
        "steps": history["students"]["steps"],
        "seconds": history["seconds"],
        "seconds_of": seconds,
        "machine": {"device": history["begin"]["device"], "precision": "bf16"},
    }


if __name__ == "__main__":
    sys.exit(main())
