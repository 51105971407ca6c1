"""A decoder-only Transformer beside the published models, and its cache."""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.decoding.beam import beam
from gates2heads.layers.blocks import SwiGLU
from gates2heads.layers.masks import prefix_mask
from gates2heads.models.language.decoder_only import GPT2, LLAMA, DecoderOnly
from gates2heads.models.language.published import as_gpt2, as_llama, from_llama

V, LENGTH = 29, 12
SIZES = {"d_model": 24, "nhead": 4, "num_layers": 2, "dim_feedforward": 20, "max_length": LENGTH}
STYLES = {
    "gpt2": GPT2,
    "gpt2, untied": {**GPT2, "tie": False},
    "llama": {**LLAMA, "num_key_value_heads": 2},
    "llama, untied": {**LLAMA, "tie": False},
    "llama, one group": {**LLAMA, "num_key_value_heads": 1},
    "llama, long texts": {**LLAMA, "rotary_base": 300.0, "eps": 1e-3},
    "window": {**LLAMA, "window": 3},
    "mixed": {**GPT2, "norm": "rms", "feed_forward": "swiglu"},
}


def made(style):
    torch.manual_seed(4)
    model = DecoderOnly(V, **SIZES, **STYLES[style]).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return model


def some_tokens(rows=3, length=LENGTH):
    return torch.randint(3, V, (rows, length), generator=torch.Generator().manual_seed(5))


@pytest.mark.slow  # importing transformers alone takes seconds
@pytest.mark.parametrize("style", [one for one in STYLES if one.startswith("llama")])
def test_its_logits_are_those_of_llama(style):
    from transformers import LlamaConfig, LlamaForCausalLM

    model = made(style)
    settings, tensors = as_llama(model)
    twin = LlamaForCausalLM(LlamaConfig(**settings)).double().eval()
    twin.load_state_dict(tensors)
    # It computes the angles of the rotation in single precision.
    close = {"rtol": 1e-5, "atol": 1e-5}
    torch.testing.assert_close(twin(some_tokens()).logits, model.logits(some_tokens()), **close)


@pytest.mark.slow
@pytest.mark.parametrize("style", [one for one in STYLES if one.startswith("gpt2")])
def test_its_logits_are_those_of_gpt2(style):
    from transformers import GPT2Config, GPT2LMHeadModel

    model = made(style)
    settings, tensors = as_gpt2(model)
    ends = {"bos_token_id": 1, "eos_token_id": 2}
    twin = GPT2LMHeadModel(GPT2Config(**settings, **ends)).double().eval()
    twin.load_state_dict(tensors)
    torch.testing.assert_close(twin(some_tokens()).logits, model.logits(some_tokens()))


@pytest.mark.parametrize("style", [one for one in STYLES if one.startswith("llama")])
def test_a_llama_is_read_back_under_its_published_names(style):
    model = made(style)
    settings, tensors = as_llama(model)
    again = from_llama(settings, tensors)
    assert not again.training
    assert {**again.settings, "eps": None} == {
        **model.settings,
        "num_key_value_heads": settings["num_key_value_heads"],
        "eps": None,
    }
    close = {"rtol": 1e-4, "atol": 1e-4}  # it is in single precision
    torch.testing.assert_close(
        again.logits(some_tokens()).double(), model.logits(some_tokens()), **close
    )
    older = {**tensors, "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)}
    newer = {**settings, "rope_parameters": {"rope_theta": settings.pop("rope_theta")}}
    assert from_llama(newer, older).settings == again.settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vocab_size": 0}, "vocab_size in config must"),
        ({"num_hidden_layers": 10**9}, "config must have no more layers than there are tensors"),
        ({"vocab_size": 10**9}, "tensors must include model.embed_tokens.weight"),
        ({"num_hidden_layers": 3}, "tensors must include model.layers.2"),
        ({"num_hidden_layers": 1}, "tensors must be those of a Llama, got 'model.layers.1"),
        ({"rms_norm_eps": None}, "rms_norm_eps in config must"),
        ({"num_attention_heads": True}, "num_attention_heads in config must"),
        ({"rope_theta": -1.0}, "rope_theta in config must"),
        ({"rope_scaling": {"factor": 8.0}}, "rope_scaling in config must be None"),
        ({"rope_parameters": {"rope_type": "llama3"}}, "rope_parameters in config must"),
        ({"rope_parameters": "llama3"}, "rope_parameters in config must"),
        ({"model_type": "qwen3"}, "model_type in config must be 'llama', got 'qwen3'"),
        ({"attention_bias": True}, "attention_bias in config must be False"),
        ({"head_dim": 12}, "head_dim in config must be 6, got 12"),
        ({"tie_word_embeddings": False}, "tensors must include lm_head.weight"),
    ],
)
def test_what_is_not_a_llama_is_rejected(change, message):
    settings, tensors = as_llama(made("llama"))
    del tensors["lm_head.weight"]
    assert from_llama(settings, tensors).settings["tie"]
    with pytest.raises((TypeError, ValueError)) as error:
        from_llama({**settings, **change}, tensors)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_only_a_model_with_all_parts_of_a_published_one_is_renamed():
    for style in ("gpt2", "window", "mixed"):
        with pytest.raises(ValueError, match=r"^model must"):
            as_llama(made(style))
    for style in ("llama", "mixed"):
        with pytest.raises(ValueError, match=r"^model must"):
            as_gpt2(made(style))
    torch.manual_seed(0)
    grouped = DecoderOnly(V, **SIZES, **GPT2, num_key_value_heads=2)
    with pytest.raises(ValueError, match=r"^num_key_value_heads must"):
        as_gpt2(grouped)


@pytest.mark.parametrize("style", STYLES)
def test_with_its_cache_it_says_the_same(style):
    model, tokens = made(style), some_tokens()
    wanted = model.logits(tokens)
    state, found = model.start(len(tokens)), []
    for last in tokens.T:
        log_probs, state = model.step(state, last)
        found.append(log_probs)
    torch.testing.assert_close(torch.stack(found, dim=1), wanted.log_softmax(dim=-1))
    state = model.start(len(tokens))
    first, state = model.extend(state, tokens[:, :5])
    rest, state = model.extend(state, tokens[:, 5:])
    torch.testing.assert_close(torch.cat([first, rest], dim=1), wanted)
    assert state.length.tolist() == [LENGTH] * len(tokens)
    with pytest.raises(ValueError, match=r"^tokens must"):
        model.step(state, tokens[:, 0])


def test_no_prediction_depends_on_a_later_token():
    for style in STYLES:
        model, tokens = made(style), some_tokens()
        other = tokens.clone()
        other[:, 6] = (other[:, 6] - 3 + 1) % (V - 3) + 3
        same = model.logits(tokens) == model.logits(other)
        assert same[:, :6].all()
        # Two layers with a window of 3 see 2 positions back each.
        reach = 6 + 2 * 2 + 1 if style == "window" else LENGTH
        assert not same[:, 6:reach].all(dim=-1).any()
        assert same[:, reach:].all()


def test_within_a_prefix_every_token_sees_all():
    model, tokens = made("llama"), some_tokens()
    other = tokens.clone()
    other[:, 3] = (other[:, 3] - 3 + 1) % (V - 3) + 3
    prefix = torch.tensor([4, 4, 2])
    same = model.logits(tokens, prefix=prefix) == model.logits(other, prefix=prefix)
    assert not same[:2].all(dim=-1).any()
    assert same[2, :3].all()
    mask = prefix_mask(torch.tensor([2]), 4)[0, 0]
    assert mask.tolist() == [
        [True, True, False, False],
        [True, True, False, False],
        [True, True, True, False],
        [True, True, True, True],
    ]


def test_a_beam_search_runs_it():
    model = made("llama")
    found = beam(model.step, model.start(2), bos=torch.tensor([1, 1]), eos=2, max_length=6, width=3)
    assert found.tokens.shape[0] == 2


def test_swiglu_is_its_formula():
    torch.manual_seed(0)
    layer, x = SwiGLU(6, 5, bias=True), torch.randn(2, 3, 6)
    gate = x @ layer.gate_proj.weight.T + layer.gate_proj.bias
    up = x @ layer.up_proj.weight.T + layer.up_proj.bias
    hidden = gate * torch.sigmoid(gate) * up
    torch.testing.assert_close(
        layer(x), F.linear(hidden, layer.down_proj.weight, layer.down_proj.bias)
    )


def test_what_is_too_long_is_refused():
    with pytest.raises(ValueError, match=r"^tokens must"):
        made("llama").logits(some_tokens(1, 13))
    with pytest.raises(ValueError, match=r"^lengths must"):
        made("llama").logits(some_tokens(1), prefix=torch.tensor([13]))
