"""Marian of 🤗 transformers in any size: what our Transformer and our beam search stand beside."""

import os

import pytest
import torch

from gates2heads.layers.positions import SinusoidalPositions
from gates2heads.models.transformer.transformer import Transformer

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # random weights: nothing is to be fetched


def marian(
    vocabulary_size: int,
    *,
    d_model: int,
    nhead: int,
    depths: tuple[int, int],
    dim_feedforward: int,
    blank: int,
    **options,
):
    """Give a MarianMTModel with random weights, in evaluation mode.

    Args:
        vocabulary_size: of source and target.
        d_model, nhead, dim_feedforward: as in our `Transformer`, the same on both sides.
        depths: layers of the encoder, layers of the decoder.
        blank: the token that pads, and that the decoder reads first.
        options: what else `MarianConfig` takes.
    """
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.MarianConfig(
        vocab_size=vocabulary_size,
        d_model=d_model,
        encoder_layers=depths[0],
        decoder_layers=depths[1],
        encoder_attention_heads=nhead,
        decoder_attention_heads=nhead,
        encoder_ffn_dim=dim_feedforward,
        decoder_ffn_dim=dim_feedforward,
        pad_token_id=blank,
        decoder_start_token_id=blank,
        forced_eos_token_id=None,
        **options,
    )
    return transformers.MarianMTModel(config).eval()


class MarianPositions(SinusoidalPositions):
    """Marian keeps all sines before all cosines, instead of taking turns."""

    def encode(self, positions):
        """Vectors (L, size) of the positions (L,)."""
        waves = super().encode(positions)
        return torch.cat([waves[:, 0::2], waves[:, 1::2]], dim=-1)


def _attention(tensors, theirs, ours):
    """Three projections become the rows of one."""
    parts = [tensors.pop(f"{theirs}.{part}_proj.weight") for part in "qkv"]
    biases = [tensors.pop(f"{theirs}.{part}_proj.bias") for part in "qkv"]
    return {
        f"{ours}.in_proj_weight": torch.cat(parts),
        f"{ours}.in_proj_bias": torch.cat(biases),
        f"{ours}.out_proj.weight": tensors.pop(f"{theirs}.out_proj.weight"),
        f"{ours}.out_proj.bias": tensors.pop(f"{theirs}.out_proj.bias"),
    }


def to_ours(tensors, config):
    """Marian's weights, or their gradients, under our names; none may be left over."""
    tensors = {name: tensor for name, tensor in dict(tensors).items() if "positions" not in name}
    mapped = {"target_table": tensors.pop("model.shared.weight")}
    for side, depth in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for number in range(depth):
            theirs, ours = f"model.{side}.layers.{number}", f"{side}_layers.{number}"
            mapped |= _attention(tensors, f"{theirs}.self_attn", f"{ours}.self_attn")
            names = {
                "self_attn_layer_norm": "self_residual.norm",
                "fc1": "feed_forward.linear1",
                "fc2": "feed_forward.linear2",
                "final_layer_norm": "feed_forward_residual.norm",
            }
            if side == "decoder":
                mapped |= _attention(tensors, f"{theirs}.encoder_attn", f"{ours}.cross_attn")
                names["encoder_attn_layer_norm"] = "cross_residual.norm"
            for there, here in names.items():
                for kind in ("weight", "bias"):
                    mapped[f"{ours}.{here}.{kind}"] = tensors.pop(f"{theirs}.{there}.{kind}")
    assert not tensors
    return mapped


def twin(reference):
    """Our Transformer with the weights of a Marian that scales its embeddings."""
    config = reference.config
    ours = Transformer(
        config.vocab_size,
        config.vocab_size,
        d_model=config.d_model,
        nhead=config.encoder_attention_heads,
        num_encoder_layers=config.encoder_layers,
        num_decoder_layers=config.decoder_layers,
        dim_feedforward=config.encoder_ffn_dim,
        dropout=0.0,
        activation=config.activation_function,
        norm_first=False,
        tie="all",
    ).to(reference.dtype)
    ours.source_positions = ours.target_positions = MarianPositions(config.d_model)
    weights = to_ours(reference.named_parameters(), config)
    ours.load_state_dict({**weights, "readout_bias": reference.final_logits_bias[0]})
    return ours.eval()
