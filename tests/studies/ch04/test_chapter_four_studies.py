"""The studies of chapter 4: what the changed networks compute, and a small run."""

import pytest
import torch

from gates2heads.data.batches.pairs import collate
from studies.ch04 import encoder_summaries, position_by_position
from studies.ch04.encoder_summaries import DETACHED, FIRST_STATE, GRADIENT, UNITS

BATCH = collate([([4, 5, 6, 2], [4, 5, 2]), ([5, 2], [6, 2])])


def made(setting):
    torch.manual_seed(0)
    return encoder_summaries.build(setting, 8, 9)


def encoder_gradient(model):
    model(BATCH).square().sum().backward()
    return model.encoder.embedding.weight.grad


def test_the_gradient_alone_leaves_the_outputs_of_the_first_state():
    alone, first, detached = (made(name) for name in (GRADIENT, FIRST_STATE, DETACHED))
    torch.testing.assert_close(alone(BATCH), first(BATCH))
    assert not torch.allclose(alone(BATCH), detached(BATCH))
    assert not torch.allclose(encoder_gradient(alone), encoder_gradient(first))


@pytest.mark.parametrize("name", [FIRST_STATE, DETACHED, "every step, both ways"])
@pytest.mark.parametrize("bias", [2, 4])
def test_the_bias_is_added_to_the_update_gate_alone(name, bias):
    given, plain = (
        made(setting).state_dict() for setting in (f"{name}, update-gate bias +{bias}", name)
    )
    cell = "decoder.cell.bias_ih"
    added = given.pop(cell) - plain.pop(cell)
    torch.testing.assert_close(added[UNITS : 2 * UNITS], torch.full((UNITS,), float(bias)))
    assert added[:UNITS].abs().max() == added[2 * UNITS :].abs().max() == 0
    assert all(torch.equal(given[key], plain[key]) for key in plain)


@pytest.mark.slow
def test_another_output_layer_is_trained(monkeypatch):
    monkeypatch.setattr(position_by_position, "STEPS", 80)
    sizes = {
        name: position_by_position.run(name, 0)["parameters"]
        for name in ("both ways", *position_by_position.READOUTS)
    }
    plain, *others = sizes.values()
    assert plain < min(others) == max(others)
