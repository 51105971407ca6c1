"""The whole post-norm Transformer beside Marian of 🤗 transformers, weights copied over."""

import pytest
import torch
from torch.nn import functional as F

from benchmarks.marian import MarianPositions, marian, to_ours, twin
from gates2heads.data.batches.pairs import collate

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds

V, D, H, HIDDEN, ENCODER, DECODER = 31, 12, 3, 23, 2, 3
UNUSED = V - 1  # their padding token gets no gradient, so it is one that never occurs


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


@pytest.fixture(scope="module")
def model(reference):
    return twin(reference)


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
            gradients = to_ours(gradients, reference.config)
        gradients.pop("readout_bias", None)  # a buffer there
        results.append(([logits], [gradients[name] for name in sorted(gradients)]))
    parity("Transformer, post-norm", "transformers MarianMTModel", *zip(*results, strict=True))


def test_cached_steps_equal_marian(reference, model, batch):
    expected = run(reference, batch).log_softmax(-1)
    state = model.start(batch.source, mask=batch.source_mask)
    for step, last_tokens in enumerate(batch.target_in.unbind(1)):
        log_probs, state = model.step(state, last_tokens)
        torch.testing.assert_close(log_probs, expected[:, step])
