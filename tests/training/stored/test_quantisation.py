"""Quantisation: one byte a weight, an error that is bounded, and a clear word when it cannot be."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.training.checkpoints import load_weights, read_weights, save_weights
from gates2heads.training.quantisation import LARGEST, SCALE, dequantise, quantise


def test_by_hand():
    # The first row's largest weight is 12.7, so a step is 0.1; 0.14 is nearest to one step, and
    # −6.35 lies between 63 and 64 steps: the even one is taken. A row of zeros stays zero.
    matrix = torch.tensor([[12.7, 0.14, -6.35], [0.0, 0.0, 0.0]], dtype=torch.double)
    packed = quantise({"w": matrix, "b": torch.tensor([0.3])})
    assert packed["w"].tolist()[1] == [0, 0, 0]
    assert packed["w"][0, :2].tolist() == [127, 1]
    assert packed["w"][0, 2] in (-63, -64)
    assert packed["w" + SCALE].tolist() == pytest.approx([0.1, 0.0])
    assert packed["b"].tolist() == [pytest.approx(0.3)]
    back = dequantise(packed)
    assert back["w"].dtype == torch.float32
    assert back["w"][0, :2].tolist() == pytest.approx([12.7, 0.1])


@given(seed=st.integers(0, 2**31), size=st.floats(1e-20, 1e20))
def test_no_weight_moves_by_more_than_half_a_step(seed, size):
    torch.manual_seed(seed)
    matrix = torch.randn(5, 3, 2) * size
    back = dequantise(quantise({"w": matrix}))["w"]
    assert back.shape == matrix.shape
    step = matrix.flatten(1).abs().amax(dim=1) / LARGEST
    assert ((back - matrix).abs().flatten(1) <= 0.501 * step[:, None]).all()


def test_what_is_no_matrix_of_weights_stays():
    tensors = {"vector": torch.randn(7), "count": torch.tensor([[3]]), "none": torch.zeros(0, 5)}
    packed = quantise(tensors)
    assert packed.keys() == tensors.keys()
    assert all(torch.equal(packed[name], tensors[name]) for name in tensors)


def test_a_small_file_is_a_quarter_and_loads_like_any_other(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(211, 223), torch.nn.LayerNorm(223))
    whole, small = tmp_path / "whole.safetensors", tmp_path / "small.safetensors"
    save_weights(whole, model)
    save_weights(small, model, card={"seed": 3}, small=True)
    assert small.stat().st_size < 0.28 * whole.stat().st_size
    again = torch.nn.Sequential(torch.nn.Linear(211, 223), torch.nn.LayerNorm(223))
    assert load_weights(small, again) == {"seed": 3}
    inputs = torch.randn(17, 211)
    torch.testing.assert_close(again(inputs), model(inputs), rtol=0, atol=0.05)
    assert not torch.equal(again[0].weight, model[0].weight)


def test_an_altered_small_file_is_refused(tmp_path):
    path = tmp_path / "small.safetensors"
    save_weights(path, torch.nn.Linear(11, 13), small=True)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="was altered: what it holds does not match"):
        read_weights(path)


def test_bad_input():
    with pytest.raises(ValueError, match="w must"):
        quantise({"w": torch.full((2, 2), torch.nan)})
    with pytest.raises(ValueError, match="a name that ends with /scale, got"):
        quantise({"w/scale": torch.zeros(2, 2)})
    for packed in (
        {"w/scale": torch.zeros(2)},
        {"w/scale": torch.zeros(2), "w": torch.zeros(2, 2)},
        {"w/scale": torch.zeros(3), "w": torch.zeros(2, 2, dtype=torch.int8)},
    ):
        with pytest.raises(ValueError, match="w/scale must have a matrix of int8 rows beside it"):
            dequantise(packed)
