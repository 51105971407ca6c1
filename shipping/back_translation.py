"""Translate descriptions that have no translation, as more pairs for a translator to train on.

    export GATES2HEADS_DATA=…
    python -m shipping.back_translation translator_to_german checkpoints/made.gz --sample
    python -m gates2heads train translator --set data.extra=checkpoints/made.gz

A model that reads the target language of another makes sources for it (Sennrich et al. 2016); one
that reads the same language makes targets, from which the other learns what the first knows (Kim &
Rush 2016). What a model cannot finish is left out. The output is other people's text, so it goes to
`checkpoints` or outside the repository, never into it. An interrupted run goes on when the same
command is given again: what was translated so far is beside the output.
"""

import argparse
import gzip
import hashlib
import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch

from gates2heads.accepts import natural, positive
from gates2heads.accepts.shown import in_line
from gates2heads.data.batches.pairs import pad
from gates2heads.data.corpora.machine_pairs import LONGEST, pairs_file
from gates2heads.data.corpora.multi30k import descriptions
from gates2heads.decoding.sampling import sample
from gates2heads.decoding.translation import up_to_end, write
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.files import as_file, clear_parts, try_place, write_whole
from gates2heads.training.plain_json import read_json
from gates2heads.training.recipes.runs import Trained, load, search_of

ROOT = Path(__file__).resolve().parents[1]
PART, AT_ONCE = 2_000, 100  # sentences in a part that is kept, and in a batch
WORDS = 50  # in a sentence; the longest of the test captions has 33


def main(given: Sequence[str] | None = None) -> int:
    """Translate, report the number of pairs, and return the exit status."""
    asked = _parser().parse_args(given)
    try:
        for name, kind in (
            ("--sentences", natural),
            ("--width", natural),
            ("--seed", natural(least=0)),
        ):
            kind.check(name, getattr(asked, name[2:]))
        positive.check("--temperature", asked.temperature)
        output = _place(asked.output, overwrite=asked.overwrite)
        weights = Path(asked.weights)
        weights = weights if weights.is_file() else shipped_weights(asked.weights)
        how = {"sample": asked.sample, "width": asked.width, "temperature": asked.temperature}
        words = sys.argv[1:] if given is None else given
        command = f"python -m shipping.back_translation {shlex.join(map(str, words))}"
        many = make(weights, output, asked.sentences, {**how, "seed": asked.seed}, command)
    except (OSError, TypeError, ValueError) as error:
        print(f"back_translation: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("back_translation: interrupted; the same command resumes from here", file=sys.stderr)
        return 130
    print(f"{output}: {many:,} pairs")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m shipping.back_translation")
    parser.add_argument("weights", help="a file from `train`, or the name of a released model")
    parser.add_argument("output", help="the file to write, in checkpoints or outside the project")
    parser.add_argument("--sentences", type=int, default=1_000_000, help="at most so many")
    parser.add_argument("--sample", action="store_true", help="draw from the model; no search")
    parser.add_argument("--temperature", type=float, default=1.0, help="of the draws")
    parser.add_argument("--seed", type=int, default=0, help="of the draws")
    parser.add_argument("--width", type=int, default=1, help="of a beam; 1 is greedy")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    return parser


def _place(output: str, *, overwrite: bool) -> Path:
    """The path of the output, where other people's text may lie."""
    path = as_file(output, name="output")
    inside = path.resolve()
    if inside.is_relative_to(ROOT) and not inside.is_relative_to(ROOT / "checkpoints"):
        raise ValueError(
            f"output must be in checkpoints or outside the project, whose text is all its own, got "
            f"{in_line(path)}"
        )
    if path.exists() and not overwrite:
        raise ValueError(f"output must be a new file, but {in_line(path)} is there; --overwrite")
    try_place(path)
    return path


def make(weights: Path, output: Path, sentences: int, how: Mapping, origin: str) -> int:
    """Translate the descriptions that a model reads; return how many pairs were written.

    Args:
        weights: of a translator of captions.
        output: the file to write.
        sentences: at most so many descriptions, from the first on.
        how: sample, width, temperature and seed.
        origin: the command, which the file states.

    Raises:
        ValueError: the model translates no captions, or what was kept is damaged.
    """
    trained = load(weights)
    reads = trained.task.settings.get("reads")
    if reads is None:
        raise ValueError(f"weights must be of a translator of captions, got {in_line(weights)}")
    texts = [text for text in descriptions(reads) if len(text.split()) <= WORDS][:sentences]
    kept = folder_of(weights, output, how)
    pairs = []
    for number, start in enumerate(range(0, len(texts), PART)):
        some = texts[start : start + PART]
        written = part(trained, some, kept / f"{number:04}.json.gz", how, number)
        found = [pair for pair in zip(some, written, strict=True) if usable(pair[1])]
        pairs += found if reads == "German" else [pair[::-1] for pair in found]
        print(f"{start + len(some):,} of {len(texts):,}", flush=True)
    content = pairs_file(pairs, origin)
    write_whole(output, lambda file: file.write(content))
    shutil.rmtree(kept)
    return len(pairs)


def folder_of(weights: Path, output: Path, how: Mapping) -> Path:
    """The folder of the translations so far; other parameters or settings have another one."""
    kind = json.dumps([PART, WORDS, AT_ONCE, *sorted(how.items())]).encode()
    name = hashlib.sha256(weights.read_bytes() + kind).hexdigest()[:8]
    return output.with_name(f"{output.name}.{name}.parts")


def usable(written: str | None) -> bool:
    """Whether a translation came to its end, and holds something."""
    return written is not None and bool(written.strip()) and len(written) <= LONGEST


def part(
    trained: Trained, texts: Sequence[str], path: Path, how: Mapping, number: int
) -> list[str | None]:
    """Translations of a part of the texts, from its file if they are there already.

    The draws of a part depend on its number and not on previous parts, so that an interrupted
    run gives the same file as another.
    """
    asked = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    if path.is_file():
        return _kept(path, asked, len(texts))
    clear_parts(path)
    # Two numbers that no other pair of seed and part gives, as long as there are fewer parts.
    draw = torch.Generator().manual_seed(how["seed"] * 1_000_003 + number)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    written: list[str | None] = [None] * len(texts)
    for places in (order[start : start + AT_ONCE] for start in range(0, len(order), AT_ONCE)):
        some = translated(trained, [texts[place] for place in places], how, draw)
        for place, one in zip(places, some, strict=True):
            written[place] = one
    content = gzip.compress(json.dumps({"asked": asked, "written": written}).encode(), mtime=0)
    write_whole(path, lambda file: file.write(content))
    return written


def _kept(path: Path, asked: str, many: int) -> list[str | None]:
    what = f"{in_line(path)} must hold translations of the same sentences; delete it to go on"
    try:
        kept = read_json(gzip.decompress(path.read_bytes()), what=what)
    except (OSError, EOFError) as error:
        raise ValueError(f"{what}: {error}") from error
    written = kept.get("written") if isinstance(kept, dict) and kept.get("asked") == asked else None
    if not isinstance(written, list) or len(written) != many:
        raise ValueError(what)
    if not all(one is None or isinstance(one, str) for one in written):
        raise ValueError(what)
    return written


def translated(
    trained: Trained, texts: Sequence[str], how: Mapping, draw: torch.Generator
) -> Iterator[str | None]:
    """A translation of each text; None where none came to its end."""
    model, task, source, target, card = trained
    if how["sample"]:
        tokens, mask = pad([source.encode(text) for text in texts])
        words = target.vocabulary
        with torch.no_grad():
            state = model.start(tokens, mask=mask)
        output = sample(
            model.step,
            state,
            bos=torch.full((len(texts),), words.bos),
            eos=words.eos,
            max_length=task.max_length,
            pad=words.pad,
            temperature=how["temperature"],
            generator=draw,
        )
    else:
        search = {**search_of(card["recipe"]), "width": how["width"]}
        output = write(model, texts, source, target, max_length=task.max_length, **search)
    for row in output.tokens.tolist():
        ends = target.vocabulary.eos in row
        yield target.decode(up_to_end(row, target)) if ends else None


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
