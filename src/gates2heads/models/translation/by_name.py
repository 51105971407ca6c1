"""Complete translation models from a few settings, so that a recipe can build them by name."""

from collections.abc import Sequence

from gates2heads.accepts import accepts, choice, flag, fraction, natural
from gates2heads.accepts.shown import shown
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.recurrent.by_name import CELLS
from gates2heads.models.translation.convolutional import ConvolutionalDecoder
from gates2heads.models.translation.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    LuongDecoder,
    PlainDecoder,
)
from gates2heads.models.translation.encoders import (
    DILATIONS,
    ConvolutionalEncoder,
    RecurrentEncoder,
)
from gates2heads.models.translation.seq2seq import SequenceToSequence

THREE_BLOCKS = [1, 1, 1]  # a list, since a recipe goes through JSON, which knows no tuples


@accepts(
    source_size=natural,
    target_size=natural,
    cell=choice(CELLS),
    attention=choice(("bahdanau", "luong")),
    repeat_summary=flag,
    score=choice(SCORES),
    embedding_size=natural,
    hidden_size=natural,
    num_layers=natural,
    dropout=fraction,
    bidirectional=flag,
    max_length=natural,
)
def recurrent_translator(
    source_size: int,
    target_size: int,
    *,
    cell: str = "gru",
    attention: str | None = None,
    repeat_summary: bool = False,
    score: str = "additive",
    embedding_size: int = 256,
    hidden_size: int = 256,
    num_layers: int = 1,
    dropout: float = 0.3,
    bidirectional: bool = True,
    max_length: int = 512,
) -> SequenceToSequence:
    """A recurrent encoder and a recurrent decoder, with or without attention.

    Source: without attention Sutskever et al. 2014 and Cho et al. 2014; Bahdanau et al. 2015;
    Luong et al. 2015. See `PlainDecoder`, `ChoDecoder`, `BahdanauDecoder` and `LuongDecoder` for
    the departures from the papers.

    Args:
        source_size, target_size: the two vocabulary sizes.
        cell: "rnn", "gru" or "lstm", of encoder and decoder.
        attention: None, "bahdanau" (before the step; one layer of "gru") or "luong" (after it).
        repeat_summary: without attention, the summary is an input of every step (Cho et al. 2014).
        score: name of a score function (see `SCORES`); ignored without attention.
        embedding_size: width of the token vectors.
        hidden_size: width U of the states.
        num_layers: the number of layers of encoder and decoder.
        dropout: see `RecurrentEncoder` and the decoders.
        bidirectional: the encoder is bidirectional; U is even then.
        max_length: the longest source that the model accepts, in tokens.

    Raises:
        ValueError: two settings contradict each other.
    """
    if attention is not None and repeat_summary:
        raise ValueError(f"repeat_summary must be False with attention, got {shown(attention)}")
    if attention == "bahdanau" and (cell != "gru" or num_layers != 1):
        raise ValueError(
            "attention 'bahdanau' needs cell 'gru' and num_layers 1, got "
            f"{shown(cell)} and {num_layers}"
        )
    depth = {"cell": cell, "num_layers": num_layers, "dropout": dropout}
    encoder = RecurrentEncoder(
        source_size, embedding_size, hidden_size, bidirectional=bidirectional, **depth
    )
    sizes = (target_size, embedding_size, hidden_size)
    if attention is None:
        decoder = (ChoDecoder if repeat_summary else PlainDecoder)(*sizes, **depth)
    else:
        attention_layer = Attention(SCORES[score](hidden_size, hidden_size))
        if attention == "luong":
            decoder = LuongDecoder(*sizes, attention_layer, **depth)
        else:
            decoder = BahdanauDecoder(*sizes, attention_layer, dropout=dropout)
    return SequenceToSequence(encoder, decoder, max_length=max_length)


@accepts(
    source_size=natural,
    target_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    kernel_size=natural,
    encoder_dilations=DILATIONS,
    decoder_dilations=DILATIONS,
    dropout=fraction,
    max_length=natural,
)
def convolutional_translator(
    source_size: int,
    target_size: int,
    *,
    embedding_size: int = 256,
    hidden_size: int = 256,
    kernel_size: int = 3,
    encoder_dilations: Sequence[int] = THREE_BLOCKS,
    decoder_dilations: Sequence[int] = THREE_BLOCKS,
    dropout: float = 0.2,
    max_length: int = 512,
) -> SequenceToSequence:
    """A convolutional encoder, and a convolutional decoder with attention in each block.

    Source: Gehring et al. 2017. See `ConvolutionalEncoder` and `ConvolutionalDecoder` for the
    departures from the paper.

    Args:
        source_size, target_size: the two vocabulary sizes.
        embedding_size: width of the token vectors.
        hidden_size: width U of the states.
        kernel_size: the number of positions in one convolution's window; odd.
        encoder_dilations, decoder_dilations: the distance between neighbours in the window, one
            number for each block.
        dropout: see encoder and decoder.
        max_length: the longest source and target that the model accepts, in tokens.
    """
    sizes = (embedding_size, hidden_size)
    options = {"kernel_size": kernel_size, "dropout": dropout, "max_length": max_length}
    encoder = ConvolutionalEncoder(source_size, *sizes, dilations=encoder_dilations, **options)
    decoder = ConvolutionalDecoder(target_size, *sizes, dilations=decoder_dilations, **options)
    return SequenceToSequence(encoder, decoder, max_length=max_length)
