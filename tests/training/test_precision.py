"""Which precision a machine trains in, and how a card names the machine."""

import sys
from functools import partial

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState

from gates2heads.training.parallel import (
    OneProcess,
    Trainer,
    best_device,
    machine,
    precision_here,
    prepare_accelerator,
    processor,
)


def test_auto_is_what_the_processor_multiplies_in(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for capable, expected in (
        ({"amx_bf16": True}, "bf16"),
        ({"avx512_bf16": True, "amx_bf16": False}, "bf16"),
        ({"avx2": True}, "no"),
        ({}, "no"),
    ):
        ask = partial(dict, capable)
        monkeypatch.setattr(torch.cpu, "get_capabilities", ask, raising=False)
        assert precision_here("auto") == expected


def test_auto_is_full_precision_where_torch_cannot_be_asked(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert precision_here("auto") == "no"


def test_auto_on_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for supported, expected in ((True, "bf16"), (False, "fp16")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda supported=supported: supported)
        assert precision_here("auto") == expected


def test_auto_without_accelerate_is_full_precision_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setitem(sys.modules, "accelerate", None)  # as if it was not installed
    for capable, told in (({"avx512_bf16": True}, "would train in bf16"), ({}, "")):
        ask = partial(dict, capable)
        monkeypatch.setattr(torch.cpu, "get_capabilities", ask, raising=False)
        assert precision_here("auto") == "no"
        said = capsys.readouterr().err
        assert told in said
        assert bool(said) == bool(told)


def test_other_words_stand_for_themselves():
    assert [precision_here(word) for word in ("no", "bf16", "fp16")] == ["no", "bf16", "fp16"]


def test_a_card_names_the_machine():
    told = machine(prepare_accelerator("no"))
    assert told["processes"] == 1
    assert told["threads"] == torch.get_num_threads()
    assert told["precision"] == "no"
    assert told["device"]
    assert processor()


def test_one_process_in_full_precision_needs_no_accelerate(monkeypatch):
    monkeypatch.setitem(sys.modules, "accelerate", None)  # as if it was not installed
    assert type(prepare_accelerator()) is type(prepare_accelerator("no")) is OneProcess
    for name, value in (("LOCAL_RANK", "0"), ("ACCELERATE_MIXED_PRECISION", "bf16")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(ModuleNotFoundError, match="needs the package accelerate"):
                prepare_accelerator()
    with pytest.raises(ModuleNotFoundError, match=r"or train in one process with training\.prec"):
        prepare_accelerator("bf16")


def test_both_can_train_and_choose_the_same_device():
    ours, theirs = OneProcess(), Accelerator()
    assert isinstance(ours, Trainer)
    assert isinstance(theirs, Trainer)
    assert ours.device == theirs.device == best_device()
    AcceleratorState._reset_state(reset_partial_state=True)
    assert type(prepare_accelerator("bf16")) is Accelerator
