"""Every model is built again from its settings, with the same shapes, and says the same."""

import json

import pytest
import torch
from torch import nn

from gates2heads.book.ch05.attention_variants import WAYS, looking_model
from gates2heads.data.batches.pairs import collate
from gates2heads.models.kinds import KINDS, MODELS, build, describe
from gates2heads.models.language.attention_only import AttentionOnly
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.models.language.neural import (
    FeedForwardLanguageModel,
    RecurrentLanguageModel,
    TransformerLanguageModel,
)
from gates2heads.models.language.ngram import KneserNey
from gates2heads.models.language.pruned import PrunedKneserNey
from gates2heads.models.pretraining.answers import AnswerHead
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.transformer.non_autoregressive import (
    NonAutoregressiveLanguageModel,
    NonAutoregressiveTransformer,
)
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.models.translation.by_name import convolutional_translator, recurrent_translator
from gates2heads.models.translation.seq2seq import EncoderDecoder, SequenceToSequence
from gates2heads.models.words.subword_table import SubwordTable
from gates2heads.models.words.table import WordTable

V, W = 13, 17
TEXTS = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 9, 10, 2]])
PAIRS = collate([([3, 4, 5, 2], [6, 7, 2]), ([8, 9, 2], [3, 4, 5, 2])])
SMALL = {"embedding_size": 6, "hidden_size": 10}
STACK = {"d_model": 8, "nhead": 2, "dim_feedforward": 11}
DEEP = {**STACK, "num_encoder_layers": 2, "num_decoder_layers": 3}


def counted():
    return PrunedKneserNey.of(KneserNey(TEXTS.tolist(), V, order=2), least=1)


MADE = {
    "Transformer": lambda: Transformer(V, W, **DEEP, norm="rms", rotary=True, tie=None),
    "UniversalTransformer": lambda: UniversalTransformer(V, V, **DEEP, tie="all"),
    "NonAutoregressiveTransformer": lambda: NonAutoregressiveTransformer(V, W, slots=5, **DEEP),
    "EncoderDecoder": lambda: EncoderDecoder(V, W, **SMALL, score="general"),
    "EncoderDecoder without attention": lambda: EncoderDecoder(V, W, **SMALL, score=None),
    "recurrent": lambda: recurrent_translator(V, W, **SMALL, cell="lstm", attention="luong"),
    "bahdanau": lambda: recurrent_translator(V, W, **SMALL, attention="bahdanau"),
    "cho": lambda: recurrent_translator(V, W, **SMALL, repeat_summary=True),
    "convolutional": lambda: convolutional_translator(V, W, **SMALL, decoder_dilations=[1, 2]),
    **{way: lambda way=way: looking_model(way, V, W) for way in WAYS},
    "FeedForwardLanguageModel": lambda: FeedForwardLanguageModel(V, window=3, **SMALL),
    "RecurrentLanguageModel": lambda: RecurrentLanguageModel(V, cell="gru", **SMALL, num_layers=2),
    "TransformerLanguageModel": lambda: TransformerLanguageModel(V, **STACK, num_layers=2),
    "NonAutoregressiveLanguageModel": lambda: NonAutoregressiveLanguageModel(
        V, **STACK, num_layers=2, max_length=7
    ),
    "PrunedKneserNey": counted,
    "PrunedMaximumLikelihood": lambda: counted().counts_alone(),
    "BERT": lambda: BERT(V, d_model=8, nhead=2, num_layers=2),
    "FineTuned": lambda: FineTuned(BERT(V, d_model=8, nhead=2, num_layers=2), AnswerHead(8)),
    "GPT": lambda: GPT(V, d_model=8, nhead=2, num_layers=2, norm_first=False),
    "DecoderOnly": lambda: DecoderOnly(
        V, **STACK, num_layers=2, num_key_value_heads=1, **LLAMA, window=3, max_length=9
    ),
    "AttentionOnly": lambda: AttentionOnly(V, d_model=8, nhead=2, num_layers=3, max_length=9),
    "ELMo": lambda: ELMo(V, hidden_size=6),
    "SubwordTable": lambda: SubwordTable(["a", "man"], torch.tensor([5, 3]), 7, buckets=11, own=1),
    "WordTable": lambda: WordTable(["a", "man"], torch.tensor([5, 3]), 7),
}


def output(model):
    """What a model says of some tokens, as one tensor."""
    if isinstance(model, WordTable | SubwordTable):
        return torch.cat([model.counts, model.vectors.weight.flatten()])
    if isinstance(model, SequenceToSequence | Transformer):
        return model(PAIRS)
    if hasattr(model, "log_probs"):
        return model.log_probs(TEXTS)
    said = model(TEXTS)
    return torch.cat([one.flatten() for one in said]) if isinstance(said, tuple) else said


@pytest.mark.parametrize("name", MADE)
def test_a_model_is_built_again_from_its_settings(name):
    torch.manual_seed(3)
    model = MADE[name]().eval()
    weights = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    wanted = output(model)
    told = json.loads(json.dumps(describe(model)))
    for again in (build(told, weights), type(model)(**model.settings)):
        assert type(again) is type(model)
        assert {key: tensor.shape for key, tensor in again.state_dict().items()} == {
            key: tensor.shape for key, tensor in weights.items()
        }
        again.load_state_dict(weights)
        torch.testing.assert_close(output(again.eval()), wanted, rtol=0, atol=0, equal_nan=True)
        assert describe(again) == describe(model)


def test_every_kind_of_model_was_built_again():
    assert {type(made()) for made in MADE.values()} == set(MODELS)
    assert all(KINDS[kind.__name__] is kind for kind in MODELS)


def test_a_part_is_told_within_its_model():
    told = describe(looking_model("monotonic", V, W, window=2))
    decoder = told["settings"]["decoder"]
    assert (told["kind"], decoder["kind"]) == ("SequenceToSequence", "LuongDecoder")
    attention = decoder["settings"]["attention"]
    assert attention["kind"] == "LocalAttention"
    assert attention["settings"]["window"] == 2
    assert attention["settings"]["score"]["kind"] == "DotScore"


def test_a_model_that_no_file_can_tell_is_refused():
    with pytest.raises(TypeError, match=r"^model must"):
        describe(nn.Linear(2, 3))
    for name in ("Linear", 3, None):
        with pytest.raises(ValueError, match=r"^kind must"):
            build({"kind": name, "settings": {}})
