"""Checkpoints: a whole file or none, and one sentence when a file is not what it should be."""

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import time
from importlib.resources import files

import pytest
import safetensors.torch
import torch
from safetensors.torch import save_file
from torch import nn

from gates2heads.training.checkpoints import (
    digest,
    load_weights,
    read_weights,
    save_weights,
    shipped_weights,
)
from gates2heads.training.loop import History, fit
from gates2heads.training.resuming.training_checkpoints import TrainingCheckpoint, as_bytes

CARD = {"data": "dates", "seed": 7, "exact match": 0.993, "note": "März"}


def layer(inputs=3, outputs=5, seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs))


def state(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def started(seed=1, inputs=3):
    """The parts of a run, after one step of the optimizer."""
    model = layer(inputs, seed=seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (step + 1))
    model(torch.ones(2, inputs)).square().sum().backward()
    optimizer.step()
    scheduler.step()
    return model, optimizer, scheduler, History()


# Weights


def test_weights_come_back_with_their_card(tmp_path):
    path, kept, other = tmp_path / "new" / "folder" / "weights.safetensors", layer(), layer(seed=9)
    save_weights(path, kept, card=CARD)
    assert not same(state(other), state(kept))
    assert load_weights(path, other) == CARD
    assert same(state(other), state(kept))
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    save_weights(str(path), layer(seed=2))
    assert load_weights(str(path), other) == {}
    assert same(state(other), state(layer(seed=2)))


def test_weights_can_be_read_without_a_model(tmp_path):
    save_weights(tmp_path / "w", layer(), card=CARD)
    tensors, card = read_weights(tmp_path / "w")
    assert same(tensors, state(layer()))
    assert card == CARD


def test_shipped_weights_are_whole_and_an_unknown_name_lists_them():
    with pytest.raises(ValueError, match=r"name must"):
        shipped_weights("no such model")
    shipped = files("gates2heads.models") / "weights"
    for file in shipped.iterdir() if shipped.is_dir() else ():
        path = shipped_weights(file.name.removesuffix(".safetensors"))
        tensors, _ = read_weights(path)
        assert all(tensor.isfinite().all() for tensor in tensors.values())


def test_tied_weights_and_narrow_ones_are_kept(tmp_path):
    def tied():
        model = nn.ModuleDict({"read": nn.Embedding(7, 3), "write": nn.Linear(3, 7, bias=False)})
        model["write"].weight = model["read"].weight
        return model.bfloat16()

    kept, other = tied(), tied()
    save_weights(tmp_path / "w", kept)
    load_weights(tmp_path / "w", other)
    assert same(state(kept), state(other))
    assert other["write"].weight is other["read"].weight


def test_a_file_is_readable_by_those_who_may(tmp_path):
    save_weights(tmp_path / "w", layer())
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "w").stat().st_mode == (tmp_path / "plain").stat().st_mode


def signed(tensors, card):
    """What a file tells beside its tensors, with the right checksum."""
    return {"card": card, "checksum": digest(tensors, [card])}


def test_a_digest_sees_names_shapes_types_and_values():
    base = {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor(3)}
    changes = [
        {"a": torch.tensor([1.0, 2.5])},
        {"a": torch.tensor([[1.0, 2.0]])},
        {"a": torch.tensor([1.0, 2.0]).double()},
        {"c": torch.tensor(3)},
    ]
    assert digest(base) == digest(dict(reversed(base.items())))
    digests = {digest({**base, **change}) for change in changes} | {digest(base)}
    assert len(digests) == 5
    assert digest({"a": torch.zeros(0)}) != digest({})
    texts = (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], [])
    assert len({digest(base, some) for some in texts}) == len(texts)


def test_missing_truncated_or_altered_weights_are_refused_and_the_model_kept(tmp_path):
    path, model = tmp_path / "w.safetensors", layer(seed=9)
    before = state(model)
    with pytest.raises(FileNotFoundError, match="path must"):
        load_weights(path, model)
    with pytest.raises(FileNotFoundError, match="path must"):
        load_weights(tmp_path, model)
    save_weights(path, layer(), card=CARD)
    whole = path.read_bytes()
    for length in (0, 1, 7, 8, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is truncated or is not a safetensors file"):
            load_weights(path, model)
    path.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
    with pytest.raises(ValueError, match="was altered: what it holds does not match"):
        load_weights(path, model)
    path.write_bytes(b"no safetensors at all, but some sentence that is long enough")
    with pytest.raises(ValueError, match="is truncated or is not a safetensors file"):
        load_weights(path, model)
    save_file(layer().state_dict(), path)
    with pytest.raises(ValueError, match="holds no card and checksum; it was not written by this"):
        load_weights(path, model)
    assert same(state(model), before)


def test_a_spoiled_card_leaves_the_model_as_it_was(tmp_path):
    path, model = tmp_path / "w.safetensors", layer(seed=9)
    tensors, before = layer().state_dict(), state(model)
    save_file(tensors, path, signed(tensors, "{no json"))
    with pytest.raises(ValueError, match=r"w.safetensors was altered: its card must be JSON: Exp"):
        load_weights(path, model)
    assert same(state(model), before)


def test_weights_of_another_model_are_refused_and_the_model_kept(tmp_path):
    path = tmp_path / "w.safetensors"
    save_weights(path, layer(3, 5))
    for other, message in [
        (layer(3, 7), r"0.weight is \(5, 3\) in the file and \(7, 3\) in the model"),
        (nn.Linear(3, 5), "weight is missing in the file"),
        (nn.Sequential(nn.Linear(3, 5)), r"is \(5,\) in the file and missing in the model"),
    ]:
        before = state(other)
        with pytest.raises(ValueError, match="is for another model: .*" + message):
            load_weights(path, other)
        assert same(state(other), before)


def test_a_card_that_is_no_json_is_refused_and_nothing_written(tmp_path):
    with pytest.raises(TypeError, match=r"card must"):
        save_weights(tmp_path / "w", layer(), card={"a": {1}})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("[" * 20_000 + "]" * 20_000, "was altered: its card must be JSON, at most 50 deep"),
        ('{"a": 1, "a": 2}', "was altered: its card must be JSON: it holds 'a' more than once"),
        ("[]", "was altered: its card is a list, not an object"),
        ("3", "was altered: its card is a int, not an object"),
    ],
)
def test_a_card_that_is_none_is_refused_though_its_weights_are_right(tmp_path, card, message):
    path, tensors = tmp_path / "w.safetensors", layer().state_dict()
    save_file(tensors, path, signed(tensors, card))
    with pytest.raises(ValueError, match=rf"w\.safetensors {message}$"):
        read_weights(path)


def test_weights_that_are_no_numbers_of_a_model_are_refused(tmp_path):
    path, model = tmp_path / "w.safetensors", nn.Linear(3, 5)
    known = safetensors.torch._SIZE  # before 0.5 a file could hold no complex numbers
    for dtype in {torch.int8, torch.bool, torch.complex64} & set(known):
        tensors = {name: tensor.to(dtype) for name, tensor in model.state_dict().items()}
        save_file(tensors, path, signed(tensors, "{}"))
        with pytest.raises(ValueError, match=rf"weight is \(5, 3\) of {dtype} in the file and"):
            load_weights(path, model)


def test_scales_without_their_rows_are_refused(tmp_path):
    path, whole = tmp_path / "w.safetensors", torch.ones(2, 3, dtype=torch.int8)
    for tensors in (
        {"a/scale": torch.ones(2)},
        {"a": whole, "a/scale": torch.tensor(1.0)},
        {"a": whole[0], "a/scale": torch.ones(3)},
        {"a": whole, "a/scale": torch.ones(2, 1)},
        {"a": whole, "a/scale": torch.ones(2).bool()},
    ):
        save_file(tensors, path, signed(tensors, "{}"))
        with pytest.raises(ValueError, match=r"was altered: a/scale must have a matrix of int8"):
            read_weights(path)


def test_a_card_that_could_not_be_read_back_is_not_written(tmp_path):
    card = {}
    for _ in range(60):
        card = {"card": card}
    with pytest.raises(ValueError, match="card must"):
        save_weights(tmp_path / "w", layer(), card=card)
    assert not list(tmp_path.iterdir())


def test_a_model_without_numbers_is_neither_written_nor_filled(tmp_path):
    path, hollow = tmp_path / "w.safetensors", nn.Linear(3, 5, device="meta")
    message = "model's weight must hold numbers, got a tensor on meta, which holds none"
    with pytest.raises(ValueError, match=message):
        save_weights(path, hollow)
    assert not list(tmp_path.iterdir())
    save_weights(path, nn.Linear(3, 5))
    with pytest.raises(ValueError, match=message):
        load_weights(path, hollow)


# Runs


def test_a_run_comes_back_whole(tmp_path):
    checkpoint = TrainingCheckpoint(tmp_path / "deep" / "run.pt")
    model, optimizer, scheduler, history = started()
    history.loss += [3.0, 2.5]
    history.evaluations += [{"em": 0.5, "text": "ü", "many": [1, (2, 3)], "t": torch.ones(2)}]
    checkpoint.keep(2, model, optimizer, scheduler, history)
    expected = torch.rand(3)
    others = started(seed=9)
    assert not same(state(others[0]), state(model))
    assert checkpoint.resume(*others) == 2
    assert torch.equal(torch.rand(3), expected)
    assert same(state(others[0]), state(model))
    assert others[3].loss == [3.0, 2.5]
    assert str(others[3].evaluations) == str(history.evaluations)
    assert others[2].state_dict() == scheduler.state_dict()
    for one, other in zip(optimizer.state.values(), others[1].state.values(), strict=True):
        assert same(one, other)


def test_nothing_kept_means_a_fresh_start(tmp_path):
    run = started()
    before = state(run[0])
    assert TrainingCheckpoint(tmp_path / "run.pt").resume(*run) == 0
    assert same(state(run[0]), before)


def test_truncated_or_altered_runs_are_refused_and_nothing_changed(tmp_path):
    checkpoint = TrainingCheckpoint(tmp_path / "run.pt")
    checkpoint.keep(2, *started())
    whole = checkpoint.path.read_bytes()
    run = started(seed=9)
    before, generator = state(run[0]), torch.get_rng_state()
    spoiled = [whole[:n] for n in (0, 1, 31, 32, 33, len(whole) // 2, len(whole) - 1)]
    for place in range(0, len(whole), len(whole) // 23):
        spoiled.append(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
    for content in spoiled:
        checkpoint.path.write_bytes(content)
        with pytest.raises(ValueError, match=r"run.pt is not a whole training checkpoint: it was "):
            checkpoint.resume(*run)
    assert same(state(run[0]), before)
    assert torch.equal(torch.get_rng_state(), generator)


def test_a_run_of_another_model_is_refused_and_the_model_kept(tmp_path):
    checkpoint = TrainingCheckpoint(tmp_path / "run.pt")
    checkpoint.keep(2, *started(inputs=3))
    run = started(inputs=5)
    before = state(run[0])
    message = r"run.pt is for another model: 0.weight is \(5, 3\) in the file and \(5, 5\) in the"
    with pytest.raises(ValueError, match=message):
        checkpoint.resume(*run)
    assert same(state(run[0]), before)


def test_an_evaluation_that_could_not_be_read_back_is_refused_at_once(tmp_path):
    checkpoint = TrainingCheckpoint(tmp_path / "run.pt")
    run = started()
    for wrong in (History(), lambda: 3, [{"scores": History()}]):
        run[3].evaluations[:] = [wrong]
        with pytest.raises(TypeError, match="evaluate must"):
            checkpoint.keep(2, *run)
    assert not list(tmp_path.iterdir())


def test_a_run_of_another_version_is_refused_and_the_model_kept(tmp_path):
    checkpoint, run = TrainingCheckpoint(tmp_path / "run.pt"), started(seed=9)
    before = state(run[0])
    for content in ([3], {"step": 3}):
        saved = as_bytes(content)
        checkpoint.path.write_bytes(hashlib.sha256(saved).digest() + saved)
        with pytest.raises(ValueError, match=r"run.pt was kept by another version of the library"):
            checkpoint.resume(*run)
    assert same(state(run[0]), before)


def test_a_place_that_cannot_be_written_is_found_before_the_first_step(tmp_path):
    (tmp_path / "plain").write_text("")
    checkpoint = TrainingCheckpoint(tmp_path / "plain" / "run.pt")
    with pytest.raises(OSError, match=r"cannot be written: .*plain/run\.pt"):
        checkpoint.resume(*started())


def test_refuses_a_folder(tmp_path):
    with pytest.raises(ValueError, match=r"path must"):
        TrainingCheckpoint(tmp_path)


def test_a_run_is_kept_every_few_steps_and_at_its_end(tmp_path, tiny, stream):
    kept = []

    class Watched(TrainingCheckpoint):
        def keep(self, step, *run):
            kept.append(step)
            super().keep(step, *run)

    def loss(model, batch):
        return model.decoder.readout.bias.square().sum()

    settings = {"loss": loss, "learning_rate": 0.1, "progress": False}
    fit(tiny(), stream(), steps=13, checkpoint=Watched(tmp_path / "run.pt", every=5), **settings)
    assert kept == [5, 10, 13]


ENDLESS = """
import sys, torch
from torch import nn
from gates2heads.training.resuming.training_checkpoints import TrainingCheckpoint
from gates2heads.training.loop import History
torch.manual_seed(1)
model = nn.Linear(101, 997)
optimizer = torch.optim.AdamW(model.parameters())
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
checkpoint = TrainingCheckpoint(sys.argv[1], every=1)
step = 0
while True:
    step += 1
    with torch.no_grad():
        model.weight.fill_(step)
    checkpoint.keep(step, model, optimizer, scheduler, History(loss=[float(step)] * step))
    print(step, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.0, 0.003, 0.011])
def test_a_killed_process_leaves_a_whole_file(tmp_path, wait):
    path = tmp_path / "run.pt"
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ) as process:
        for _ in range(3):
            written = int(process.stdout.readline())
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
    model = nn.Linear(101, 997)
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    history = History()
    step = TrainingCheckpoint(path).resume(model, optimizer, scheduler, history)
    assert step >= written == 3
    assert (model.weight == step).all()
    assert history.loss == [float(step)] * step


def test_the_header_of_weights_is_plain_json(tmp_path):
    """Other programs can read the card: safetensors begins with a length and a JSON header."""
    save_weights(tmp_path / "w", layer(), card=CARD)
    content = (tmp_path / "w").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    assert json.loads(header["__metadata__"]["card"]) == CARD
    assert header["0.weight"]["shape"] == [5, 3]
