"""A `DecoderOnly` under the names of the package transformers: as GPT-2, or as Llama."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gates2heads.accepts import accepts, flag, instance, natural, positive
from gates2heads.accepts.shown import shown
from gates2heads.layers.positions import BASE
from gates2heads.models.language.decoder_only import GPT2, LLAMA, DecoderOnly

MODEL = instance(DecoderOnly)
# Our names -> theirs: outside the layers, and inside each.
LLAMA_OUTSIDE = {
    "token_table": "model.embed_tokens",
    "norm": "model.norm",
    "output": "lm_head",
}
LLAMA_INSIDE = {
    "attention_norm": "input_layernorm",
    "attention.out_proj": "self_attn.o_proj",
    "attention": "self_attn",
    "feed_forward_norm": "post_attention_layernorm",
    "feed_forward": "mlp",
}
GPT2_OUTSIDE = {
    "token_table": "transformer.wte",
    "position_table": "transformer.wpe",
    "norm": "transformer.ln_f",
    "output": "lm_head",
}
GPT2_INSIDE = {
    "attention_norm": "ln_1",
    "attention.out_proj": "attn.c_proj",
    "attention.in_proj": "attn.c_attn",
    "feed_forward_norm": "ln_2",
    "feed_forward.linear1": "mlp.c_fc",
    "feed_forward.linear2": "mlp.c_proj",
}


@accepts(model=MODEL)
def as_llama(model: DecoderOnly) -> tuple[dict, dict[str, Tensor]]:
    """Settings and parameters from which `LlamaForCausalLM` computes the same logits.

    Example: `twin = LlamaForCausalLM(LlamaConfig(**settings)); twin.load_state_dict(tensors)`.

    Args:
        model: with the settings `LLAMA`, and without a window.

    Returns:
        settings, and parameters by name, matrices (F, D) and vectors (F,) as they are here.

    Raises:
        ValueError: a part of the model is not Llama's.
    """
    _check(model, LLAMA, "Llama")
    attention, settings = model.layers[0].attention, model.settings
    config = {
        "vocab_size": model.vocabulary_size,
        "hidden_size": model.d_model,
        "intermediate_size": settings["dim_feedforward"],
        "num_hidden_layers": len(model.layers),
        "num_attention_heads": attention.num_heads,
        "num_key_value_heads": attention.num_key_value_heads,
        "max_position_embeddings": model.max_length,
        "rms_norm_eps": model.norm.eps,
        "rope_theta": settings["rotary_base"],
        "tie_word_embeddings": model.output is None,
    }
    tensors = _renamed(model.state_dict(), LLAMA_OUTSIDE, "model.layers", LLAMA_INSIDE)
    if model.output is None:
        tensors["lm_head.weight"] = model.token_table.weight.detach()
    return config, tensors


@accepts(config=instance(Mapping), tensors=instance(Mapping))
def from_llama(config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> DecoderOnly:
    """The model that computes the logits of a published Llama, in single precision.

    Args:
        config: the content of its `config.json`.
        tensors: its parameters by name, matrices (F, D) and vectors (F,).

    Returns:
        in evaluation mode.

    Raises:
        TypeError, ValueError: a setting is missing, wrong or of another architecture, or a tensor
            is missing, superfluous or of another shape.
    """
    settings = _llama_settings(config)
    layers = settings["num_layers"]
    if layers > len(tensors):
        raise ValueError(
            f"config must have no more layers than there are tensors, got {layers} layers and "
            f"{len(tensors)} tensors"
        )
    with torch.device("meta"):  # nothing is allocated before names and shapes are checked
        model = DecoderOnly(**settings)
    own = model.state_dict()
    theirs = _renamed(
        {name: name for name in own}, LLAMA_OUTSIDE, "model.layers", LLAMA_INSIDE
    )  # their name -> ours
    left_out = {"lm_head.weight"} if settings["tie"] else set()
    for name in sorted(tensors.keys() - theirs.keys() - left_out):  # always the same message
        if not name.endswith("rotary_emb.inv_freq"):  # angles, stored by older versions
            raise ValueError(f"tensors must be those of a Llama, got {shown(name)} beside them")
    found = {}
    for name, ours in theirs.items():
        shape = tuple(own[ours].shape)
        if name not in tensors:
            raise ValueError(f"tensors must include {name} {shape}, but it is missing")
        if tuple(tensors[name].shape) != shape:
            raise ValueError(
                f"tensors must include {name} {shape}, got {tuple(tensors[name].shape)}"
            )
        found[ours] = tensors[name].float()
    model.load_state_dict(found, assign=True)
    return model.eval()


def _llama_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a `DecoderOnly`, from those of a Llama."""

    def read(name, kind, default=None):
        value = config.get(name, default)
        kind.check(f"{name} in config", value)
        return value

    rope = config.get("rope_parameters") or {}  # where newer versions keep the angles
    heads, width = read("num_attention_heads", natural), read("hidden_size", natural)
    fixed = {
        "model_type": "llama",
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "head_dim": width // heads,
        "rope_scaling": None,
    }
    for name, wanted in fixed.items():
        value = config.get(name, wanted)
        if value != wanted and value is not None:
            raise ValueError(f"{name} in config must be {shown(wanted)}, got {shown(value)}")
    if not isinstance(rope, Mapping) or rope.get("rope_type", "default") != "default":
        raise ValueError(
            f'rope_parameters in config must have the rope_type "default", got {shown(rope)}'
        )
    base = {"rope_theta": BASE, **config, **rope}["rope_theta"]
    positive.check("rope_theta in config", base)
    return {
        "vocabulary_size": read("vocab_size", natural),
        "d_model": width,
        "nhead": heads,
        "num_key_value_heads": read("num_key_value_heads", natural, heads),
        "num_layers": read("num_hidden_layers", natural),
        "dim_feedforward": read("intermediate_size", natural),
        "max_length": read("max_position_embeddings", natural),
        "eps": read("rms_norm_eps", positive),
        "rotary_base": base,
        "tie": read("tie_word_embeddings", flag, False),
        **LLAMA,
    }


@accepts(model=MODEL)
def as_gpt2(model: DecoderOnly) -> tuple[dict, dict[str, Tensor]]:
    """Settings and parameters from which `GPT2LMHeadModel` computes the same logits.

    There the matrices are transposed, and those of queries, keys and values are one.

    Args:
        model: with the settings `GPT2`, one head of keys and values for each query head, and no
            window.

    Returns:
        settings, and parameters by name, matrices (D, F) and vectors (F,).

    Raises:
        ValueError: a part of the model is not GPT-2's.
    """
    _check(model, GPT2, "GPT-2")
    attention, settings = model.layers[0].attention, model.settings
    if attention.num_key_value_heads != attention.num_heads:
        raise ValueError(
            f"num_key_value_heads must be {attention.num_heads} in a GPT-2, got "
            f"{attention.num_key_value_heads}"
        )
    config = {
        "vocab_size": model.vocabulary_size,
        "n_embd": model.d_model,
        "n_inner": settings["dim_feedforward"],
        "n_layer": len(model.layers),
        "n_head": attention.num_heads,
        "n_positions": model.max_length,
        "layer_norm_epsilon": model.norm.eps,
        "activation_function": "gelu",
        "tie_word_embeddings": model.output is None,
    }
    tensors = dict(model.state_dict())
    for depth in range(len(model.layers)):
        for kind in ("weight", "bias"):
            parts = [tensors.pop(f"layers.{depth}.attention.{one}_proj.{kind}") for one in "qkv"]
            tensors[f"layers.{depth}.attention.in_proj.{kind}"] = torch.cat(parts)
    renamed = _renamed(tensors, GPT2_OUTSIDE, "transformer.h", GPT2_INSIDE)
    linear = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    renamed = {
        name: tensor.T.contiguous() if name.endswith(linear) else tensor
        for name, tensor in renamed.items()
    }
    if model.output is None:
        renamed["lm_head.weight"] = model.token_table.weight.detach()
    return config, renamed


def _check(model: DecoderOnly, style: Mapping, name: str) -> None:
    wanted = {**style, "window": None}
    for setting, value in wanted.items():
        if model.settings[setting] != value:
            raise ValueError(
                f"model must have {setting}={shown(value)} as {name} has, got "
                f"{shown(model.settings[setting])}"
            )


def _renamed(
    tensors: Mapping[str, Any],
    outside: Mapping[str, str],
    layers: str,
    inside: Mapping[str, str],
) -> dict[str, Any]:
    """Rename all parameters: those of layer l begin with `layers`.l there."""
    renamed = {}
    for name, tensor in tensors.items():
        if name.startswith("layers."):
            _, depth, rest = name.split(".", 2)
            renamed[f"{layers}.{depth}.{_first_replaced(rest, inside)}"] = tensor
        else:
            renamed[_first_replaced(name, outside)] = tensor
    return renamed


def _first_replaced(name: str, names: Mapping[str, str]) -> str:
    """Replace the first of `names` with which a name begins, up to a full stop."""
    ours = next(one for one in names if name.startswith(f"{one}."))
    return names[ours] + name.removeprefix(ours)
