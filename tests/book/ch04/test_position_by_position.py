"""One character for each that is read: where it stands, and what it cannot see."""

import pytest
import torch

from gates2heads.book.ch04.position_by_position import (
    READS,
    Tagger,
    at_their_places,
    tagged,
    tagging_loss,
)
from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary

SIDE = CharacterTokenizer(Vocabulary("abcde"))
SIZE = len(SIDE.vocabulary)


def batch_of(*pairs):
    return collate([(SIDE.encode(read), SIDE.encode(written)) for read, written in pairs])


def tagger(reads="forwards"):
    torch.manual_seed(0)
    return Tagger(SIZE, SIZE, reads=reads, embedding_size=5, hidden_size=6).eval()


def test_what_is_wanted_by_hand():
    # a b <eos> | c d e a <eos>: the first target is longer than its source and loses its end.
    wanted = at_their_places(batch_of(("ab", "cde"), ("cdea", "b")))
    a, b, c, d, e = SIDE.vocabulary.encode("abcde")
    assert wanted[0, :3].tolist() == [c, d, e]
    assert wanted[1].tolist() == [b, SIDE.vocabulary.eos, 0, 0, 0]
    assert a != b


def test_the_loss_by_hand():
    # A readout that knows nothing gives each of 8 tokens an eighth.
    model = tagger()
    torch.nn.init.zeros_(model.readout.weight)
    torch.nn.init.zeros_(model.readout.bias)
    loss = tagging_loss(model, batch_of(("ab", "cde"), ("cdea", "b")))
    torch.testing.assert_close(loss, torch.tensor(8.0).log())


@pytest.mark.parametrize("reads", READS)
def test_each_kind_sees_what_it_says(reads):
    model, one = tagger(reads), batch_of(("abcab", "abcde"))
    vectors = model.embedding(one.source).detach().requires_grad_()
    model.embedding.forward = lambda _: vectors
    model(one)[0, 2].sum().backward()
    seen = (vectors.grad[0].abs().sum(-1) > 0).tolist()
    wanted = {
        "one character": [False, False, True, False, False, False],
        "forwards": [True, True, True, False, False, False],
        "both ways": [True] * 6,
    }
    assert seen == wanted[reads]


def test_a_second_layer_has_more_parameters():
    sizes = [
        sum(one.numel() for one in Tagger(5, 4, reads="both ways", num_layers=layers).parameters())
        for layers in (1, 2)
    ]
    assert sizes[1] - sizes[0] == 2 * 3 * 64 * (128 + 64 + 2)


@pytest.mark.parametrize("reads", READS)
def test_padding_changes_nothing(reads):
    model, short, long = tagger(reads), ("ab", "cd"), ("abcde", "e")
    alone, beside = model(batch_of(short)), model(batch_of(short, long))
    torch.testing.assert_close(alone[0], beside[0, :3])
    assert tagged(model, batch_of(short, long), SIDE)[0] == tagged(model, batch_of(short), SIDE)[0]


@pytest.mark.parametrize("target", ["ab", b"ab", bytearray(b"ab"), 3])
def test_what_is_no_tokenizer_is_refused(target):
    with pytest.raises(TypeError, match="target must"):
        tagged(tagger(), batch_of(("ab", "cd")), target)


def test_what_is_no_batch_is_refused():
    for function in (tagger(), at_their_places):
        with pytest.raises(TypeError, match="batch must"):
            function(3)
