"""Texts in, texts out: translation and alignment through the step function."""

import pytest
import torch

from gates2heads.data.batches.pairs import Batch
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.translation import align, align_heads, translate, write
from gates2heads.layers.record import record
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.seq2seq import EncoderDecoder

SOURCE, TARGET = CharacterTokenizer.from_texts(["abcde "]), CharacterTokenizer.from_texts(["xyz"])
TEXTS = ["abc", "edcba", "e"]


@pytest.fixture
def model():
    torch.manual_seed(7)
    sizes = len(SOURCE.vocabulary), len(TARGET.vocabulary)
    return EncoderDecoder(*sizes, embedding_size=5, hidden_size=14, max_length=11).eval()


def test_one_output_for_each_text_whatever_its_company(model):
    together = translate(model, TEXTS, SOURCE, TARGET, max_length=7)
    alone = [translate(model, [text], SOURCE, TARGET, max_length=7)[0] for text in TEXTS]
    assert together == alone


def test_translate_decodes_what_write_writes(model):
    rows = write(model, TEXTS, SOURCE, TARGET, max_length=7).tokens.tolist()
    assert translate(model, TEXTS, SOURCE, TARGET, max_length=7) == [
        TARGET.decode(row) for row in rows
    ]


def test_alignments_have_the_tokens_and_rows_that_sum_to_one(model):
    output = write(model, TEXTS, SOURCE, TARGET, max_length=7)
    for text, row, view in zip(
        TEXTS, output.tokens, align(model, TEXTS, SOURCE, TARGET, max_length=7), strict=True
    ):
        assert view.source == [*text, "<eos>"]
        assert view.weights.shape == (len(view.target), len(text) + 1)
        torch.testing.assert_close(view.weights.sum(-1), torch.ones(len(view.target)))
        assert TARGET.vocabulary.encode(view.target) == row[: len(view.target)].tolist()


def test_the_alignment_is_that_of_the_layer_recomputed_by_hand(model):
    view = align(model, ["abc"], SOURCE, TARGET, max_length=1)[0]
    tokens = torch.tensor([SOURCE.encode("abc")])
    state = model.start(tokens)
    query, memory = state.hidden[:, None], state.memory
    scores = model.decoder.attention.score(query, memory.keys)[0, 0]
    exponentials = scores.exp()
    torch.testing.assert_close(view.weights[0], (exponentials / exponentials.sum()).detach())


def test_a_target_without_end_is_kept_whole(model):
    with torch.no_grad():
        model.decoder.readout.bias[TARGET.vocabulary.eos] = -1e9
    (view,) = align(model, ["ab"], SOURCE, TARGET, max_length=5)
    assert len(view.target) == 5
    assert "<eos>" not in view.target


def test_a_tokenizer_that_does_not_know_what_was_written_is_refused(model):
    with torch.no_grad():
        model.decoder.readout.bias[len(TARGET.vocabulary) - 1] = 1e9
    few = CharacterTokenizer.from_texts(["x"])
    for use in (translate, align):
        with pytest.raises(ValueError, match=r"target .* generated token 5, but it knows 0 to 3"):
            use(model, ["ab"], SOURCE, few, max_length=5)


def test_a_model_without_weights_writes_too():
    class Table(torch.nn.Module):
        def start(self, source, *, mask):
            return None

        def step(self, state, last_tokens):
            return torch.eye(len(TARGET.vocabulary))[[4]].expand(len(last_tokens), -1) - 1, state

    assert translate(Table(), TEXTS, SOURCE, TARGET, max_length=2) == ["yy"] * 3


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["abc", ""], ValueError, "text is empty"),
        (["ab?"], ValueError, "'\\?', which this tokenizer never saw"),
        (["a" * 11], ValueError, "source must"),
    ],
)
def test_bad_texts_get_one_clear_sentence(model, texts, error, message):
    with pytest.raises(error, match=message):
        translate(model, texts, SOURCE, TARGET)


def test_a_model_without_attention_has_nothing_to_align():
    plain = EncoderDecoder(len(SOURCE.vocabulary), len(TARGET.vocabulary), score=None)
    with pytest.raises(KeyError, match=r"decoder\.attention.*noted nothing"):
        align(plain, ["abc"], SOURCE, TARGET, max_length=3)


# ---- every head of a Transformer


@pytest.fixture(scope="module")
def transformer():
    torch.manual_seed(3)
    sizes = len(SOURCE.vocabulary), len(TARGET.vocabulary)
    options = {"num_encoder_layers": 2, "num_decoder_layers": 3, "dim_feedforward": 13}
    return Transformer(*sizes, d_model=12, nhead=2, **options).eval()


@pytest.mark.parametrize("search", [{}, {"width": 3, "length_rule": Power(1.0)}])
def test_heads_are_those_of_the_whole_pass(transformer, search):
    there = align_heads(transformer, "edcba", SOURCE, TARGET, max_length=7, **search)
    (row,) = write(transformer, ["edcba"], SOURCE, TARGET, max_length=7, **search).tokens.tolist()
    written = TARGET.vocabulary.encode(there.target)
    assert written == row[: len(written)]
    assert there.source == [*"edcba", "<eos>"]
    given = torch.tensor([[TARGET.vocabulary.bos, *written[:-1]]])
    read = torch.tensor([SOURCE.encode("edcba")])
    batch = Batch(read, torch.ones_like(read, dtype=torch.bool), given, given, given > -1)
    with torch.no_grad(), record(transformer) as trace:
        transformer(batch)
    for layer in range(3):
        (weights,) = trace[f"decoder_layers.{layer}.cross_attn"]["weights"]
        torch.testing.assert_close(there.weights[layer], weights[0])
    assert there.weights.shape == (3, 2, len(written), 6)


def test_heads_of_what_has_none_are_refused(model, transformer):
    with pytest.raises(TypeError, match="model must"):
        align_heads(model, "abc", SOURCE, TARGET)
