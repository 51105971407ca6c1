"""The walk of `nonsense.py` through the faulty beam of chapter 8."""

import torch
from torch import nn

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.exercises.faulty_beams import beamed, rescored
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.seq2seq import EncoderDecoder
from tests.nonsense import COUNTS, FLAGS, THINGS, TOKENIZER, walk

SIZE = len(TOKENIZER.vocabulary)
TINY = {"d_model": 4, "nhead": 1, "num_encoder_layers": 1, "num_decoder_layers": 1}
torch.manual_seed(0)
WRITER = Transformer(SIZE, SIZE, dim_feedforward=4, **TINY).eval()
GIVEN = {"model": WRITER, "text": "ab", "source": TOKENIZER, "target": TOKENIZER}
TOKENIZERS = [*THINGS, None, 3, TOKENIZER.vocabulary, CharacterTokenizer, nn.Linear(1, 1)]
WRONG = {
    "model": [*THINGS, None, 3, nn.Linear(1, 1), EncoderDecoder, EncoderDecoder(SIZE, SIZE)],
    "text": [*THINGS[:1], ["ab"], [], None, 3, "", "z"],
    "source": TOKENIZERS,
    "target": TOKENIZERS,
}
ENTRIES = {
    "beamed": (
        beamed,
        {**GIVEN, "width": 2, "faulty": True, "max_length": 3},
        {**WRONG, "width": COUNTS, "faulty": FLAGS, "max_length": COUNTS},
    ),
    "rescored": (
        rescored,
        {**GIVEN, "prefix": [3, 4]},
        {**WRONG, "prefix": [*THINGS, None, 3, [], [0.5], [-1], [SIZE], "ab"]},
    ),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
