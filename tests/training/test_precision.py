"""Which precision a machine trains in, and how a card names the machine."""

from functools import partial

import torch

from gates2heads.training.parallel import machine, precision_here, prepare_accelerator, processor


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


def test_other_words_stand_for_themselves():
    assert [precision_here(word) for word in ("no", "bf16", "fp16")] == ["no", "bf16", "fp16"]


def test_a_card_names_the_machine():
    told = machine(prepare_accelerator("no"))
    assert told["processes"] == 1
    assert told["threads"] == torch.get_num_threads()
    assert told["precision"] == "no"
    assert told["device"]
    assert processor()
