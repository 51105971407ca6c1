"""Beam search on the library's own models: cached steps, masks, and sources that leave."""

from dataclasses import replace

import pytest
import torch

from gates2heads.data.batches.pairs import collate
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.sampling import sample
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.models.translation.by_name import convolutional_translator, recurrent_translator
from gates2heads.models.translation.seq2seq import EncoderDecoder
from tests.decoding.step_functions import sequences

V, BOS, EOS, LENGTH = 13, 1, 2, 7
SOURCES = [[3, 4, 5, 6, 7, 2], [8, 2], [9, 10, 11, 2]]


def transformer(family, **options):
    sizes = {"d_model": 12, "nhead": 3, "dim_feedforward": 17, "max_length": 11}
    return family(V, V, num_encoder_layers=2, num_decoder_layers=2, **sizes, **options)


def recurrent(**settings):
    return recurrent_translator(V, V, embedding_size=5, hidden_size=14, **settings)


MODELS = {
    "attention": lambda: EncoderDecoder(V, V, embedding_size=5, hidden_size=14),
    "no attention": lambda: EncoderDecoder(V, V, embedding_size=5, hidden_size=14, score=None),
    "LSTM": lambda: recurrent(cell="lstm", num_layers=2),
    "Bahdanau": lambda: recurrent(attention="bahdanau"),
    "Luong": lambda: recurrent(attention="luong"),
    "convolutional": lambda: convolutional_translator(V, V, embedding_size=5, hidden_size=7),
    "Transformer": lambda: transformer(Transformer),
    "learned": lambda: transformer(Transformer, positions="learned", norm_first=False),
    "Universal": lambda: transformer(UniversalTransformer),
}


@pytest.fixture(params=MODELS)
def model(request):
    model = MODELS[request.param]().double().eval()
    with torch.no_grad():  # far from uniform, so that ranks differ from source to source
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


def search(model, sources, **options):
    batch = collate([(source, [3, 2]) for source in sources])
    state = model.start(batch.source, mask=batch.source_mask)
    bos = torch.full((len(sources),), BOS)
    given = {"width": 5, "n_best": 3, "length_rule": Power(0.75), "max_length": LENGTH}
    return beam(model.step, state, bos=bos, eos=EOS, **{**given, **options})


@pytest.mark.parametrize("refill", [False, True])
def test_a_padded_batch_equals_its_sources_one_by_one(model, refill):
    together = search(model, SOURCES, refill=refill)
    assert len({together.length[b, 0].item() for b in range(3)} | {0}) > 1
    for number, source in enumerate(SOURCES):
        alone = search(model, [source], refill=refill)
        assert sequences(together, number) == sequences(alone, 0)
        torch.testing.assert_close(together.score[number], alone.score[0])


def uncached(model, source):
    """A step function that reads the whole target again at each step."""

    def step(prefix, last_tokens):
        prefix = torch.cat([prefix, last_tokens[:, None]], dim=1)
        rows = [(source, [*row[1:], EOS]) for row in prefix.tolist()]
        batch = replace(collate(rows), target_in=prefix)
        return model(batch)[:, -1].log_softmax(dim=-1), prefix

    return step


def test_cached_equals_uncached(model):
    for source in SOURCES:
        cached = search(model, [source])
        again = beam(
            uncached(model, source),
            torch.zeros(1, 0, dtype=torch.long),
            bos=BOS,
            eos=EOS,
            max_length=LENGTH,
            width=5,
            n_best=3,
            length_rule=Power(0.75),
        )
        assert sequences(cached, 0) == sequences(again, 0)
        torch.testing.assert_close(cached.score, again.score)


def test_the_log_prob_is_what_teacher_forcing_gives(model):
    found = search(model, SOURCES)
    for number, source in enumerate(SOURCES):
        for place, tokens in enumerate(sequences(found, number)):
            batch = collate([(source, tokens)])
            batch = replace(batch, target_in=torch.tensor([[BOS, *tokens[:-1]]]))
            log_probs = model(batch)[0].log_softmax(dim=-1)
            total = log_probs[torch.arange(len(tokens)), torch.tensor(tokens)].sum()
            torch.testing.assert_close(found.log_prob[number, place], total.detach())


def test_a_model_is_sampled_from(model):
    batch = collate([(source, [3, 2]) for source in SOURCES])
    state = model.start(batch.source, mask=batch.source_mask)
    given = {"bos": torch.full((3,), BOS), "eos": EOS, "max_length": LENGTH}
    output = sample(model.step, state, **given, top_k=3, temperature=0.7)
    assert (output.log_prob < 0).all()
    assert output.tokens.shape[0] == 3
