"""What a model read, wrote and looked at: the pass that wrote is the pass that is shown."""

import pytest
import torch

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.decoding.translation import align, align_heads, translate, write
from gates2heads.layers.record import record
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.watching.observation import observe, observe_heads

SOURCE = CharacterTokenizer.from_texts(["jeudi 14"])
TARGET = CharacterTokenizer.from_texts(["0123-"])


def model(score):
    torch.manual_seed(3)
    sizes = len(SOURCE.vocabulary), len(TARGET.vocabulary)
    return EncoderDecoder(*sizes, embedding_size=5, hidden_size=6, score=score).eval()


@pytest.mark.parametrize("score", ["dot", "additive", "general"])
def test_weights_are_those_of_align_and_the_softmax_of_the_scores(score):
    attends = model(score)
    seen = observe(attends, "jeudi 4", SOURCE, TARGET, max_length=7)
    (other,) = align(attends, ["jeudi 4"], SOURCE, TARGET, max_length=7)
    assert (seen.source, seen.target) == (other.source, other.target)
    torch.testing.assert_close(seen.weights, other.weights, rtol=0, atol=0)
    torch.testing.assert_close(seen.scores.softmax(-1), seen.weights)
    assert seen.scores.shape == (len(seen.target), len("jeudi 4") + 1)


def test_a_model_that_does_not_look_back_has_neither():
    plain = model(None)
    seen = observe(plain, "1 de", SOURCE, TARGET, max_length=7)
    assert (seen.weights, seen.scores) == (None, None)
    assert seen.source == [*"1 de", "<eos>"]
    text = "".join(token for token in seen.target if not token.startswith("<"))
    assert [text] == translate(plain, ["1 de"], SOURCE, TARGET, max_length=7)


def test_what_was_written_ends_with_its_first_end():
    seen = observe(model("dot"), "jeudi", SOURCE, TARGET, max_length=40)
    assert "<eos>" not in seen.target[:-1]
    assert len(seen.target) == len(seen.weights) <= 40


LAYERS, H = 2, 3


def transformer(kind=Transformer, seed=5, **options):
    torch.manual_seed(seed)
    sizes = len(SOURCE.vocabulary), len(TARGET.vocabulary)
    return kind(*sizes, d_model=12, nhead=H, dim_feedforward=7, **options).eval()


def two_layers(**options):
    return transformer(num_encoder_layers=LAYERS, num_decoder_layers=LAYERS, **options)


@pytest.mark.parametrize("rotary", [False, True])
def test_every_head_of_every_layer_is_kept_as_it_was_when_it_wrote(rotary):
    model = two_layers(rotary=rotary)
    seen = observe_heads(model, "jeudi 4", SOURCE, TARGET, max_length=7)
    read, written = len(seen.source), len(seen.target)
    assert seen.source == [*"jeudi 4", "<eos>"]
    assert seen.encoder.shape == (LAYERS, H, read, read)
    assert seen.decoder.shape == (LAYERS, H, written, written)
    assert seen.cross.shape == (LAYERS, H, written, read)
    for weights in (seen.encoder, seen.decoder, seen.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert not seen.decoder.triu(1).any()
    other = align_heads(model, "jeudi 4", SOURCE, TARGET, max_length=7)
    assert (seen.source, seen.target) == (other.source, other.target)
    torch.testing.assert_close(seen.cross, other.weights)
    # All steps at once under the causal mask give the same as one step after another.
    words = TARGET.vocabulary
    target = torch.tensor([[words.bos, *words.encode(seen.target)[:-1]]])
    vectors = model.target_positions(model._embed(target, model.target_table))
    with record(model) as trace, torch.no_grad():
        source = model.encode(torch.tensor([SOURCE.encode("jeudi 4")]))
        for layer, memory in zip(model.decoder_layers, model._memory(source), strict=True):
            vectors = layer(vectors, memory)
    for depth in range(LAYERS):
        for kept, name in (
            (seen.encoder, f"encoder_layers.{depth}.self_attn"),
            (seen.decoder, f"decoder_layers.{depth}.self_attn"),
        ):
            torch.testing.assert_close(kept[depth], trace[name]["weights"][0][0])


def test_the_log_probability_is_that_of_the_search():
    model = two_layers()
    seen = observe_heads(model, "1 de", SOURCE, TARGET, max_length=7)
    output = write(model, ["1 de"], SOURCE, TARGET, max_length=7)
    assert seen.log_prob == output.log_prob.item() < 0


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            model("dot"),
            "model must",
        ),
        (
            transformer(UniversalTransformer),
            "model must",
        ),
    ],
)
def test_what_has_no_heads_to_show_is_refused(model, sentence):
    with pytest.raises(TypeError) as caught:
        observe_heads(model, "jeudi", SOURCE, TARGET, max_length=3)
    assert str(caught.value).startswith(sentence)
