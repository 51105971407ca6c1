"""The comparison of section 12.2: equally large models that differ in one part of the block."""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.ch12 import exchanges, python_model
from gates2heads.book.ch12.exchanges import SMALL, VARIANTS, train_variant, variant_model
from gates2heads.book.ch12.exchanges import parameters as count_of
from gates2heads.book.ch12.python_model import train_python_model
from gates2heads.book.ch12.python_text import PythonText
from gates2heads.layers.blocks import FeedForward, SwiGLU
from gates2heads.layers.norms import RMSNorm
from gates2heads.models.language.decoder_only import STD


@pytest.fixture
def few(monkeypatch):
    """A text of five tokens that repeats, and short batches of it."""
    text = PythonText(torch.arange(3, 8).repeat(40), 200)
    for module in (exchanges, python_model):
        monkeypatch.setattr(module, "python_text", lambda split: text)
    for name, value in (("BATCH", 2), ("LENGTH", 12)):
        monkeypatch.setattr(python_model, name, value)
    sizes = {"d_model": 12, "dim_feedforward": 16, "num_layers": 2}
    monkeypatch.setattr(python_model, "SIZES", {**python_model.SIZES, **sizes})
    monkeypatch.setattr(python_model, "VOCABULARY", 9)
    monkeypatch.setattr(exchanges, "VOCABULARY", 9)


FEW = {"batch": 2, "sizes": {**SMALL, "d_model": 16, "num_layers": 1, "max_length": 12}}


@pytest.fixture(scope="module")
def models():
    with torch.device("meta"):
        return {variant: variant_model(variant) for variant in VARIANTS}


def test_all_variants_have_equally_many_parameters(models):
    wanted = count_of(models["gpt2"])
    for variant, model in models.items():
        assert abs(count_of(model) / wanted - 1) < 0.002, variant


def test_the_small_copies_have_equally_many_parameters_too():
    base, *others = (variant_model(one, sizes=SMALL) for one in ("gpt2", "rotary", "llama"))
    assert base.layers[0].feed_forward.linear1.out_features == 4 * 64
    for model in others:
        assert abs(count_of(model) / count_of(base) - 1) < 0.002


def parts(model):
    """What a model is made of, in words."""
    (first, *_) = model.layers
    return {
        "norm": "rms" if isinstance(model.norm, RMSNorm) else "layer",
        "positions": "rotary" if model.position_table is None else "learned",
        "feed_forward": "swiglu" if isinstance(first.feed_forward, SwiGLU) else "gelu",
        "bias": any(name.endswith("bias") for name, _ in first.attention.named_parameters()),
        "tie": model.output is None,
        "groups": first.attention.num_key_value_heads,
        "window": first.attention.window,
    }


def changed(models, variant, base):
    mine, theirs = parts(models[variant]), parts(models[base])
    return {name: mine[name] for name in mine if mine[name] != theirs[name]}


def test_each_variant_differs_in_what_its_name_says(models):
    assert isinstance(models["gpt2"].layers[0].feed_forward, FeedForward)
    assert models["gpt2"].layers[0].feed_forward.linear1.out_features == 512
    from_gpt2 = {
        "rms": {"norm": "rms"},
        "rotary": {"positions": "rotary"},
        "swiglu": {"feed_forward": "swiglu"},
        "no-bias": {"bias": False},
        "untied": {"tie": False},
        "llama": {
            "norm": "rms",
            "positions": "rotary",
            "feed_forward": "swiglu",
            "bias": False,
        },
    }
    assert {name: changed(models, name, "gpt2") for name in from_gpt2} == from_gpt2
    from_llama = {
        "llama-learned": {"positions": "learned"},
        "llama-gelu": {"feed_forward": "gelu"},
        "groups-2": {"groups": 2},
        "groups-1": {"groups": 1},
        "window-64": {"window": 64},
    }
    assert {name: changed(models, name, "llama") for name in from_llama} == from_llama
    assert VARIANTS.keys() == {"gpt2", *from_gpt2, *from_llama}


@pytest.mark.parametrize("variant", ["gpt2", "groups-1", "untied"])
def test_a_few_steps_of_training(few, variant):
    model, history = train_variant(variant, 0, steps=30, **FEW)
    assert not model.training
    assert len(history.loss) == 30
    assert history.loss[-1] < history.loss[0]


def test_a_seed_repeats_the_training_and_a_rate_changes_it(few):
    runs = [
        train_variant("llama", seed, steps=4, rate=rate, **FEW)[1].loss
        for seed, rate in ((0, 3e-3), (0, 3e-3), (1, 3e-3), (0, 9e-3))
    ]
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[2][0]
    assert (runs[0][0], runs[0][-1] != runs[3][-1]) == (runs[3][0], True)


def test_the_released_model_is_trained_in_the_same_way(few):
    model, history = train_python_model(30, 0)
    assert not model.training
    assert history.loss[-1] < history.loss[0]
    assert parts(model) == {
        "norm": "rms",
        "positions": "rotary",
        "feed_forward": "swiglu",
        "bias": False,
        "tie": True,
        "groups": 2,
        "window": None,
    }
    again = [train_python_model(3, seed, dropout=p)[1].loss for seed, p in ((0, 0), (0, 0.3))]
    assert again[0] != again[1]


def test_an_unknown_variant_is_refused():
    for act in (variant_model, lambda variant: train_variant(variant, 0)):
        with pytest.raises(ValueError, match="variant must"):
            act("bert")


def test_the_controls_have_other_tables_of_positions():
    learned, waves, none = (variant_model(one) for one in ("gpt2", "sinusoids", "no-positions"))
    table = waves.position_table.weight
    assert table.requires_grad
    assert table.std().item() == pytest.approx(STD)
    near, far = (F.cosine_similarity(table[50], table[at], dim=0) for at in (51, 90))
    assert near > 0.9 > far
    assert not none.position_table.weight.requires_grad
    assert none.position_table.weight.count_nonzero() == 0
    tokens = torch.tensor([[5, 5, 5, 5]])
    assert torch.allclose(
        none.logits(tokens), none.logits(tokens)[:, :1].expand(-1, 4, -1), atol=1e-5
    )
    assert count_of(waves) == count_of(none) == count_of(learned)


@pytest.mark.parametrize("variant", exchanges.BIASED)
def test_a_control_knows_distances_only_from_the_scores(variant):
    none, biased = (variant_model(one) for one in ("no-positions", variant))
    assert abs(count_of(biased) / count_of(none) - 1) < 0.004
    assert biased.position_table.weight.count_nonzero() == 0
    assert not biased.position_table.weight.requires_grad
    same = torch.tensor([[5, 5, 5, 5]])
    logits = biased.logits(same)
    assert torch.allclose(logits, logits[:, :1].expand(-1, 4, -1), atol=1e-5)
    for layer in biased.layers:
        assert layer.attention.in_proj.weight.std().item() == pytest.approx(STD, rel=0.05)
    out = biased.layers[0].attention.out_proj.weight.std().item()
    assert out == pytest.approx(STD / 8**0.5, rel=0.05)


@pytest.mark.parametrize(
    ("variant", "number", "blind"),
    [("no-positions", 0, True), ("alibi", 0, False), ("relative", 0, True), ("relative", 2, False)],
)
def test_one_block_tells_the_order_of_two_tokens_from_their_distances(variant, number, blind):
    model = variant_model(variant, sizes={**SMALL, "num_layers": 1})
    with torch.no_grad():
        model.token_table.weight.mul_(50)
        if number:
            model.layers[0].attention.by_distance[:, 1] = number
    first, second = model.logits(torch.tensor([[4, 6, 5], [6, 4, 5]]))[:, -1]
    assert torch.allclose(first, second, atol=1e-4) == blind


def test_a_learned_number_belongs_to_a_distance():
    attention = variant_model("relative", sizes=SMALL).layers[0].attention
    with torch.no_grad():
        attention.by_distance.copy_(torch.arange(128.0).expand(4, -1))
    wanted = torch.tensor([[0, 0, 0], [1, 0, 0], [2, 1, 0]]).float()
    assert torch.equal(attention.bias(3)[1], wanted)  # what is above the diagonal is masked
    attention.bias(3).sum().backward()
    assert attention.by_distance.grad[0, :4].tolist() == [6, 2, 1, 0]
