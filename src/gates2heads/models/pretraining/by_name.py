"""The four pre-training models by name; BERT and ERNIE are one model with different masking."""

from collections.abc import Callable

from torch import nn

from gates2heads.accepts import accepts, choice, natural
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.elmo import ELMo
from gates2heads.models.pretraining.gpt import GPT

PRETRAINED: dict[str, Callable[..., nn.Module]] = {
    "elmo": ELMo,
    "gpt": GPT,
    "bert": BERT,
    "ernie": BERT,
}


@accepts(kind=choice(PRETRAINED), vocabulary_size=natural)
def pretraining_model(kind: str, vocabulary_size: int, **sizes) -> nn.Module:
    """Build an untrained pre-training model.

    Args:
        kind: "elmo", "gpt", "bert" or "ernie".
        vocabulary_size: V, with [MASK]; see `Markers.size`.
        **sizes: those of the model's class.
    """
    return PRETRAINED[kind](vocabulary_size, **sizes)
