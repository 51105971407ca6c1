"""Several processes: shares add up to the batch, and two train as one does."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator

from gates2heads.data.batches.pairs import batches, collate
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.parallel import (
    joint_loss,
    on_main,
    own_noise,
    prepare_accelerator,
    share,
)
from tests import hangs
from tests.training.conftest import build, copying_pairs

STEPS = 13


def lengths():
    """Five pairs with 2, 3, 5, 7 and 11 target tokens: 28 in all."""
    return collate([([3, 2], [*[3] * (count - 1), 2]) for count in (2, 3, 5, 7, 11)])


def test_shares_by_hand():
    # Of two processes the first takes pairs 0, 2, 4 with 2 + 5 + 11 = 18 of the 28 tokens.
    batch = lengths()
    first, weight = share(batch, 0, 2)
    assert weight == pytest.approx(18 / 28)
    assert torch.equal(first.target_mask.sum(dim=1), torch.tensor([2, 5, 11]))
    second, weight = share(batch, 1, 2)
    assert weight == pytest.approx(10 / 28)
    assert torch.equal(second.target_mask.sum(dim=1), torch.tensor([3, 7]))
    for field in fields(batch):
        assert torch.equal(getattr(first, field.name), getattr(batch, field.name)[[0, 2, 4]])


def test_a_process_without_a_pair_has_no_weight():
    part, weight = share(lengths(), 6, 7)
    assert weight == 0.0
    assert len(part) == 1


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_losses_and_gradients_of_the_shares_add_up(count):
    """What the engine will average, done by hand in one process."""
    model, batch = build().double(), lengths()
    whole = sequence_loss(model, batch)
    expected = torch.autograd.grad(whole, model.parameters())
    parts = [share(batch, number, count) for number in range(count)]
    losses = [sequence_loss(model, part) for part, _ in parts]
    weights = [weight for _, weight in parts]
    total = sum(loss * weight for loss, weight in zip(losses, weights, strict=True))
    assert total.item() == pytest.approx(whole.item(), abs=1e-7)
    for ours, theirs in zip(torch.autograd.grad(total, model.parameters()), expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)


def test_one_process_does_nothing_of_its_own():
    accelerator, batch = Accelerator(cpu=True), lengths()
    state = torch.get_rng_state()
    value = torch.tensor(3.0, requires_grad=True)
    scalar, whole = joint_loss(lambda model, given: value, None, batch, accelerator)
    assert scalar is value
    assert whole == 3.0
    assert on_main(accelerator, lambda: 7) == 7
    with own_noise(accelerator):
        assert torch.equal(torch.get_rng_state(), state)


def test_only_a_batch_can_be_shared():
    with pytest.raises(TypeError, match=r"batches must"):
        share(3, 0, 2)


def train(folder):
    """What each process of the test below runs; the main one writes what came of it."""
    torch.set_num_threads(1)
    accelerator, model, calls = prepare_accelerator(), build(), []
    # 31 pairs in batches of 6: the last batch of a round holds one pair, less than the processes.
    stream = [batch for epoch in range(4) for batch in batches(copying_pairs(), 6, seed=epoch)]

    def evaluate(trained):
        calls.append(1)
        torch.rand(7)  # must not set the processes' generators apart
        return sum(p.sum().item() for p in trained.parameters())

    history = fit(
        model,
        stream,
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=0.02,
        evaluate=evaluate,
        evaluate_at=(5, STEPS),
        early_stopping=EarlyStopping(5, lambda answer: 0.0),
        accelerator=accelerator,
        progress=False,
    )
    drawn = torch.rand(()).item()
    with own_noise(accelerator):
        noise = torch.rand(()).item()
    result = {
        "loss": history.loss,
        "evaluations": history.evaluations,
        "calls": len(calls),
        "weights": [p.sum().item() for p in model.parameters()],
        "processes": accelerator.num_processes,
        "drawn": drawn,
        "noise": noise,
    }
    Path(folder, f"{accelerator.process_index}.json").write_text(json.dumps(result))
    accelerator.end_training()


def launch(*command, processes=2, **more):
    """Run a command of Python under torchrun, on this machine alone."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    if sys.platform == "linux":
        settings["GLOO_SOCKET_IFNAME"] = "lo"  # a machine's name may lead to no address offline
    options = ["--nproc-per-node", str(processes), "--master-addr=127.0.0.1"]
    options += [f"--master-port={port}", *command]
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", *options],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=hangs.PROCESS,
        check=False,
        **more,
    )


@pytest.mark.slow
def test_two_processes_train_as_one(tmp_path):
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    train(alone)
    root = Path(__file__).resolve().parents[2]
    done = launch("-m", "tests.training.test_parallel", str(together), cwd=root)
    assert done.returncode == 0, done.stderr
    one = json.loads((alone / "0.json").read_text())
    two = [json.loads((together / f"{number}.json").read_text()) for number in range(2)]
    assert [one["processes"], *(result["processes"] for result in two)] == [1, 2, 2]
    for result in two:
        assert result["loss"] == pytest.approx(one["loss"], abs=1e-5)
        assert result["evaluations"] == pytest.approx(one["evaluations"], abs=1e-3)
        assert result["weights"] == pytest.approx(one["weights"], abs=1e-3)
    assert two[0]["loss"] == two[1]["loss"]
    assert two[0]["weights"] == two[1]["weights"]
    assert [result["calls"] for result in two] == [2, 0]  # the main process evaluates
    assert two[0]["drawn"] == two[1]["drawn"]
    assert two[0]["noise"] != two[1]["noise"]


if __name__ == "__main__":
    train(sys.argv[1])
