"""Beam search beside `generate` of 🤗 transformers, on one and the same small Marian model."""

import pytest
import torch

from benchmarks.marian import marian
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.search import greedy
from tests.decoding.step_functions import sequences

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds

V, EOS, PAD, LENGTH = 23, 1, 22, 9
SOURCES, WIDTH = 11, 5
END = 2.0  # so that some sentences end early and some not at all


@pytest.fixture(scope="module")
def reference():
    torch.manual_seed(3)
    model = marian(
        V,
        d_model=12,
        nhead=3,
        depths=(2, 2),
        dim_feedforward=17,
        blank=PAD,
        max_position_embeddings=64,
        eos_token_id=EOS,
        init_std=0.4,
        tie_word_embeddings=False,  # tied ones repeat what was read last
        share_encoder_decoder_embeddings=False,
    )
    with torch.no_grad():
        for tokens in (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens):
            tokens.weight.normal_(std=3)
        model.lm_head.weight.normal_(std=0.4)
        model.final_logits_bias[0, EOS] = END
    return model


@pytest.fixture(scope="module")
def sources():
    tokens = torch.randint(2, PAD, (SOURCES, 7), generator=torch.Generator().manual_seed(5))
    mask = torch.arange(7) < torch.arange(7, 7 - SOURCES, -1).clamp(min=2)[:, None]
    return tokens.masked_fill(~mask, PAD), mask


def generate(model, sources, **options):
    """What the reference writes, and its scores."""
    tokens, mask = sources
    with torch.no_grad():
        return model.generate(
            tokens,
            attention_mask=mask.long(),
            max_new_tokens=LENGTH,
            max_length=None,
            do_sample=False,
            bad_words_ids=None,
            forced_eos_token_id=None,
            return_dict_in_generate=True,
            output_scores=True,
            **options,
        )


def ours(model, sources):
    """A step function over the reference's own model, which reads the whole prefix each time."""
    tokens, mask = sources
    with torch.no_grad():
        memory = model.get_encoder()(tokens, attention_mask=mask.long()).last_hidden_state

    def step(state, last_tokens):
        memory, mask, prefix = state
        prefix = torch.cat([prefix, last_tokens[:, None]], dim=1)
        logits = model(
            encoder_outputs=(memory,),
            attention_mask=mask.long(),
            decoder_input_ids=prefix,
            use_cache=False,
        ).logits
        return logits[:, -1].log_softmax(dim=-1), (memory, mask, prefix)

    start = memory, mask, tokens.new_zeros(len(tokens), 0)
    given = {"bos": torch.full((len(tokens),), PAD), "eos": EOS, "max_length": LENGTH, "pad": PAD}
    return step, start, given


def until_the_end(rows):
    """Token rows without the first token and without what follows <eos>."""
    rows = [row[1 : LENGTH + 1] for row in rows.tolist()]
    return [row[: row.index(EOS) + 1] if EOS in row else row for row in rows]


@pytest.mark.parametrize("alpha", [0.0, 0.75, 1.0, 2.0])
@pytest.mark.parametrize("n_best", [1, 3, 5])
def test_same_sequences_and_scores(reference, sources, alpha, n_best):
    theirs = generate(
        reference,
        sources,
        num_beams=WIDTH,
        num_return_sequences=n_best,
        length_penalty=alpha,
        early_stopping="never",
    )
    step, start, given = ours(reference, sources)
    options = {"width": WIDTH, "n_best": n_best, "refill": True, "length_rule": Power(alpha)}
    found = beam(step, start, **given, **options)
    written = [tokens for source in range(SOURCES) for tokens in sequences(found, source)]
    assert written == until_the_end(theirs.sequences)
    gap = (found.score.flatten() - theirs.sequences_scores).abs().max().item()
    assert gap < 2e-5
    assert len({tuple(tokens) for tokens in written}) >= 3
    assert found.finished.any()
    assert not found.finished.all()


def test_same_greedy_sequences(reference, sources):
    theirs = generate(reference, sources, num_beams=1)
    step, start, given = ours(reference, sources)
    output = greedy(step, start, **given)
    rows = torch.nn.functional.pad(output.tokens, (1, 0))
    assert until_the_end(rows) == until_the_end(theirs.sequences)
