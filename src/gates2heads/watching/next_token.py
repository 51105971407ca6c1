"""One text, as a language model reads it: the surprisal of each token, and what may come next."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import a, accepts, text
from gates2heads.accepts.shown import shown
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.base import LanguageModel


class Foreseen(NamedTuple):
    """The tokens, the surprisal of each in bits, and the next-token distribution."""

    tokens: list[str]  # T
    bits: Tensor  # (T,) float64: −log2 of the model's probability of each; inf where that is 0
    log_probs: Tensor  # (V,) float64 in nats: the next-token distribution
    vocabulary: list[str]  # V

    @property
    def end_bits(self) -> float:
        """The surprisal of the end marker here, in bits."""
        return -self.log_probs[Vocabulary.eos].item() / math.log(2)


@accepts(model=a(LanguageModel), text=text)
def foresee(model: LanguageModel, text: str, tokenizer) -> Foreseen:
    """Run a model on a text, which may be empty, and keep the surprisal of its T tokens.

    Args:
        model: has `start` and `step`.
        text: the input, from its beginning.
        tokenizer: of the model.

    Returns:
        T tokens, their bits (T,), the next-token log-probabilities (V,), V tokens.

    Raises:
        TypeError, ValueError: `tokenizer` is not a tokenizer, or as raised by it.
    """
    if not isinstance(getattr(tokenizer, "vocabulary", None), Vocabulary):
        raise TypeError(f"tokenizer must be a tokenizer, got {shown(tokenizer)}")
    numbers = tokenizer.encode(text, eos=False) if text else []
    state, found = model.start(), []
    with torch.no_grad():
        for last in [Vocabulary.bos, *numbers]:
            log_probs, state = model.step(state, torch.tensor([last]))
            found.append(log_probs[0].double().cpu())
    tokens = tokenizer.vocabulary.tokens
    # 0 and not −0 for a token of probability 1
    bits = [abs(row[one].item()) / math.log(2) for row, one in zip(found, numbers, strict=False)]
    return Foreseen(
        [tokens[one] for one in numbers],
        torch.tensor(bits, dtype=torch.float64),
        found[-1],
        list(tokens),
    )
