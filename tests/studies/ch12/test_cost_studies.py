"""Studies of costs and of the published models in chapter 12: small runs, and what is stored."""

import pytest
import torch

from gates2heads.book.ch12.exchanges import VARIANTS
from gates2heads.book.ch12.python_model import SIZES
from gates2heads.book.studies import Study, read_study, results_of
from gates2heads.models.costs import kv_cache_bytes
from gates2heads.models.language.decoder_only import DecoderOnly
from studies.ch12 import generation_costs, product_costs, step_costs

SMALL = {"d_model": 8, "nhead": 2, "num_layers": 2, "dim_feedforward": 12, "max_length": 9}


@pytest.fixture
def one_thread(monkeypatch):
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)


# ---- the time of a generated token


@pytest.mark.parametrize("setting", ["cache", "no cache", "groups-3 wide"])
def test_a_short_run_of_generation(one_thread, monkeypatch, setting):
    monkeypatch.setattr(generation_costs, "POSITIONS", (2, 5))
    monkeypatch.setattr(generation_costs, "ROUNDS", 2)
    monkeypatch.setattr(generation_costs, "MANY", 3)
    read = []
    step = DecoderOnly.step
    monkeypatch.setattr(
        DecoderOnly, "step", lambda *given: read.append(len(given[2])) or step(*given)
    )
    told = generation_costs.run(setting, 0)
    assert told["positions"] == [2, 5]
    assert len(told["milliseconds"]) == 2
    assert min(told["milliseconds"]) > 0
    assert told["last"] == told["milliseconds"][-1]
    groups = 3 if "groups" in setting else 2
    assert told["bytes"] == kv_cache_bytes(6, groups, 32, length=1, number_format="float32")
    # with the cache, a step reads one token of each sequence: in two rounds at both positions
    assert read == [] if setting == "no cache" else [3 if "wide" in setting else 1] * 4


def test_a_narrow_model_is_timed_in_turns_with_the_released_one(one_thread, monkeypatch):
    monkeypatch.setattr(generation_costs, "POSITIONS", (2, 5))
    monkeypatch.setattr(generation_costs, "ROUNDS", 2)
    told = generation_costs.run("narrow", 0)
    assert len(told["milliseconds"]) == len(told["beside"]) == 2
    assert min(told["milliseconds"] + told["beside"]) > 0
    narrow = generation_costs.model_of("narrow").settings
    for name in ("num_layers", "nhead", "num_key_value_heads"):
        assert narrow[name] == SIZES[name]


@pytest.mark.parametrize("groups", generation_costs.GROUPS)
def test_models_with_groups_have_the_sizes_of_the_released_one(groups):
    model = generation_costs.model_of(f"groups-{groups} wide")
    assert model.settings["num_key_value_heads"] == groups
    assert {**model.settings, "num_key_value_heads": None}.items() >= {
        **SIZES,
        "num_key_value_heads": None,
    }.items()


def test_what_is_stored_of_generation():
    rows = read_study("ch12/generation_costs")
    for setting in generation_costs.SETTINGS:
        found = results_of(rows, setting)
        assert len(found) == 3
        assert all(tuple(one["positions"]) == generation_costs.POSITIONS for one in found)
        assert all(one["last"] == one["milliseconds"][-1] for one in found)
    for groups in generation_costs.GROUPS:
        size = kv_cache_bytes(6, groups, 32, length=1, number_format="float32")
        assert {one["bytes"] for one in results_of(rows, f"groups-{groups}")} == {size}
    for without, with_cache in zip(
        results_of(rows, "no cache"), results_of(rows, "cache"), strict=True
    ):
        assert without["last"] > 3 * with_cache["last"]


# ---- the time of a product with many vectors


@pytest.mark.skipif(
    "fbgemm" not in torch.backends.quantized.supported_engines,
    reason="this processor has no FBGEMM",
)
def test_a_short_run_of_products(one_thread, monkeypatch):
    for name, value in (("WIDTH", 6), ("COUNTS", (1, 3)), ("ROUNDS", 2)):
        monkeypatch.setattr(product_costs, name, value)
    told = product_costs.run("fp16", 0)
    assert (told["width"], told["counts"]) == (6, [1, 3])
    assert len(told["milliseconds"]) == 2
    assert min(*told["milliseconds"], told["reading"]) > 0


def test_what_is_stored_of_products():
    found = results_of(read_study("ch12/product_costs"), "fp16")
    assert len(found) == 3
    for one in found:
        assert tuple(one["counts"]) == product_costs.COUNTS
        assert one["width"] == product_costs.WIDTH
        # a processor that reads the matrix once for all vectors
        assert one["milliseconds"][0] > 0.8 * one["reading"]
        assert one["milliseconds"][-1] < product_costs.COUNTS[-1] / 3 * one["milliseconds"][0]


# ---- the time and the memory of a training step


def test_the_memory_of_a_step_by_hand():
    """One matrix product keeps its input; the loss keeps its probabilities and the targets."""

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(7, 4)
            self.output = torch.nn.Linear(4, 7, bias=False)

        def logits(self, tokens):
            return self.output(self.table(tokens))

    model, sizes = Small(), []
    for rows in (1, 2, 4):
        sizes.append(step_costs.saved_bytes(model, torch.randint(7, (rows, 6))))
    # five tokens a row: embedding index and target (8 bytes each), vectors and log-probabilities
    # (4 bytes each); the weight of the loss is one number
    row = 5 * (8 + 8 + 4 * 4 + 4 * 7)
    assert [size - sizes[0] for size in sizes] == [0, row, 3 * row]
    assert 0 <= sizes[0] - row <= 8


def test_a_short_run_of_training_steps(one_thread, monkeypatch):
    made = {variant: DecoderOnly(9, **SMALL, **VARIANTS[variant]) for variant in ("gpt2", "llama")}
    monkeypatch.setattr(step_costs, "VARIANTS", made)
    monkeypatch.setattr(step_costs, "variant_model", made.__getitem__)
    for name, value in (("BATCH", 2), ("ROUNDS", 2), ("LENGTH", 6), ("VOCABULARY", 9)):
        monkeypatch.setattr(step_costs, name, value)
    step_costs.measured.cache_clear()
    before = {name: model.token_table.weight.clone() for name, model in made.items()}
    told = {variant: step_costs.run(variant, 0) for variant in made}
    step_costs.measured.cache_clear()
    for variant, one in told.items():
        assert one.keys() == {"seconds_per_step", "saved"}
        assert min(one.values()) > 0
        assert not torch.equal(made[variant].token_table.weight, before[variant])
    assert told["llama"]["saved"] > told["gpt2"]["saved"]


def test_what_is_stored_of_training_steps():
    rows = read_study("ch12/step_costs")
    for variant in VARIANTS:
        found = results_of(rows, variant)
        assert len(found) >= 2
        assert len({one["saved"] for one in found}) == 1
        assert all(one["seconds_per_step"] > 0 for one in found)


# ---- the published models


@pytest.mark.slow  # importing transformers alone takes seconds
def test_the_published_classes_compute_the_same(one_thread, monkeypatch):
    pytest.importorskip("transformers", reason="transformers is not installed")
    from studies.ch12 import published

    small = {**SIZES, "d_model": 24, "num_layers": 2, "dim_feedforward": 16}
    monkeypatch.setattr(published, "SIZES", small)
    for setting in ("llama", "gpt2"):
        told = published.run(setting, 1)
        assert told["difference"] < 1e-4
        assert told["logits"] == 4 * 256 * 2048


def test_what_is_stored_of_the_published_models():
    rows = read_study("ch12/published")
    assert [row["setting"] for row in rows] == ["llama", "gpt2"]
    for row in rows:
        assert row["result"]["difference"] < 1e-4 < row["result"]["size"]
        assert row["result"]["logits"] == 4 * 256 * 2048


def test_every_stored_setting_belongs_to_its_study():
    for study, settings in (
        (generation_costs, generation_costs.SETTINGS),
        (product_costs, ["fp16"]),
        (step_costs, list(VARIANTS)),
    ):
        name = study.__name__.removeprefix("studies.").replace(".", "/")
        stored = {row["setting"] for row in Study(name, study.run, settings).rows()}
        assert stored == set(settings)
