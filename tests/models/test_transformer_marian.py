"""The whole post-norm Transformer beside Marian of 🤗 transformers, weights copied over."""

import pytest
import torch
from torch.nn import functional as F

from benchmarks.marian import marian
from gates2heads.data.batching import collate
from gates2heads.layers.positions import SinusoidalPositions
from gates2heads.models.transformer import Transformer

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds

V, D, H, HIDDEN, ENCODER, DECODER = 31, 12, 3, 23, 2, 3
UNUSED = V - 1  # their padding token gets no gradient, so it is one that never occurs


class MarianPositions(SinusoidalPositions):
    """Marian keeps all sines before all cosines, instead of taking turns."""

    def encode(self, positions):
        waves = super().encode(positions)
        return torch.cat([waves[:, 0::2], waves[:, 1::2]], dim=-1)


@pytest.fixture(scope="module")
def reference():
    torch.manual_seed(3)
    model = marian(
        V,
        d_model=D,
        nhead=H,
        depths=(ENCODER, DECODER),
        dim_feedforward=HIDDEN,
        blank=UNUSED,
        activation_function="silu",
        scale_embedding=True,
        eos_token_id=1,
        init_std=0.2,
    ).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.1)
        model.final_logits_bias.normal_()
        # Their table was rounded to single precision; ours is compared in double.
        for part in (model.model.encoder, model.model.decoder):
            table = MarianPositions(D).encode(torch.arange(len(part.embed_positions.weight)))
            theirs = part.embed_positions.weight
            torch.testing.assert_close(theirs, table.double(), atol=1e-4, rtol=0)
            theirs.copy_(table)
    return model


def attention(tensors, theirs, ours):
    """Three projections become the rows of one."""
    parts = [tensors.pop(f"{theirs}.{part}_proj.weight") for part in "qkv"]
    biases = [tensors.pop(f"{theirs}.{part}_proj.bias") for part in "qkv"]
    return {
        f"{ours}.in_proj_weight": torch.cat(parts),
        f"{ours}.in_proj_bias": torch.cat(biases),
        f"{ours}.out_proj.weight": tensors.pop(f"{theirs}.out_proj.weight"),
        f"{ours}.out_proj.bias": tensors.pop(f"{theirs}.out_proj.bias"),
    }


def to_ours(tensors):
    """Marian's weights, or their gradients, under our names; none may be left over."""
    tensors = {name: tensor for name, tensor in dict(tensors).items() if "positions" not in name}
    mapped = {"target_table": tensors.pop("model.shared.weight")}
    for side, depth in (("encoder", ENCODER), ("decoder", DECODER)):
        for number in range(depth):
            theirs, ours = f"model.{side}.layers.{number}", f"{side}_layers.{number}"
            mapped |= attention(tensors, f"{theirs}.self_attn", f"{ours}.self_attn")
            names = {
                "self_attn_layer_norm": "self_residual.norm",
                "fc1": "feed_forward.linear1",
                "fc2": "feed_forward.linear2",
                "final_layer_norm": "feed_forward_residual.norm",
            }
            if side == "decoder":
                mapped |= attention(tensors, f"{theirs}.encoder_attn", f"{ours}.cross_attn")
                names["encoder_attn_layer_norm"] = "cross_residual.norm"
            for there, here in names.items():
                for kind in ("weight", "bias"):
                    mapped[f"{ours}.{here}.{kind}"] = tensors.pop(f"{theirs}.{there}.{kind}")
    assert not tensors
    return mapped


@pytest.fixture(scope="module")
def model(reference):
    ours = Transformer(
        V,
        V,
        d_model=D,
        nhead=H,
        num_encoder_layers=ENCODER,
        num_decoder_layers=DECODER,
        dim_feedforward=HIDDEN,
        dropout=0.0,
        activation="silu",
        norm_first=False,
        tie="all",
    ).double()
    ours.source_positions = ours.target_positions = MarianPositions(D)
    weights = to_ours(reference.named_parameters())
    ours.load_state_dict({**weights, "readout_bias": reference.final_logits_bias[0]})
    return ours


@pytest.fixture(scope="module")
def batch():
    generator = torch.Generator().manual_seed(5)

    def draw(length):
        return torch.randint(4, UNUSED, (length,), generator=generator).tolist()

    return collate([(draw(5), draw(7)), (draw(2), draw(3)), (draw(11), draw(1))])


def run(reference, batch):
    return reference(
        input_ids=batch.source,
        attention_mask=batch.source_mask.long(),
        decoder_input_ids=batch.target_in,
        use_cache=False,
    ).logits


def test_teacher_forcing_equals_marian(parity, reference, model, batch):
    results = []
    for module, logits in ((model, model(batch)), (reference, run(reference, batch))):
        loss = F.cross_entropy(logits.transpose(1, 2), batch.target_out)
        named = {name: p for name, p in module.named_parameters() if p.requires_grad}
        gradients = dict(
            zip(
                named,
                torch.autograd.grad(loss, list(named.values()), allow_unused=True),
                strict=True,
            )
        )
        if module is reference:
            gradients = to_ours(gradients)
        gradients.pop("readout_bias", None)  # a buffer there
        results.append(([logits], [gradients[name] for name in sorted(gradients)]))
    parity("Transformer, post-norm", "transformers MarianMTModel", *zip(*results, strict=True))


def test_cached_steps_equal_marian(reference, model, batch):
    expected = run(reference, batch).log_softmax(-1)
    state = model.start(batch.source, mask=batch.source_mask)
    for step, last_tokens in enumerate(batch.target_in.unbind(1)):
        log_probs, state = model.step(state, last_tokens)
        torch.testing.assert_close(log_probs, expected[:, step])
