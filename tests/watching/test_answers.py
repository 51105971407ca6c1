"""What a model says of a question and a passage, beside the model itself."""

import pytest
import torch

from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.models.pretraining.answers import AnswerHead
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.models.pretraining.heads import TokenHead
from gates2heads.watching.answers import ObservedAnswer, extracted, observe_answer

TOKENIZER = BilingualTokenizer.from_texts(["the currency of Bern is Franc . 法郎"])


def model(head=AnswerHead):
    torch.manual_seed(0)
    size = Markers.of(TOKENIZER.vocabulary).size
    encoder = BERT(size, d_model=6, nhead=2, num_layers=2, dropout=0.0, max_length=17)
    return FineTuned(encoder, head(6)).eval()


def test_logits_are_the_models_at_cls_and_in_the_passage():
    seen = observe_answer(model(), "the currency", "Bern, Franc Bern X.", TOKENIZER)
    assert seen.tokens == ["Bern", ",", "Franc", "Bern", "X", "."]
    assert seen.strange == [",", "X"]
    number = TOKENIZER.vocabulary.encode
    tokens = [1, *number(["the", "currency"]), 2, *number(seen.tokens), 2]
    assert tokens[0] == Markers.cls
    assert tokens[3] == Markers.sep
    segments = torch.tensor([[0] * 4 + [1] * 7])
    with torch.no_grad():
        logits = model()(torch.tensor([tokens]), segments=segments)
    for found, wanted in zip((seen.first, seen.last), logits, strict=True):
        torch.testing.assert_close(found, wanted[0, [0, 4, 5, 6, 7, 8, 9]])


def test_the_best_span_as_text_or_none():
    tokens = ["the", "Franc", "."]
    first, last = torch.tensor([1.0, 0.0, 2.0, 0.0]), torch.tensor([1.0, 0.0, 0.0, 0.5])
    seen = ObservedAnswer(tokens, [], first, last)
    assert extracted(seen) == "Franc."
    assert extracted(seen, max_length=1) == ""  # 2 + 0 is not more than 1 + 1
    assert (
        extracted(seen._replace(last=torch.tensor([0.9, 0.0, 0.0, 0.5])), max_length=1) == "Franc"
    )


def test_what_cannot_be_read_is_refused():
    with pytest.raises(TypeError, match="model must"):
        observe_answer(model(lambda width: TokenHead(width, 3)), "the", "Bern", TOKENIZER)
    with pytest.raises(ValueError, match="must be at most 17 tokens long"):
        observe_answer(model(), "the " * 9, "Bern " * 9, TOKENIZER)
    with pytest.raises(ValueError, match="at least one word"):
        observe_answer(model(), "the", " ", TOKENIZER)
