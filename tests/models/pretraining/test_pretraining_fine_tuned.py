"""A fine-tuned encoder: mix of layers, head, and what it is built from again."""

import pytest
import torch

from gates2heads.models.kinds import build, describe
from gates2heads.models.pretraining.answers import AnswerHead
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.models.pretraining.heads import SentenceHead, TokenHead

V, D, LAYERS = 13, 6, 2
SIZES = {"d_model": D, "nhead": 2, "num_layers": LAYERS, "dropout": 0.0, "max_length": 11}
HEADS = {
    "answer": lambda: AnswerHead(D),
    "token": lambda: TokenHead(D, 5),
    "sentence": lambda: SentenceHead(D, 3, read="mean"),
}


def model(head="answer"):
    torch.manual_seed(1)
    made = FineTuned(BERT(V, **SIZES), HEADS[head]()).eval()
    with torch.no_grad():
        made.mix.scores.copy_(torch.tensor([0.0, 1.0, -2.0]))
        made.mix.scale.fill_(1.5)
    return made


def batch():
    torch.manual_seed(2)
    tokens = torch.randint(V, (3, 7))
    segments = (torch.arange(7) > 3).long().expand(3, 7)
    mask = torch.arange(7) < torch.tensor([[7], [5], [6]])
    return tokens, {"segments": segments, "mask": mask}


@pytest.mark.parametrize("head", HEADS)
def test_the_head_reads_the_mix_of_the_layers(head):
    made, (tokens, options) = model(head), batch()
    states = made.encoder.states(tokens, **options)
    shares = torch.tensor([0.0, 1.0, -2.0]).softmax(0)
    vectors = 1.5 * sum(share * state for share, state in zip(shares, states, strict=True))
    given = {"mask": options["mask"]} if head == "sentence" else {}
    torch.testing.assert_close(made(tokens, **options), made.head(vectors, **given))
    torch.testing.assert_close(made.read(states, mask=options["mask"]), made(tokens, **options))


@pytest.mark.parametrize("head", HEADS)
def test_it_is_built_again_from_what_is_told(head):
    made, (tokens, options) = model(head), batch()
    again = build(describe(made))
    again.load_state_dict(made.state_dict())
    assert describe(again) == describe(made)
    torch.testing.assert_close(again.eval()(tokens, **options), made(tokens, **options))


def test_padding_changes_no_answer():
    made, (tokens, options) = model(), batch()
    short = made(tokens[1:2, :5], segments=options["segments"][1:2, :5])
    longer = made(tokens, **options)
    for part, whole in zip(short, longer, strict=True):
        torch.testing.assert_close(part[0], whole[1, :5])


def test_a_head_of_another_width_is_refused():
    with pytest.raises(ValueError, match="head must"):
        FineTuned(BERT(V, **SIZES), AnswerHead(D + 1))
