"""The checks of tensors: dense, on the right device, and with numbers that can be looked at."""

import pytest
import torch
from torch import nn

from gates2heads.checks.tensors import (
    check_dense,
    check_device,
    check_dtypes,
    check_filled,
    check_mask,
    check_tokens,
    check_width,
    takes,
)

META = torch.ones(2, 3, device="meta")
SPARSE = torch.eye(3).to_sparse()


def test_what_is_right_passes():
    check_dense("x", torch.ones(2, 3).T)
    check_filled("x", torch.ones(0))
    check_device(nn.Linear(3, 2), x=torch.ones(2), y=None, z=[META])
    check_device(nn.ReLU(), x=META)  # without a weight, any device is right
    check_device(META, x=META)
    check_dtypes(nn.Linear(3, 2, device="meta"), x=META)
    check_mask(META.bool(), META.shape, like=META)


@pytest.mark.parametrize("check", [check_dense, check_filled])
def test_what_is_not_dense_is_named(check):
    with pytest.raises(TypeError, match=r"^x must be a dense tensor, got torch.sparse_coo$"):
        check("x", SPARSE)
    with pytest.raises(TypeError, match=r"^x must be a dense tensor, got a nested one$"):
        check("x", torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged))
    with pytest.raises(TypeError, match="x must be a dense tensor"):
        check_width("x", SPARSE, 3)
    with pytest.raises(TypeError, match="mask must be a dense tensor"):
        check_mask(SPARSE.bool(), (3, 3))
    with pytest.raises(TypeError, match="x must be a dense tensor"):
        check_tokens("x", SPARSE.long(), 5)


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of its own unfinished kinds of tensors
def test_numbers_in_bytes_with_a_scale_are_no_plain_ones():
    quantised = torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8)
    with pytest.raises(TypeError, match=r"^x must be a dense tensor, got a quantised one$"):
        check_dense("x", quantised)


def test_numbers_that_are_not_there_are_named():
    sentence = r"^x must hold numbers, got a tensor on meta, which holds none$"
    with pytest.raises(ValueError, match=sentence):
        check_filled("x", META)
    with pytest.raises(ValueError, match=sentence):
        check_tokens("x", META.long(), 5)


def test_another_device_is_named_with_that_of_the_layer():
    sentence = "x must be on {} like the layer, got a tensor on {}$"
    layer, on_meta = nn.Linear(3, 2), nn.Linear(3, 2, device="meta")
    with pytest.raises(ValueError, match=sentence.format("cpu", "meta")):
        check_device(layer, x=META)
    with pytest.raises(ValueError, match=sentence.format("meta", "cpu")):
        check_device(on_meta, x=torch.ones(2, 3))
    with pytest.raises(ValueError, match=sentence.format("cpu", "meta")):
        check_dtypes(layer, x=META)
    with pytest.raises(ValueError, match=r"^y must be on cpu like what goes with it, got a"):
        check_dtypes(nn.ReLU(), x=torch.ones(2, 3), y=META)
    with pytest.raises(ValueError, match=r"^mask must be on cpu like what goes with it, got"):
        check_mask(META.bool(), (2, 3), like=torch.ones(2, 3))


def test_what_cannot_be_called_takes_nothing():
    for thing in (3, 10**5000, "len", None, nn.Linear):
        assert not takes(thing, 3)
    assert takes(len, 3)
    assert not takes(lambda: None, 3)
