"""The command line: trains, goes on after a kill, evaluates, translates, explains mistakes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from gates2heads.__main__ import main
from gates2heads.training.checkpoints import read_weights, save_weights, shipped_weights
from gates2heads.training.recipes.recipe import read_recipe
from tests import hangs
from tests.training.test_parallel import launch

STEPS = 150
SETTINGS = [
    "data.train=97",
    "data.validation=13",
    "data.test=11",
    'data.locales=["en"]',
    'data.forms=["yMMMd"]',
    f"training.steps={STEPS}",
    "training.warmup=2",
    "training.evaluate_every=60",
    "training.checkpoint_every=7",
    "training.batch_size=5",
    "model.embedding_size=5",
    "model.hidden_size=6",
]
CHANGES = [word for setting in SETTINGS for word in ("--set", setting)]
FEW = [*CHANGES, "--set", "training.steps=7"]


def start(*words):
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "gates2heads", *map(str, words)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, error = process.communicate(timeout=hangs.PROCESS)
    assert process.returncode == 0, error
    return out


def test_trains_evaluates_and_translates(tmp_path, capsys):
    output = tmp_path / "one.safetensors"
    assert main(["train", "dates-dot", *FEW, "--output", str(output), "--quiet"]) == 0
    out, error = capsys.readouterr()
    assert out.startswith(f"{output}: 7 steps, ")
    assert "test exact_match 0." in out
    assert error == ""
    _, card = read_weights(output)
    assert card["command"].startswith("python -m gates2heads train dates-dot --set data.train=97")
    assert card["recipe"] == read_recipe("dates-dot", [*SETTINGS, "training.steps=7"])
    assert main(["evaluate", str(output), "--split", "validation"]) == 0
    names = [line.rsplit(" ", 1)[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["validation exact_match", "validation loss"]
    for more in ([], ["--width", "3"]):
        texts = ["Mar 5, 2021", "Dec 24, 1999"]
        assert main(["translate", "--weights", str(output), *more, *texts]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 2
        assert all(set(line) <= set("0123456789-") for line in lines)


def test_a_shrunk_model_is_small_and_still_writes(tmp_path, capsys):
    output, small = tmp_path / "one.safetensors", tmp_path / "small.safetensors"
    wide = ["--set", "model.hidden_size=64", "--set", "model.embedding_size=64"]
    assert main(["train", "dates-dot", *FEW, *wide, "--output", str(output), "--quiet"]) == 0
    assert main(["shrink", str(output), str(small)]) == 0
    said = capsys.readouterr().out
    assert f"{small}: {small.stat().st_size:,} bytes\n" in said
    assert small.stat().st_size < 0.4 * output.stat().st_size
    assert main(["evaluate", str(small)]) == 0
    scores = capsys.readouterr().out
    assert said.endswith(scores)  # quantised once more, the weights are the same
    _, card = read_weights(small)
    assert f"{card['scores_small']['test']['loss']:.4f}" in scores


def test_a_card_tells_what_a_model_is(tmp_path, capsys):
    output = tmp_path / "one.safetensors"
    assert main(["train", "dates-dot", *FEW, "--output", str(output), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["card", str(output)]) == 0
    told = json.loads(capsys.readouterr().out)
    _, card = read_weights(output)
    assert told == card
    assert {"data", "terms", "limits", "command", "seed", "scores", "machine"} <= told.keys()


def test_the_card_of_a_model_of_the_book_is_found_by_its_name(capsys):
    assert main(["card", "gates_lstm"]) == 0
    assert json.loads(capsys.readouterr().out) == read_weights(shipped_weights("gates_lstm"))[1]
    assert main(["card", "gates"]) == 2
    assert "name must" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["translator", "translator_to_german"])
def test_a_card_states_terms_and_limits_as_this_version_knows_them(name, capsys):
    assert main(["card", name]) == 0
    told = json.loads(capsys.readouterr().out)
    _, stored = read_weights(shipped_weights(name))
    assert "number words up to nine" in told["limits"]
    assert told == {**stored, "terms": told["terms"], "limits": told["limits"]}


def test_a_card_without_a_known_recipe_is_told_as_it_is(tmp_path, capsys):
    for card in ({"recipe": "dates"}, {"recipe": {"task": ["dates"]}}, {"recipe": {"task": "x"}}):
        save_weights(tmp_path / "one.safetensors", torch.nn.Linear(2, 3), card=card)
        assert main(["card", str(tmp_path / "one.safetensors")]) == 0
        assert json.loads(capsys.readouterr().out) == card


def test_a_shown_recipe_is_a_config(tmp_path, capsys):
    assert main(["show", "dates-transformer", "--set", "seed=3"]) == 0
    shown = capsys.readouterr().out
    assert json.loads(shown) == read_recipe("dates-transformer", ["seed=3"])
    (tmp_path / "mine.json").write_text(shown, encoding="utf-8")
    assert main(["show", str(tmp_path / "mine.json")]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "dates-dot", "--set", "seed=" + "9" * 4_000], "seed must"),
        (
            ["train", "dates-dot", "--set", "model.hidden_size=2147483646"],
            "model must",
        ),
        (["train", "dates-dot", "--set", "data.train=2147483646"], "data.train must"),
        (["train", "dates-dot", "--set", "data=" + "[" * 20_000], "data must"),
        (
            ["show", "dates-dot", "--set", "task=\udcff"],
            "each word must hold whole characters, got",
        ),
        (["translate", "Ein\udce9"], "must hold whole characters, got"),
        (["translate", "x", "--width", "0"], "--width must"),
        (["translate", "x", "--width", "9" * 30], "--width must"),
        (["evaluate", "a\0b"], "path must"),
        (["train", "poems"], "recipe must"),
        (["train", "dates-dot", "--output", "."], "output must"),
        (["train", "dates-dot", "--output", "/"], "output must"),
        (["train", "dates-dot", "--output", "x" * 5_000], "File name too long: 'xxx"),
        (["train", "dates-dot", "--set", "data." + "x." * 300 + "y=[3"], "y must"),
        (["card", "/tmp/" + "x" * 5_000], "File name too long: '/tmp/xxx"),
        (["translate", "y" * 1_000 + "\udce9"], "half of one, at 1000"),
        (["train", "dates-dot", "--set", "steps=3"], "recipe has no setting 'steps'; it has task"),
        (["train", "dates-dot", "--set", "model.score=big"], "score must"),
        (["train", "dates-dot", "--set", "model.hidden_size=7"], "hidden_size must"),
        (
            ["train", "dates-dot", "--set", "training.learning_rate=NaN"],
            "learning_rate must",
        ),
        (["train", "dates-dot", "--set", "training.warmup=9999"], "warmup must"),
        (["train", "dates-dot", "--set", "training.patience=0"], "patience must"),
        (["train", "dates-dot", "--set", "training.clip=x"], "clip must"),
        (["train", "dates-dot", "--set", 'data.locales=["xx"]'], "data.locales must"),
        (["train", "dates-transformer", "--set", "model.nhead=7"], "num_heads must"),
        (["train", "dates-transformer", "--set", "model.dropout=2"], "dropout must"),
        (
            ["evaluate", "none.safetensors"],
            "path must",
        ),
        (
            ["translate", "--weights", "none.safetensors", "x"],
            "path must",
        ),
        (["translate", "--weights", __file__, "x"], "is truncated or is not a safetensors file"),
        (
            ["translate", "--to", "english", "--weights", "some.safetensors", "x"],
            "--to selects a translation model of the book, so it excludes a file",
        ),
        (["card", "some.safetensors", "--to", "english"], "so it excludes a file"),
        (["translate", " \t"], "text is empty"),
    ],
)
def test_a_mistake_gets_one_sentence_and_exit_status_2(tmp_path, capsys, words, sentence):
    small = ["--set", "data.train=7", "--set", "data.test=3", "--set", "data.validation=3"]
    more = [*small, "--quiet", "--output", str(tmp_path / "x")] if words[0] == "train" else []
    assert main([*words[:2], *more, *words[2:]]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("gates2heads: ")
    assert sentence in error
    assert error.count("\n") == 1
    assert len(error) <= 300
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        *([], ["dance"], ["train"], ["evaluate", "x", "--split", "exam"]),
        ["translate", "x", "--to", "latin"],
    ],
)
def test_a_command_that_is_none_gets_the_usage(capsys, words):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert "usage: python -m gates2heads" in capsys.readouterr().err


def test_an_unreadable_character_is_named(tmp_path, capsys):
    output = tmp_path / "one.safetensors"
    assert main(["train", "dates-dot", *FEW, "--output", str(output), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["translate", "--weights", str(output), "5 März"]) == 2
    assert "text holds 'z', 'ä', which this tokenizer never saw" in capsys.readouterr().err


def test_each_direction_has_its_model(monkeypatch, capsys):
    """Which file is asked for; that each translates is tested where the files are."""
    asked = []

    def shipped(name):
        asked.append(name)
        raise ValueError("not here")

    monkeypatch.setattr("gates2heads.__main__.shipped_weights", shipped)
    for more in ([], ["--to", "english"], ["--to", "german"]):
        assert main(["translate", "A dog.", *more]) == main(["card", *more]) == 2
    assert asked == ["translator"] * 4 + ["translator_to_german"] * 2
    assert "gates2heads: not here\n" in capsys.readouterr().err


def test_an_interrupt_says_how_to_go_on(monkeypatch, capsys):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("gates2heads.__main__.read_recipe", interrupted)
    assert main(["train", "dates-dot"]) == 130
    assert "the same command resumes from here" in capsys.readouterr().err


def test_a_model_that_is_there_is_replaced_only_when_told_to(tmp_path, capsys):
    output, small = tmp_path / "one.safetensors", tmp_path / "small.safetensors"
    words = ["train", "dates-dot", *FEW, "--output", str(output), "--quiet"]
    assert main(words) == 0
    before = output.read_bytes()
    capsys.readouterr()
    for again in (words, ["shrink", str(output), str(output)]):
        assert main(again) == 2
        out, error = capsys.readouterr()
        assert out == ""
        assert "output must" in error
        assert error.count("\n") == 1
        assert output.read_bytes() == before
    assert main([*words, "--overwrite"]) == 0
    assert main(["shrink", str(output), str(small)]) == 0
    assert main(["shrink", str(output), str(small), "--overwrite"]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {output.name, small.name}


def test_what_is_read_is_not_written_over(tmp_path, capsys):
    recipe, weights = tmp_path / "mine.json", tmp_path / "one.safetensors"
    main(["show", "dates-dot"])
    recipe.write_text(capsys.readouterr().out, encoding="utf-8")
    weights.write_bytes(b"")
    for command, file in (("train", recipe), ("export", weights)):
        before = file.read_bytes()
        same = tmp_path / "." / ".." / tmp_path.name / file.name
        output = ["--output", str(same)] if command == "train" else [str(same)]
        assert main([command, str(file), *output, "--overwrite"]) == 2
        assert "output must" in capsys.readouterr().err
        assert file.read_bytes() == before


def test_a_name_that_stands_twice_in_a_recipe_is_refused(tmp_path, capsys):
    recipe = tmp_path / "mine.json"
    recipe.write_text('{"task": "dates", "model": {"kind": "Transformer"}, "task": "captions"}')
    assert main(["show", str(recipe)]) == 2
    assert "mine.json must" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_found_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("gates2heads.training.recipes.runs.fit", None)  # is not reached
    (tmp_path / "plain").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name, sentence in [
        ("plain/one.safetensors", "one.safetensors"),
        ("link", "output must"),
    ]:
        assert main(["train", "dates-dot", *FEW, "--output", str(tmp_path / name)]) == 2
        error = capsys.readouterr().err
        assert sentence in error
        assert error.count("\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == {"plain", "link"}


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9\n Try")]
)
def test_a_full_memory_is_told_and_other_errors_stay_as_they_are(monkeypatch, capsys, error):
    def fails(*given):
        raise error

    monkeypatch.setattr("gates2heads.__main__.read_recipe", fails)
    assert main(["show", "dates-dot"]) == 2
    told = "gates2heads: out of memory; use a smaller batch or model\n"
    assert capsys.readouterr().err == told
    error = RuntimeError("a fault of the library")
    with pytest.raises(RuntimeError, match="a fault of the library"):
        main(["show", "dates-dot"])


@pytest.mark.slow
def test_what_a_terminal_cannot_show_is_spelled_out(tmp_path):
    recipe = {"task": "dates", "model": {"kind": "Transformer"}, "data": {"forms": ["\ud83d"]}}
    (tmp_path / "odd.json").write_text(json.dumps(recipe))
    assert json.loads(finish(start("show", tmp_path / "odd.json")))["data"]["forms"] == ["\ud83d"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="this system has no such shell")
@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        (">&-", "standard output is closed, so there is nowhere to write to"),
        ("| true", "[Errno 32] Broken pipe"),
    ],
)
def test_an_output_that_takes_nothing_is_told(where, sentence):
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m gates2heads card {where}', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        timeout=hangs.PROCESS,
        check=False,
    )
    assert done.stderr == f"gates2heads: {sentence}\n"


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_weights(tmp_path):
    whole, killed = tmp_path / "whole.safetensors", tmp_path / "killed.safetensors"
    more = ["--set", "training.average=2", "--set", "training.evaluate_every=40"]
    words = ["train", "dates-dot", *CHANGES, *more, "--quiet", "--output"]
    finish(start(*words, whole))
    process = start(*words, killed)
    until = time.monotonic() + hangs.PROCESS
    while not list(tmp_path.glob("killed.*.run")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not killed.exists()
    assert f"{killed}: {STEPS} steps" in finish(start(*words, killed))
    (expected, card), (tensors, again) = read_weights(whole), read_weights(killed)
    assert expected.keys() == tensors.keys()
    assert all(torch.equal(expected[name], tensors[name]) for name in expected)
    assert again["evaluations"] == card["evaluations"]
    assert {file.suffix for file in tmp_path.iterdir()} == {".safetensors"}


@pytest.mark.slow
def test_the_same_command_under_torchrun(tmp_path):
    one, two = tmp_path / "one.safetensors", tmp_path / "two.safetensors"
    words = ["train", "dates-dot", *FEW, "--quiet", "--output"]
    finish(start(*words, one))
    done = launch("-m", "gates2heads", *words, str(two))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("7 steps") == 1
    (expected, alone), (tensors, together) = read_weights(one), read_weights(two)
    assert [card["machine"]["processes"] for card in (alone, together)] == [1, 2]
    for name in expected:
        torch.testing.assert_close(tensors[name], expected[name], rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_a_mistake_in_a_process_of_its_own_shows_no_traceback(tmp_path):
    process = start("train", tmp_path / "none.json")
    _, error = process.communicate(timeout=hangs.PROCESS)
    assert process.returncode == 2
    assert error.count("\n") == 1
    assert "Traceback" not in error
