"""A decoder-only model of code with random parameters, which answers in a moment."""

from functools import cache

import torch

from gates2heads.browser.engine.export import Exported, export_model
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly

LENGTH = 64
EXAMPLES = [
    "def total(numbers):\n    result = 0\n    for one in numbers:\n        result += one\n",
    "class <b>Point</b>:\n    x: int\n\n\tdef é(self): return 'ü 猫'\n",
    "import math\n" * 40,
]


@cache
def code_model() -> tuple[DecoderOnly, BPETokenizer]:
    """The model, in float32, and its tokenizer."""
    tokenizer = BPETokenizer.train([*EXAMPLES, "def f(x):\n    return x\n" * 3], 330)
    torch.manual_seed(0)
    sizes = {"d_model": 32, "nhead": 4, "num_layers": 2, "dim_feedforward": 48}
    size = len(tokenizer.vocabulary)
    model = DecoderOnly(size, **sizes, **LLAMA, num_key_value_heads=2, max_length=LENGTH)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:  # or all tokens would be equally likely
                parameter.mul_(8)
    return model.eval(), tokenizer


@cache
def exported() -> Exported:
    """The same as the page runs it."""
    model, tokenizer = code_model()
    return export_model(model, name="small_code", source=tokenizer)
