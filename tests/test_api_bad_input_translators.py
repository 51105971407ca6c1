"""The walk of `nonsense.py` through whole translators, and the parts of the convolutional one."""

from torch import nn

from gates2heads.layers.blocks import convolution_blocks
from gates2heads.layers.initialization import keep_variance
from gates2heads.models.translation.by_name import convolutional_translator, recurrent_translator
from gates2heads.models.translation.convolutional import ConvolutionalDecoder
from tests.nonsense import CHOICES, COUNTS, FLAGS, LISTS, SHARES, THINGS, D, U, V, walk

DILATIONS = [*LISTS, "12", (), ["a"], [0]]
SIZES = {"embedding_size": D, "hidden_size": U, "dropout": 0.1, "max_length": 9}
WRONG_SIZES = {
    "embedding_size": COUNTS,
    "hidden_size": COUNTS,
    "dropout": SHARES,
    "max_length": COUNTS,
}
BOTH = {"source_size": V, "target_size": V}

ENTRIES = {
    "keep_variance": (
        keep_variance,
        {"layer": nn.Linear(D, U), "gated": True, "dropout": 0.1},
        {"layer": [*THINGS, None, nn.Embedding(2, 3)], "gated": FLAGS, "dropout": SHARES},
    ),
    "convolution_blocks": (
        convolution_blocks,
        {"d_model": U, "kernel_size": 3, "dilations": [1, 2]},
        {"d_model": COUNTS, "kernel_size": COUNTS, "dilations": DILATIONS},
    ),
    "ConvolutionalDecoder": (
        ConvolutionalDecoder,
        {**SIZES, "vocabulary_size": V, "kernel_size": 3, "dilations": [1, 2]},
        {**WRONG_SIZES, "vocabulary_size": COUNTS, "kernel_size": COUNTS, "dilations": DILATIONS},
    ),
    "recurrent_translator": (
        recurrent_translator,
        {
            **SIZES,
            **BOTH,
            "cell": "lstm",
            "attention": "luong",
            "score": "dot",
            "num_layers": 2,
            "bidirectional": True,
            "repeat_summary": False,
        },
        {
            **WRONG_SIZES,
            **dict.fromkeys(BOTH, COUNTS),
            "repeat_summary": [*FLAGS, True],
            "cell": CHOICES,
            "attention": [x for x in CHOICES if x is not None],
            "score": CHOICES,
            "num_layers": COUNTS,
            "bidirectional": FLAGS,
        },
    ),
    "convolutional_translator": (
        convolutional_translator,
        {
            **SIZES,
            **BOTH,
            "kernel_size": 3,
            "encoder_dilations": [1, 2],
            "decoder_dilations": [1, 2],
        },
        {
            **WRONG_SIZES,
            **dict.fromkeys(BOTH, COUNTS),
            "kernel_size": [*COUNTS, 2],
            "encoder_dilations": DILATIONS,
            "decoder_dilations": DILATIONS,
        },
    ),
}
SAME = {  # the inner part's word for the same thing
    "encoder_dilations": ["dilations"],
    "decoder_dilations": ["dilations"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
