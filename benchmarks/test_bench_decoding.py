"""Cached beam search against `generate` of 🤗 transformers: sentences a second, and their ratio.

Random weights and beams of 5. Once 40 tokens for each sentence and no `<eos>`, a Transformer and a
Marian of one size. Once sentences that end by themselves, after 5 to 33 tokens: then both have the
same weights, both score by the mean log-probability, and both must write the same.
"""

import pytest
import torch

from benchmarks.marian import marian, twin
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.models.transformer.transformer import Transformer

V, D, H, DEPTH, HIDDEN = 8000, 256, 4, 3, 512
WIDTH, WRITTEN, READ, BOS = 5, 40, 17, V - 1
EOS, SHORTEST, LONGEST = 2, 5, 33  # tokens, as the captions of Multi30k have


def own():
    """The library's model."""
    return Transformer(
        V,
        V,
        d_model=D,
        nhead=H,
        num_encoder_layers=DEPTH,
        num_decoder_layers=DEPTH,
        dim_feedforward=HIDDEN,
        tie="all",
    ).eval()


def other(**options):
    """The reference's model of the same size."""
    sizes = {"d_model": D, "nhead": H, "depths": (DEPTH, DEPTH), "dim_feedforward": HIDDEN}
    given = {"activation_function": "relu", "max_position_embeddings": 64, "eos_token_id": None}
    return marian(V, blank=BOS, **sizes, **{**given, **options})


@pytest.mark.parametrize(("batch", "at_least", "rounds"), [(1, 1.5, 8), (32, 1.3, 2)])
def test_beam_search(in_turn, batch, at_least, rounds):
    """Sentences a second, ours over theirs."""
    torch.manual_seed(7)
    model, reference = own(), other()
    source = torch.randint(4, BOS, (batch, READ))
    bos = torch.full((batch,), BOS)

    def ours():
        with torch.inference_mode():
            state = model.start(source)
            return beam(model.step, state, bos=bos, eos=None, max_length=WRITTEN, width=WIDTH)

    def theirs():
        return reference.generate(
            source,
            attention_mask=torch.ones_like(source),
            num_beams=WIDTH,
            max_new_tokens=WRITTEN,
            max_length=None,
            do_sample=False,
            bad_words_ids=None,
        )

    assert ours().tokens.shape == (batch, 1, WRITTEN)
    assert theirs().shape == (batch, 1 + WRITTEN)
    in_turn(
        f"beam of {WIDTH}, batch {batch}",
        "generate of transformers, Marian",
        ours,
        theirs,
        rounds=rounds,
        work=(batch, "sentences"),
        at_least=at_least,
    )


def end_at(log_probs, ends, number):
    """Let token `number` be the last where the lengths `ends` (R,) say so, in log_probs (R, V).

    Before its length a sentence can hardly end; from there on it hardly goes on.
    """
    late = number - ends
    log_probs -= 4.0 * (late >= 0)[:, None]
    log_probs[:, EOS] = 4.0 * late.clamp(max=0) - 0.5
    return log_probs


def ends_of(batch):
    """The lengths (B,), evenly spread, in any order."""
    spread = torch.linspace(SHORTEST, LONGEST, batch + 2)[1:-1].round()
    return spread[torch.randperm(batch)]


def ours_until_the_end(model, source, ends, *, refill):
    """What our search writes; each row of the state takes its length along."""

    def step(state, last_tokens):
        inner, ends, number = state
        log_probs, inner = model.step(inner, last_tokens)
        return end_at(log_probs, ends, number), (inner, ends, number + 1)

    bos = torch.full((len(source),), BOS)
    with torch.inference_mode():
        return beam(
            step,
            (model.start(source), ends, 1),
            bos=bos,
            eos=EOS,
            max_length=WRITTEN,
            width=WIDTH,
            length_rule=Power(1.0),
            refill=refill,
        )


def theirs_until_the_end(reference, source, ends, **options):
    """What `generate` writes; finished sentences stay in its batch, so rows keep their places."""
    ends = ends.repeat_interleave(WIDTH)

    def end(tokens, log_probs):
        return end_at(log_probs, ends, tokens.shape[1])

    return reference.generate(
        source,
        attention_mask=torch.ones_like(source),
        num_beams=WIDTH,
        max_new_tokens=WRITTEN,
        max_length=None,
        length_penalty=1.0,
        do_sample=False,
        bad_words_ids=None,
        logits_processor=[end],
        **options,
    )


@pytest.mark.parametrize(("batch", "at_least", "rounds"), [(1, 1.5, 8), (32, 1.3, 3)])
@pytest.mark.parametrize("rules", ["same", "own"])
def test_beam_search_until_the_end(in_turn, batch, at_least, rounds, rules):
    """Sentences a second where finished sentences leave the batch.

    By the same rules both stop where nothing better can come, and write the same. By its own rules
    our search narrows with each complete sentence, and theirs stops where nothing better seems to
    come, the default of each.
    """
    torch.manual_seed(7)
    reference = other(eos_token_id=EOS, scale_embedding=True)
    reference.final_logits_bias.normal_(std=3)  # so that some words are likelier, as in a language
    model, ends = twin(reference), ends_of(batch)
    source = torch.randint(4, BOS, (batch, READ))
    options = {"early_stopping": "never"} if rules == "same" else {}

    def ours():
        return ours_until_the_end(model, source, ends, refill=rules == "same")

    def theirs():
        return theirs_until_the_end(reference, source, ends, **options)

    found, expected = ours(), theirs()[:, 1:]
    assert found.finished.all()
    if rules == "same":
        real = torch.arange(expected.shape[1]) < found.length
        assert torch.equal(found.tokens[:, 0][real], expected[real])
    in_turn(
        f"beam of {WIDTH} until <eos>, batch {batch}, {rules} rules",
        "generate of transformers, Marian of the same weights",
        ours,
        theirs,
        rounds=rounds,
        work=(batch, "sentences"),
        at_least=at_least,
    )
