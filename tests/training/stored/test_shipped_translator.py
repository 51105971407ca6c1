"""The translators that come with the book: whole, small, lean, and as good as their cards say."""

import json
import os
import re
import resource
import subprocess
import sys

import pytest

from gates2heads.__main__ import main
from gates2heads.decoding.translation import translate
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import evaluate, load
from gates2heads.training.recipes.typed import translate_typed
from shipping.distilled_translator import LIMITS, TERMS
from tests.needs import needs_data

PATH = shipped_weights("translator")
DOG = "Ein Hund läuft durch den Schnee."


@pytest.fixture(scope="module")
def trained():
    return load(PATH)


def test_it_is_at_most_seven_megabytes():
    assert PATH.stat().st_size <= 7_000_000


def test_its_card_says_what_a_user_must_know(trained):
    card = trained.card
    assert "Multi30k" in card["data"]
    assert card["command"].startswith("python -m gates2heads train translator")
    assert card["seed"] == card["recipe"]["seed"]
    assert card["scores_small"]["test"]["bleu"] >= 42
    assert card["scores_small"]["test"]["bleu"] > card["scores"]["test"]["bleu"] - 0.3
    assert {"terms", "limits", "machine", "seconds", "parameters"} <= card.keys()
    assert card["parameters"] == sum(p.numel() for p in trained.model.parameters())


def test_the_card_of_the_distilled_translator_tells_its_training(trained, capsys):
    path = shipped_weights("translator_distilled")
    assert path.stat().st_size <= 7_000_000
    distilled = load(path)
    card = distilled.card
    assert card["terms"] == TERMS
    assert card["limits"] == LIMITS
    assert "descriptions" in card["data"]
    assert card["scores_small"]["test"]["bleu"] > trained.card["scores_small"]["test"]["bleu"] + 4
    assert card["scores_small"]["test"]["bleu"] > card["scores"]["test"]["bleu"] - 0.3
    assert card["seconds"] > sum(card["seconds_of"].values())
    told = card["distillation"]
    assert told["students"]["seeds"][0] == card["seed"] == card["recipe"]["seed"]
    assert told["begin"] is None  # from random parameters
    bleu = told["validation_bleu_of_length_power"]
    assert max(bleu, key=bleu.get) == str(card["recipe"]["decoding"]["length_power"])
    limits = [told[stage]["seconds"] for stage in ("teachers", "translate", "students")]
    assert [int(one) for one in re.findall(r"seconds (\d+)", card["command"])] == [
        round(one) for one in limits
    ]
    sizes = []
    for one in (distilled, trained):
        assert one.source.vocabulary.tokens == one.target.vocabulary.tokens
        shapes = {name: tuple(p.shape) for name, p in one.model.named_parameters()}
        sizes.append((shapes, one.source.vocabulary.tokens))
    assert sizes[0] == sizes[1]
    assert main(["card", "translator_distilled"]) == 0
    assert LIMITS in capsys.readouterr().out  # and not those of its task


def test_the_other_direction_translates_number_words_as_its_limits_say():
    """Up to nine in each of three sentences; of larger ones, most become something else."""
    other = load(shipped_weights("translator_to_german"))

    def begin(english: str, german: str) -> bool:
        rest = ("men are running.", "dogs are playing in the snow.", "children sit on a bench.")
        texts = translate_typed(other, [f"{english} {one}" for one in rest])
        return all(text.startswith(f"{german} ") for text in texts)

    small = {"Two": "Zwei", "Three": "Drei", "Four": "Vier", "Five": "Fünf", "Six": "Sechs"}
    small |= {"Seven": "Sieben", "Eight": "Acht", "Nine": "Neun"}
    assert all(begin(*pair) for pair in small.items())
    larger = {"Ten": "Zehn", "Eleven": "Elf", "Twelve": "Zwölf", "Fifteen": "Fünfzehn"}
    larger |= {"Twenty": "Zwanzig", "Thirty": "Dreißig", "Fifty": "Fünfzig"}
    assert sum(begin(*pair) for pair in larger.items()) < len(larger) / 2
    assert "number words up to nine" in other.task.limits


def test_it_translates_without_a_network(monkeypatch):
    monkeypatch.setattr("socket.socket.connect", None)  # whoever calls it fails
    trained = load(PATH)
    written = translate(trained.model, [DOG], trained.source, trained.target, max_length=30)
    assert written[0].lower().startswith("a dog")
    assert "snow" in written[0]


def test_without_weights_the_command_line_takes_it(capsys):
    assert main(["translate", DOG]) == 0
    assert "snow" in capsys.readouterr().out
    assert main(["card"]) == 0
    assert '"command": "python -m gates2heads train translator' in capsys.readouterr().out


ODD = [
    *("  Ein\tHund  läuft durch\u00a0den Schnee.\n", "Ein Hund la\u0308uft durch den Schnee."),
    "Ein H\xadund läuft \u200bdurch den Schnee.\ufeff",
]


def test_what_is_typed_oddly_is_translated_alike(trained, capsys):
    (plain,) = translate_typed(trained, [DOG])
    assert translate_typed(trained, ODD) == [plain] * len(ODD)
    assert translate_typed(trained, [DOG], width=1)[0].lower().startswith("a dog")
    assert main(["translate", *ODD]) == 0
    assert capsys.readouterr().out.splitlines() == [plain] * len(ODD)
    (shouted,) = translate_typed(trained, [DOG.upper()])
    assert shouted == translate_typed(trained, ["Ein hund läuft durch den schnee."])[0]
    assert "dog" in shouted.lower()  # in capitals, single letters came out


def test_english_becomes_german(capsys):
    assert main(["translate", "--to", "german", "A dog runs through the snow."]) == 0
    written = capsys.readouterr().out
    assert "Hund" in written
    assert "Schnee" in written
    assert main(["card", "--to", "german"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["data"] == "Multi30k captions, English to German (Elliott et al. 2016)"
    assert card["scores_small"]["test"]["bleu"] > 39  # as docs/models.md says


@pytest.mark.parametrize("part", [0.3, 0.999])
def test_a_truncated_copy_is_refused(tmp_path, part, capsys):
    whole = PATH.read_bytes()
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(whole[: int(part * len(whole))])
    assert main(["translate", "--weights", str(copy), DOG]) == 2
    assert "is truncated or is not a safetensors file" in capsys.readouterr().err


def test_an_altered_copy_is_refused(tmp_path, capsys):
    altered = bytearray(PATH.read_bytes())
    altered[-1000] ^= 1
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(altered)
    assert main(["translate", "--weights", str(copy), DOG]) == 2
    assert "was altered: what it holds does not match" in capsys.readouterr().err


def modules_of(*words):
    """Run a Python of its own; give the modules that it imported, and what it computed for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-X", "importtime", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    names = re.findall(r"^import time:[\s\d|]+?([\w.]+)$", done.stderr, re.M)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {name.partition(".")[0] for name in names}, seconds


@pytest.mark.slow
def test_a_translation_imports_little_more_than_torch(capsys):
    # What a page or a parity test needs would take longer to import than to translate.
    torch_alone, shortest = modules_of("-c", "import torch")
    translation, seconds = modules_of("-m", "gates2heads", "translate", DOG)
    assert "torch" in torch_alone & translation
    idle = {"IPython", "ipywidgets", "anywidget", "matplotlib", "scipy", "sympy", "transformers"}
    assert not (translation - torch_alone) & idle
    with capsys.disabled():
        print(f"\na translation computes for {seconds:.1f} s, import torch for {shortest:.1f} s")


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", ["translator", "translator_distilled"])
def test_it_scores_what_its_card_says(name):
    one = load(shipped_weights(name))
    told = evaluate(one, "test")
    assert told["bleu"] == pytest.approx(one.card["scores_small"]["test"]["bleu"], abs=0.05)
