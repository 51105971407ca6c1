"""The studies of chapter 7: by hand, and a short run of each."""

import pytest
import torch
from torch import nn

from studies.ch07 import (
    ablation,
    budgets,
    cache_lengths,
    compiled_gru,
    complexity,
    depth,
    parts,
    shared_layers,
    step_profile,
)


def test_the_cost_of_a_convolution_by_hand():
    found = complexity.measured("convolution", [(7, 5), (14, 5)])
    # S · D outputs, each of 3 D products and sums
    assert found["products"] == [2 * 7 * 5 * 3 * 5, 2 * 14 * 5 * 3 * 5]
    assert all(took > 0 for took in found["milliseconds"])
    # the input, 4 bytes a number
    assert found["kept"] == [4 * 7 * 5, 4 * 14 * 5]


def test_the_cost_of_self_attention_by_hand(monkeypatch):
    monkeypatch.setattr(complexity, "PASSES", 2)
    length, width = 7, 8
    wanted = 2 * (4 * length * width**2 + 2 * length**2 * width)
    for kind in ("self-attention", "self-attention, weights kept"):
        assert complexity.measured(kind, [(length, width)])["products"] == [wanted]
    kept = [
        complexity.measured(kind, [(64, 8), (128, 8)])["kept"]
        for kind in ("self-attention", "self-attention, weights kept")
    ]
    assert kept[0][1] / kept[0][0] < 2.1
    assert kept[1][1] / kept[1][0] > 3


def test_the_cost_of_a_recurrence_by_hand():
    found = complexity.measured("recurrence", [(7, 5)])
    # three gates read the input and the state
    assert found["products"] == [2 * 7 * 6 * 5**2]


def test_only_what_a_pass_keeps_counts():
    layer = nn.Linear(3, 2)
    # the input alone; the weight is the layer's own
    assert complexity.kept_bytes(layer, layer, torch.randn(1, 7, 3)) == 4 * 7 * 3


def test_a_short_run_of_the_study_of_cost(monkeypatch):
    monkeypatch.setattr(complexity, "LENGTHS", (4, 8))
    monkeypatch.setattr(complexity, "WIDTHS", (4, 8, 16))
    monkeypatch.setattr(complexity, "PASSES", 1)
    threads = torch.get_num_threads()
    try:
        row = complexity.run("recurrence", 0)
    finally:
        torch.set_num_threads(threads)
    assert len(row["over_length"]["kept"]) == 2
    assert len(row["over_width"]["milliseconds"]) == 3


@pytest.mark.parametrize("change", ["whole", "no warm-up", "post-norm, BatchNorm", "few dates"])
def test_a_short_run_of_the_ablations(change, monkeypatch):
    monkeypatch.setattr(ablation, "STEPS", 4)
    monkeypatch.setattr(ablation, "WARMUP", 2)
    monkeypatch.setattr(ablation, "BIN", 2)
    monkeypatch.setattr(ablation, "FEW", 64)
    row = ablation.run(change, 0)
    assert len(row["losses"]) == 2
    assert 0 <= row["exact"] <= row["next_right"] <= 1
    assert 0 < row["sure"] < 1
    assert row["forced"] > 0
    assert len(row["written"]) == ablation.SHOWN


def test_a_budget_changes_the_steps_or_the_rate(monkeypatch):
    monkeypatch.setattr(ablation, "WARMUP", 2)
    monkeypatch.setattr(ablation, "BIN", 2)
    monkeypatch.setattr(ablation, "STEPS", 4)
    monkeypatch.setitem(budgets.BUDGETS, "1,200 steps", {"steps": 8})
    threads = torch.get_num_threads()
    try:
        found = [budgets.run(f"no warm-up, {name}", 0)["losses"] for name in budgets.BUDGETS]
    finally:
        torch.set_num_threads(threads)
    assert [len(losses) for losses in found] == [2, 2, 4]
    assert found[0] != found[1]


def test_a_component_is_removed_in_one_part_of_the_model():
    removed = {
        setting: [
            name
            for name, module in parts.changed(setting).named_modules()
            if isinstance(module, parts.NoResidual)
        ]
        for setting in parts.WHERE
    }
    assert [len(names) for names in removed.values()] == [6, 9, 3]
    assert all("decoder" in name for name in removed["no residuals around cross-attention"])
    for kept, gone in (("encoder", "decoder"), ("decoder", "encoder")):
        model = parts.changed(f"no positions in the {gone}")
        sides = {"encoder": model.source_positions, "decoder": model.target_positions}
        assert isinstance(sides[gone], parts.Unplaced)
        assert not isinstance(sides[kept], parts.Unplaced)


def test_five_blocks_of_attention_have_the_parameters_of_three_complete_ones():
    five, whole = (
        sum(parameter.numel() for parameter in model.parameters())
        for model in (
            parts.changed("attention alone, five blocks"),
            parts.changed_transformer("whole"),
        )
    )
    assert whole < five < 1.02 * whole


def test_a_short_run_of_a_part(monkeypatch):
    monkeypatch.setattr(ablation, "STEPS", 4)
    monkeypatch.setattr(ablation, "WARMUP", 2)
    monkeypatch.setattr(ablation, "BIN", 2)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    found = [parts.run(f"no positions in the {one}coder", 0)["losses"] for one in ("en", "de")]
    assert found[0] != found[1]


def test_norms_at_the_ends_of_the_stacks_only(monkeypatch):
    monkeypatch.setattr(depth, "BLOCKS", 2)
    kinds = {
        name
        for name, module in depth.deep(depth.FINAL).named_modules()
        if isinstance(module, depth.LayerNorm)
    }
    assert kinds == {"encoder_norm", "decoder_norm"}


@pytest.mark.parametrize("setting", shared_layers.SETTINGS)
def test_a_short_run_of_the_rounds(setting, monkeypatch):
    monkeypatch.setattr(shared_layers, "STEPS", 4)
    monkeypatch.setattr(shared_layers, "WARMUP", 2)
    monkeypatch.setattr(shared_layers, "BIN", 2)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    row = shared_layers.run(setting, 0)
    assert len(row["losses"]) == 2
    assert row["forced"] > 0
    assert ("rounds" in row) == (setting == "one block, three rounds")


def test_other_rounds_change_the_answer_and_leave_the_model_as_it_was():
    torch.manual_seed(0)
    model, data = (
        shared_layers.model_of("one block, three rounds").eval(),
        shared_layers.date_data(),
    )
    found = {one["rounds"]: one["forced"] for one in shared_layers.other_rounds(model, data)}
    assert found[3] == pytest.approx(ablation.measured(model, data)["forced"])
    assert len(set(found.values())) == len(shared_layers.ROUNDS)
    assert (model.encoder_applications, model.decoder_applications) == (3, 3)


def test_with_the_cache_and_without_it_writes_the_same(monkeypatch):
    monkeypatch.setattr(cache_lengths, "LENGTHS", (2, 5))
    monkeypatch.setattr(cache_lengths, "ROUNDS", {"kept": 1, "anew": 1})
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    kept, anew = (cache_lengths.run(way, 0) for way in ("kept", "anew"))
    assert kept["tokens"] == anew["tokens"]
    assert len(set(kept["tokens"])) == 5
    assert kept["kept_bytes"][1] / kept["kept_bytes"][0] == 5 / 2
    assert 0 < kept["seconds"][0] < kept["seconds"][1]


def test_a_short_run_of_the_study_of_depth(monkeypatch):
    monkeypatch.setattr(depth, "STEPS", 2)
    monkeypatch.setattr(depth, "WARMUP", 0.5)
    monkeypatch.setattr(depth, "BIN", 1)
    monkeypatch.setattr(depth, "BLOCKS", 2)
    threads = torch.get_num_threads()
    try:
        found = {one: depth.run(one, 0) for one in ("whole, rate 0.003", "no norms, rate 0.003")}
    finally:
        torch.set_num_threads(threads)
    for row in found.values():
        assert row["failed"] is None
        assert len(row["losses"]) == len(row["gradients"]) == 2
    assert found["whole, rate 0.003"]["losses"] != found["no norms, rate 0.003"]["losses"]


def test_the_settings_of_the_study_of_depth_are_read():
    assert depth.asked("no norms, rate 0.003") == ("no norms", 0.003, 100, depth.BLOCKS)
    change = "whole" + depth.LINEAR
    assert depth.asked(f"{change}, rate 0.01, 400 steps") == (change, 0.01, 400, depth.BLOCKS)
    assert depth.asked(f"{change}, rate 0.003, 24 blocks") == (change, 0.003, 100, 24)
    model = depth.deep("no norms" + depth.LINEAR, 1)
    assert len(model.encoder_layers) == len(model.decoder_layers) == 1
    assert model.encoder_layers[0].self_attn.in_proj_bias.abs().max() > 0


def test_a_short_run_of_the_profile_of_a_step(monkeypatch):
    monkeypatch.setattr(step_profile, "LENGTHS", (1, 3))
    monkeypatch.setattr(step_profile, "PASSES", 2)
    monkeypatch.setattr(step_profile, "PROFILED", 1)
    threads = torch.get_num_threads()
    try:
        row = step_profile.run("prefixes", 0)
    finally:
        torch.set_num_threads(threads)
    # 3 blocks of width 256 and hidden width 512 with S = 11, and the projection to 8,000 tokens
    a_place = [6 * 256**2 + 2 * 256 * 512 + 2 * 11 * 256 + 2 * t * 256 for t in (1, 3)]
    assert row["macs"] == [3 * a_place[0] + 8000 * 256, 3 * 3 * a_place[1] + 8000 * 256]
    assert all(0 < share < 1 for share in row["products"])


def test_a_short_run_of_the_compiled_recurrence(monkeypatch):
    monkeypatch.setattr(compiled_gru, "LENGTHS", (4, 8))
    monkeypatch.setattr(complexity, "PASSES", 1)
    threads = torch.get_num_threads()
    try:
        rows = [compiled_gru.run(kind, 0) for kind in compiled_gru.LAYERS]
    finally:
        torch.set_num_threads(threads)
    assert all(len(row["milliseconds"]) == 2 for row in rows)
    assert all(took > 0 for row in rows for took in row["milliseconds"])
